"""Opening a ledger, wherever it is kept."""

from __future__ import annotations

import os

from bocage.accounting import chain, making, postgres_ledger
from bocage.accounting.entry import Entry
from bocage.accounting.file import SQLiteLedger, move
from bocage.accounting.ledger import Ledger
from bocage.accounting.ledger_store import LedgerStore
from bocage.errors import LedgerError

TIMEOUT_SECONDS = 30.0


def open_ledger(
    target: str | os.PathLike[str],
    *,
    anchor: str | os.PathLike[str] | None = None,
    create: bool = False,
    check: bool = True,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Ledger:
    """Open the ledger in a file, or in a database by its `postgresql://` URL.

    Parameters
    ----------
    target
        Path of an SQLite file, or a URL.
    anchor
        A file on another disk that names the last entry (`Ledger.begin_anchor`). A new ledger
        begins one there.
    create
        Make the ledger if it is not there. Off by default: a mislaid ledger must not come back
        silently as one on which nothing was spent.
    check
        Refuse a ledger whose end was changed. Turn it off to look into one that is refused: it
        takes no charges even so.
    timeout_seconds
        How long to wait for other processes before `LedgerBusy`.
    """
    text = os.fspath(target)
    store: LedgerStore
    if text.startswith(("postgresql://", "postgres://")):
        if create:
            postgres_ledger.create(text, chain.create)
        store = postgres_ledger.PostgresLedger(text, timeout_seconds=timeout_seconds)
    else:
        if create:
            making.create(text, chain.create)
        store = SQLiteLedger(text, timeout_seconds=timeout_seconds, only_look=not check)
    ledger = Ledger(store)
    if check:
        try:
            ledger.head()
            store.upgrade()
            with store.read() as run:
                ready = "secret" in store.tables(run)  # unless it is old and cannot be written
                store.secret = chain.secret(run) if ready else None
            if ready:
                ledger.use_anchor(anchor)
        except LedgerError:
            ledger.close()
            raise
    return ledger


def move_ledger(path: str | os.PathLike[str], memo: str = "") -> Entry:
    """Say as the owner that a ledger file was moved, or restored, to where it is now.

    Nobody may have it open. The move is an entry of the ledger.

    Privacy
    -------
    Of two copies of one ledger both would spend the same budget. That this is the only one, and that
    it is not older than what was released, nobody but the owner knows; an anchor does.
    """
    return move(path, memo)
