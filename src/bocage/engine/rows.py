"""Codes of rows in batches, for the one computation that no table of counts can stand for: a joint fit.

The rows leave the engine as codes of the columns asked for, and go to the privacy layer alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.codes import Codes
from bocage.engine.reference import holds
from bocage.errors import PlanError
from bocage.plan import Question
from bocage.plan.predicate import ALWAYS, columns_of
from bocage.schema import Schema

Matrix = NDArray[np.uint16]  # one row per column asked for
BATCH = 2**16


def check_listing(question: Question, schema: Schema) -> None:
    """Refuse what `rows` cannot answer: it knows columns and a filter."""
    question.check(schema)
    if question.cells.nodes or question.label is not None or question.sums or not question.columns:
        raise PlanError("rows are listed by columns and a filter, without cells, label or sums.")


def listed(codes: Codes, question: Question) -> Matrix:
    """The codes asked for, of the rows that pass the filter."""
    if question.where == ALWAYS:
        chosen = slice(0, codes.rows)
        size = codes.rows
    else:
        columns = {name: codes.column(name).astype(np.int64) for name in columns_of(question.where)}
        passing = np.flatnonzero(holds(question.where, columns, codes.rows))
        chosen, size = passing, len(passing)  # type: ignore[assignment] # either selects
    matrix = np.empty((len(question.columns), size), np.uint16)
    for at, name in enumerate(question.columns):
        matrix[at] = codes.column(name)[chosen]
    return matrix


def in_batches(codes: Codes, question: Question) -> Iterator[Matrix]:
    """The same for codes in memory, a batch at a time."""
    for start in range(0, codes.rows, BATCH):
        stop = min(start + BATCH, codes.rows)
        part = Codes(codes.narrow[:, start:stop], codes.wide[:, start:stop], codes.index, stop - start)
        yield listed(part, question)


def to_bytes(matrix: Matrix) -> bytes:
    return np.ascontiguousarray(matrix, "<u2").tobytes()


def from_bytes(content: bytes, names: Sequence[str]) -> Matrix:
    return np.frombuffer(content, "<u2").reshape(len(names), -1).astype(np.uint16, copy=False)
