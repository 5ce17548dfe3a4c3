"""Contribute, and wait to be killed: before the contribution is kept, or before it is written."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bocage
from bocage.parties import PartyPlan, Signer, contribute
from parties.owners import PATIENTS, rows


def wait(where: str) -> None:
    print(where, flush=True)  # noqa: T201 - tells the test where it is
    time.sleep(600)


class SlowSigner(Signer):
    """Never gets to sign: the rows are counted and the noise is drawn by then."""

    def sign(self, content: bytes) -> str:
        wait("charged")
        return super().sign(content)


if __name__ == "__main__":
    moment, plan, key, ledger, output = sys.argv[1:]
    signer = (SlowSigner if moment == "charged" else Signer).load(key)
    with bocage.protect(rows(), PATIENTS, ledger=ledger, cap=2, create=True) as owner:
        table = owner.analyst("parties", 2)
        contribution = contribute(PartyPlan.load(plan), table, "north", signer)
        if moment == "kept":
            wait("kept")
        contribution.save(output)
