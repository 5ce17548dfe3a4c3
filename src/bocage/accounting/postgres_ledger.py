"""A ledger in PostgreSQL: for several hosts that charge the same accounts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bocage.accounting.entry import VERSION
from bocage.accounting.ledger_store import LedgerStore
from bocage.accounting.secret import MODULUS
from bocage.accounting.sql_schema import Dialect
from bocage.errors import LedgerError
from bocage.storage import PostgresStore, Run, Value
from bocage.storage.postgres import execute, import_psycopg, reason

if TYPE_CHECKING:
    import psycopg

SCHEMA = "bocage_ledger"
_DIALECT = Dialect(
    integer="BIGINT",
    blob="BYTEA",
    strict="",
    guard=(
        (
            "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
        ),
    ),
    count="CREATE TRIGGER counted AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION count_in()",
)
_COUNT_IN = (
    "CREATE FUNCTION count_in() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
    f"UPDATE {SCHEMA}.tally SET number = number + 1, seals = mod(seals + NEW.seal, {MODULUS}) "
    "WHERE name = TG_TABLE_NAME; RETURN NULL; END$$"
)
_TABLES = {"answers", "entries", "head", "scopes", "secret", "tally"}
_INDEXES = {"declarations", "one_entry_per_request"}
_TRIGGERS = {("answers", "append_only"), ("answers", "counted"), ("entries", "append_only")}
_CREATION_LOCK = 0x626F63616765  # any number that nobody else locks


class PostgresLedger(LedgerStore, PostgresStore):
    """The row of `head` is the one lock: who holds it alone may append.

    The chain needs one total order of entries, so charges wait for each other in any case. Locking
    its head first makes that explicit, leaves no order in which two charges could deadlock, and
    everything read after it is the state that the previous charge committed.
    """

    take_lock = "SELECT 1 FROM head FOR UPDATE"

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = super().connect()
        connection.execute("SELECT set_config('search_path', %s, false)", [SCHEMA])
        return connection

    def recognize(self) -> None:
        with self.read() as run:
            if not _exists(run):
                raise LedgerError("the database has no ledger. Create a ledger explicitly if it is new.")
            rows = run("SELECT memo FROM entries WHERE number = 1")
            ((durable,),) = run("SHOW fsync")
        version = json.loads(rows[0][0]).get("version", VERSION) if rows else VERSION
        if version > VERSION:
            raise LedgerError(
                f"the ledger was written by a newer Bocage (format {version}, this one reads {VERSION}). Upgrade."
            )
        if durable != "on":
            raise LedgerError("the database runs with fsync off: a charge would not be durable.")

    def upgrade(self) -> None:
        with self.read() as run:
            if _has_secret(run):
                return
        with self.write() as run:
            if not _has_secret(run):  # another process may have been faster
                run(_COUNT_IN)
                _DIALECT.upgrade(run, present=("answers",))

    def damage(self, run: Run) -> list[str]:
        if not _has_secret(run):  # an older format
            return []
        indexes = run("SELECT indexname FROM pg_indexes WHERE schemaname = ?", SCHEMA)
        triggers = run(
            "SELECT relname, tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
            "WHERE relnamespace = to_regnamespace(?) AND tgenabled = 'O'",
            SCHEMA,
        )
        missing = [f"the table {name} is missing." for name in sorted(_TABLES - self.tables(run))]
        missing += [f"the index {name} is missing." for name in sorted(_INDEXES - {x for (x,) in indexes})]
        return missing + [
            f"the trigger {name} of {table} is missing or switched off."
            for table, name in sorted(_TRIGGERS - set(triggers))
        ]


def create(url: str, fill: Callable[[Run], None]) -> None:
    """Make the tables in a schema of their own, unless they are there already."""
    psycopg = import_psycopg()

    def run(sql: str, *values: Value) -> list[tuple[Any, ...]]:
        return execute(connection, sql, values)

    try:
        with psycopg.connect(url) as connection:
            run("SELECT pg_advisory_xact_lock(?)", _CREATION_LOCK)
            if _exists(run):
                return
            run(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            run(f"SET LOCAL search_path = {SCHEMA}")
            run("SET LOCAL synchronous_commit = on")
            run(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                "$$BEGIN RAISE EXCEPTION 'the ledger is append-only'; END$$"
            )
            run(_COUNT_IN)
            _DIALECT.create(run)
            fill(run)
    except psycopg.Error as error:
        raise LedgerError(f"the ledger cannot be created in the database ({reason(error)}).") from None


def _has_secret(run: Run) -> bool:
    return bool(run("SELECT to_regclass(?)", f"{SCHEMA}.secret")[0][0])


def _exists(run: Run) -> bool:
    return bool(run("SELECT to_regclass(?)", f"{SCHEMA}.head")[0][0])
