"""How the SQLite file of a ledger is made, and what is in it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from bocage.accounting.file_location import FileLocation
from bocage.accounting.sql_schema import Dialect
from bocage.errors import LedgerError
from bocage.storage import Run, Value

APPLICATION = 0x626F6361  # "boca", in the header of the file
FORMAT = 3  # since 2, runs of the machine are on record; since 3, place, secret and seals

DIALECT = Dialect(
    integer="INTEGER",
    blob="BLOB",
    strict=" STRICT",
    guard=tuple(
        f"CREATE TRIGGER {{table}}_refuse_{event.lower()} BEFORE {event} ON {{table}} "
        "BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for event in ("UPDATE", "DELETE")
    ),
    count="CREATE TRIGGER {table}_counted AFTER INSERT ON {table} BEGIN UPDATE tally SET "
    "number = number + 1, seals = (seals + NEW.seal) % {modulus} WHERE name = '{table}'; END",
    sealed=("answers", "boots"),
)
_IDENTITY = (
    "CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), place TEXT NOT NULL, "
    "path TEXT NOT NULL, log INTEGER NOT NULL) STRICT"
)
_NEW = ".new"  # ends the name of a file that is being made


def create(path: str | os.PathLike[str], fill: Callable[[Run], None]) -> None:
    """Make a ledger file, readable by its owner only, unless there is a file already.

    It is built beside its final place and linked into it, so that a crash leaves no half of a
    ledger and of two processes one wins.
    """
    final = Path(os.path.realpath(path))
    if final.exists():
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{final.name}.", suffix=_NEW, dir=final.parent)
        os.close(handle)
    except OSError as error:
        raise LedgerError(f"{final} cannot be created ({error.strerror}).") from error
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            _fill(connection, FileLocation.of(final, name), fill)
        with suppress(FileExistsError):
            os.link(name, final)
        Path(name).unlink(missing_ok=True)
        _sync_directory(final.parent)
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(f"{final} cannot be created ({error}).") from error
    finally:
        for leftover in (name, f"{name}-wal", f"{name}-shm"):
            Path(leftover).unlink(missing_ok=True)


def finish_building(path: Path) -> None:
    """Take away the first name of a file whose maker was killed before it could."""
    with suppress(OSError):
        if path.stat().st_nlink > 1:
            for other in path.parent.iterdir():
                ours = other.name.startswith(f".{path.name}.") and other.name.endswith(_NEW)
                if ours and other.samefile(path):
                    other.unlink()


def _fill(connection: sqlite3.Connection, location: FileLocation, fill: Callable[[Run], None]) -> None:
    run = _runner(connection)
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = FULL")
    run(f"PRAGMA application_id = {APPLICATION}")
    run(f"PRAGMA user_version = {FORMAT}")
    run("BEGIN IMMEDIATE")
    DIALECT.create(run)
    add_identity(run, location)
    fill(run)
    run("COMMIT")


def _runner(connection: sqlite3.Connection) -> Run:
    def run(sql: str, *values: Value) -> list[tuple[Any, ...]]:
        return connection.execute(sql, values).fetchall()

    return run


def add_identity(run: Run, location: FileLocation) -> None:
    run(_IDENTITY)
    run("INSERT INTO identity VALUES (1, ?, ?, 0)", location.text, location.shown)


@cache
def expected() -> dict[tuple[str, str], str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        run = _runner(connection)
        DIALECT.create(run)
        run(_IDENTITY)
        return schema(run)


def schema(run: Run) -> dict[tuple[str, str], str]:
    rows = run("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {(kind, name): sql for kind, name, sql in rows}


def _sync_directory(directory: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
