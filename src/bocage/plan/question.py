"""What an engine is asked, and what it answers: exact integers, still private."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bocage.errors import PlanError
from bocage.plan.cells import Cells
from bocage.plan.predicate import ALWAYS, Bound, columns_of
from bocage.schema import Schema

IntArray = NDArray[np.int64]
MOST_COUNTERS = 2**27  # one gigabyte of counters


@dataclass(frozen=True)
class Question:
    """Joint counts, for the rows of each cell that pass the filter.

    Parameters
    ----------
    cells
        Where rows are counted.
    where
        A filter bound to the schema.
    label
        Count every number below jointly with this column; None counts rows only.
    columns
        For each of these columns the counts of its codes.
    sums
        For each of these numeric columns the sum of its codes.
    """

    cells: Cells = field(default_factory=Cells)
    where: Bound = ALWAYS
    label: str | None = None
    columns: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()

    def reads(self) -> tuple[str, ...]:
        """All columns whose codes are needed."""
        return self._reads

    @property
    def is_size(self) -> bool:
        """Whether nothing but the number of all rows is asked for: that takes no scan."""
        is_one_cell = self.cells.count == 1 and not self.cells.nodes
        return is_one_cell and not self._reads and self.where == ALWAYS

    @cached_property
    def _reads(self) -> tuple[str, ...]:
        label = (self.label,) if self.label is not None else ()
        needed = (*self.cells.columns, *sorted(columns_of(self.where)), *label)
        return tuple(dict.fromkeys((*needed, *self.columns, *self.sums)))

    def labels(self, schema: Schema) -> int:
        return schema[self.label].cells if self.label is not None else 1

    def check(self, schema: Schema) -> None:
        """Refuse a question that the schema cannot answer, before anything is charged or read."""
        for name in self.reads():
            schema[name]
        for name in self.sums:
            schema.numeric(name)
        self.cells.check(schema)
        width = 1 + sum(schema[name].cells for name in self.columns) + len(self.sums)
        if self.cells.count * self.labels(schema) * width > MOST_COUNTERS:
            raise PlanError(
                f"the question needs more than {MOST_COUNTERS} counters: ask for fewer cells or columns at once."
            )


@dataclass(frozen=True)
class Tally:
    """The exact answer to one question.

    Attributes
    ----------
    totals
        Shape (cells, labels).
    columns
        For each column an array of shape (cells, codes, labels).
    sums
        For each summed column an array of shape (cells,).
    """

    totals: IntArray
    columns: dict[str, IntArray]
    sums: dict[str, IntArray]

    @classmethod
    def zeros(cls, question: Question, schema: Schema) -> Tally:
        cells, labels = question.cells.count, question.labels(schema)
        return cls(
            np.zeros((cells, labels), np.int64),
            {n: np.zeros((cells, schema[n].cells, labels), np.int64) for n in question.columns},
            {n: np.zeros(cells, np.int64) for n in question.sums},
        )

    @classmethod
    def size(cls, rows: int) -> Tally:
        """The tally of all rows in one cell."""
        return cls(np.array([[rows]], np.int64), {}, {})

    def add(self, other: Tally) -> None:
        """Add the tally of further rows."""
        self.totals[...] += other.totals
        for name, counts in other.columns.items():
            self.columns[name][...] += counts
        for name, sums in other.sums.items():
            self.sums[name][...] += sums
