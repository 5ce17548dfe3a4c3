"""Trusted criteria: how good a split is, as an exact integer, and how far one record moves it.

A criterion adds up one integer per branch of a split. The *range* of a criterion is a privacy claim:
when one record is added, the scores of all splits move within one interval of that width. Selecting
with rate epsilon / range is then epsilon-differentially private for add/remove neighbors. For a
monotone score the range equals the sensitivity, so the factor 2 of the exponential mechanism does not
appear; for others it is twice the sensitivity. `private` divides the rate once more for replace-one
neighbors, who are two steps apart.

Scores are computed with integers only. Rounding is part of the score and inside its claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from math import floor, log2
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bocage.errors import PlanError
from bocage.schema import Schema

IntArray = NDArray[np.int64]
UNITS = 1024  # score units per record, for criteria that are not whole numbers
_DOUBLINGS = 2 ** np.arange(12, 40)
_EXACT_BELOW = 2**26  # squares of such counts, times UNITS, stay inside 63 bits


class Criterion(Protocol):
    """Scores one branch from its label counts; larger is better."""

    @property
    def name(self) -> str: ...

    @property
    def units(self) -> int:
        """How many integer units make one unit of the published formula."""

    def range(self, schema: Schema) -> int:
        """Width of the interval in which all scores move when one record is added."""

    def branch(self, counts: IntArray) -> IntArray:
        """Integer score of each branch; the last axis of `counts` is the label."""


@dataclass(frozen=True)
class MaxOperator:
    """Records of the majority label (Friedman & Schuster 2010, 4.1).

    Privacy
    -------
    Adding a record raises one label count of one branch by one: the score rises by 0 or 1.
    """

    name: str = "max"
    units: int = 1

    def range(self, schema: Schema) -> int:
        return 1

    def branch(self, counts: IntArray) -> IntArray:
        return reduce(np.maximum, _labels(counts))


@dataclass(frozen=True)
class Gini:
    """Negative Gini impurity mass, sum of x²/t - t over the branches (Friedman & Schuster 2010, 4.1).

    Privacy
    -------
    Adding a record of a label with count a to a branch of size t changes the mass t - sum x²/t by
    1 + sum x²/(t(t+1)) - (2a+1)/(t+1), which lies in [0, 2): at least (t-a)²/(t(t+1)), at most
    2t/(t+1). So the score falls by less than 2 for every split: monotone, range 2. The score kept
    here is the floor of UNITS times it; a floor is monotone too, so it falls by 0 to 2 UNITS.
    """

    name: str = "gini"
    units: int = UNITS

    def range(self, schema: Schema) -> int:
        return 2 * UNITS

    def branch(self, counts: IntArray) -> IntArray:
        size: IntArray = reduce(np.add, _labels(counts))
        if size.size and int(size.max()) >= _EXACT_BELOW:
            return _gini_big(counts)
        squares: IntArray = reduce(np.add, (count * count for count in _labels(counts)))
        result: IntArray = UNITS * squares // np.maximum(size, 1) - UNITS * size
        return result


@dataclass(frozen=True)
class Blend:
    """Errors and half the Gini impurity mass, in equal parts: -(E + I/2) / 2.

    The errors E are the records outside the majority label of their branch: what counts in the end,
    but the same for many splits. The impurity I tells those apart.

    Privacy
    -------
    Adding a record to a branch raises E by 0 or 1 (the size rises by 1, the largest count by 0 or 1)
    and I/2 by a value in [0, 1) (see `Gini`), both for every split. So E + I/2 rises by 0 to 2 and
    the score falls by 0 to 1: monotone, range 1. Kept is 4 UNITS times it, as 2 UNITS times -E,
    which is whole, plus the floor of UNITS times -I, which falls by 0 to 2 UNITS: range 4 UNITS.
    """

    name: str = "blend"
    units: int = 4 * UNITS

    def range(self, schema: Schema) -> int:
        return 4 * UNITS

    def branch(self, counts: IntArray) -> IntArray:
        size: IntArray = reduce(np.add, _labels(counts))
        largest: IntArray = reduce(np.maximum, _labels(counts))
        result: IntArray = 2 * UNITS * (largest - size) + Gini().branch(counts)
        return result


def _labels(counts: IntArray) -> IntArray:
    """The counts with the label first. NumPy is slow along a last axis of two or three."""
    return np.moveaxis(counts, -1, 0)


def _gini_big(counts: IntArray) -> IntArray:
    """The same integers by Python's big ones, for branches of 67 million rows and more."""
    big = counts.astype(object)
    size = big.sum(axis=-1)
    squares = (big * big).sum(axis=-1)
    score = UNITS * squares // np.maximum(size, 1) - UNITS * size
    return np.asarray(score, dtype=np.int64)


