"""The memory engine: a table encoded once, counted by compiled loops on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from bocage.engine.base import Engine
from bocage.engine.codes.codes import Codes, Encoder, digest, without
from bocage.engine.codes.counting import count, count_small, workers
from bocage.engine.codes.encode import SMALL, refuse_absent
from bocage.engine.codes.encode import encoder as column_encoder
from bocage.engine.error_wall import guarded
from bocage.engine.rows import Matrix, check_listing, in_batches
from bocage.engine.versions import Pinned
from bocage.errors import EngineError, SourceError
from bocage.plan import Question, Tally
from bocage.schema import Schema

BATCH = 2**16


class MemoryEngine:
    """Counts rows of an Arrow table, a pandas or polars frame, or a mapping of columns.

    Parameters
    ----------
    source
        The rows. They are encoded to one or two bytes a value at once and not kept.
    small
        Tables of at most so many rows are counted by NumPy, without loading a compiler.
    """

    name = "memory"

    def __init__(self, source: Any, schema: Schema, *, small: int = SMALL) -> None:
        self.schema, self._small = schema, small
        self._version: str | None = None
        self._codes: Codes | None = _encoded(to_arrow(source, schema), schema)

    @property
    def version(self) -> str | None:
        """A digest of the codes, computed when it is first asked for."""
        if self._version is None:
            self._version = digest(self._open_codes())
        return self._version

    def pin(self) -> Engine:
        return Pinned(self)

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        for question in questions:
            question.check(self.schema)
        codes = self._open_codes()
        broken = EngineError(f"table {self.schema.name!r} could not be counted. The reason is in the owner's log.")
        return guarded(
            lambda: answer(codes, questions, self.schema, small=self._small),
            (MemoryError, RuntimeError),
            broken,
        )

    def rows(self, question: Question) -> Iterator[Matrix]:
        check_listing(question, self.schema)
        yield from in_batches(self._open_codes(), question)

    def _open_codes(self) -> Codes:
        if self._codes is None:
            raise SourceError(f"the table {self.schema.name!r} was closed. Open it again.")
        return self._codes

    def close(self) -> None:
        self._codes = None


def answer(codes: Codes, questions: Sequence[Question], schema: Schema, *, small: int = SMALL) -> list[Tally]:
    """Count codes in memory the way that is fastest for their number."""
    if len(questions) == 1 and questions[0].is_size:
        return [Tally.size(codes.rows)]
    if codes.rows <= small:
        return count_small(codes, questions, schema)
    return count(codes, questions, schema)


def to_arrow(source: Any, schema: Schema) -> pa.Table:
    """The columns of the schema as an Arrow table; refuse what has no columns."""
    names = [column.name for column in schema]
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        present = [name for name in names if name in source.column_names]
        _refuse_twins(source.column_names, present)
        return source.select(present)
    library = type(source).__module__.partition(".")[0]
    if library == "polars" and hasattr(source, "to_arrow"):
        return source.select([name for name in names if name in source.columns]).to_arrow()
    if library == "pandas" and hasattr(source, "columns"):
        _refuse_twins(list(source.columns), names)
        source = {name: source[name] for name in names if name in source.columns}
    if not isinstance(source, Mapping):
        raise SourceError(
            f"a {type(source).__name__} cannot be opened as a table. Give an Arrow table, a pandas "
            "or polars frame, or a mapping from column names to values."
        )
    columns = {name: _array(name, source[name]) for name in names if name in source}
    if len({len(column) for column in columns.values()}) > 1:
        raise SourceError("the columns of the source differ in length.")
    return pa.table(columns)


def _refuse_twins(present: Sequence[Any], names: Sequence[str]) -> None:
    for name in names:
        if list(present).count(name) > 1:
            raise SourceError(f"the source has two columns {name!r}. Rename or remove one.")


def _array(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError):
        pass  # the reason may quote a value, so it must not travel with the error
    raise SourceError(
        f"column {name!r} is not of one type that Arrow knows. Convert it to text, whole numbers, "
        "booleans or floating-point numbers first."
    )


def _encoded(table: pa.Table, schema: Schema) -> Codes:
    refuse_absent(schema, table.column_names)
    kinds = {name: table.schema.field(name).type for name in table.column_names}
    encoder = Encoder(schema, {c.name: column_encoder(c, kinds[c.name]) for c in schema})
    cap = schema.rows_bound
    if table.num_rows > cap:
        if schema.over_cap == "refuse":
            raise SourceError(
                f"the source holds more rows than the row cap of {cap} in schema {schema.name!r}. "
                'Raise the cap, or declare "over_cap": "cut".'
            )
        table = table.slice(0, cap)
    codes = encoder.room(table.num_rows)
    dropped = np.zeros(table.num_rows, np.bool_)

    def fill(batch: tuple[int, pa.RecordBatch]) -> None:
        start, rows = batch
        stop = start + rows.num_rows
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        dropped[start:stop] = encoder.fill(columns, codes, start, stop)

    batches = table.to_batches(max_chunksize=BATCH)
    starts = np.cumsum([0, *(batch.num_rows for batch in batches)]).tolist()
    with ThreadPoolExecutor(workers() if len(batches) > 1 else 1) as pool:
        list(pool.map(fill, zip(starts, batches, strict=False)))
    return without(codes, dropped)
