"""Noisy counts: of all rows, of each cell, of each value of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Question, Tally
from bocage.plan.documents import CountAsk, CountsAsk
from bocage.private.answer import Answer
from bocage.private.query import (
    LAPLACE,
    CellQuery,
    IntArray,
    Place,
    PortableQuery,
    Terms,
    distinct,
    laplace_answer,
)
from bocage.private.transcript import Used
from bocage.schema import Schema

MOST_COUNTS = 2**20


@dataclass(frozen=True)
class Count(CellQuery[IntArray], PortableQuery):
    """The number of rows in each cell.

    Privacy
    -------
    The cells are disjoint, so that one added or removed record changes one count by one:
    sensitivity 1, discrete Laplace noise of scale 1 / epsilon on each, with the epsilon of its cell.
    """

    epsilon: Epsilon

    def words(self) -> str:
        return "count"

    def form(self) -> CountAsk:
        return CountAsk(epsilon=str(self.epsilon))

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where)

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(LAPLACE, (epsilon.fraction,)) for epsilon in self.epsilons(1)]

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        return laplace_answer(self, terms, place.keys, scale=terms.scale(1, self.epsilon))

    def calibrate(self, terms: Terms, place: Place) -> None:
        _check_scales(self, terms)

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> IntArray:
        """Noisy counts, one per cell."""
        exact: IntArray = tally.totals[:, 0]  # no label is counted, so that there is one column
        return exact + _noise(self, exact.shape, terms, noise)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        scale, noisy = terms.scale(1, self.epsilon), self.draw(tally, terms, noise).tolist()
        return laplace_answer(self, terms, place.keys, scale=scale, noisy=noisy, at_least=0)


@dataclass(frozen=True)
class Counts(CellQuery[IntArray], PortableQuery):
    """The number of rows in each cell with each value of one or two columns.

    Privacy
    -------
    Cells and values are disjoint: sensitivity 1 for the whole table of counts. A record is in one cell
    and there in one count, whose noise has the scale of that cell.
    """

    columns: tuple[str, ...]
    epsilon: Epsilon

    def words(self) -> str:
        return f"count by {' and '.join(self.columns)}"

    def form(self) -> CountsAsk:
        return CountsAsk(by=list(self.columns), epsilon=str(self.epsilon))

    def question(self, place: Place) -> Question:
        column, *label = self.columns
        return Question(place.cells, place.where, label[0] if label else None, (column,))

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(LAPLACE, (epsilon.fraction,)) for epsilon in self.epsilons(1)]

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        keys = self._keys(terms.schema, place)
        return laplace_answer(self, terms, keys, scale=terms.scale(1, self.epsilon))

    def calibrate(self, terms: Terms, place: Place) -> None:
        _check_scales(self, terms)

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> IntArray:
        """Noisy counts of shape (cells, codes), or (cells, codes, codes of the second column)."""
        exact = tally.columns[self.columns[0]]
        noisy: IntArray = exact + _noise(self, exact.shape, terms, noise)
        return noisy if len(self.columns) > 1 else noisy[:, :, 0]

    @property
    def most_counters(self) -> int:
        return min(MOST_COUNTS, super().most_counters)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        scale = terms.scale(1, self.epsilon)
        noisy = self.draw(tally, terms, noise).ravel().tolist()
        keys = self._keys(terms.schema, place)
        return laplace_answer(self, terms, keys, scale=scale, noisy=noisy, at_least=0)

    def check(self, terms: Terms, place: Place) -> None:
        released = place.cells.count
        for name in self.columns:
            released *= terms.schema[name].cells
        if released > MOST_COUNTS:
            raise PlanError(f"at most {MOST_COUNTS} counts can be asked for at once.")
        super().check(terms, place)

    def _keys(self, schema: Schema, place: Place) -> tuple[str, ...]:
        keys = list(place.keys)
        for name in self.columns:
            column = schema[name]
            texts = [column.text(code) for code in range(column.cells)]
            keys = [f"{key} / {text}" if key else text for key in keys for text in texts]
        return distinct(keys)


def _check_scales(query: CellQuery[IntArray], terms: Terms) -> None:
    for epsilon in {query.epsilon, *query.each}:
        terms.scale(1, epsilon)


def _noise(query: CellQuery[IntArray], shape: tuple[int, ...], terms: Terms, noise: Noise) -> IntArray:
    """Noise on the counts of all cells, at what each cell pays."""
    if not query.each:
        return noise.laplace(terms.scale(1, query.epsilon), prod(shape)).reshape(shape)
    drawn = np.empty(shape, np.int64)
    paid = np.array([epsilon.nano for epsilon in query.each])
    for nano in np.unique(paid).tolist():
        cells = np.flatnonzero(paid == nano)
        size = prod((len(cells), *shape[1:]))
        drawn[cells] = noise.laplace(terms.scale(1, Epsilon(nano)), size).reshape(-1, *shape[1:])
    return drawn
