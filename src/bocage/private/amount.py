"""Noisy sums and averages of a numeric column, in fixed point on its public grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bocage.epsilon import Epsilon
from bocage.mechanisms import Noise, laplace_half_width
from bocage.plan import Question, Tally
from bocage.private.answer import Answer
from bocage.private.query import Place, Query, Terms, laplace_answer
from bocage.schema import Schema

_HALF_FAILURE = Fraction(39, 40)  # two intervals of 97.5 % hold together with 95 %


@dataclass(frozen=True)
class Sum(Query):
    """The sum of a column, each row standing for the number of its grid cell.

    Privacy
    -------
    Every cell of the grid stands for a whole number of public units, so that the sum is an integer.
    One record moves it by at most the largest of these numbers in size: that is the sensitivity.
    """

    column: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"sum of {self.column}"

    def describe(self) -> dict[str, Any]:
        return {"ask": "sum", "column": self.column, "epsilon": str(self.epsilon)}

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, sums=(self.column,))

    def _calibrate(self, terms: Terms) -> tuple[Fraction, int, int, Fraction]:
        column = terms.schema.numeric(self.column)
        unit, first, slope = column.fixed_point
        sensitivity = max(abs(first), abs(first + slope * (column.cells - 1)))
        return unit, first, slope, terms.scale(sensitivity, self.epsilon)

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:  # noqa: ARG002
        unit, _, _, scale = self._calibrate(terms)
        return laplace_answer(self, terms, place.keys, scale=scale, unit=unit)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        unit, first, slope, scale = self._calibrate(terms)
        counts, sums = tally.totals.sum(axis=1).tolist(), tally.sums[self.column].tolist()
        drawn = noise.laplace(scale, place.cells.count).tolist()
        noisy = [
            first * count + slope * total + extra
            for count, total, extra in zip(counts, sums, drawn, strict=True)
        ]
        return laplace_answer(self, terms, place.keys, scale=scale, unit=unit, noisy=noisy)


@dataclass(frozen=True)
class Average(Query):
    """The average of a column.

    Privacy
    -------
    Half of epsilon pays for the count, half for the sum of the distances from the middle of the
    grid, counted in half cells: a whole number between -(cells-1) and cells-1 for each row, hence
    of sensitivity cells-1, about half of what the plain sum has. Their quotient and the interval
    are post-processing: the interval takes the worst corner of two 97.5 % intervals.
    """

    column: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"average of {self.column}"

    def describe(self) -> dict[str, Any]:
        return {"ask": "average", "column": self.column, "epsilon": str(self.epsilon)}

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, sums=(self.column,))

    def _scales(self, terms: Terms) -> tuple[Fraction, Fraction]:
        for_sum, for_count = self.epsilon.split([1, 1])
        cells = terms.schema.numeric(self.column).cells
        return terms.scale(max(cells - 1, 1), for_sum), terms.scale(1, for_count)

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        expected = None
        if rows is not None:
            low, high = self._interval(terms, 0, rows)
            expected = (high - low) / 2
        return self._answer(terms, place, (None,) * len(place.keys), expected=expected)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        column = terms.schema.numeric(self.column)
        sum_scale, count_scale = self._scales(terms)
        counts = tally.totals.sum(axis=1)
        centered = 2 * tally.sums[self.column] - (column.cells - 1) * counts
        noisy_sums = (centered + noise.laplace(sum_scale, place.cells.count)).tolist()
        noisy_counts = (counts + noise.laplace(count_scale, place.cells.count)).tolist()
        pairs = list(zip(noisy_sums, noisy_counts, strict=True))
        values = tuple(self._value(terms.schema, *pair) for pair in pairs)
        intervals = [self._interval(terms, *pair) for pair in pairs]
        lows, highs = tuple(low for low, _ in intervals), tuple(high for _, high in intervals)
        return self._answer(terms, place, values, lows=lows, highs=highs)

    def _value(self, schema: Schema, noisy_sum: float, noisy_count: float) -> float:
        column = schema.numeric(self.column)
        low, high = column.value(0), column.value(column.cells - 1)
        middle, half_cell = float((low + high) / 2), float(column.width / 2)
        if noisy_count <= 0:
            return middle
        return min(max(middle + half_cell * noisy_sum / noisy_count, float(low)), float(high))

    def _interval(self, terms: Terms, noisy_sum: int, noisy_count: int) -> tuple[float, float]:
        sum_scale, count_scale = self._scales(terms)
        off_sum, off_count = (
            laplace_half_width(s, _HALF_FAILURE) for s in (sum_scale, count_scale)
        )
        fewest, most = noisy_count - off_count, noisy_count + off_count
        if fewest <= 0:  # there may be no row at all: nothing is known but the bounds
            column = terms.schema.numeric(self.column)
            return float(column.value(0)), float(column.value(column.cells - 1))
        corners = [
            self._value(terms.schema, total, count)
            for total in (noisy_sum - off_sum, noisy_sum + off_sum)
            for count in (fewest, most)
        ]
        return min(corners), max(corners)

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
