"""Ledgers as older versions made them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg

_OLD = {
    "answers": "scope TEXT NOT NULL, key TEXT NOT NULL, body {blob} NOT NULL, "
    "entry {integer} NOT NULL, PRIMARY KEY (scope, key)",
    "boots": "number {integer} PRIMARY KEY, boot TEXT NOT NULL",
}
_FIELDS = {"answers": "scope, key, body, entry", "boots": "number, boot"}


def downgrade(target: str, version: int = 2) -> None:
    """Take from a new ledger what that format had not."""
    if "://" in str(target):
        with psycopg.connect(target, options="-c search_path=bocage_ledger") as connection:
            _unseal(connection, "answers", integer="BIGINT", blob="BYTEA")
            connection.execute("DROP FUNCTION count_in")
            connection.execute(
                "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON answers "
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
            )
            _drop(connection)
        return
    with closing(sqlite3.connect(target)) as file:
        for table in ("answers", "boots")[:version]:
            for name in ("refuse_update", "refuse_delete", "counted"):
                file.execute(f"DROP TRIGGER {table}_{name}")
            _unseal(file, table, integer="INTEGER", blob="BLOB", strict=" STRICT")
            for event in ("UPDATE", "DELETE"):
                file.execute(
                    f"CREATE TRIGGER {table}_refuse_{event.lower()} BEFORE {event} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
                )
        if version < 2:
            file.execute("DROP TABLE boots")
        _drop(file)
        file.execute("DROP TABLE identity")
        file.execute(f"PRAGMA user_version = {version}")
        file.commit()


def _unseal(connection, table, *, strict="", **kinds):
    connection.execute(f"ALTER TABLE {table} RENAME TO newer")
    connection.execute(f"CREATE TABLE {table} ({_OLD[table].format(**kinds)}){strict}")
    fields = _FIELDS[table]
    connection.execute(f"INSERT INTO {table} ({fields}) SELECT {fields} FROM newer")
    connection.execute("DROP TABLE newer")


def _drop(connection):
    connection.execute("DROP TABLE secret")
    connection.execute("DROP TABLE tally")
    connection.execute("DROP INDEX declarations")
