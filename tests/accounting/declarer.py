"""Declare the terms of a table five times; print whether they were taken."""

import sys

from bocage.accounting import Scope, open_ledger
from bocage.errors import LedgerError


def main(target: str, adjacency: str) -> None:
    with open_ledger(target, timeout_seconds=60) as ledger:
        print("ready", flush=True)  # noqa: T201 - the parent reads it
        sys.stdin.readline()
        try:
            for i in range(5):
                ledger.declare(Scope.table("people"), {"adjacency": adjacency}, {"version": str(i)})
        except LedgerError as error:
            print(error)  # noqa: T201 - the report
        else:
            print("declared")  # noqa: T201 - the report


if __name__ == "__main__":
    main(*sys.argv[1:])
