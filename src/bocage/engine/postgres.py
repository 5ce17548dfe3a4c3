"""PostgreSQL: the counting happens in the server, only counts travel."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from bocage.engine import sql
from bocage.engine.base import Engine
from bocage.engine.codes.encode import refuse_absent
from bocage.engine.error_wall import guarded, guarded_each
from bocage.engine.rows import BATCH, Matrix, check_listing
from bocage.engine.versions import Pinned
from bocage.errors import EngineError, SourceError
from bocage.plan import Question, Tally
from bocage.schema import Categorical, Schema

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

_log = logging.getLogger("bocage.engine")

# The name is looked up as it stands, then as namespace.name.
_FIND = """
SELECT c.oid, n.nspname, c.relname, c.relkind::text,
       has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = COALESCE(
    to_regclass(quote_ident($1)),
    CASE WHEN $2 <> '' AND has_schema_privilege(to_regnamespace(quote_ident($2)), 'USAGE')
         THEN to_regclass(quote_ident($2) || '.' || quote_ident($3)) END)
"""
_COLUMNS = """
SELECT a.attname,
       CASE COALESCE(b.typtype, t.typtype) WHEN 'e' THEN 'enum'
            ELSE format_type(COALESCE(b.oid, t.oid), NULL) END,
       has_column_privilege(a.attrelid, a.attnum, 'SELECT')
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
     LEFT JOIN pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