@dataclass(frozen=True)
class InformationGain:
    """Negative conditional entropy mass, sum of x log2(x/t) (Friedman & Schuster 2010, eq. 1, mended).

    Privacy
    -------
    The score of a branch is sum G(x) - G(t), where G is an integer convex function near
    UNITS * n log2 n. Adding a record of a label with count a changes it by g(a) - g(t), with
    g(n) = G(n+1) - G(n) not falling and a <= t, hence by a value in [-g(t), 0]: monotone, and the
    range is g(N-1) for tables of at most N rows. The argument needs convexity of G alone, which
    holds by construction, and the row cap N, which every engine enforces.
    """

    name: str = "information_gain"
    units: int = UNITS

    def range(self, schema: Schema) -> int:
        if schema.row_cap is None:
            raise PlanError(
                f"information gain needs a row cap: its sensitivity grows with the table. Declare "
                f"row_cap in the schema of {schema.name!r}, or take the criterion max or gini."
            )
        # A single row has no entropy wherever it goes; no score moves then.
        return max(_entropy_slope(schema.row_cap - 1), 1)

    def branch(self, counts: IntArray) -> IntArray:
        result: IntArray = _entropy(counts).sum(axis=-1) - _entropy(counts.sum(axis=-1))
        return result


def _entropy(n: IntArray) -> IntArray:
    """G(n): integer, convex, G(0) = 0, linear between knots."""
    knots, values, slopes = _entropy_table()
    # The knots are so placed that the one at or below n has the number n >> k, plus 4096 for each of
    # the k doublings from 4096 up to n.
    doublings = np.maximum(np.searchsorted(_DOUBLINGS, n, side="right") - 1, 0)
    at = np.minimum((n >> doublings) + 4096 * doublings, len(knots) - 1)
    result: IntArray = values[at] + slopes[at] * (n - knots[at])
    return result


def _entropy_slope(n: int) -> int:
    """g(n) = G(n+1) - G(n)."""
    knots, _, slopes = _entropy_table()
    return int(slopes[np.searchsorted(knots, n, side="right") - 1])


@lru_cache(maxsize=1)
def _entropy_table() -> tuple[IntArray, IntArray, IntArray]:
    """Knots at every n below 4096, then 4096 per doubling up to 2**40.

    The slopes are whole numbers that never fall, so G is convex whatever the logarithm rounds to.
    """
    knots = list(range(4096))
    for power in range(12, 40):
        knots += range(2**power, 2 ** (power + 1), 2 ** (power - 12))
    values: list[int] = [0]
    slopes: list[int] = []
    for here, following in zip(knots, [*knots[1:], 2**40], strict=True):
        rise = _xlogx(following) - _xlogx(here)
        slope = max(floor(UNITS * rise / (following - here)), slopes[-1] if slopes else 0)
        slopes.append(slope)
        values.append(values[-1] + slope * (following - here))
    return (
        np.array(knots, np.int64),
        np.array(values[:-1], np.int64),
        np.array(slopes, np.int64),
    )


def _xlogx(n: int) -> float:
    return n * log2(n) if n else 0.0


@dataclass(frozen=True)
class Doubled:
    """A criterion selected at half its rate, as the papers print the exponential mechanism.

    Privacy
    -------
    A larger range than needed: sound, and twice as noisy as the monotone score allows.
    """

    criterion: Criterion

    @property
    def name(self) -> str:
        return f"{self.criterion.name}, rate halved"

    @property
    def units(self) -> int:
        return self.criterion.units

    def range(self, schema: Schema) -> int:
        return 2 * self.criterion.range(schema)

    def branch(self, counts: IntArray) -> IntArray:
        return self.criterion.branch(counts)


CRITERIA: dict[str, Criterion] = {c.name: c for c in (MaxOperator(), Gini(), Blend(), InformationGain())}


def criterion_named(name: str | Criterion) -> Criterion:
    """A trusted criterion. No other is taken: it would see exact counts and claim its own range."""
    if isinstance(name, Doubled):
        return Doubled(criterion_named(name.criterion))
    for known in CRITERIA.values():
        if name == known.name or (type(name) is type(known) and name == known):
            return known
    raise PlanError(f"there is no criterion {name!r}. Trusted criteria: {', '.join(CRITERIA)}.")
