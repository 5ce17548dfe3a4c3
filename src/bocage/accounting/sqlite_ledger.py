"""A ledger in one SQLite file: the default, for one host.

SQLite writes into a log beside the file and moves the content over later. So a ledger is safe only
if everybody uses the same log, and if the file is never taken for the whole.

- The file names its own place (`file_location.py`), which is compared at every new connection. It
  changes only by `move_ledger`, which needs the file for itself. A connection holds a lock on the
  file itself, under whatever name, so that no two can be open at different places.
- As soon as there is something to write, the file is marked: a log exists. The log takes the mark
  back, so that the two together are unmarked, and so is the file when SQLite has closed the log.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from bocage.accounting import chain, machine_run
from bocage.accounting.entry import Entry
from bocage.accounting.file_location import FileLocation, WatchedFile
from bocage.accounting.ledger_store import LedgerStore
from bocage.accounting.sqlite_file import (
    APPLICATION,
    DIALECT,
    FORMAT,
    add_identity,
    expected,
    finish_building,
    schema,
)
from bocage.errors import LedgerCorrupt, LedgerError
from bocage.storage import Connection, Run, SQLiteStore, Transaction

_NAMES = "SELECT name FROM sqlite_schema WHERE type = 'table'"
_SELECT_IDENTITY = "SELECT place, path, log FROM identity"
_TAKE_BACK = "UPDATE identity SET log = 0"
_READS, _TRIES = 5, 20
_MOVE_SECONDS = 2.0
_LOG_HEADER = 32  # bytes of a log that holds nothing
_MOST_IN_LOG = 250  # transactions of one store before their content is moved over
_TRY_AGAIN_SECONDS = 1.0


class SQLiteLedger(LedgerStore, SQLiteStore):
    """Write-ahead log with full synchronization: a commit is on the disk when it returns."""

    def __init__(self, path: str | os.PathLike[str], *, timeout_seconds: float, only_look: bool = False) -> None:
        self._given_path = str(Path(path).absolute())  # where a symbolic link leads may change
        self._only_look = only_look
        self._file: tuple[int, int] | None = None
        self.version = FORMAT
        self._problems: dict[str, None] = {}  # what is wrong with a ledger that is only looked at
        self.log_is_lost = False
        self._marked, self._commits_in_log, self._next_try = False, 0, 0.0
        real = os.path.realpath(path)
        self._log = f"{real}-wal"
        super().__init__(real, timeout_seconds=timeout_seconds)

    # Opening

    def recognize(self) -> None:
        if sqlite3.sqlite_version_info < (3, 37):
            raise LedgerError(f"a ledger needs SQLite 3.37 or newer, not {sqlite3.sqlite_version}.")
        if not self.path.is_file():
            raise LedgerError(f"{self._given_path} is not there. Create a ledger explicitly if it is new.")
        identity = self._read_identity()
        if identity and identity.log == 0:  # before SQLite joins a log to it that may be another's
            self._require_recorded(self._locate(), identity)
        try:
            with closing(self.open()) as connection:
                ((application,),) = self.run(connection, "PRAGMA application_id", ())
                ((version,),) = self.run(connection, "PRAGMA user_version", ())
                names = {name for (name,) in self.run(connection, _NAMES, ())}
                self._take_back(connection)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise LedgerError(f"{self.path} is not a ledger.") from error
            raise self.explain(error, committing=False) from error
        if application != APPLICATION:
            raise LedgerError(f"{self.path} is not a ledger.")
        if version > FORMAT:
            raise LedgerError(
                f"{self.path} was written by a newer Bocage (format {version}, this one reads {FORMAT}). Upgrade."
            )
        third = bool({"identity", "secret", "tally"} & names)
        if third != (version == FORMAT):
            self._refuse(
                LedgerCorrupt(
                    f"{self.path} says that its format is {version}, and has the tables of another. "
                    "Nothing is charged to it: restore it from a backup."
                )
            )
        self.version = FORMAT if third else version
        self.boot_id = machine_run.current()

    def connect(self) -> Connection:
        location = self._locate()
        connection = self.open()
        try:
            if self.version == FORMAT:
                self._require_location(location, connection)
            connection.log = WatchedFile(self._log)
        except BaseException:
            self.close_idle([connection])
            raise
        return connection

    def open(self) -> Connection:
        """A connection that holds SQLite's lock on the file from now on, whatever is there."""
        connection = super().connect()
        try:
            ((application,),) = self.run(connection, "PRAGMA application_id", ())
            ((mode,),) = self.run(connection, "PRAGMA journal_mode", ())
            if mode != "wal" and application == APPLICATION:  # a move was broken off
                self.run(connection, "PRAGMA journal_mode = WAL", ())
            self.run(connection, "PRAGMA wal_autocheckpoint = 0", ())
            self.run(connection, _NAMES, ())
        except BaseException:
            connection.close()
            raise
        return connection

    def _locate(self) -> FileLocation:
        finish_building(self.path)
        try:
            location = FileLocation.find(self.path, self._refuse)
        except LedgerError:
            if self._file is None:
                raise
            raise self._gone("Nothing was charged") from None
        if self._file not in {None, location.file}:
            raise self._gone("Nothing was charged")
        self._file = location.file
        return location

    def _require_location(self, location: FileLocation, connection: Connection) -> None:
        """Refuse a file at another place than it says, or one without its log.

        The lock that the connection holds by now lets nobody move the ledger or close its log.
        """
        identity = self._read_identity() or self._read_log(connection)
        self._marked = identity.log == 1
        if self._marked and _size(self._log) <= _LOG_HEADER:
            self.log_is_lost = True
            self._refuse(LedgerCorrupt(self.log_lost))
        self._require_recorded(location, identity)

    def _require_recorded(self, location: FileLocation, identity: _Identity) -> None:
        if location.text != identity.place:
            self._refuse(LedgerError(location.refusal(identity.path)))

    @property
    def log_lost(self) -> str:
        return (
            f"{self.path} was copied or moved without its log, in which the last charges are: "
            f"{self._log} is missing. Nothing is charged to it. Put the log beside it, or a whole "
            "copy in its place. If both are lost, begin a new ledger with what the caps leave."
        )

    def _read_identity(self) -> _Identity | None:
        """What the file itself says, without its log.

        SQLite keeps the locks of this process, which closing the file in another way would drop.
        """
        uri = f"{self.path.as_uri()}?mode=ro&immutable=1"
        for attempt in range(_READS):  # somebody may be writing just there
            try:
                with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as alone:
                    return _Identity(*alone.execute(_SELECT_IDENTITY).fetchone())
            except (sqlite3.Error, TypeError):
                time.sleep(0.001 * attempt)
        return None

    def _read_log(self, connection: Connection) -> _Identity:
        """The same where it is still in the log, as just after a ledger became one of this format."""
        with suppress(sqlite3.Error, IndexError):
            return _Identity(*self.run(connection, _SELECT_IDENTITY, ())[0])
        self._refuse(LedgerCorrupt(f"{self.path} does not say where it was kept. Restore it from a backup."))
        return _Identity("", "", 0)

    def _refuse(self, error: LedgerError) -> None:
        """Refuse a ledger, or remember why if it is only looked at."""
        if not self._only_look:
            raise error
        self._problems[str(error)] = None

    # Using

    def before_transaction(self) -> None:
        try:
            file = os.stat(self._given_path)  # noqa: PTH116 - at every question
        except OSError:
            same = False
        else:
            same = (file.st_dev, file.st_ino) == self._file and file.st_nlink == 1
        if not (same or self._only_look):
            raise self._gone("Nothing was charged")

    def after_commit(self, transaction: Transaction) -> None:
        if not transaction.connection.log.is_in_place():
            raise self._gone("The charge may stand")
        super().after_commit(transaction)

    def _gone(self, outcome: str) -> LedgerError:
        return LedgerError(
            f"{self._given_path} is no longer the ledger that was opened: it, or its log, was moved, "
            f"replaced, deleted or given a second name. {outcome}. Put it back, and open it again."
        )

    def begin_writing(self, *, lasting: bool = True) -> Connection:
        self._prepare_log()
        connection: Connection = super().begin_writing(lasting=lasting)
        return connection

    def _prepare_log(self) -> None:
        """Before a transaction that writes: mark the file, or move the content of a long log."""
        if self._only_look:
            raise LedgerError("the ledger was opened to be looked at (check=False): open it again.")
        self._commits_in_log += 1
        due = not self._marked or self._commits_in_log > _MOST_IN_LOG
        if due and self.version == FORMAT and time.monotonic() >= self._next_try:
            self._mark()

    def _mark(self) -> None:
        """Move the content of the log into the file, which says from then on that there is a log.

        While somebody reads an older state, not all can be moved: it is tried again.
        """
        connection, _ = self._run_first("UPDATE identity SET log = 1", (), lasting=True)

        def move_over() -> None:
            busy = 1
            for _ in range(_TRIES):
                ((busy, *_rest),) = self.run(connection, "PRAGMA wal_checkpoint(FULL)", ())
                if not busy:
                    break
            self.run(connection, _TAKE_BACK, ())
            self._marked, self._commits_in_log = not busy, 0
            self._next_try = time.monotonic() + _TRY_AGAIN_SECONDS if busy else 0.0

        self._or_discard(connection, move_over)
        self.give_back(connection)

    def close_idle(self, connections: list[Any]) -> None:
        if connections:
            self._take_back(connections[0])
        super().close_idle(connections)

    def _take_back(self, connection: Connection) -> None:
        """Before a connection is closed: with the last one, SQLite removes the log.

        A process that was killed in between has left the mark in the log as well. Where there is no
        log, the mark stays: it says that one is lost.
        """
        with suppress(sqlite3.Error):  # an older format has no mark
            marks = self.run(connection, "SELECT log FROM identity WHERE log <> 0", ())
            if marks and _size(self._log) > _LOG_HEADER:
                self.run(connection, _TAKE_BACK, ())

    def upgrade(self) -> None:
        if self.version == FORMAT or not os.access(self.path, os.W_OK):
            return
        location = FileLocation.find(self.path, self._refuse)
        with self.write() as run:
            ((version,),) = run("PRAGMA user_version")
            if version < FORMAT:  # another process may have been faster
                DIALECT.upgrade(run, ("answers", "boots") if version > 1 else ("answers",))
                add_identity(run, location)
                run(f"PRAGMA user_version = {FORMAT}")
        self.version = FORMAT
        self._mark()

    def damage(self, run: Run) -> list[str]:
        problems = [*super().damage(run), *self._problems]
        if self.version == FORMAT:
            wanted, present = expected(), schema(run)
            problems += [
                f"the {kind} {name} is missing or was changed."
                for kind, name in sorted(wanted)
                if present.get((kind, name)) != wanted[kind, name]
            ]
            problems += [f"the {kind} {name} is not ours." for kind, name in sorted(present.keys() - wanted)]
        return problems


