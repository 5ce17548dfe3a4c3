"""Real-valued noise on small tables, known to as many digits as a certified rounding needs.

What is drawn is a point of the density exp(-rate * norm), where the unit ball of the norm is the body
in which one record moves the tables: Hardt & Talwar (2010), "On the geometry of differential
privacy". Beside that of :mod:`~bocage.mechanisms.consistent_noise` two bodies are known:

`Tables`
    The body of a table of c cells is B_c, the convex hull of the points ±(e_v - 1/c): the table of
    a record in cell v, centered, with either sign. For c = 1 it is the interval [-1, 1]. Several
    tables, each of several columns, are moved together by one record, so that the norm of all is
    the largest of their norms.

    The norm of a centered x is the sum of the distances to its median, which in sorted order is the
    sum over j = 1 .. c-1 of min(j, c-j) times the gap between the j-th and the next value. So the
    gaps of a uniform point of B_c are, after weighting, uniform on a simplex (exponentials divided
    by their sum), and the order of its cells is a uniform permutation. A point of the density is r
    times a uniform point, where r is gamma distributed with the dimension plus one, that is a sum
    of so many exponentials, over the rate.

`Roots`
    A table of c cells with one column for each of K labels. A record moves one cell by a vector of
    sum 0 whose positive part is at most 1: the root polytope, the hull of all e_i - e_j. The norm of
    the table is the sum over cells, so that the cells are independent. A facet of the polytope is a
    product of two simplices, chosen by the m labels that are positive; its cone has a volume
    proportional to binom(K-2, m-1), and there are binom(K, m) of them. On the facet the two parts
    are uniform on their simplices, and the size is gamma distributed with K-1 over the rate. The
    table is then centered over its cells, if there are several, which takes nothing from the
    guarantee: it is a projection of the noise.

Everything is a quotient and sum of exponentials of which the first digits are known, and so lies in
an interval that is computed with integers, rounded outwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

from bocage.errors import EpsilonError
from bocage.mechanisms.body_points import (
    BodyDraw,
    Bounds,
    as_columns,
    as_rows,
    index_of,
    permutation,
    share,
)
from bocage.mechanisms.bounds import ceil_div
from bocage.mechanisms.consistent_noise import ConsistentDraw, ConsistentTables
from bocage.mechanisms.exponential_variables import FIRST_BITS, Exponentials
from bocage.mechanisms.rng import Randomness


@dataclass(frozen=True)
class Tables:
    """Centered tables that one record moves within their common body; see the module."""

    rate: Fraction
    sizes: tuple[int, ...]  # the number of cells of each table
    columns: int = 1


@dataclass(frozen=True)
class Roots:
    """One table with a column for each label; see the module."""

    rate: Fraction
    size: int
    labels: int


Body = Tables | Roots | ConsistentTables


class Perturbation:
    """Noise on all tables of some bodies: independent from body to body.

    Privacy
    -------
    The digits are private, however many have been drawn: what may be released is the outcome of a
    computation that is the same for all real numbers within the bounds.
    """

    def __init__(self, bodies: Sequence[Body], source: Randomness, bits: int = FIRST_BITS) -> None:
        if any(body.rate <= 0 for body in bodies):
            raise EpsilonError("the rate of noise on tables must be greater than 0.")
        self._drawn = [_drawn(body, source) for body in bodies]
        self._exponentials = Exponentials(sum(d.count for d in self._drawn), source, bits)

    @property
    def bits(self) -> int:
        """The bounds count units of ``2**-bits``."""
        return self._exponentials.bits

    def bounds(self) -> list[Bounds]:
        """For each table lower and upper bounds of shape (cells, columns)."""
        digits: list[int] = self._exponentials.digits.tolist()
        bounds, start = [], 0
        for drawn in self._drawn:
            bounds += drawn.bounds(digits[start : start + drawn.count])
            start += drawn.count
        return bounds

    def refine(self) -> None:
        """Draw further digits."""
        self._exponentials.refine()


def _drawn(body: Body, source: Randomness) -> BodyDraw:
    if isinstance(body, ConsistentTables):
        return ConsistentDraw(body, source)
    return _TablesDraw(body, source) if isinstance(body, Tables) else _RootsDraw(body, source)


class _TablesDraw(BodyDraw):
    """The draw of one `Tables`."""

    def __init__(self, body: Tables, source: Randomness) -> None:
        self._rate = body.rate
        self._shapes = [(size, body.columns) for size in body.sizes]
        dimensions = [max(size - 1, 1) for size in body.sizes for _ in range(body.columns)]
        self._radius = sum(dimensions) + 1
        self.count = self._radius + sum(d + 1 for d in dimensions)
        # A single number has a sign where a table has an order.
        self._orders = [permutation(max(size, 2), source) for size in body.sizes for _ in range(body.columns)]

    def bounds(self, digits: list[int]) -> list[Bounds]:
        low = sum(digits[: self._radius]) * self._rate.denominator
        radius = low, low + self._radius * self._rate.denominator
        start, orders = self._radius, iter(self._orders)
        tables = []
        for size, columns in self._shapes:
            step = max(size, 2)
            points = []
            for order in (next(orders) for _ in range(columns)):
                column = digits[start : start + step]
                points.append(_point(size, column, radius, self._rate.numerator, order))
                start += step
            tables.append(as_columns(points))
        return tables


def _point(
    size: int, digits: list[int], radius: tuple[int, int], divisor: int, order: list[int]
) -> tuple[list[int], list[int]]:
    """One column of a table: gaps from exponentials, sorted values, cells in random order."""
    low, high = sum(digits), sum(digits) + len(digits)
    if size == 1:
        value = share((digits[0], digits[0] + 1), low, high, radius, divisor)
        return ([value[0]], [value[1]]) if order[0] else ([-value[1]], [-value[0]])
    gaps = [
        share((digits[j - 1], digits[j - 1] + 1), low, high, radius, divisor * min(j, size - j)) for j in range(1, size)
    ]
    # The i-th value counts gap j with j/c if it lies above it, else with -(c-j)/c.
    below = [list(accumulate((j * gap[end] for j, gap in enumerate(gaps, 1)), initial=0)) for end in (0, 1)]
    above = [
        list(accumulate((j * gap[end] for j, gap in enumerate(reversed(gaps), 1)), initial=0))[::-1] for end in (0, 1)
    ]
    lows, highs = [0] * size, [0] * size
    for i, cell in enumerate(order):
        lows[cell] = (below[0][i] - above[1][i]) // size
        highs[cell] = ceil_div(below[1][i] - above[0][i], size)
    return lows, highs


class _RootsDraw(BodyDraw):
    """The draw of one `Roots`."""

    def __init__(self, body: Roots, source: Randomness) -> None:
        self._body = body
        labels = body.labels
        self.count = body.size * (2 * labels - 1)
        self._orders = [permutation(labels, source) for _ in range(body.size)]
        weights = facets(labels)
        drawn = source.below(sum(weights), body.size).tolist()
        self._positive = [index_of(weights, number) + 1 for number in drawn]

    def bounds(self, digits: list[int]) -> list[Bounds]:
        body, rate = self._body, self._body.rate
        step = 2 * body.labels - 1
        lows, highs = [], []
        for cell, (order, m) in enumerate(zip(self._orders, self._positive, strict=True)):
            cell_digits = digits[cell * step : (cell + 1) * step]
            size, parts = cell_digits[: body.labels - 1], cell_digits[body.labels - 1 :]
            least = sum(size) * rate.denominator
            radius = least, least + len(size) * rate.denominator
            ends = [0] * body.labels, [0] * body.labels
            for sign, members, part in ((1, order[:m], parts[:m]), (-1, order[m:], parts[m:])):
                total = sum(part)
                for label, digit in zip(members, part, strict=True):
                    value = share((digit, digit + 1), total, total + len(part), radius, rate.numerator)
                    ends[0][label], ends[1][label] = value if sign > 0 else (-value[1], -value[0])
            lows.append(ends[0])
            highs.append(ends[1])
        low, high = as_rows(lows), as_rows(highs)
        return [_centered(low, high) if body.size > 1 else (low, high)]


def facets(labels: int) -> list[int]:
    """binom(K, m) binom(K-2, m-1) for m = 1 .. K-1, each from the one before."""
    weights = [labels]
    for m in range(1, labels - 1):
        weights.append(weights[-1] * (labels - m) * (labels - 1 - m) // ((m + 1) * m))
    return weights


def _centered(low: NDArray[Any], high: NDArray[Any]) -> Bounds:
    """Subtract the mean over the cells."""
    size = len(low)
    first = low * (size - 1) - (high.sum(axis=0) - high)
    last = high * (size - 1) - (low.sum(axis=0) - low)
    return first // size, -(-last // size)
