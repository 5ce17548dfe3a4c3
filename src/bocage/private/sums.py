"""Noisy sums and averages of a numeric column, in fixed point on its public grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bocage.epsilon import Epsilon
from bocage.mechanisms import Noise
from bocage.plan import Question, Tally
from bocage.plan.documents import AverageAsk, SumAsk
from bocage.private.answer import Answer
from bocage.private.intervals import excess, quotients
from bocage.private.query import LAPLACE, Place, PortableQuery, Terms, laplace_answer
from bocage.private.transcript import Used
from bocage.schema import Numeric

MOST_EXCESS = 0.02  # of an interval that is not called conservative


@dataclass(frozen=True)
class Sum(PortableQuery):
    """The sum of a column, each row standing for the number of its grid cell.

    Privacy
    -------
    Every cell of the grid stands for a whole number of public units, so that the sum is an integer.
    One record moves it by at most the largest of these numbers in size: that is the sensitivity
    (at least one unit, for a grid whose only cell stands for 0).
    """

    column: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"sum of {self.column}"

    def form(self) -> SumAsk:
        return SumAsk(column=self.column, epsilon=str(self.epsilon))

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, sums=(self.column,))

    def _calibrate(self, terms: Terms) -> tuple[Fraction, int, int, Fraction]:
        column = terms.schema.numeric(self.column)
        unit, first, slope = column.fixed_point
        sensitivity = max(abs(first), abs(first + slope * (column.cells - 1)), 1)
        return unit, first, slope, terms.scale(sensitivity, self.epsilon)

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(LAPLACE, (self.epsilon.fraction,))]

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        unit, _, _, scale = self._calibrate(terms)
        return laplace_answer(self, terms, place.keys, scale=scale, unit=unit)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        unit, first, slope, scale = self._calibrate(terms)
        counts, sums = tally.totals.sum(axis=1).tolist(), tally.sums[self.column].tolist()
        drawn = noise.laplace(scale, place.cells.count).tolist()
        noisy = [first * count + slope * total + extra for count, total, extra in zip(counts, sums, drawn, strict=True)]
        return laplace_answer(self, terms, place.keys, scale=scale, unit=unit, noisy=noisy)


@dataclass(frozen=True)
class Average(PortableQuery):
    """The average of a column.

    Privacy
    -------
    Half of epsilon pays for the count, half for the sum of the distances from the middle of the
    grid, counted in half cells: a whole number between -(cells-1) and cells-1 for each row, hence
    of sensitivity cells-1, about half of what the plain sum has. Their quotient and the interval
    are post-processing, see :func:`~bocage.private.intervals.quotients`.
    """

    column: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"average of {self.column}"

    def form(self) -> AverageAsk:
        return AverageAsk(column=self.column, epsilon=str(self.epsilon))

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, sums=(self.column,))

    def _scales(self, terms: Terms) -> tuple[Fraction, Fraction]:
        for_sum, for_count = self.epsilon.split([1, 1])
        cells = terms.schema.numeric(self.column).cells
        return terms.scale(max(cells - 1, 1), for_sum), terms.scale(1, for_count)

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(LAPLACE, tuple(half.fraction for half in self.epsilon.split([1, 1])))]

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        expected = None
        if rows is not None:
            (low,), (high,) = self._intervals(terms, [0], [rows])
            expected = (high - low) / 2
        return self._answer(terms, place, (None,) * len(place.keys), expected=expected)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        column = terms.schema.numeric(self.column)
        sum_scale, count_scale = self._scales(terms)
        counts = tally.totals.sum(axis=1)
        centered = 2 * tally.sums[self.column] - (column.cells - 1) * counts
        noisy_sums = (centered + noise.laplace(sum_scale, place.cells.count)).tolist()
        noisy_counts = (counts + noise.laplace(count_scale, place.cells.count)).tolist()
        values = tuple(_quotient(column, *pair) for pair in zip(noisy_sums, noisy_counts, strict=True))
        lows, highs = self._intervals(terms, noisy_sums, noisy_counts)
        answer = self._answer(terms, place, values, lows=lows, highs=highs)
        return answer.as_kind(answer.kind, note=self._note(terms, lows, highs))

    def _intervals(
        self, terms: Terms, noisy_sums: list[int], noisy_counts: list[int]
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        column = terms.schema.numeric(self.column)
        middle, half = float(column.value(0) + column.value(column.cells - 1)) / 2, column.width / 2
        bounds = float(column.value(0)), float(column.value(column.cells - 1))
        most = max(column.cells - 1, 1)
        sums, counts = np.array(noisy_sums, float), np.array(noisy_counts, float)
        ends = quotients(sums, counts, most, *self._scales(terms))
        # An end of the range is that end, and what is rounded inside a unit of the last place is not lost.
        lows, highs = (
            np.clip(middle + float(half) * end + way * abs(middle) * 1e-15, *bounds)
            for end, way in zip(ends, (-1, 1), strict=True)
        )
        lows[ends[0] == -most], highs[ends[1] == most] = bounds
        return tuple(lows.tolist()), tuple(highs.tolist())

    def _note(self, terms: Terms, lows: tuple[float, ...], highs: tuple[float, ...]) -> str:
        """What is conservative about the intervals, and by how much: from public and released numbers."""
        column = terms.schema.numeric(self.column)
        if column.cells == 1:
            return ""
        low, high = float(column.value(0)), float(column.value(column.cells - 1))
        reach = {(one <= low) + (other >= high) for one, other in zip(lows, highs, strict=True)}
        said = []
        if 2 in reach:
            said.append("the whole range holds it with 100 %: too few rows for epsilon")
        if 1 in reach:
            said.append("where it reaches an end of the range, it holds with 95 to 99 %")
        if (more := excess(self._scales(terms)[0])) > MOST_EXCESS:
            said.append(f"noise of few units is coarse, it holds with 95 to {95 + 100 * more:.1f} %")
        return f"interval conservative: {'; '.join(said)}" if said else ""

    def _answer(
        self,
        terms: Terms,
        place: Place,
        values: tuple[float | None, ...],
        *,
        lows: tuple[float | None, ...] | None = None,
        highs: tuple[float | None, ...] | None = None,
        expected: float | None = None,
    ) -> Answer:
        column = terms.schema.numeric(self.column)
        sum_scale, count_scale = self._scales(terms)
        return Answer(
            question=self.words(),
            keys=place.keys,
            values=values,
            lows=lows,
            highs=highs,
            mechanism="discrete Laplace on sum and count",
            scale=f"{float(sum_scale * column.width / 2):.6g} and {float(count_scale):.6g}",
            plus_minus=expected,
            cost=str(self.epsilon),
            adjacency=terms.adjacency.value,
        )


def _quotient(column: Numeric, noisy_sum: int, noisy_count: int) -> float:
    """The average that a sum of half cells from the middle stands for, inside the bounds."""
    low, high = column.value(0), column.value(column.cells - 1)
    middle = (low + high) / 2
    if noisy_count <= 0:
        return float(middle)
    return float(min(max(middle + column.width / 2 * Fraction(noisy_sum, noisy_count), low), high))
