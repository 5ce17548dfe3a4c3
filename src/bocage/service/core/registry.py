"""What the owner registered: tables, analysts with the hashes of their keys, and grants.

A key has 256 random bits. It is shown once and kept as a hash.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from datetime import UTC, datetime

from bocage.errors import AccessDenied, ServiceError
from bocage.schema import Schema
from bocage.service.core.store import open_store

KEY = re.compile(r"bocage_[0-9a-f]{64}")
PREFIX_DIGITS = 8  # of the hash; they find the row, and the whole hash is compared
_NOBODY = "0" * 64
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class Registered:
    """A table as the owner registered it. `source` is the owner's secret, the rest is public."""

    name: str
    source: str
    schema_text: str
    scope: str  # its name in the ledger, which is that of its schema
    cap: str
    adjacency: str
    noise: str
    batch: str  # empty: the rows are no batch
    snapshot: str  # empty: the owner does not declare that the rows of a database stay as they are
    added: str

    @property
    def schema(self) -> Schema:
        return Schema.from_dict(json.loads(self.schema_text))


@dataclass(frozen=True)
class Analyst:
    """Someone with a key."""

    name: str
    state: str  # open or revoked
    added: str
    rotated: str


@dataclass(frozen=True)
class Caller:
    """Whose key a request carries, and what one look at the registry told of both."""

    name: str
    state: str  # open or revoked
    grant: str | None = None  # of the table that was asked for: open, revoked, or none


