"""A ledger in one SQLite file: the default, for one host."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from bocage.accounting import boot
from bocage.accounting.group import patience
from bocage.accounting.store import Run, Store, Value
from bocage.accounting.tables import APPEND_ONLY, statements
from bocage.errors import LedgerBusy, LedgerCorrupt, LedgerError

APPLICATION = 0x626F6361  # "boca", in the header of the file
FORMAT = 2  # since 2, a ledger records the runs of the machine

_LOOK_SECONDS = 0.001  # how long SQLite itself waits for a lock before it says so
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class Connection(sqlite3.Connection):
    """A connection that knows how its commits end."""

    lasting = True  # whether a commit waits for the disk


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
        # mode=rw: a ledger that was moved away must not come back silently as an empty one
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
            self.run(
                connection, "PRAGMA fullfsync = ON", ()
            )  # macOS: through the drive's own cache
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self, connection: Connection, *, lasting: bool) -> None:
        if connection.lasting != lasting:
            level = "FULL" if lasting else "NORMAL"
            self.run(connection, f"PRAGMA synchronous = {level}", ())
            connection.lasting = lasting

    def run(
        self, connection: sqlite3.Connection, sql: str, values: tuple[Value, ...]
    ) -> list[tuple[Any, ...]]:
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
                end = now + patience(self.timeout_seconds) if end is None else end
                if now >= end:
                    raise

    def lost(self, connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - a file cannot hang up
        return False

    def explain(self, error: Exception, *, committing: bool) -> LedgerError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _LOCKED:
            return LedgerBusy(
                f"another process held {self.path} for more than {self.timeout_seconds:g} seconds. "
                "Try again. Nothing was charged."
            )
        if code in _DAMAGED:
            return LedgerCorrupt(
                f"{self.path} is damaged ({error}). Nothing was charged: restore it from a backup."
            )
        if code == sqlite3.SQLITE_FULL:
            return LedgerError(f"no room on the disk of {self.path}. Nothing was charged.")
        outcome = "The charge may stand" if committing else "Nothing was charged"
        return LedgerError(f"{self.path} cannot be used ({error}). {outcome}.")

    def damage(self, run: Run) -> list[str]:
        return [text for (text,) in run("PRAGMA integrity_check(10)") if text != "ok"]

    def recognize(self) -> None:
        if sqlite3.sqlite_version_info < (3, 37):
            raise LedgerError(f"a ledger needs SQLite 3.37 or newer, not {sqlite3.sqlite_version}.")
        if not self.path.is_file():
            raise LedgerError(f"{self.path} is not there. Create a ledger explicitly if it is new.")
        try:
            with closing(self.connect()) as connection:
                ((application,),) = self.run(connection, "PRAGMA application_id", ())
                ((version,),) = self.run(connection, "PRAGMA user_version", ())
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise LedgerError(f"{self.path} is not a ledger.") from error
            raise self.explain(error, committing=False) from error
        if application != APPLICATION:
            raise LedgerError(f"{self.path} is not a ledger.")
        if version > FORMAT:
            raise LedgerError(
                f"{self.path} was written by a newer Bocage (format {version}, this one reads "
                f"{FORMAT}). Upgrade."
            )
        self.boot = boot.current() if version == FORMAT else None


def create(path: str | os.PathLike[str], fill: Callable[[Run], None]) -> None:
    """Make a ledger file, readable by its owner only, unless there is a file already.

    It is built beside its final place and linked into it, so that a crash leaves no half of a
    ledger and of two processes one wins.
    """
    final = Path(path).absolute()
    if final.exists():
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{final.name}.", suffix=".new", dir=final.parent)
        os.close(handle)
    except OSError as error:
        raise LedgerError(f"{final} cannot be created ({error.strerror}).") from error
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            _prepare(connection, fill)
        with suppress(FileExistsError):
            os.link(name, final)
        _sync_directory(final.parent)
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(f"{final} cannot be created ({error}).") from error
    finally:
        for leftover in (name, f"{name}-wal", f"{name}-shm"):
            Path(leftover).unlink(missing_ok=True)


def _prepare(connection: sqlite3.Connection, fill: Callable[[Run], None]) -> None:
    def run(sql: str, *values: Value) -> list[tuple[Any, ...]]:
        return connection.execute(sql, values).fetchall()

    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = FULL")
    run(f"PRAGMA application_id = {APPLICATION}")
    run(f"PRAGMA user_version = {FORMAT}")
    run("BEGIN IMMEDIATE")
    for statement in statements(integer="INTEGER", blob="BLOB", strict=" STRICT"):
        run(statement)
    run("CREATE TABLE boots (number INTEGER PRIMARY KEY, boot TEXT NOT NULL) STRICT")
    for table in (*APPEND_ONLY, "boots"):
        for event in ("UPDATE", "DELETE"):
            run(
                f"CREATE TRIGGER {table}_refuse_{event.lower()} BEFORE {event} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
            )
    fill(run)
    run("COMMIT")


def _sync_directory(directory: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
