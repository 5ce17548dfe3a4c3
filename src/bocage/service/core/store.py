"""Where a registry is kept: an SQLite file, or PostgreSQL for several hosts; the ledger's stores."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from bocage.errors import LedgerError, ServiceError
from bocage.storage import Connection, PostgresStore, Run, SQLiteStore, Store, Value

VERSION = 3
APPLICATION = 0x626F6372  # "bocr", in the header of the file
SCHEMA = "bocage_registry"
TIMEOUT_SECONDS = 30.0

_TABLES = """
CREATE TABLE registry (id {integer} PRIMARY KEY, version {integer} NOT NULL);
CREATE TABLE tables (name TEXT PRIMARY KEY, source TEXT NOT NULL, schema TEXT NOT NULL,
    scope TEXT NOT NULL, cap TEXT NOT NULL, adjacency TEXT NOT NULL, noise TEXT NOT NULL,
    batch TEXT NOT NULL, snapshot TEXT NOT NULL, added TEXT NOT NULL, UNIQUE (scope, batch));
CREATE TABLE analysts (name TEXT PRIMARY KEY, state TEXT NOT NULL, prefix TEXT NOT NULL,
    digest TEXT NOT NULL, added TEXT NOT NULL, rotated TEXT NOT NULL);
CREATE INDEX analysts_by_prefix ON analysts (prefix);
CREATE TABLE grants (analyst TEXT NOT NULL, "table" TEXT NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (analyst, "table"));
CREATE TABLE handles (id TEXT PRIMARY KEY, analyst TEXT NOT NULL, "table" TEXT NOT NULL,
    plan TEXT NOT NULL, digest TEXT NOT NULL, created TEXT NOT NULL,
    UNIQUE (analyst, "table", digest));
CREATE TABLE jobs (id TEXT PRIMARY KEY, number {integer} NOT NULL, analyst TEXT NOT NULL,
    "table" TEXT NOT NULL, learner TEXT NOT NULL, epsilon TEXT NOT NULL, mode TEXT NOT NULL,
    state TEXT NOT NULL, done {integer} NOT NULL, "of" {integer} NOT NULL, entry {integer},
    model TEXT, error TEXT, worker TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL);
CREATE INDEX jobs_by_analyst ON jobs (analyst, number);
CREATE INDEX jobs_by_state ON jobs (state);
CREATE TABLE models (id TEXT PRIMARY KEY, number {integer} NOT NULL, analyst TEXT NOT NULL,
    "table" TEXT NOT NULL, learner TEXT NOT NULL, epsilon TEXT, format TEXT NOT NULL,
    job TEXT NOT NULL, dry_run {integer} NOT NULL, body {blob} NOT NULL, created TEXT NOT NULL);
CREATE INDEX models_by_analyst ON models (analyst, number);
CREATE TABLE requests (analyst TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,
    job TEXT NOT NULL, time {integer} NOT NULL, PRIMARY KEY (analyst, key));
CREATE TABLE sessions (digest TEXT PRIMARY KEY, role TEXT NOT NULL, analyst TEXT NOT NULL,
    key TEXT NOT NULL, expires {integer} NOT NULL);
CREATE TABLE owner (id {integer} PRIMARY KEY, digest TEXT NOT NULL, made TEXT NOT NULL);
CREATE TABLE surveys (id TEXT PRIMARY KEY, number {integer} NOT NULL, title TEXT NOT NULL,
    body TEXT NOT NULL, fingerprint TEXT NOT NULL, state TEXT NOT NULL, model {blob},
    published {integer} NOT NULL, created TEXT NOT NULL);
CREATE TABLE answers (survey TEXT NOT NULL, number {integer} NOT NULL, token TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (survey, number), UNIQUE (survey, token));
CREATE TABLE workers (id TEXT PRIMARY KEY, host TEXT NOT NULL, pid {integer} NOT NULL,
    beat {integer} NOT NULL)
