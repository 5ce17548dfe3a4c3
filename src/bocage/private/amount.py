"""Noisy sums and averages of a numeric column, in fixed point on its public grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bocage.epsilon import Epsilon
from bocage.mechanisms import Noise
from bocage.plan import Question, Tally
from bocage.private.answer import Answer
from bocage.private.query import Place, Query, Terms, half_width, laplace_answer
from bocage.schema import Numeric

_EACH = Fraction(39, 40)  # two intervals of 97.5 % hold together with 95 %


@dataclass(frozen=True)
class Sum(Query):
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

    def describe(self) -> dict[str, Any]:
        return {"ask": "sum", "column": self.column, "epsilon": str(self.epsilon)}

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, sums=(self.column,))

    def _calibrate(self, terms: Terms) -> tuple[Fraction, int, int, Fraction]:
        column = terms.schema.numeric(self.column)
        unit, first, slope = column.fixed_point
        sensitivity = max(abs(first), abs(first + slope * (column.cells - 1)), 1)
        return unit, first, slope, terms.scale(sensitivity, self.epsilon)

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
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
            low, high = self._intervals(terms, [0], [rows])[0]
            expected = (high - low) / 2
        return self._answer(terms, place, (None,) * len(place.keys), expected=expected)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        column = terms.schema.numeric(self.column)
        sum_scale, count_scale = self._scales(terms)
        counts = tally.totals.sum(axis=1)
        centered = 2 * tally.sums[self.column] - (column.cells - 1) * counts
        noisy_sums = (centered + noise.laplace(sum_scale, place.cells.count)).tolist()
        noisy_counts = (counts + noise.laplace(count_scale, place.cells.count)).tolist()
        values = tuple(
            _quotient(column, *pair) for pair in zip(noisy_sums, noisy_counts, strict=True)
        )
        intervals = self._intervals(terms, noisy_sums, noisy_counts)
        lows, highs = tuple(low for low, _ in intervals), tuple(high for _, high in intervals)
        return self._answer(terms, place, values, lows=lows, highs=highs)

    def _intervals(
        self, terms: Terms, noisy_sums: list[int], noisy_counts: list[int]
    ) -> list[tuple[float, float]]:
        column = terms.schema.numeric(self.column)
        off_sum, off_count = (half_width(scale, _EACH) for scale in self._scales(terms))
        everything = float(column.value(0)), float(column.value(column.cells - 1))
        intervals = []
        for noisy_sum, noisy_count in zip(noisy_sums, noisy_counts, strict=True):
            fewest, most = noisy_count - off_count, noisy_count + off_count
            corners = [
                _quotient(column, total, count)
                for total in (noisy_sum - off_sum, noisy_sum + off_sum)
                for count in (fewest, most)
            ]
            # With no row at all, perhaps, nothing is known but the bounds.
            intervals.append((min(corners), max(corners)) if fewest > 0 else everything)
        return intervals

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
