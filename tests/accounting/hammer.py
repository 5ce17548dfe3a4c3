"""Spend one account until it refuses; print the numbers of the accepted charges."""

import sys

from bocage.accounting import open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded


def main(target: str, cap: str, epsilon: str) -> None:
    with open_ledger(target, create=True, timeout_seconds=100) as ledger:
        table = ledger.table("people", Epsilon.of(cap))
        alice = ledger.analyst(table, "alice", Epsilon.of(cap))
        try:
            while True:
                print(ledger.charge(alice, Epsilon.of(epsilon), "{}").number)  # noqa: T201 - the report
        except BudgetExceeded:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
