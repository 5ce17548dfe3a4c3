"""A noisy quantile of a numeric column, with an interval that is paid for."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Contest, Noise, Selection
from bocage.plan import Question, Tally
from bocage.plan.documents import QuantileAsk
from bocage.private.answer import Answer
from bocage.private.intervals import weighted_reach
from bocage.private.query import EXPONENTIAL, LAPLACE, IntArray, Place, PortableQuery, Terms, exact
from bocage.private.transcript import Used
from bocage.schema import Numeric

MOST_SURE = 97.0  # per cent, above which an interval is called conservative
_TRIALS, _SEED = 500, 8  # of intervals, to tell how often they hold
_LOOKED_AT = 16  # cells, where there are many


@dataclass(frozen=True)
class Quantile(PortableQuery):
    """The value below which a share `level` of the rows lies, chosen among the grid cells.

    Privacy
    -------
    With level = a/b, a cell with L rows below it and U rows up to it scores
    -max(b L - a n, a n - b U, 0): minus b times the number of ranks that it is off. One record moves
    every score by at most max(a, b-a) in either direction: range 2 max(a, b-a).

    Half of epsilon chooses the value by the exponential mechanism. It is released, and with it runs of
    cells that part the grid: the value, and on both sides 1, 1, 2, 4, 8 ... cells. The other half pays
    for the number of rows in each run: a record is in one of them, sensitivity 1, discrete Laplace.
    Sequential composition of the two.

    The interval is post-processing: all runs that may hold the quantile, by these counts, and what lies
    between. The true run begins where b L - a n is 0 at most, and ends where b U - a n is 0 at least. The
    noise of these numbers is a weighted sum of the noises of the runs, so that each of the two is
    refused wrongly in 2.5 % of all cases at most, see :mod:`bocage.private.intervals`.
    """

    column: str
    level: Fraction
    epsilon: Epsilon

    def words(self) -> str:
        name = "median" if self.level == Fraction(1, 2) else f"{float(self.level):g} quantile"
        return f"{name} of {self.column}"

    def form(self) -> QuantileAsk:
        return QuantileAsk(column=self.column, level=str(self.level), epsilon=str(self.epsilon))

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=(self.column,))

    def _rate(self, terms: Terms) -> Fraction:
        a, b = self.level.numerator, self.level.denominator
        return terms.rate(2 * max(a, b - a), self.epsilon.split([1, 1])[0])

    def _scale(self, terms: Terms) -> Fraction:
        return terms.scale(1, self.epsilon.split([1, 1])[1])

    def uses(self, terms: Terms) -> Sequence[Used]:
        halves = tuple(half.fraction for half in self.epsilon.split([1, 1]))
        return [Used(f"{EXPONENTIAL}, {LAPLACE}", halves)]

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        self._scale(terms)  # too little epsilon is refused
        return self._answer(terms, place, terms.schema.numeric(self.column))

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        column, rate = terms.schema.numeric(self.column), self._rate(terms)
        counts = tally.columns[self.column][:, :, 0]
        contests = [Contest(score, rate) for score in self._scores(counts)]
        chosen = noise.select(contests, Selection.EXPONENTIAL).tolist()
        starts = [runs_around(value, column.cells) for value in chosen]
        exact = [np.add.reduceat(row, own) for row, own in zip(counts, starts, strict=True)]
        drawn = noise.laplace(self._scale(terms), sum(map(len, starts)))
        noisy = np.split(np.concatenate(exact) + drawn, np.cumsum([len(own) for own in starts])[:-1])
        del exact  # what follows is post-processing
        within = Within(self.level, self._scale(terms))
        runs = [within.runs(own) for own in noisy]
        lows, highs = [], []
        for value, own, (first, last) in zip(chosen, starts, runs, strict=True):
            ends = [*own[1:], column.cells]
            lows.append(min(own[first], value))
            highs.append(max(ends[last], value + 1))
        answer = self._answer(terms, place, column)
        sure = [
            within.holds(np.maximum(own, 0), bisect(start, value) - 1)
            for own, start, value in zip(noisy[:_LOOKED_AT], starts, chosen, strict=False)
        ]
        return answer.as_kind(
            answer.kind,
            values=tuple(_plain(column.value(c)) for c in chosen),
            lows=tuple(float(column.edge(c)) for c in lows),
            highs=tuple(
                float(min(column.edge(c), column.upper))
                if column.step is None
                else float(column.edge(min(c, column.cells) - 1))
                for c in highs
            ),
            note=f"{answer.note}; {_conservative(sure)}",
        )

    def _scores(self, counts: IntArray) -> IntArray:
        """Scores of all grid cells for the quantile's rank."""
        a, b = self.level.numerator, self.level.denominator
        upto = counts.cumsum(axis=1)
        target = a * upto[:, -1:]
        off = np.maximum(b * (upto - counts) - target, target - b * upto)
        result: IntArray = -np.maximum(off, 0)
        return result

    def _answer(self, terms: Terms, place: Place, column: Numeric) -> Answer:
        rate = self._rate(terms)
        ranks = ceil(log(column.cells / 0.05) / float(rate) / self.level.denominator)
        return Answer(
            question=self.words(),
            keys=place.keys,
            values=(None,) * len(place.keys),
            mechanism=f"{EXPONENTIAL}, {LAPLACE}",
            scale=f"{1 / float(rate) / self.level.denominator:.6g} ranks",
            plus_minus=None,
            cost=str(self.epsilon),
            adjacency=terms.adjacency.value,
            note=f"value at most {ranks:,} ranks off with 95 %",
        )


