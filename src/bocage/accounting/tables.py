"""The tables of a ledger, in the SQL that SQLite and PostgreSQL share.

`entries` is the append-only chain, `head` repeats number and hash of its last entry, `scopes` are
the running balances (so that a charge touches its own path only, however long the chain), and
`answers` are released values, kept so that an identical question comes back free.
"""

from __future__ import annotations

APPEND_ONLY = ("entries", "answers")

_TABLES = """
CREATE TABLE scopes (
    key TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    spent {integer} NOT NULL CHECK (spent >= 0),
    cap {integer} CHECK (cap >= 0),
    state TEXT NOT NULL
){strict};
CREATE TABLE entries (
    number {integer} PRIMARY KEY,
    time TEXT NOT NULL,
    action TEXT NOT NULL,
    scope TEXT NOT NULL,
    nano {integer} NOT NULL CHECK (nano >= 0),
    memo TEXT NOT NULL,
    request TEXT,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
){strict};
CREATE UNIQUE INDEX one_entry_per_request ON entries (scope, request) WHERE request IS NOT NULL;
CREATE TABLE head (
    id {integer} PRIMARY KEY CHECK (id = 1),
    number {integer} NOT NULL,
    hash TEXT NOT NULL
){strict};
CREATE TABLE answers (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    body {blob} NOT NULL,
    entry {integer} NOT NULL,
    PRIMARY KEY (scope, key)
){strict}
"""


def statements(*, integer: str, blob: str, strict: str) -> list[str]:
    script = _TABLES.format(integer=integer, blob=blob, strict=strict)
    return [statement.strip() for statement in script.split(";")]
