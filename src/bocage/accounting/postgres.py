"""A ledger in PostgreSQL: for several hosts that charge the same accounts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bocage.accounting.entry import VERSION
from bocage.accounting.secret import MODULUS
from bocage.accounting.store import Run, Store, Value
from bocage.accounting.tables import Dialect
from bocage.errors import LedgerBusy, LedgerError

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


class PostgresStore(Store):
    """The row of `head` is the one lock: who holds it alone may append.

    The chain needs one total order of entries, so charges wait for each other in any case. Locking
    its head first makes that explicit, leaves no order in which two charges could deadlock, and
    everything read after it is the state that the previous charge committed.
    """

    begin_write = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    take_lock = "SELECT 1 FROM head FOR UPDATE"

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        self._psycopg = _import()
        self.database_error = self._psycopg.Error
        self.url = url
        self.timeout_seconds = timeout_seconds
        super().__init__()

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection: psycopg.Connection[tuple[Any, ...]]
        connection = self._psycopg.connect(self.url, autocommit=True, client_encoding="utf-8")
        connection.prepare_threshold = (
            None  # a plan made for a short chain would stay for a long one
        )
        connection.execute("SELECT set_config('search_path', %s, false)", [SCHEMA])
        connection.execute("SET synchronous_commit = on")
        connection.execute(
            "SELECT set_config('lock_timeout', %s, false)", [f"{self.timeout_seconds:.3f}s"]
        )
        return connection

    def run(
        self, connection: psycopg.Connection[tuple[Any, ...]], sql: str, values: tuple[Value, ...]
    ) -> list[tuple[Any, ...]]:
        cursor = connection.execute(sql.replace("?", "%s").encode(), values)
        return cursor.fetchall() if cursor.description else []

    def lost(self, connection: psycopg.Connection[tuple[Any, ...]]) -> bool:
        return connection.closed

    def explain(self, error: Exception, *, committing: bool) -> LedgerError:
        if isinstance(error, self._psycopg.errors.LockNotAvailable):
            return LedgerBusy(
                f"another process held the ledger for more than {self.timeout_seconds:g} seconds. "
                "Try again. Nothing was charged."
            )
        outcome = "The charge may stand" if committing else "Nothing was charged"
        return LedgerError(f"the ledger's database cannot be used ({_told(error)}). {outcome}.")

    def recognize(self) -> None:
        with self.read() as run:
            if not _exists(run):
                raise LedgerError(
                    "the database has no ledger. Create a ledger explicitly if it is new."
                )
            rows = run("SELECT memo FROM entries WHERE number = 1")
            ((durable,),) = run("SHOW fsync")
        version = json.loads(rows[0][0]).get("version", VERSION) if rows else VERSION
        if version > VERSION:
            raise LedgerError(
                f"the ledger was written by a newer Bocage (format {version}, this one reads "
                f"{VERSION}). Upgrade."
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
                _DIALECT.upgrade(run, known=("answers",))

    def tables(self, run: Run) -> set[str]:
        return {
            name for (name,) in run("SELECT tablename FROM pg_tables WHERE schemaname = ?", SCHEMA)
        }

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
        missing += [
            f"the index {name} is missing." for name in sorted(_INDEXES - {x for (x,) in indexes})
        ]
        return missing + [
            f"the trigger {name} of {table} is missing or switched off."
            for table, name in sorted(_TRIGGERS - set(triggers))
        ]


def create(url: str, fill: Callable[[Run], None]) -> None:
    """Make the tables in a schema of their own, unless they are there already."""
    psycopg = _import()

    def run(sql: str, *values: Value) -> list[tuple[Any, ...]]:
        cursor = connection.execute(sql.replace("?", "%s").encode(), values)
        return cursor.fetchall() if cursor.description else []

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
        raise LedgerError(
            f"the ledger cannot be created in the database ({_told(error)})."
        ) from None


def _told(error: Any) -> str:
    """What a driver says, unless it quotes the address, which may hold a password."""
    said = str(error).strip()
    if error.sqlstate is None and type(error).__name__ == "ProgrammingError":
        return "its address cannot be read: postgresql://user@host:port/database"
    return said.splitlines()[0] if said else type(error).__name__


def _has_secret(run: Run) -> bool:
    return bool(run("SELECT to_regclass(?)", f"{SCHEMA}.secret")[0][0])


def _exists(run: Run) -> bool:
    return bool(run("SELECT to_regclass(?)", f"{SCHEMA}.head")[0][0])


def _import() -> Any:
    try:
        import psycopg  # noqa: PLC0415 - an optional dependency, loaded when it is asked for
    except ImportError as error:
        raise LedgerError(
            "a ledger in PostgreSQL needs psycopg 3: install bocage[postgres]."
        ) from error
    return psycopg
