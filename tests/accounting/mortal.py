"""Charge, keep the answer, release it, and again, until killed.

Two hundred short lives need no two hundred interpreters: this process lends its imports to a forked
child per line that it reads on standard input.
"""

import os
import sys
from pathlib import Path

from bocage.accounting import open_ledger
from bocage.epsilon import Epsilon


def live(target: str, released: str) -> None:
    ledger = open_ledger(target, create=True)
    alice = ledger.analyst(ledger.table("people", Epsilon.of(1000)), "alice", Epsilon.of(1000))
    with Path(released).open("a") as file:
        while True:
            women = alice.partition("by sex").part("F")
            entry = ledger.charge(women, Epsilon.of("0.001"), "{}")
            ledger.store_answer(women, entry.hash, b"42", entry.number)
            file.write(f"{entry.number} {entry.hash}\n")
            file.flush()
            os.fsync(file.fileno())


if __name__ == "__main__":
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            live(*line.rstrip("\n").split("\t"))
        print(child, flush=True)  # noqa: T201 - whom to kill
        os.waitpid(child, 0)
        print("dead", flush=True)  # noqa: T201 - the parent reads this line
