"""An SQLite file as a store: connections, waiting for locks, and errors."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

from bocage.errors import LedgerBusy, LedgerCorrupt, LedgerError
from bocage.storage.store import Run, Store, Value

_LOOK_SECONDS = 0.001  # how long SQLite itself waits for a lock before it says so
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_forked_in_use: set[str] = set()  # files that were in use when this process was forked
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class Connection(sqlite3.Connection):
    """A connection that knows how its commits end, and into which log.

    Attributes
    ----------
    lasting
        Whether a commit waits for the disk.
    log
        The write-ahead log of the connection, if its store watches it.
    """

    lasting = True
    log: Any = None


class SQLiteStore(Store):
    """Write-ahead log with full synchronisation: a commit is on the disk when it returns."""

    at_hand = True
    begin_write = "BEGIN IMMEDIATE"
    begin_read = "BEGIN"
    take_lock = ""
    database_error = sqlite3.Error

    def __init__(self, path: str | os.PathLike[str], *, timeout_seconds: float) -> None:
        self.path = Path(path).absolute()
        self.timeout_seconds = timeout_seconds
        super().__init__()

    def connect(self) -> Connection:
        if str(self.path) in _forked_in_use:
            raise LedgerError(
                f"{self.path} was in use when this process was forked, so that SQLite takes the "
                "parent's locks for its own. Open it in a process that is started anew (spawn)."
            )
        # mode=rw: a file that was moved away must not come back silently as an empty one
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",
            uri=True,
            timeout=_LOOK_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        try:  # the file may be locked for a moment: by who opens it first, or closes it last
            self.run(connection, "PRAGMA synchronous = FULL", ())
            # macOS: through the drive's own cache
            self.run(connection, "PRAGMA fullfsync = ON", ())
        except BaseException:
            connection.close()
            raise
        return connection

    def set_durability(self, connection: Connection, *, lasting: bool) -> None:
        if connection.lasting != lasting:
            level = "FULL" if lasting else "NORMAL"
            self.run(connection, f"PRAGMA synchronous = {level}", ())
            connection.lasting = lasting

    def run(self, connection: sqlite3.Connection, sql: str, values: tuple[Value, ...]) -> list[tuple[Any, ...]]:
        """Run SQL; while another process holds the file, look again and again.

        SQLite's own waiting sleeps longer and longer: who has waited would wait on, while others
        come and go.
        """
        end = None
        while True:
            try:
                return connection.execute(sql, values).fetchall()
            except sqlite3.OperationalError as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
                if code & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                now = time.monotonic()
                end = now + self.timeout_seconds if end is None else end
                if now >= end:
                    raise

    def hung_up(self, connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - a file cannot hang up
        return False

    def explain(self, error: Exception, *, committing: bool) -> LedgerError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _LOCKED:
            return LedgerBusy(
                f"another process held {self.path} for more than {self.timeout_seconds:g} seconds. "
                "Try again. Nothing was charged."
            )
        if code in _DAMAGED:
            return LedgerCorrupt(f"{self.path} is damaged ({error}). Nothing was charged: restore it from a backup.")
        if code == sqlite3.SQLITE_FULL:
            return LedgerError(f"no room on the disk of {self.path}. Nothing was charged.")
        outcome = "The charge may stand" if committing else "Nothing was charged"
        return LedgerError(f"{self.path} cannot be used ({error}). {outcome}.")

    def note_fork_in_use(self) -> None:
        _forked_in_use.add(str(self.path))

    def tables(self, run: Run) -> set[str]:
        return {name for (name,) in run("SELECT name FROM sqlite_schema WHERE type = 'table'")}

    def damage(self, run: Run) -> list[str]:
        return [text for (text,) in run("PRAGMA integrity_check(10)") if text != "ok"]
