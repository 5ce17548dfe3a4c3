"""Spark: the way past one machine.

One job answers all questions. Every task encodes and counts its Arrow batches with the same code as
the engines in the process, so the numbers are the same, and sends home only counters. Parquet files
that all workers can open (``file:``, a shared directory) are decoded by the tasks themselves; other
sources and frames come through Spark's own readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from bocage.engine.base import Engine
from bocage.engine.codes.counting import fresh, tallies
from bocage.engine.codes.encode import encoder, is_text, refuse_absent
from bocage.engine.error_wall import guarded, guarded_each
from bocage.engine.rows import Matrix, check_listing, from_bytes
from bocage.engine.spark_tasks import (
    BATCH,
    Batches,
    Piece,
    compiled_questions,
    count,
    digests,
    gather,
    identity_of,
    list_rows,
    read_and_work,
)
from bocage.engine.sql import drops
from bocage.engine.versions import Pinned
from bocage.errors import EngineError, SourceError
from bocage.plan import Question, Tally
from bocage.schema import Schema

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
_FAILURES = (Exception,)  # of Spark, its gateway to Java, Java itself, Arrow and the files


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

    def __init__(self, source: Any, schema: Schema, session: Any = None) -> None:
        self.schema, self._given = schema, session
        self._path = str(source) if isinstance(source, str | Path) else None
        self._source = source
        what = "the frame" if self._path is None else repr(self._path)
        guarded(
            lambda: self._opened(frozen=schema.row_cap is not None),
            _FAILURES,
            SourceError(
                f"{what} cannot be opened with Spark. It must exist and hold Parquet, and Spark "
                "needs Java (apt-get install openjdk-17-jre-headless)."
            ),
        )

    @property
    def version(self) -> str | None:
        return self.pin().version

    def pin(self) -> Engine:
        return guarded(lambda: self._opened(frozen=True), _FAILURES, self._refused())

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        # One job reads everything once: that is a moment, and needs no copy of the rows.
        for question in questions:
            question.check(self.schema)
        now = guarded(lambda: self._opened(frozen=False), _FAILURES, self._refused())
        return now.answer(questions)

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        now = guarded(lambda: self._opened(frozen=False), _FAILURES, self._refused())
        yield from now.rows(question)

    def close(self) -> None:
        self._source = None  # the session belongs to whoever made it

    def _refused(self) -> SourceError:
        return SourceError(
            f"the source of table {self.schema.name!r} cannot be opened as it is now. Open the table "
            "again to learn why."
        )

    def _session(self) -> Any:
        if self._path is None:
            return self._source.sparkSession
        try:
            from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra
        except ImportError:
            raise SourceError("Spark needs an extra: pip install 'bocage[spark]'.") from None
        return self._given or SparkSession.builder.getOrCreate()

    def _opened(self, *, frozen: bool) -> PinnedSpark:
        """The rows as they are now; a frame that is not frozen may be read by one job."""
        if self._source is None:
            raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")
        frame, session = self._source, self._session()
        if self._path is not None:
            frame = session.read.parquet(self._path)
            paths = _local(frame)
            if paths is not None:
                pieces, kinds = _pieces(paths, self.schema)
                kept = self._within_cap(pieces)
                return PinnedSpark(self.schema, session, None, kept, kinds)
            _check_alike(session, frame, self.schema)
        kinds = _kinds(frame, self.schema)
        frame = _by_position(frame).select(*(f"c{frame.columns.index(column.name)}" for column in self.schema))
        cap, refuses = self.schema.row_cap, self.schema.over_cap == "refuse"
        if cap is not None and not refuses:
            frame = _first(frame, cap)
        if frozen:
            # A checkpoint is never computed again: if a part of it is lost, what reads it fails.
            frame = frame.localCheckpoint()
            if cap is not None and refuses and frame.limit(cap + 1).count() > cap:
                raise self._over_cap()
        return PinnedSpark(self.schema, session, frame, None, kinds)

    def _within_cap(self, pieces: list[Piece]) -> list[Piece]:
        cap = self.schema.row_cap
        if cap is None or sum(piece.rows for piece in pieces) <= cap:
            return pieces
        if self.schema.over_cap == "refuse":
            raise self._over_cap()
        return _cut(pieces, cap)

    def _over_cap(self) -> SourceError:
        return SourceError(
            f"the source holds more rows than the row cap of {self.schema.row_cap} in schema "
            f'{self.schema.name!r}. Raise the cap, or declare "over_cap": "cut".'
        )


class PinnedSpark:
    """Row groups of files as they were, or a frame that is not computed again."""

    name = "spark"

    def __init__(
        self,
        schema: Schema,
        session: Any,
        frame: Any,
        pieces: list[Piece] | None,
        kinds: dict[str, pa.DataType],
    ) -> None:
        self.schema, self._session, self._frame = schema, session, frame
        self._pieces, self._kinds = pieces, kinds
        self._version: str | None = None
        self._open = True

    @property
    def version(self) -> str | None:
        """A hash of the files' bytes, taken by the workers; None for a frame."""
        if self._pieces is not None and self._version is None:
            self._version = guarded(self._digest, _FAILURES, self._unread())
        return self._version

    def pin(self) -> Engine:
        return Pinned(self)

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        return guarded(lambda: self._answer(list(questions)), _FAILURES, self._unread())

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        yield from guarded_each(lambda: self._rows(question), _FAILURES, self._unread())

    def close(self) -> None:
        self._open, self._frame, self._pieces = False, None, None

    def _unread(self) -> EngineError:
        return EngineError(f"table {self.schema.name!r} could not be read. The reason is in the owner's log.")

    def _answer(self, questions: list[Question]) -> list[Tally]:
        names = self._needed(questions)
        rows, job = self._job(names, partial(count, schema=self.schema, questions=questions, names=names))
        with _large_batches(self._session):
            counted = rows.mapInArrow(job, "position long, count long").toArrow()
        compiled = compiled_questions(self.schema, questions, names)
        counters = fresh(compiled)
        total = gather(counted, counters)
        if total > self.schema.rows_bound:
            raise self._unread()
        return tallies(compiled, counters)

    def _rows(self, question: Question) -> Iterator[Matrix]:
        names = self._needed([question])
        rows, job = self._job(names, partial(list_rows, schema=self.schema, question=question, names=names))
        seen = 0
        with _large_batches(self._session):
            for lines, content in rows.mapInArrow(job, "rows long, codes binary").toLocalIterator():
                seen += lines
                yield from_bytes(bytes(content), question.columns)
        if seen > self.schema.rows_bound:
            raise self._unread()

    def _digest(self) -> str:
        files = sorted({(piece.path, piece.identity) for piece in self._pieces or ()})
        job = partial(digests, files=files)
        digested = self._session.range(len(files)).mapInArrow(job, "number long, digest string")
        by_number = sorted(digested.toArrow().to_pylist(), key=itemgetter("number"))
        return sha256("".join(line["digest"] for line in by_number).encode()).hexdigest()

    def _needed(self, questions: Sequence[Question]) -> tuple[str, ...]:
        needed = {name for question in questions for name in question.reads()}
        needed |= {column.name for column in self.schema if drops(column)}
        # A batch without columns would not know its rows.
        return tuple(c.name for c in self.schema if c.name in needed) or (next(iter(self.schema)).name,)

    def _job(
        self, names: tuple[str, ...], work: Callable[[Batches], Batches]
    ) -> tuple[Any, Callable[[Batches], Batches]]:
        """What the tasks are given, and what they do with it."""
        if not self._open:
            raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")
        if self._pieces is None:
            columns = [column.name for column in self.schema]
            return self._frame.select(*(self._frame.columns[columns.index(n)] for n in names)), work
        texts = [name for name, kind in self._kinds.items() if is_text(kind)]
        task = partial(read_and_work, work=work, pieces=self._pieces, names=names, texts=texts)
        return self._session.range(len(self._pieces)), task


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


