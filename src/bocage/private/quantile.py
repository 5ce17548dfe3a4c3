"""A noisy quantile of a numeric column, with an interval that is paid for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Any

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Contest, Noise, Selection
from bocage.plan import Question, Tally
from bocage.private.answer import Answer
from bocage.private.query import IntArray, Place, Query, Terms, exact
from bocage.schema import Numeric


@dataclass(frozen=True)
class Quantile(Query):
    """The value below which a share `level` of the rows lies, chosen among the grid cells.

    Privacy
    -------
    With level = a/b, a cell with L rows below it and U rows up to it scores
    -max(b L - a n, a n - b U, 0): minus b times the number of ranks that it is off. One record moves
    every score by at most max(a, b-a) in either direction: range 2 max(a, b-a).

    Half of epsilon chooses the value by the exponential mechanism. A quarter each chooses the ends
    of the interval: the same contest for the rank T lower (higher), with one more candidate that
    stands for "beyond the domain" as if T more rows lay there. A lower end that lies above the exact
    quantile scores less than -b T while some candidate scores 0, which happens with probability at
    most (cells+1) exp(-rate b T) = 2.5 % for the T taken here, which is public.
    """

    column: str
    level: Fraction
    epsilon: Epsilon

    def words(self) -> str:
        name = "median" if self.level == Fraction(1, 2) else f"{float(self.level):g} quantile"
        return f"{name} of {self.column}"

    def describe(self) -> dict[str, Any]:
        facts = {"column": self.column, "level": str(self.level), "epsilon": str(self.epsilon)}
        return {"ask": "quantile", **facts}

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=(self.column,))

    def _rates(self, terms: Terms) -> list[Fraction]:
        a, b = self.level.numerator, self.level.denominator
        score_range = 2 * max(a, b - a)
        return [terms.rate(score_range, part) for part in self.epsilon.split([2, 1, 1])]

    def _ranks_off(self, rate: Fraction, candidates: int, failure: float) -> int:
        return ceil(log(candidates / failure) / float(rate) / self.level.denominator)

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        column = terms.schema.numeric(self.column)
        return self._answer(terms, place, column)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        column = terms.schema.numeric(self.column)
        value_rate, low_rate, high_rate = self._rates(terms)
        counts = tally.columns[self.column][:, :, 0]
        shift = self._ranks_off(low_rate, column.cells + 1, 0.025)
        contests = [Contest(score, value_rate) for score in self._scores(counts)]
        contests += [Contest(score, low_rate) for score in self._below(counts, shift)]
        contests += [Contest(score, high_rate) for score in self._above(counts, shift)]
        chosen = noise.select(contests, Selection.EXPONENTIAL)
        value, low, high = chosen.reshape(3, -1)
        answer = self._answer(terms, place, column)
        return answer.as_kind(
            answer.kind,
            values=tuple(_plain(column.value(c)) for c in value.tolist()),
            # Code 0 of the contest for the lower end is "below the domain"; the last of the other
            # one is "above". The value itself always belongs to its interval.
            lows=tuple(float(column.edge(max(c, 0))) for c in np.minimum(low - 1, value).tolist()),
            highs=tuple(
                float(min(column.edge(c + 1), column.upper))
                if column.step is None
                else float(column.edge(min(c, column.cells - 1)))
                for c in np.maximum(high, value).tolist()
            ),
        )

    def _scores(self, counts: IntArray, shift: int = 0) -> IntArray:
        """Scores of all grid cells for the quantile's rank plus `shift`."""
        a, b = self.level.numerator, self.level.denominator
        upto = counts.cumsum(axis=1)
        target = a * upto[:, -1:] + b * shift
        off = np.maximum(b * (upto - counts) - target, target - b * upto)
        result: IntArray = -np.maximum(off, 0)
        return result

    def _below(self, counts: IntArray, shift: int) -> IntArray:
        a, b = self.level.numerator, self.level.denominator
        beyond = -np.maximum(a * counts.sum(axis=1, keepdims=True) - b * shift, 0)
        return np.concatenate([beyond, self._scores(counts, -shift)], axis=1)

    def _above(self, counts: IntArray, shift: int) -> IntArray:
        a, b = self.level.numerator, self.level.denominator
        beyond = -np.maximum((b - a) * counts.sum(axis=1, keepdims=True) - b * shift, 0)
        return np.concatenate([self._scores(counts, shift), beyond], axis=1)

    def _answer(self, terms: Terms, place: Place, column: Numeric) -> Answer:
        rate = self._rates(terms)[0]
        ranks = self._ranks_off(rate, column.cells, 0.05)
        return Answer(
            question=self.words(),
            keys=place.keys,
            values=(None,) * len(place.keys),
            mechanism="exponential",
            scale=f"{1 / float(rate) / self.level.denominator:.6g} ranks",
            plus_minus=None,
            cost=str(self.epsilon),
            adjacency=terms.adjacency.value,
            note=f"at most {ranks:,} ranks off with 95 %",
        )


def quantile_level(level: Fraction | float | str) -> Fraction:
    share = exact(level, "the level of a quantile")
    if not 0 < share < 1:
        raise PlanError(f"the level of a quantile lies between 0 and 1, not at {level}.")
    if share.denominator > 10**4:
        raise PlanError(f"the level of a quantile has at most four decimals, not {level}.")
    return share


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
