"""Fit, and wait in the second level to be killed; else save the model."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import bocage
from bocage.learners import LEARNERS
from private.tables import TENNIS, WEATHER


def wait(done: int, of: int) -> None:
    if done:
        print("second level", flush=True)  # noqa: T201 - tells the test where it is
        time.sleep(600)


if __name__ == "__main__":
    name, ledger, model = sys.argv[1:]
    with bocage.protect(WEATHER, TENNIS, ledger=ledger, cap=9, create=True) as protected:
        LEARNERS[name]().fit(protected.analyst("ann", 9), 2, wait).save(model)