"""
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SEARCH = "SELECT set_config('search_path', 'pg_catalog, pg_temp', false)"
MOST_IDLE = 4  # connections that wait for the next question
_STORAGE_ORDER = {"r": "ctid", "m": "ctid", "p": "tableoid, ctid"}


class PostgresEngine:
    """Counts the rows of one table or view of a PostgreSQL server (12 or later).

    A moment is a transaction that reads one snapshot, on a connection of its own; it is looked at when
    it begins. Sessions are read-only. After a server was lost, the next moment connects again.

    Parameters
    ----------
    url
        ``postgresql://user@host:port/database``. It needs no right but to read the table::

            CREATE ROLE bocage LOGIN PASSWORD '...';
            GRANT CONNECT ON DATABASE hospital TO bocage;
            GRANT USAGE ON SCHEMA public TO bocage;
            GRANT SELECT ON public.patients TO bocage;

    table
        Its name, or ``namespace.name``. Case matters and no quotes are needed.
    schema
        What is public about it.
    timeout_seconds
        After this time the server gives up a statement.

    Privacy
    -------
    The answers are exact and private. Errors after opening are opaque; the log names their class only.
    """

    name = "postgres"

    def __init__(self, url: str, table: str, schema: Schema, *, timeout_seconds: float | None = None) -> None:
        self.schema = schema
        self._url, self._timeout = url, timeout_seconds
        self._lock, self._closed = threading.Lock(), False
        connection = self._connect()
        self._idle = [connection]
        unreadable = SourceError(f"table {table!r} cannot be read; the reason is in the server's log.")
        try:
            guarded(lambda: self._find(table, connection), (self._psycopg.Error,), unreadable)
        except EngineError:
            self.close()
            raise

    @property
    def version(self) -> str | None:
        """None: other sessions may write at any moment."""

    def pin(self) -> Engine:
        failures = (self._psycopg.Error, OSError)
        return guarded(self._begun, failures, self._refused())

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        with closing(self.pin()) as pinned:
            return pinned.answer(questions)

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        with closing(self.pin()) as pinned:
            yield from pinned.rows(question)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def give_back(self, connection: Connection) -> None:
        """Take a connection for the next moment, if it is as good as new."""
        try:
            connection.execute("ROLLBACK")
        except self._psycopg.Error:
            connection.close()
        with self._lock:
            if not (self._closed or connection.closed or len(self._idle) >= MOST_IDLE):
                self._idle.append(connection)
                return
        connection.close()

    def _refused(self) -> SourceError:
        return SourceError(f"table {self.schema.name!r} cannot be read as it is now. The reason is in the owner's log.")

    def _begun(self) -> Engine:
        """A transaction that sees one moment, its table looked at."""
        with self._lock:
            if self._closed:
                raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                connection.execute(_BEGIN)
            except self._psycopg.OperationalError:  # the server was lost since the last moment
                connection.close()
        if connection is None or connection.closed:
            connection = self._connect()
            connection.execute(_SEARCH)
            connection.execute(_BEGIN)
        try:
            with connection.cursor() as cursor:
                source = self._source(cursor)
        except BaseException:
            self.give_back(connection)
            raise
        return PinnedPostgres(self, connection, self.schema, source, self._types)

    def _source(self, cursor: psycopg.Cursor[Any]) -> str:
        """The relation to count, in the snapshot of this transaction."""
        if self._read_types(cursor) != self._types:
            _log.error("postgres: the columns of the table were changed; open it again.")
            raise self._refused()
        if not self._over_cap(cursor):
            return self._relation
        if self.schema.over_cap == "refuse":
            _log.error("postgres: the table grew over its row cap.")
            raise self._refused()
        return f"(SELECT * FROM {self._relation} ORDER BY {self._order} LIMIT {self.schema.rows_bound}) AS cut"

    def _over_cap(self, cursor: psycopg.Cursor[Any]) -> bool:
        cap = self.schema.row_cap
        if cap is None:
            return False  # no server holds more rows than the largest possible cap
        some = f"SELECT 1 FROM {self._relation} LIMIT {cap + 1}"
        row = cursor.execute(f"SELECT count(*) > {cap} FROM ({some}) AS head").fetchone()
        return bool(row and row[0])

    def _find(self, table: str, connection: Connection) -> None:
        if "\0" in table:
            raise SourceError("PostgreSQL has no names with a NUL character.")
        with connection.transaction(), connection.cursor() as cursor:
            row = cursor.execute(_FIND, (table, *table.partition(".")[::2])).fetchone()
            if row is None:
                raise SourceError(
                    f"the server has no table {table!r} that this role can see. Check the name "
                    "(case matters; namespace.name is possible) and GRANT USAGE ON SCHEMA."
                )
            self._oid, namespace, relation, kind, writes = row
            self._relation = f"{sql.quoted(namespace)}.{sql.quoted(relation)}"
            self._order = _STORAGE_ORDER.get(kind, "")
            # From here on no other namespace can lend its functions and operators.
            cursor.execute(_SEARCH)
            self._types = self._read_types(cursor)
            if self.schema.over_cap == "cut" and not self._order:
                raise SourceError(
                    f"{table!r} is a view or a foreign table, which has no storage order to cut "
                    'at the row cap. Use the table itself, or over_cap = "refuse".'
                )
            if self.schema.over_cap == "refuse" and self._over_cap(cursor):
                raise SourceError(f"the source holds more rows than the row cap of {self.schema.row_cap}.")
        if writes:
            _log.warning("postgres: the role may write to the table; SELECT would be enough.")

    def _read_types(self, cursor: psycopg.Cursor[Any]) -> dict[str, str]:
        """The type of each column of the schema, all of them readable and of a fitting type."""
        rows = cursor.execute(_COLUMNS, (self._oid,)).fetchall()
        columns = {name: (type_name, readable) for name, type_name, readable in rows}
        refuse_absent(self.schema, columns)
        types = {}
        for column in self.schema:
            type_name, readable = columns[column.name]
            if not readable:
                raise SourceError(
                    f"this role may not read column {column.name!r}. GRANT SELECT ON {self._relation} to it."
                )
            fitting = sql.CATEGORICAL if isinstance(column, Categorical) else sql.NUMERIC
            if type_name not in fitting:
                raise SourceError(
                    f"column {column.name!r} is {column.kind}, but its type is {type_name}. Cast it "
                    f"in a view to one of {', '.join(sorted(fitting))}."
                )
            types[column.name] = type_name
        return types

    def _connect(self) -> Connection:
        try:
            import psycopg  # noqa: PLC0415 - optional, and slow to import
        except ImportError:
            raise SourceError("PostgreSQL needs an extra: pip install 'bocage[postgres]'.") from None
        self._psycopg = psycopg
        refused = ""
        try:
            connection = psycopg.connect(self._url, autocommit=True, client_encoding="utf8", prepare_threshold=None)
        except psycopg.Error as error:
            refused = str(error)
        if refused:
            raise SourceError(_reason(self._url, refused))
        connection.cursor_factory = psycopg.RawCursor
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        settings = {
            "default_transaction_read_only": "on",
            "idle_in_transaction_session_timeout": "0",  # a moment lasts as long as its reader
            "statement_timeout": f"{int((self._timeout or 0) * 1000)}ms",
            "work_mem": "64MB",  # for each hash table; a larger one goes to disk
            "jit": "off",  # compiling a large plan takes longer than running it
        }
        for name, value in settings.items():
            connection.execute("SELECT set_config($1, $2, false)", (name, value))
        if connection.info.parameter_status("server_encoding") != "UTF8":
            connection.close()
            raise SourceError("the database does not store UTF-8; text could not be compared exactly.")
        return connection


class PinnedPostgres:
    """One snapshot of the table, in a transaction that ends when this engine is closed."""

    name = "postgres"
    version = None

    def __init__(
        self,
        engine: PostgresEngine,
        connection: Connection,
        schema: Schema,
        source: str,
        types: dict[str, str],
    ) -> None:
        self.schema, self._source, self._types = schema, source, types
        self._engine, self._connection = engine, connection
        self._lock, self._listings = threading.Lock(), itertools.count()
        self._open = True
        self._let_go = finalize(self, connection.close)

    def pin(self) -> Engine:
        return Pinned(self)

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        return guarded(lambda: self._answers(questions), _failures(), self._broken())

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        yield from guarded_each(lambda: self._rows(question), _failures(), self._broken())

    def close(self) -> None:
        with self._lock:
            was, self._open = self._open, False
        if was:
            self._let_go.detach()
            self._engine.give_back(self._connection)

    def _broken(self) -> EngineError:
        return EngineError(f"table {self.schema.name!r} could not be read. The reason is in the owner's log.")

    def _check_open(self) -> None:
        if not self._open:
            raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")

    def _rows(self, question: Question) -> Iterator[Matrix]:
        # A cursor of the server's own: it sends a batch when it is asked for one.
        name = f"listing{next(self._listings)}"
        statement = sql.listing(question, self.schema, self._source, self._types)
        declared = f"DECLARE {name} NO SCROLL CURSOR FOR {statement.text}"
        with self._lock:
            self._check_open()
            self._connection.execute(declared, statement.parameters)
        while True:
            with self._lock:
                self._check_open()
                fetched = self._connection.execute(f"FETCH {BATCH} FROM {name}").fetchall()
            if not fetched:
                break
            yield np.array(fetched, np.uint16).T

    def _answers(self, questions: Sequence[Question]) -> list[Tally]:
        with self._lock:
            self._check_open()
            with self._connection.cursor() as cursor:
                return [self._answer(cursor, question) for question in questions]

    def _answer(self, cursor: psycopg.Cursor[Any], question: Question) -> Tally:
        source = self._source
        tally = Tally.zeros(question, self.schema)
        if question.sums or not question.columns:
            statement = sql.totals(question, self.schema, source, self._types)
            labels = question.labels(self.schema)
            for key, count, *sums in cursor.execute(statement.text, statement.parameters):
                tally.totals[divmod(key, labels)] = count
                for name, value in zip(question.sums, sums, strict=True):
                    tally.sums[name][key // labels] += value
        for names, statement in sql.counts(question, self.schema, source, self._types):
            rows = cursor.execute(statement.text, statement.parameters).fetchall()
            flat = np.zeros(sum(tally.columns[name].size for name in names), np.int64)
            if rows:
                position, count = np.array(rows, np.int64).T
                flat[position] = count
            for name in names:
                counts = tally.columns[name]
                counts[...] = flat[: counts.size].reshape(counts.shape)
                flat = flat[counts.size :]
        if question.columns:
            tally.totals[...] = tally.columns[question.columns[0]].sum(axis=1)
        return tally


def _failures() -> tuple[type[Exception], ...]:
    import psycopg  # noqa: PLC0415 - an extra

    return (psycopg.Error, OSError)


def _reason(url: str, refused: str) -> str:
    """Why there is no connection, without the address, which may hold a password."""
    if "does not exist" in refused and "database" in refused:
        return "the PostgreSQL server has no such database. Check the last part of the address."
    if "password" in refused or "authentication" in refused or "role" in refused:
        return "the PostgreSQL server refuses this role or its password."
    if "://" in url and "=" not in refused and "invalid" in refused:
        return "the PostgreSQL address cannot be read: postgresql://user@host:port/database."
    return "no PostgreSQL server answers at this address. Check host and port, and that it runs."
