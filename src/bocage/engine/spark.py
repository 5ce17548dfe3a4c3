"""Spark: the way past one machine.

One job answers all questions. Every task encodes and counts its Arrow batches with the same code as
the engines in the process, so the numbers are the same, and sends home only counters. Parquet files
that all workers can open (``file:``, a shared directory) are decoded by the tasks themselves; other
sources and frames come through Spark's own readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bocage.engine.codes import Codes, Encoder
from bocage.engine.counting import count_rows, fresh, tallies
from bocage.engine.encode import encoder, is_text, refuse_absent
from bocage.engine.guard import guarded, guarded_each
from bocage.engine.program import Counters, Program, compile_question
from bocage.engine.rows import Matrix, check_listing, from_bytes, listed, to_bytes
from bocage.engine.sql import drops
from bocage.errors import EngineError, SourceError
from bocage.plan import Question, Tally
from bocage.schema import Schema

BATCH = 2**16
_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
_KINDS = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "void": pa.null(),
}
Batches = Iterable[pa.RecordBatch]
_FAILURES = (Exception,)  # of Spark, its gateway to Java, Java itself, Arrow and the files


@dataclass(frozen=True)
class _Piece:
    """Some rows of a row group, in a file as it was when it was opened."""

    path: str
    identity: tuple[int, int]
    group: int
    rows: int


class SparkEngine:
    """Counts the rows of a Spark frame, or of Parquet files that Spark can find.

    Parameters
    ----------
    source
        A DataFrame, or the path of a Parquet file or directory.
    schema
        What is public about it.
    session
        The session for a path; by default the active one. Bocage must be installed on the workers.

    Privacy
    -------
    The answers are exact and private. Errors after opening are opaque; Spark's own log is the owner's.
    """

    name = "spark"
    at_hand = False

    def __init__(self, source: Any, schema: Schema, session: Any = None) -> None:
        self.schema, self._given = schema, session
        self._path = str(source) if isinstance(source, str | Path) else None
        self._source = source
        what = "the frame" if self._path is None else repr(self._path)
        guarded(
            lambda: self._open(counting=True),
            _FAILURES,
            SourceError(
                f"{what} cannot be opened with Spark. It must exist and hold Parquet, and Spark "
                "needs Java (apt-get install openjdk-17-jre-headless)."
            ),
        )

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        return guarded(lambda: self._answer(list(questions)), _FAILURES, self._unread())

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        yield from guarded_each(lambda: self._rows(question), _FAILURES, self._unread())

    def _unread(self) -> EngineError:
        return EngineError(
            f"table {self.schema.name!r} could not be read. The reason is in the owner's log."
        )

    def close(self) -> None:
        self._source = None  # the session belongs to whoever made it

    def _session(self) -> Any:
        if self._path is None:
            return self._source.sparkSession
        try:
            from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra
        except ImportError:
            raise SourceError("Spark needs an extra: pip install 'bocage[spark]'.") from None
        return self._given or SparkSession.builder.getOrCreate()

    def _open(self, *, counting: bool) -> tuple[Any, list[_Piece] | None]:
        """The frame, and the row groups of its files where the tasks can read them."""
        if self._source is None:
            raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")
        frame = self._source
        if self._path is not None:
            frame = self._session().read.parquet(self._path)
        kinds = _kinds(frame, self.schema)
        pieces = None if self._path is None else _pieces(frame, kinds)
        cap, refuses = self.schema.row_cap, self.schema.over_cap == "refuse"
        if cap is None:
            return frame, pieces
        if pieces is not None:
            over = sum(piece.rows for piece in pieces) > cap
        else:  # who refuses learns the number of rows from the job itself
            over = (counting or not refuses) and frame.limit(cap + 1).count() > cap
        if over and refuses:
            raise SourceError(
                f"the source holds more rows than the row cap of {cap} in schema "
                f'{self.schema.name!r}. Raise the cap, or declare "over_cap": "cut".'
            )
        if over and pieces is not None:
            pieces = _cut(pieces, cap)
        elif over:
            frame = _first(frame, cap)
        return frame, pieces

    def _answer(self, questions: list[Question]) -> list[Tally]:
        names = self._needed(questions)
        count = partial(_count, schema=self.schema, questions=questions, names=names)
        rows, job = self._job(names, count)
        with _large_batches(rows.sparkSession):
            found = rows.mapInArrow(job, "position long, count long").toArrow()
        programs = _programs(self.schema, questions, names)
        counters = fresh(programs)
        total = _gather(found, counters)
        if total > self.schema.rows_bound:
            raise self._unread()
        return tallies(programs, counters)

    def _rows(self, question: Question) -> Iterator[Matrix]:
        names = self._needed([question])
        rows, job = self._job(
            names, partial(_list, schema=self.schema, question=question, names=names)
        )
        seen = 0
        with _large_batches(rows.sparkSession):
            for read, content in rows.mapInArrow(job, "rows long, codes binary").toLocalIterator():
                seen += read
                yield from_bytes(bytes(content), question.columns)
        if seen > self.schema.rows_bound:
            raise self._unread()

    def _needed(self, questions: Sequence[Question]) -> tuple[str, ...]:
        needed = {name for question in questions for name in question.reads()}
        needed |= {column.name for column in self.schema if drops(column)}
        # A batch without columns would not know its rows.
        return tuple(c.name for c in self.schema if c.name in needed) or (
            next(iter(self.schema)).name,
        )

    def _job(
        self, names: tuple[str, ...], work: Callable[[Batches], Batches]
    ) -> tuple[Any, Callable[[Batches], Batches]]:
        """What the tasks are given, and what they do with it."""
        frame, pieces = self._open(counting=False)
        if pieces is None:
            columns = [f"c{frame.columns.index(name)}" for name in names]
            return _by_position(frame).select(columns), work
        texts = [name for name, kind in _kinds(frame, self.schema).items() if is_text(kind)]
        read = partial(_read_and_work, work=work, pieces=pieces, names=names, texts=texts)
        return self._session().range(len(pieces)), read


def _kinds(frame: Any, schema: Schema) -> dict[str, pa.DataType]:
    """The Arrow type of each column of the schema, all of them fitting."""
    refuse_absent(schema, frame.columns)
    fields = frame.schema.fields
    kinds = {}
    for column in schema:
        if frame.columns.count(column.name) > 1:
            raise SourceError(f"the source has two columns {column.name!r}. Rename or remove one.")
        spark = fields[frame.columns.index(column.name)].dataType
        if spark.typeName() == "decimal":
            kind = pa.decimal128(spark.precision, spark.scale)
        elif spark.typeName() in _KINDS:
            kind = _KINDS[spark.typeName()]
        else:
            raise SourceError(
                f"column {column.name!r} is {column.kind} in the schema, but the source holds "
                f"{spark.simpleString()}. Cast it to text, a number or a boolean."
            )
        encoder(column, kind)  # refuses what does not fit
        kinds[column.name] = kind
    return kinds


def _by_position(frame: Any) -> Any:
    """Spark resolves names without regard to case; positions are exact and need no quotes."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def _first(frame: Any, rows: int) -> Any:
    from pyspark.sql.functions import monotonically_increasing_id  # noqa: PLC0415 - an extra

    numbered = _by_position(frame).withColumn("row", monotonically_increasing_id())
    return numbered.orderBy("row").limit(rows).drop("row").toDF(*frame.columns)


