"""The DuckDB engine: Parquet, delimited text and DuckDB files, also larger than memory.

DuckDB reads, decodes and turns text into small integers; batches stream through the same encoders and
compiled loops as a table in memory. A small table is kept as codes while its files do not change.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import duckdb
import pyarrow as pa

from bocage.engine.codes import Codes, Encoder
from bocage.engine.counting import MOST_PRIVATE, add, count_rows, fresh, tallies, workers
from bocage.engine.encode import SMALL
from bocage.engine.guard import guarded, guarded_each
from bocage.engine.memory import AT_HAND, answer
from bocage.engine.program import Counters, compile_question
from bocage.engine.relation import Relation, from_csv, from_parquet, from_table, literal
from bocage.engine.rows import Matrix, check_listing, in_batches, listed
from bocage.errors import EngineError, SourceError
from bocage.plan import Question, Tally
from bocage.schema import Attribute, Numeric, Schema

BATCH = 2**17
KEEP_BYTES = 64 * 2**20
_FAILURES = (
    *(duckdb.Error, pa.ArrowException, csv.Error),
    *(OSError, RuntimeError, ValueError, MemoryError),
)
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    "preserve_insertion_order": "true",  # cutting a table to its first rows needs the order
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
Identity = tuple[tuple[str, int, int, int], ...]


@dataclass
class _Snapshot:
    """The files as they were when they were opened, and their codes if these are few."""

    identity: Identity
    relation: Relation
    limit: str
    codes: Codes | None = None
    large: bool = False


class DuckDBEngine:
    """Counts rows of Parquet files, of a delimited text file, or of a table in a DuckDB file.

    Parameters
    ----------
    paths
        One file, or several Parquet files that are read in this order.
    table
        The table in a DuckDB file.
    keep_bytes
        Tables with fewer bytes of codes are kept in memory while their files do not change.
    small
        As in `MemoryEngine`.
    """

    name = "duckdb"

    def __init__(
        self,
        paths: str | Path | Sequence[str | Path],
        schema: Schema,
        *,
        table: str | None = None,
        keep_bytes: int = KEEP_BYTES,
        small: int = SMALL,
    ) -> None:
        self.schema = schema
        self._paths = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
        self._names = [str(path) for path in self._paths]
        self._table, self._keep_bytes, self._small = table, keep_bytes, small
        self._lock = Lock()
        self._connection = duckdb.connect(":memory:", config=_SETTINGS)
        try:
            self._snapshot = guarded(self._open, _FAILURES, self._cannot_open())
        except EngineError:
            self.close()
            raise

    @property
    def at_hand(self) -> bool:
        codes = self._snapshot.codes
        return codes is not None and codes.rows <= AT_HAND

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        return guarded(lambda: self._answer(questions), _FAILURES, self._unread())

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        yield from guarded_each(lambda: self._rows(question), _FAILURES, self._unread())

    def close(self) -> None:
        self._connection.close()

    def _unread(self) -> EngineError:
        return EngineError(
            f"table {self.schema.name!r} could not be read. The reason is in the owner's log."
        )

    def _cannot_open(self) -> SourceError:
        what = f"the table {self._table!r}" if self._table else "rows"
        return SourceError(
            f"{', '.join(map(str, self._paths[:3]))} cannot be opened as {what} of schema "
            f"{self.schema.name!r}. It must exist, be readable and not be locked by a writer, and "
            "hold the declared columns in the format that its name says."
        )

    def _open(self) -> _Snapshot:
        identity = self._identity()
        relation = self._relation()
        cap, limit = self.schema.row_cap, ""
        if cap is not None:
            rows = self._connection.execute(
                f"SELECT count(*) > {cap} FROM {relation.sql}"
            ).fetchone()
            if rows == (True,):
                if self.schema.over_cap == "refuse":
                    raise SourceError(
                        f"the source holds more rows than the row cap of {cap} in schema "
                        f'{self.schema.name!r}. Raise the cap, or declare "over_cap": "cut".'
                    )
                limit = f" LIMIT {cap}"
        return _Snapshot(identity, relation, limit)

    def _relation(self) -> Relation:
        if self._table is not None:
            path = literal(str(self._paths[0]))
            self._connection.execute(f"ATTACH {path} AS source (READ_ONLY)")
            return from_table(self._table, self.schema, self._connection)
        if self._paths[0].suffix == ".parquet":
            return from_parquet(self._paths, self.schema, self._connection)
        return from_csv(self._paths[0], self.schema)

    def _identity(self) -> Identity:
        if self._table is not None:
            return ()  # attached read-only: nobody can change it
        stats = [(name, os.stat(name)) for name in self._names]  # noqa: PTH116 - for every question
        return tuple((name, s.st_mtime_ns, s.st_size, s.st_ino) for name, s in stats)

    def _answer(self, questions: Sequence[Question]) -> list[Tally]:
        snapshot = self._current()
        if snapshot.codes is not None:
            return answer(snapshot.codes, questions, self.schema, small=self._small)
        return self._stream(snapshot, questions)

    def _rows(self, question: Question) -> Iterator[Matrix]:
        snapshot = self._current()
        if snapshot.codes is not None:
            yield from in_batches(snapshot.codes, question)
            return
        encoder = self._encoder(snapshot, set(question.reads()))
        for columns, rows in self._batches(snapshot, encoder):
            yield listed(encoder.encode(columns, rows), question)
        self._check_unchanged(snapshot)

    def _current(self) -> _Snapshot:
        with self._lock:
            if self._identity() != self._snapshot.identity:
                self._snapshot = self._open()
            snapshot = self._snapshot
            if snapshot.codes is None and not snapshot.large:
                self._keep(snapshot)
        return snapshot

    def _encoder(self, snapshot: _Snapshot, needed: set[str]) -> Encoder:
        """Encodes these columns, and those that can drop a row."""
        needed = needed | {column.name for column in self.schema if _can_drop(column)}
        encode = {n: e for n, e in snapshot.relation.encoders.items() if n in needed}
        return Encoder(self.schema, encode)

    def _keep(self, snapshot: _Snapshot) -> None:
        """Load all codes, or find out that they are too many to keep."""
        encoder = Encoder(self.schema, snapshot.relation.encoders)
        parts: list[Codes] = []
        rows = 0
        for columns, batch in self._batches(snapshot, encoder):
            codes = encoder.encode(columns, batch)
            parts.append(codes)
            rows += codes.rows
            if rows * encoder.row_bytes > self._keep_bytes:
                snapshot.large = True
                return
        whole = encoder.room(rows)
        start = 0
        for part in parts:
            for name in encoder.index:
                whole.column(name)[start : start + part.rows] = part.column(name)
            start += part.rows
        self._check_unchanged(snapshot)
        snapshot.codes = whole

    def _stream(self, snapshot: _Snapshot, questions: Sequence[Question]) -> list[Tally]:
        needed = {name for question in questions for name in question.reads()}
        encoder = self._encoder(snapshot, needed)
        programs = [compile_question(q, self.schema, encoder.index) for q in questions]
        batches = self._batches(snapshot, encoder)
        turn = Lock()

        def work(_: int) -> list[Counters]:
            counters = fresh(programs)
            while True:
                with turn:
                    batch = next(batches, None)
                if batch is None:
                    return counters
                columns, rows = batch
                codes = encoder.encode(columns, rows)
                count_rows(codes, programs, counters, 0, codes.rows)

        private = sum(program.size for program in programs) <= MOST_PRIVATE
        threads = workers() if private else 1
        with ThreadPoolExecutor(threads) as pool:
            total, *others = pool.map(work, range(threads))
        for other in others:
            add(total, other)
        self._check_unchanged(snapshot)
        return tallies(programs, total)

    def _batches(
        self, snapshot: _Snapshot, encoder: Encoder
    ) -> Iterator[tuple[dict[str, pa.Array], int]]:
        """Columns as the encoder expects them, and the number of rows; one scan."""
        relation, names = snapshot.relation, list(encoder.index)
        # Without any column there are still rows to count.
        listed = ", ".join([relation.select[name] for name in names] or ["true"])
        rows = f"(SELECT * FROM {relation.sql}{snapshot.limit})" if snapshot.limit else relation.sql
        with self._connection.cursor() as cursor:
            # So that decoding runs ahead of counting, on all cores.
            cursor.execute("SET streaming_buffer_size = '64MB'")
            for batch in cursor.sql(f"SELECT {listed} FROM {rows}").to_arrow_reader(BATCH):
                yield dict(zip(names, batch.columns, strict=False)), batch.num_rows

    def _check_unchanged(self, snapshot: _Snapshot) -> None:
        if self._identity() != snapshot.identity:
            raise EngineError(f"the files of table {self.schema.name!r} changed during a scan.")


def _can_drop(column: Attribute) -> bool:
    """Whether a value of this column can drop a row."""
    outside = not column.clamp if isinstance(column, Numeric) else column.outside is None
    return outside or column.missing is None
