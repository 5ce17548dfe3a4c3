"""The tables of a ledger, in the SQL that SQLite and PostgreSQL share.

`entries` is the append-only chain, `head` repeats number and hash of its last entry, `scopes` are
the running balances (so that a charge touches its own path only, however long the chain),
`answers` are released values, kept so that an identical question comes back free, and `boots` says
in which run of the machine entries were made. `tally` counts the rows that the chain does not hold
and adds up their seals. `secret` is what the seals are made with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bocage.accounting.secret import MODULUS, Secret
from bocage.storage import Run

PAGE = 1000

_CHAIN = """
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
){strict}
"""

# What a ledger has since the third format.
_THIRD = """
CREATE INDEX declarations ON entries (scope, number) WHERE action = 'declare';
CREATE TABLE secret (
    id {integer} PRIMARY KEY CHECK (id = 1),
    value {blob} NOT NULL
){strict};
CREATE TABLE tally (
    name TEXT PRIMARY KEY,
    number {integer} NOT NULL,
    seals {integer} NOT NULL
){strict}
"""

_SEALED = {
    "answers": """
CREATE TABLE answers (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    body {blob} NOT NULL,
    entry {integer} NOT NULL,
    seal {integer} NOT NULL,
    PRIMARY KEY (scope, key)
){strict}""",
    "boots": """
CREATE TABLE boots (
    number {integer} PRIMARY KEY,
    boot TEXT NOT NULL,
    seal {integer} NOT NULL
){strict}""",
}
FIELDS = {"answers": ("scope", "key", "entry", "body"), "boots": ("number", "boot")}
ORDER = {"answers": ("scope", "key"), "boots": ("number",)}


@dataclass(frozen=True)
class Dialect:
    """What the databases write differently.

    Attributes
    ----------
    guard, count
        Statements with `{table}` that make a table append-only, and that keep its tally.
    sealed
        The tables with seals.
    """

    integer: str
    blob: str
    strict: str
    guard: tuple[str, ...]
    count: str
    sealed: tuple[str, ...] = ("answers",)

    def create(self, run: Run) -> None:
        """Everything that a new ledger has, empty."""
        self._run(run, _CHAIN)
        self._guard(run, "entries")
        self.add(run)
        for table in self.sealed:
            self._seal(run, table)
            self._guard(run, table)

    def upgrade(self, run: Run, present: tuple[str, ...]) -> None:
        """Give one of an older format, which has the tables `present`, what it lacks."""
        self.add(run)
        secret = Secret.new()
        run("INSERT INTO secret (id, value) VALUES (1, ?)", secret.value)
        for table in self.sealed:
            if table in present:
                run(f"ALTER TABLE {table} RENAME TO older")
            self._seal(run, table)
            if table in present:
                for row in all_rows(run, "older", FIELDS[table], ORDER[table]):
                    insert(run, table, secret, *row)
                run("DROP TABLE older")  # with its triggers
            self._guard(run, table)

    def add(self, run: Run) -> None:
        self._run(run, _THIRD)

    def _seal(self, run: Run, table: str) -> None:
        self._run(run, _SEALED[table])
        run("INSERT INTO tally (name, number, seals) VALUES (?, 0, 0)", table)
        run(self.count.format(table=table, modulus=MODULUS))

    def _guard(self, run: Run, table: str) -> None:
        for statement in self.guard:
            run(statement.format(table=table))

    def _run(self, run: Run, script: str) -> None:
        filled = script.format(integer=self.integer, blob=self.blob, strict=self.strict)
        for statement in filled.split(";"):
            run(statement.strip())


def insert(run: Run, table: str, secret: Secret, *values: str | int | bytes) -> None:
    """Add a row to a table with seals; `values` are in the order of `FIELDS`."""
    names = FIELDS[table]
    marks = ", ".join("?" * (len(names) + 1))
    run(
        f"INSERT INTO {table} ({', '.join(names)}, seal) VALUES ({marks})",
        *values,
        secret.seal(table, *values),
    )


def all_rows(run: Run, table: str, columns: tuple[str, ...], order: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """All rows, page by page, in the order of a key; bytes as bytes."""
    selected, key = ", ".join((*order, *columns)), ", ".join(order)
    last: tuple[Any, ...] = ()
    while True:
        where = f"WHERE ({key}) > ({', '.join('?' * len(order))}) " if last else ""
        page = run(f"SELECT {selected} FROM {table} {where}ORDER BY {key} LIMIT {PAGE}", *last)
        for row in page:
            yield tuple(bytes(x) if isinstance(x, memoryview) else x for x in row[len(order) :])
        if len(page) < PAGE:
            return
        last = page[-1][: len(order)]
