"""A PostgreSQL database as a store, for several hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bocage.errors import LedgerBusy, LedgerError
from bocage.storage.store import Run, Store, Value

if TYPE_CHECKING:
    import psycopg


class PostgresStore(Store):
    """Who holds the lock of `take_lock` is the one who writes.

    A connection sees the schema that its store puts on its search path.
    """

    begin_write = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        self._psycopg = import_psycopg()
        self.database_error = self._psycopg.Error
        self.url = url
        self.timeout_seconds = timeout_seconds
        super().__init__()

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection: psycopg.Connection[tuple[Any, ...]]
        connection = self._psycopg.connect(self.url, autocommit=True, client_encoding="utf-8")
        # no prepared statements: a plan made for a short table would stay for a long one
        connection.prepare_threshold = None
        connection.execute("SET synchronous_commit = on")
        connection.execute("SELECT set_config('lock_timeout', %s, false)", [f"{self.timeout_seconds:.3f}s"])
        return connection

    def run(
        self, connection: psycopg.Connection[tuple[Any, ...]], sql: str, values: tuple[Value, ...]
    ) -> list[tuple[Any, ...]]:
        return execute(connection, sql, values)

    def hung_up(self, connection: psycopg.Connection[tuple[Any, ...]]) -> bool:
        return connection.closed

    def explain(self, error: Exception, *, committing: bool) -> LedgerError:
        if isinstance(error, self._psycopg.errors.LockNotAvailable):
            return LedgerBusy(
                f"another process held the ledger for more than {self.timeout_seconds:g} seconds. "
                "Try again. Nothing was charged."
            )
        outcome = "The charge may stand" if committing else "Nothing was charged"
        return LedgerError(f"the ledger's database cannot be used ({reason(error)}). {outcome}.")

    def tables(self, run: Run) -> set[str]:
        rows = run("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return {name for (name,) in rows}


def execute(
    connection: psycopg.Connection[tuple[Any, ...]], sql: str, values: tuple[Value, ...]
) -> list[tuple[Any, ...]]:
    """Run SQL with `?` for values."""
    cursor = connection.execute(sql.replace("?", "%s").encode(), values)
    return cursor.fetchall() if cursor.description else []


def reason(error: Any) -> str:
    """What a driver says, unless it quotes the address, which may hold a password."""
    said = str(error).strip()
    if error.sqlstate is None and type(error).__name__ == "ProgrammingError":
        return "its address cannot be read: postgresql://user@host:port/database"
    return said.splitlines()[0] if said else type(error).__name__


def import_psycopg() -> Any:
    try:
        import psycopg  # noqa: PLC0415 - an optional dependency, loaded when it is asked for
    except ImportError as error:
        raise LedgerError("a ledger in PostgreSQL needs psycopg 3: install bocage[postgres].") from error
    return psycopg