def _pieces(frame: Any, kinds: dict[str, pa.DataType]) -> list[_Piece] | None:
    """The row groups of all files, in order, if they are where every worker sees them."""
    addresses = [urlsplit(address) for address in sorted(frame.inputFiles())]
    if any(address.scheme != "file" or address.netloc for address in addresses):
        return None
    pieces = []
    for address in addresses:
        path = unquote(address.path)
        if not Path(path).is_file():
            return None
        identity = _identity(path)
        with pq.ParquetFile(path) as file:
            held = file.schema_arrow
            if not all(_same(held, name, kind) for name, kind in kinds.items()):
                return None  # such as a column that only the directory's name holds
            groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
        pieces += [_Piece(path, identity, group, rows) for group, rows in enumerate(groups)]
    return pieces


def _same(held: pa.Schema, name: str, kind: pa.DataType) -> bool:
    if held.names.count(name) != 1:
        return False
    found = held.field(name).type
    if pa.types.is_dictionary(found):
        found = found.value_type
    return bool(found == kind or (is_text(found) and is_text(kind)))


def _cut(pieces: list[_Piece], rows: int) -> list[_Piece]:
    kept = []
    for piece in pieces:
        take = min(piece.rows, rows)
        kept.append(_Piece(piece.path, piece.identity, piece.group, take))
        rows -= take
    return [piece for piece in kept if piece.rows]