"""


def open_store(target: str, *, create: bool = False, durable: bool = True) -> Store:
    """The store of a registry.

    With `durable` off, what is written survives the end of a process but perhaps not that of the
    machine: enough for progress and the fingerprints of requests, whose charges are in the ledger.
    """
    if target.startswith(("postgresql://", "postgres://")):
        if create:
            _create_schema(target)
        return _Database(target, durable=durable)
    if create:
        _create_file(Path(target))
    return _File(target, durable=durable)


class _File(SQLiteStore):
    def __init__(self, path: str, *, durable: bool) -> None:
        self._durable = durable
        super().__init__(path, timeout_seconds=TIMEOUT_SECONDS)

    def connect(self) -> Connection:
        connection = super().connect()
        if not self._durable:
            connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def explain(self, error: Exception, *, committing: bool) -> LedgerError:  # noqa: ARG002 - inherited
        return LedgerError(f"{self.path} cannot be used ({type(error).__name__}).")

    def recognize(self) -> None:
        if not self.path.is_file():
            raise ServiceError(f"{self.path} is not there: bocage init makes a home.")
        try:
            with closing(self.connect()) as connection:
                (application,) = connection.execute("PRAGMA application_id").fetchone()
        except sqlite3.Error as error:
            raise ServiceError(f"{self.path} cannot be opened ({error}).") from None
        if application != APPLICATION:
            raise ServiceError(f"{self.path} is not the registry of a service.")
        with self.read() as run:
            _check_version(run)


class _Database(PostgresStore):
    take_lock = "SELECT 1 FROM registry FOR UPDATE"

    def __init__(self, url: str, *, durable: bool) -> None:
        self._durable = durable
        super().__init__(url, timeout_seconds=TIMEOUT_SECONDS)

    def connect(self) -> Any:
        connection = super().connect()
        connection.execute("SELECT set_config('search_path', %s, false)", [SCHEMA])
        if not self._durable:
            connection.execute("SET synchronous_commit = off")
        return connection

    def recognize(self) -> None:
        with self.read() as run:
            if not run("SELECT to_regclass(?)", f"{SCHEMA}.registry")[0][0]:
                raise ServiceError("the database has no registry: bocage init makes one.")
            _check_version(run)


def _check_version(run: Run) -> None:
    ((version,),) = run("SELECT version FROM registry")
    if version != VERSION:
        raise ServiceError(
            f"the registry has format {version}; this program reads {VERSION}. Serve it with the "
            "program that made it, or register tables and analysts in a new home: bocage init."
        )


def _statements(**kinds: str) -> list[str]:
    return [statement.strip() for statement in _TABLES.format(**kinds).split(";")]


def _create_file(path: Path) -> None:
    if path.exists():
        return
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in _statements(integer="INTEGER", blob="BLOB"):
                connection.execute(statement)
            connection.execute("INSERT INTO registry VALUES (1, ?)", (VERSION,))
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute("COMMIT")
    except (OSError, sqlite3.Error) as error:
        raise ServiceError(f"{path} cannot be created ({error}).") from None


def _create_schema(url: str) -> None:
    try:
        import psycopg  # noqa: PLC0415 - an optional dependency, loaded when it is asked for
    except ImportError:
        raise ServiceError("PostgreSQL needs an extra: pip install 'bocage[postgres]'.") from None

    def run(connection: Any, sql: str, *values: Value) -> Any:
        return connection.execute(sql.encode(), values)

    try:
        with psycopg.connect(url) as connection:
            run(connection, "SELECT pg_advisory_xact_lock(%s)", APPLICATION)
            there = run(connection, "SELECT to_regclass(%s)", f"{SCHEMA}.registry").fetchone()
            if there[0]:
                return
            run(connection, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            run(connection, f"SET LOCAL search_path = {SCHEMA}")
            for statement in _statements(integer="BIGINT", blob="BYTEA"):
                run(connection, statement)
            run(connection, "INSERT INTO registry VALUES (1, %s)", VERSION)
    except psycopg.Error as error:
        raise ServiceError(f"the registry cannot be created ({type(error).__name__}).") from None
