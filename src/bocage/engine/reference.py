"""The reference engine: plain Python values, one at a time, and NumPy for the counting.

Slow on purpose, and written to be checked by eye. Every other engine must equal it exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.engine.base import Engine
from bocage.engine.versions import Pinned
from bocage.errors import SourceError
from bocage.plan import Bound, Question, Tally
from bocage.plan.predicate import Every, Test
from bocage.schema import DROP, Attribute, Categorical, Numeric, Schema

Codes = dict[str, NDArray[np.int64]]


class ReferenceEngine:
    """Counts rows given as lists of Python values, column by column."""

    name = "numpy"

    def __init__(self, columns: Mapping[str, Sequence[Any]], schema: Schema) -> None:
        absent = [c.name for c in schema if c.name not in columns]
        if absent:
            raise SourceError(f"the source has no column {absent[0]!r}, which the schema declares.")
        rows = {len(columns[c.name]) for c in schema}
        if len(rows) > 1:
            raise SourceError("the columns of the source differ in length.")
        self.schema = schema
        cap = schema.rows_bound
        if rows.pop() > cap and schema.over_cap == "refuse":
            raise SourceError(f"the source holds more rows than the row cap of {cap}.")
        codes = {c.name: np.array([code_of(c, v) for v in columns[c.name][:cap]], np.int64) for c in schema}
        kept = np.all([code != DROP for code in codes.values()], axis=0)
        self._codes: Codes = {name: code[kept] for name, code in codes.items()}
        self._rows = int(kept.sum())

    @property
    def version(self) -> str | None:
        names = sorted(self._codes)
        hashed = sha256(repr((names, self._rows)).encode())
        for name in names:
            hashed.update(self._codes[name].tobytes())
        return hashed.hexdigest()

    def pin(self) -> Engine:
        return Pinned(self)

    def answer(self, questions: Sequence[Question]) -> list[Tally]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Tally:
        question.check(self.schema)
        cell = question.cells.route(self._codes, self._rows)
        chosen = (cell >= 0) & holds(question.where, self._codes, self._rows)
        cell = cell[chosen]
        label = np.zeros(len(cell), np.int64)
        if question.label is not None:
            label = self._codes[question.label][chosen]
        tally = Tally.zeros(question, self.schema)
        np.add.at(tally.totals, (cell, label), 1)
        for name, counts in tally.columns.items():
            np.add.at(counts, (cell, self._codes[name][chosen], label), 1)
        for name, sums in tally.sums.items():
            np.add.at(sums, cell, self._codes[name][chosen])
        return tally

    def rows(self, question: Question) -> Iterator[NDArray[np.uint16]]:
        chosen = holds(question.where, self._codes, self._rows)
        yield np.array([self._codes[name][chosen] for name in question.columns], np.uint16)

    def close(self) -> None:
        self._codes = {}


def holds(bound: Bound, codes: Codes, rows: int) -> NDArray[np.bool_]:
    """Which rows pass a filter."""
    if isinstance(bound, Test):
        code = codes[bound.column]
        inside = [(code >= low) & (code <= high) for low, high in bound.ranges]
        return np.any(inside, axis=0) if inside else np.zeros(rows, bool)
    parts = [holds(part, codes, rows) for part in bound.parts]
    if isinstance(bound, Every):
        return np.all(parts, axis=0) if parts else np.ones(rows, bool)
    return np.any(parts, axis=0) if parts else np.zeros(rows, bool)


def code_of(column: Attribute, value: Any) -> int:
    """The code of one value: the definition of encoding."""
    if isinstance(column, Categorical):
        return _category(column, value)
    return _cell(column, value)


def _category(column: Categorical, value: Any) -> int:
    if value is None:
        return column.missing_code
    text = str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
    if text == column.marker:
        return column.missing_code
    return column.index.get(text, column.outside_code)


def _cell(column: Numeric, value: Any) -> int:
    if value is None or math.isnan(value):
        return column.missing_code
    lower, upper = float(column.lower), float(column.upper)
    x = float(value)
    if not column.clamp and not lower <= x <= upper:
        return DROP
    return column.cell_of(min(max(x, lower), upper))