def _identity(path: str) -> tuple[int, int]:
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns


@contextmanager
def _large_batches(session: Any) -> Iterator[None]:
    before = session.conf.get(_BATCH_SETTING)
    session.conf.set(_BATCH_SETTING, str(BATCH))
    try:
        yield
    finally:
        session.conf.set(_BATCH_SETTING, before)


def _programs(schema: Schema, questions: Sequence[Question], names: Sequence[str]) -> list[Program]:
    index = Encoder(schema, dict.fromkeys(names, _nothing)).index
    return [compile_question(question, schema, index) for question in questions]


def _nothing(*_: Any) -> None:
    """Stands for an encoder where only the order of the columns matters."""


# What follows runs on the workers, except `_gather`.


def _read_and_work(
    ids: Batches,
    *,
    work: Callable[[Batches], Batches],
    pieces: Sequence[_Piece],
    names: Sequence[str],
    texts: Sequence[str],
) -> Batches:
    chosen = [pieces[i] for batch in ids for i in batch.column(0).to_pylist()]
    return work(_read(chosen, names, texts))


def _read(pieces: Sequence[_Piece], names: Sequence[str], texts: Sequence[str]) -> Batches:
    for piece in pieces:
        left = piece.rows
        with pq.ParquetFile(piece.path, read_dictionary=list(texts), memory_map=True) as file:
            for batch in file.iter_batches(
                BATCH, row_groups=[piece.group], columns=list(names), use_threads=False
            ):
                yield batch.select(list(names)).slice(0, left)
                left = max(left - batch.num_rows, 0)
        if _identity(piece.path) != piece.identity:
            raise OSError("a file changed while it was read")


def _count(
    batches: Batches, *, schema: Schema, questions: Sequence[Question], names: Sequence[str]
) -> Batches:
    """Count batches of these columns; yield the counters that are not 0, and the number of rows."""
    programs = _programs(schema, questions, names)
    counters = fresh(programs)
    rows = 0
    for codes, read in _encoded(batches, schema, names):
        count_rows(codes, programs, counters, 0, codes.rows)
        rows += read
    flat = np.concatenate([[rows], *(part.ravel() for part in _parts(counters))]).astype(np.int64)
    position = np.flatnonzero(flat)
    yield pa.RecordBatch.from_arrays(
        [pa.array(position, pa.int64()), pa.array(flat[position])], ["position", "count"]
    )


def _list(batches: Batches, *, schema: Schema, question: Question, names: Sequence[str]) -> Batches:
    """For each batch the number of rows read, and the codes asked for as bytes."""
    for codes, read in _encoded(batches, schema, names):
        content = to_bytes(listed(codes, question))
        yield pa.RecordBatch.from_arrays(
            [pa.array([read], pa.int64()), pa.array([content], pa.binary())], ["rows", "codes"]
        )


def _encoded(batches: Batches, schema: Schema, names: Sequence[str]) -> Iterator[tuple[Codes, int]]:
    encoders: Encoder | None = None
    for batch in batches:
        columns = dict(zip(names, batch.columns, strict=True))
        if encoders is None:
            kinds = {name: array.type for name, array in columns.items()}
            encoders = Encoder(schema, {n: encoder(schema[n], kinds[n]) for n in names})
        yield encoders.encode(columns, batch.num_rows), batch.num_rows


def _gather(found: pa.Table, counters: list[Counters]) -> int:
    """Add what the tasks counted; return the number of rows that they saw."""
    parts = _parts(counters)
    flat = np.zeros(1 + sum(part.size for part in parts), np.int64)
    np.add.at(flat, found["position"].to_numpy(), found["count"].to_numpy())
    start = 1
    for part in parts:
        part[...] = flat[start : start + part.size].reshape(part.shape)
        start += part.size
    return int(flat[0])


def _parts(counters: Iterable[Counters]) -> list[Any]:
    return [part for counter in counters for part in (counter.counts, counter.sums)]