@dataclass(frozen=True)
class Within:
    """Which runs of cells may hold a quantile, by noisy counts of them."""

    level: Fraction
    scale: Fraction

    def runs(self, noisy: IntArray) -> tuple[int, int]:
        """The first and the last run that is not refused; all if there is none."""
        kept = self._kept(noisy[np.newaxis])[0]
        inside = np.flatnonzero(kept)
        return (int(inside[0]), int(inside[-1])) if len(inside) else (0, len(noisy) - 1)

    def holds(self, counts: IntArray, own: int) -> float:
        """How often the interval holds a quantile that lies as these counts say. Public arithmetic.

        `own` is the run of the released value, which always belongs to the interval.
        """
        upto = self.level.denominator * counts.cumsum()
        true = int(np.argmax(upto >= self.level.numerator * counts.sum()))
        shape = (_TRIALS, len(counts))
        random = np.random.default_rng(_SEED)  # of trials: no release depends on it
        each = 1 - exp(-1 / float(self.scale))
        noise = random.geometric(each, shape) - random.geometric(each, shape)
        kept = self._kept(counts + noise)
        kept[~kept.any(axis=1)] = True
        kept[:, own] = True
        return float((kept[:, : true + 1].any(axis=1) & kept[:, true:].any(axis=1)).mean())

    def _kept(self, noisy: IntArray) -> NDArray[np.bool_]:
        """Of each line of counts, which runs may hold the quantile."""
        a, b = self.level.numerator, self.level.denominator
        upto, runs = noisy.cumsum(axis=1), noisy.shape[1]
        off = b * upto[:, :-1] - a * upto[:, -1:]  # at the ends of all runs but the last
        reach = np.array([weighted_reach(self.scale, (b - a, k), (a, runs - k)) for k in range(1, runs)])
        kept = np.ones(noisy.shape, bool)
        kept[:, 1:] &= off <= reach
        kept[:, :-1] &= off >= -reach
        return kept


def runs_around(value: int, cells: int) -> list[int]:
    """Where runs of 1, 1, 1, 2, 4, 8 ... cells begin, on both sides of a released value. Public."""
    starts = {0, value}
    for way, first in ((-1, value), (1, value + 1)):
        at, size = first, 1
        while 0 < at < cells:
            starts.add(at)
            at, size = at + way * size, 2 * size if at != first else 1
    return sorted(starts)


def _conservative(sure: list[float]) -> str:
    """What is to be said of intervals that hold so often."""
    least, most = (100 * share for share in (min(sure), max(sure)))
    if most <= MOST_SURE:
        return "interval of whole runs of cells"
    about = f"{least:.0f} %" if round(least) == round(most) else f"{least:.0f} to {most:.0f} %"
    return f"interval conservative: whole runs of cells hold it with about {about}, at least 95 %"


def quantile_level(level: Fraction | float | str) -> Fraction:
    share = exact(level, "the level of a quantile")
    if not 0 < share < 1:
        raise PlanError(f"the level of a quantile lies between 0 and 1, not at {level}.")
    if share.denominator > 10**4:
        raise PlanError(f"the level of a quantile has at most four decimals, not {level}.")
    return share


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
