"""Which run of the machine a charge was made in, so that an answer need not wait for the disk.

An answer that is kept without waiting survives the end of every process, because the kernel has it,
but perhaps not that of the machine. So a ledger records the run of the machine together with the
charge, and after another start nobody draws the answer again that a charge of the last one may have
brought: it may have been given.
"""

from __future__ import annotations

from pathlib import Path

from bocage.accounting.entry import Entry
from bocage.accounting.ledger_store import LedgerTransaction
from bocage.accounting.sql_schema import insert
from bocage.errors import AnswerLost
from bocage.storage import Run

PATH = Path("/proc/sys/kernel/random/boot_id")


def current() -> str:
    """A name of this run of the machine that no other has; empty where there is none."""
    try:
        return PATH.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def note(transaction: LedgerTransaction, number: int) -> None:
    """Record that the entries from `number` on are made in this run of the machine."""
    boot_id = transaction.boot_id
    if boot_id is not None and _last(transaction, number) != boot_id:
        insert(transaction, "boots", transaction.require_secret(), number, boot_id)


def require_this(transaction: LedgerTransaction, entry: Entry) -> None:
    """Refuse a charge of an earlier run of the machine, whose answer may have been given.

    Privacy
    -------
    Where the names are equal, the machine has not gone down since the charge, and what was kept is
    there. Otherwise an answer that is not there may have been released and lost.
    """
    boot_id = transaction.boot_id
    if boot_id is not None and _last(transaction, entry.number) != boot_id:
        raise AnswerLost(
            f"entry {entry.number} was charged before the machine went down. Its answer may have "
            "been given and is not on record, so that it is not drawn again: ask with a new key. "
            "Nothing was charged."
        )


def _last(run: Run, number: int) -> str:
    rows = run("SELECT boot FROM boots WHERE number <= ? ORDER BY number DESC LIMIT 1", number)
    return str(rows[0][0]) if rows else ""