class Registry:
    """The owner's records. One may be shared by threads and processes, with PostgreSQL by hosts."""

    def __init__(self, target: str, *, create: bool = False) -> None:
        self.store = self._store = open_store(target, create=create)
        self.at_hand = self.store.at_hand  # a local file

    # Tables

    def tables(self) -> list[Registered]:
        with self._store.read() as run:
            rows = run(f"SELECT {_TABLE} FROM tables ORDER BY name")
        return [Registered(*row) for row in rows]

    def table(self, name: str) -> Registered:
        with self._store.read() as run:
            rows = run(f"SELECT {_TABLE} FROM tables WHERE name = ?", name)
        if not rows:
            raise ServiceError(f"there is no table {name!r}. bocage table list shows all.")
        return Registered(*rows[0])

    def add_table(self, table: Registered) -> None:
        check_table_name(table.name)
        with self._store.write() as run:
            if run("SELECT 1 FROM tables WHERE name = ?", table.name):
                raise ServiceError(f"there is a table {table.name!r} already.")
            if run("SELECT 1 FROM tables WHERE scope = ? AND batch = ?", table.scope, table.batch):
                raise ServiceError(
                    f"the rows of schema {table.scope!r} are registered already. Another table has "
                    "another schema name; another batch of the same table is added with --batch."
                )
            run("INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *astuple(table))

    def set_cap(self, scope: str, cap: str) -> None:
        with self._store.write() as run:
            run("UPDATE tables SET cap = ? WHERE scope = ?", cap, scope)

    def remove_table(self, name: str) -> None:
        """Forget a table and who may ask it. What was spent on it stays in the ledger."""
        with self._store.write() as run:
            run("DELETE FROM tables WHERE name = ?", name)
            run('DELETE FROM grants WHERE "table" = ?', name)

    # Analysts

    def analysts(self) -> list[Analyst]:
        with self._store.read() as run:
            rows = run("SELECT name, state, added, rotated FROM analysts ORDER BY name")
        return [Analyst(*row) for row in rows]

    def analyst(self, name: str) -> Analyst:
        with self._store.read() as run:
            rows = run("SELECT name, state, added, rotated FROM analysts WHERE name = ?", name)
        if not rows:
            raise ServiceError(f"there is no analyst {name!r}. bocage analyst list shows all.")
        return Analyst(*rows[0])

    def add_analyst(self, name: str) -> str:
        """A new analyst; returns the key, which is kept as a hash only."""
        check_name(name, "an analyst")
        key = new_key()
        digest = key_digest(key)
        with self._store.write() as run:
            if run("SELECT 1 FROM analysts WHERE name = ?", name):
                raise ServiceError(f"there is an analyst {name!r} already; rotate gives a new key.")
            row = (name, "open", digest[:PREFIX_DIGITS], digest, now(), "")
            run("INSERT INTO analysts VALUES (?, ?, ?, ?, ?, ?)", *row)
        return key

    def rotate(self, name: str) -> str:
        """A new key; the old one ends at once."""
        if self.analyst(name).state != "open":
            raise ServiceError(f"analyst {name!r} was revoked, which is final.")
        key = new_key()
        digest = key_digest(key)
        with self._store.write() as run:
            run(
                "UPDATE analysts SET prefix = ?, digest = ?, rotated = ? WHERE name = ?",
                *(digest[:PREFIX_DIGITS], digest, now(), name),
            )
        return key

    def revoke_analyst(self, name: str) -> None:
        with self._store.write() as run:
            run("UPDATE analysts SET state = 'revoked' WHERE name = ?", name)
            run("UPDATE grants SET state = 'revoked' WHERE analyst = ?", name)

    def authenticate(self, key: str) -> Analyst | None:
        """Whose key this is. The hash finds the row by a prefix; all of it is then compared."""
        digest = key_digest(key)
        rows = self._store.look(
            "SELECT digest, name, state, added, rotated FROM analysts WHERE prefix = ?",
            digest[:PREFIX_DIGITS],
        )
        match = matching(digest, [row[0] for row in rows])
        return next((Analyst(*row[1:]) for row in rows if row[0] == match), None)

    def caller(self, digest: str, table: str | None) -> Caller | None:
        """Whose key has this hash, as `authenticate`; and the grant of a table, in the same look."""
        prefix = digest[:PREFIX_DIGITS]
        rows = self._store.look(_CALLER, table, prefix)
        match = matching(digest, [row[0] for row in rows])
        return next((Caller(*row[1:]) for row in rows if row[0] == match), None)

    def require_key(self, name: str, digest: str) -> None:
        """Refuse a key that was the analyst's and is no more."""
        rows = self._store.look("SELECT digest FROM analysts WHERE name = ? AND state = 'open'", name)
        if matching(digest, [row[0] for row in rows]) is None:
            raise AccessDenied("the key has ended.")

    # Grants

    def grants(self, analyst: str) -> dict[str, str]:
        """The tables of an analyst, and whether the grant is open or revoked."""
        with self._store.read() as run:
            rows = run('SELECT "table", state FROM grants WHERE analyst = ? ORDER BY 1', analyst)
        return dict(rows)

    def granted(self, analyst: str, table: str) -> tuple[Registered, str] | None:
        """A table of an analyst, and whether the grant is open or revoked."""
        with self._store.read() as run:
            rows = run(
                f'SELECT {_TABLE}, state FROM tables JOIN grants ON "table" = name WHERE analyst = ? AND name = ?',
                *(analyst, table),
            )
        return (Registered(*rows[0][:-1]), rows[0][-1]) if rows else None

    def grant_state(self, analyst: str, table: str) -> str | None:
        """Whether the grant of a table that is there is open or revoked; None without one."""
        rows = self._store.look(
            'SELECT state FROM grants JOIN tables ON "table" = name WHERE analyst = ? AND name = ?',
            *(analyst, table),
        )
        return str(rows[0][0]) if rows else None

    def grant(self, analyst: str, table: str) -> None:
        with self._store.write() as run:
            run(
                "INSERT INTO grants VALUES (?, ?, 'open') "
                "ON CONFLICT (analyst, \"table\") DO UPDATE SET state = 'open'",
                *(analyst, table),
            )

    def revoke_grant(self, analyst: str, table: str) -> None:
        with self._store.write() as run:
            run(
                "UPDATE grants SET state = 'revoked' WHERE analyst = ? AND \"table\" = ?",
                *(analyst, table),
            )

    def close(self) -> None:
        self._store.close()


_CALLER = (
    "SELECT digest, name, state, (SELECT grants.state FROM grants JOIN tables "
    'ON tables.name = "table" WHERE analyst = analysts.name AND "table" = ?) '
    "FROM analysts WHERE prefix = ?"
)
_TABLE = "name, source, schema, scope, cap, adjacency, noise, batch, snapshot, added"


def check_name(name: str, what: str) -> None:
    """Names stand in addresses, so they are plain."""
    if not NAME.fullmatch(name):
        raise ServiceError(f"{what} is named by 1 to 64 letters, digits, and . _ - inside, not {name[:70]!r}.")


def check_table_name(name: str) -> None:
    check_name(name, "a table")
    if name == "new":
        raise ServiceError("'new' is where the console adds a table: take another name.")


def now(clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> str:
    return clock().isoformat(timespec="milliseconds")


def new_key() -> str:
    """A key as an analyst gets it."""
    return f"bocage_{secrets.token_hex(32)}"


def new_id() -> str:
    """An id that nobody can guess: 128 random bits."""
    return secrets.token_hex(16)


def key_digest(key: str) -> str:
    """What is kept of a key. It has 256 random bits, so that one fast hash is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def matching(presented: str, known: Iterable[str]) -> str | None:
    """The known hash that equals the presented one, compared in constant time."""
    match = None
    for digest in (*known, _NOBODY):  # at least one comparison, whether or not there is a candidate
        if hmac.compare_digest(digest, presented):
            match = digest
    return match