def move_ledger(path: str | os.PathLike[str], memo: str = "") -> Entry:
    """Say as the owner that a ledger file was moved, or restored, to where it is now.

    Nobody may have it open, under whatever name. The move is an entry of the ledger.

    Privacy
    -------
    Of two copies of one ledger both would spend the same budget. That this is the only one, and that
    it is not older than what was released, nobody but the owner knows; an anchor does.
    """
    store = SQLiteLedger(path, timeout_seconds=_MOVE_SECONDS, only_look=True)
    try:
        with store.read() as run:
            chain.last_entry(run)
            if store.version == FORMAT:
                store.secret = chain.secret(run)
        location = FileLocation.find(path, _raise)
        if store.log_is_lost:
            _raise(LedgerError(store.log_lost))
        if store.version < FORMAT:
            _raise(LedgerError(f"{path} has an older format: it takes its place when it is opened."))
    finally:
        store.close()
    with closing(SQLiteStore.connect(store)) as connection:
        try:  # for which nobody else may have the file open: SQLite locks the file, not its name
            store.run(connection, "PRAGMA journal_mode = DELETE", ())
            store.run(connection, "BEGIN EXCLUSIVE", ())
            transaction = store.transaction(connection)
            transaction.run("UPDATE identity SET place = ?, path = ?, log = 0", location.text, location.shown)
            entry = chain.note_move(transaction, memo)
            store.run(connection, "COMMIT", ())
            store.run(connection, "PRAGMA journal_mode = WAL", ())
        except sqlite3.Error as error:
            raise store.explain(error, committing=True) from error
    return entry


def _raise(error: LedgerError) -> None:
    raise error


class _Identity(NamedTuple):
    """What a file says about itself."""

    place: str
    path: str
    log: int


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
