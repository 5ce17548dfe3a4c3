"""Opening a ledger, wherever it is kept."""

from __future__ import annotations

import os

from bocage.accounting import chain, postgres_ledger, sqlite_file
from bocage.accounting.ledger import Ledger
from bocage.accounting.ledger_store import LedgerStore
from bocage.accounting.sqlite_ledger import SQLiteLedger
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
            sqlite_file.create(text, chain.create)
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
