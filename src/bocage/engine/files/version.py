"""Files as they were at one moment: what DuckDB reads of them, and their codes if these are few.

Opening reads every declared column to the end, so that what cannot be read is refused then and no
question fails because of what a row holds. The files stay held: who replaces one under its name
changes nothing here, and who writes into one spoils what is read, which is noticed.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from threading import Lock
from typing import cast

import duckdb
import pyarrow as pa

from bocage.engine.codes.codes import Codes, Encoder
from bocage.engine.codes.compiled_question import Counters, compile_question
from bocage.engine.codes.counting import MOST_PRIVATE, add, count_rows, fresh, tallies, workers
from bocage.engine.files.held_files import HeldFiles, Stamp, stamps
from bocage.engine.files.relation import FED, Relation, from_parquet, from_table, from_text, literal
from bocage.engine.files.text import open_text
from bocage.engine.memory import answer
from bocage.engine.rows import Matrix, in_batches, listed
from bocage.errors import EngineError, SourceError
from bocage.plan import Question, Tally
from bocage.schema import Attribute, Numeric, Schema

BATCH = 2**17
FAILURES = (
    *(duckdb.Error, pa.ArrowException, csv.Error),
    *(OSError, EOFError, RuntimeError, ValueError, MemoryError),
)
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    "preserve_insertion_order": "true",  # cutting a table to its first rows needs the order
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_file_cache": "false",  # a held file's name may be another file's tomorrow
}


class FileVersion:
    """One version of some files, or of a table or view in a DuckDB file.

    Attributes
    ----------
    stamps
        What the files were when they were opened.
    codes
        All rows, where they are few enough to keep.
    is_view
        Whether the rows come from wherever a view takes them, so that every look needs a new scan.
    """

    def __init__(self, paths: Sequence[Path], schema: Schema, table: str | None, keep_bytes: int, small: int) -> None:
        self.schema, self._small = schema, small
        self.codes: Codes | None = None
        self.is_view = False
        self._files = HeldFiles(_beside(paths, table))
        self.stamps = self._files.stamps
        self._connection = duckdb.connect(":memory:", config=_SETTINGS)
        self._relation = self._find(paths, table)
        cuts = schema.row_cap is not None and schema.over_cap == "cut"
        self._limit = f" LIMIT {schema.row_cap}" if cuts else ""
        if not self.is_view:
            self.codes = self._load(keep_bytes)
        self._files.check()

    @staticmethod
    def stamps_now(paths: Sequence[Path], table: str | None) -> tuple[Stamp, ...]:
        return stamps(_beside(paths, table))

    @property
    def version(self) -> str | None:
        return None if self.is_view else self._files.digest()

    def _find(self, paths: Sequence[Path], table: str | None) -> Relation:
        if table is not None:
            # By its own name, for DuckDB looks for the file's log beside it. It holds the file itself.
            self._connection.execute(f"ATTACH {literal(str(paths[0]))} AS source (READ_ONLY)")
            if self.stamps_now(paths, table) != self.stamps:
                raise EngineError("the database file was replaced while it was opened.")
            relation, self.is_view = from_table(table, self.schema, self._connection)
            return relation
        if paths[0].suffix == ".parquet":
            return from_parquet(self._files.names, self.schema, self._connection)
        text = open_text(self._files.names[0], paths[0], self.schema.layout)
        return from_text(text, self.schema)

    def moment(self) -> Codes:
        """All rows as they are now, however many."""
        return cast("Codes", self._load(inf))

    def _load(self, keep_bytes: float) -> Codes | None:
        """Read all columns of all rows; their codes, or None if they are too many to keep."""
        encoder = Encoder(self.schema, self._relation.encoders)
        cap = self.schema.rows_bound
        parts: list[Codes] = []
        seen = rows = 0
        keeps = keep_bytes >= 0
        for columns, batch in self._batches(encoder):
            seen += batch
            if seen > cap:
                raise SourceError(
                    f"the source holds more rows than the row cap of {cap} in schema "
                    f'{self.schema.name!r}. Raise the cap, or declare "over_cap": "cut".'
                )
            if keeps:
                codes = encoder.encode(columns, batch)
                rows += codes.rows
                parts.append(codes)
                if rows * encoder.row_bytes > keep_bytes:
                    keeps = False
                    parts.clear()
        return _joined(parts, rows, encoder) if keeps else None

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        if self.codes is not None:
            return answer(self.codes, questions, self.schema, small=self._small)
        return self._stream(questions)

    def rows(self, question: Question) -> Iterator[Matrix]:
        if self.codes is not None:
            yield from in_batches(self.codes, question)
            return
        encoder = self._encoder(set(question.reads()))
        for columns, rows in self._batches(encoder):
            yield listed(encoder.encode(columns, rows), question)
        self._files.check()

    def close(self) -> None:
        self._connection.close()
        self._files.close()

    def _encoder(self, needed: set[str]) -> Encoder:
        """Encodes these columns, and those that can drop a row."""
        needed = needed | {column.name for column in self.schema if _can_drop(column)}
        encode = {n: e for n, e in self._relation.encoders.items() if n in needed}
        return Encoder(self.schema, encode)

    def _stream(self, questions: Sequence[Question]) -> list[Tally]:
        encoder = self._encoder({name for question in questions for name in question.reads()})
        compiled = [compile_question(q, self.schema, encoder.index) for q in questions]
        batches = self._batches(encoder)
        turn = Lock()

        def work(_: int) -> list[Counters]:
            counters = fresh(compiled)
            while True:
                with turn:
                    batch = next(batches, None)
                if batch is None:
                    return counters
                columns, rows = batch
                codes = encoder.encode(columns, rows)
                count_rows(codes, compiled, counters, 0, codes.rows)

        private = sum(question.size for question in compiled) <= MOST_PRIVATE
        threads = workers() if private else 1
        with ThreadPoolExecutor(threads) as pool:
            total, *others = pool.map(work, range(threads))
        for other in others:
            add(total, other)
        self._files.check()
        return tallies(compiled, total)

    def _batches(self, encoder: Encoder) -> Iterator[tuple[dict[str, pa.Array], int]]:
        """Columns as the encoder expects them, and the number of rows; one scan."""
        relation, names = self._relation, list(encoder.index)
        # Without any column there are still rows to count.
        listed = ", ".join([relation.select[name] for name in names] or ["true"])
        rows = f"(SELECT * FROM {relation.sql}{self._limit})" if self._limit else relation.sql
        with self._connection.cursor() as cursor:
            # So that decoding runs ahead of counting, on all cores.
            cursor.execute("SET streaming_buffer_size = '64MB'")
            if relation.feed is not None:
                cursor.register(FED, relation.feed(names))
            for batch in cursor.sql(f"SELECT {listed} FROM {rows}").to_arrow_reader(BATCH):
                yield dict(zip(names, batch.columns, strict=False)), batch.num_rows


def _beside(paths: Sequence[Path], table: str | None) -> list[Path]:
    """The files that hold the rows: a database's log holds what is not yet in its file."""
    if table is None:
        return list(paths)
    log = paths[0].with_name(f"{paths[0].name}.wal")
    return [*paths, log] if os.path.exists(log) else list(paths)  # noqa: PTH110 - for every question


def _joined(parts: Sequence[Codes], rows: int, encoder: Encoder) -> Codes:
    whole = encoder.room(rows)
    start = 0
    for part in parts:
        for name in encoder.index:
            whole.column(name)[start : start + part.rows] = part.column(name)
        start += part.rows
    return whole


def _can_drop(column: Attribute) -> bool:
    """Whether a value of this column can drop a row."""
    outside = not column.clamp if isinstance(column, Numeric) else column.outside is None
    return outside or column.missing is None