def _local(frame: Any) -> list[str] | None:
    """The files of a frame in the order of their names, if they are where every worker sees them."""
    addresses = [urlsplit(address) for address in sorted(frame.inputFiles())]
    if any(address.scheme != "file" or address.netloc for address in addresses):
        return None
    paths = [unquote(address.path) for address in addresses]
    return paths if all(Path(path).is_file() for path in paths) else None


def _pieces(paths: list[str], schema: Schema) -> tuple[list[Piece], dict[str, pa.DataType]]:
    """The row groups of all files, and the types that their columns have in every one of them."""
    pieces: list[Piece] = []
    kinds: dict[str, pa.DataType] = {}
    for path in paths:
        identity = identity_of(path)
        with pq.ParquetFile(path) as file:
            held = _held(file.schema_arrow, schema)
            groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
        _refuse_other(kinds or held, held)
        kinds = kinds or held
        pieces += [Piece(path, identity, group, rows) for group, rows in enumerate(groups)]
    return pieces, kinds


def _held(file: pa.Schema, schema: Schema) -> dict[str, pa.DataType]:
    """The types of the schema's columns in a file. Only what the file itself holds is a column."""
    refuse_absent(schema, file.names)
    kinds = {}
    for column in schema:
        if file.names.count(column.name) > 1:
            raise SourceError(f"a file has two columns {column.name!r}. Rename or remove one.")
        kind = file.field(column.name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        kinds[column.name] = pa.string() if is_text(kind) else kind
        encoder(column, kind)  # refuses what does not fit
    return kinds


def _check_alike(session: Any, frame: Any, schema: Schema) -> None:
    """The same for files that only Spark can read."""
    kinds: dict[str, pa.DataType] = {}
    for path in sorted(frame.inputFiles()):
        held = _kinds(session.read.parquet(path), schema)
        _refuse_other(kinds or held, held)
        kinds = kinds or held


def _refuse_other(kinds: dict[str, pa.DataType], held: dict[str, pa.DataType]) -> None:
    for name, kind in kinds.items():
        if held[name] != kind:
            raise SourceError(
                f"the files hold column {name!r} as {kind} and as {held[name]}. Write it with one type in all of them."
            )


def _cut(pieces: list[Piece], rows: int) -> list[Piece]:
    kept = []
    for piece in pieces:
        take = min(piece.rows, rows)
        kept.append(Piece(piece.path, piece.identity, piece.group, take))
        rows -= take
    return [piece for piece in kept if piece.rows]


@contextmanager
def _large_batches(session: Any) -> Iterator[None]:
    before = session.conf.get(_BATCH_SETTING)
    session.conf.set(_BATCH_SETTING, str(BATCH))
    try:
        yield
    finally:
        session.conf.set(_BATCH_SETTING, before)
