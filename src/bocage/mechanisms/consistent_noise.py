"""Noise on tables that count the same records, and so have the same sum.

A record that is added moves one cell of each table by the same amount, of size 1 at most. So the
tables move within the space in which all of them have one sum, and there by a norm of 1 at most, if
the norm of the tables is the largest of their L1 norms. Noise with the density exp(-rate * norm) on
that space is less than Laplace noise on every cell, the more so the fewer cells a table has.

A draw, with no table's last cell free, as the sum z determines it: of the other cells of a table, the
positive ones add up to at most a and the negative ones to at most b, where a + b is the norm allowed and
a - b = z. Conversely such cells make a table of norm a + b at most. So, given how many cells of each
table are positive, the positive ones are uniform on a simplex of size a, the negative ones on one of
size b, and a and b are independent: gamma distributed with one more than all positive, or all
negative, cells. A table of d free cells of which j are positive has binom(d, j) sign patterns and
the volume a**j b**(d-j) / (j! (d-j)!); with a and b integrated out, j_1, j_2, ... have a weight
of P! N! prod binom(d_i, j_i)**2, where P and N are the numbers of all positive and negative cells.

Several columns have the largest of their norms: each is a uniform point of the unit body (a draw over
its own a + b), times one radius for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from bocage.mechanisms.body_points import (
    BodyDraw,
    Bounds,
    Interval,
    as_columns,
    index_of,
    permutation,
    share,
)
from bocage.mechanisms.rng import Randomness

Weights = tuple[int, ...]


@dataclass(frozen=True)
class ConsistentTables:
    """Tables with one sum for all of them; one of a single cell is that sum. See the module."""

    rate: Fraction
    sizes: tuple[int, ...]  # the number of cells of each table
    columns: int = 1

    @property
    def dimension(self) -> int:
        return self.columns * (1 + sum(size - 1 for size in self.sizes))


class ConsistentDraw(BodyDraw):
    """The draw of one `ConsistentTables`."""

    def __init__(self, body: ConsistentTables, source: Randomness) -> None:
        self._body = body
        self._signs = [positives(body.sizes, source) for _ in range(body.columns)]
        self._orders = [[permutation(size, source) for size in body.sizes] for _ in range(body.columns)]
        free = sum(size - 1 for size in body.sizes)
        each = (free + 2) + (free + 2 * len(body.sizes))
        self.count = body.dimension + 1 + body.columns * each

    def bounds(self, digits: list[int]) -> list[Bounds]:
        rate, more = self._body.rate, iter(digits)

        def total(many: int) -> Interval:
            """A sum of further exponentials, each of them known to one unit."""
            low = sum(next(more) for _ in range(many))
            return low, low + many

        low, high = total(self._body.dimension + 1)
        radius = low * rate.denominator, high * rate.denominator
        columns = []
        for signs, orders in zip(self._signs, self._orders, strict=True):
            sides = total(sum(signs) + 1), total(self._negative(signs) + 1)
            ends = sides[0][0] + sides[1][0], sides[0][1] + sides[1][1]
            a, b = (share(side, *ends, radius, rate.numerator) for side in sides)
            points = []
            for size, positive, order in zip(self._body.sizes, signs, orders, strict=True):
                cells = _part(a, [next(more) for _ in range(positive + 1)])
                below = _part(b, [next(more) for _ in range(size - positive)])
                cells += [(-last, -first) for first, last in below]
                rest = (
                    a[0] - b[1] - sum(last for _, last in cells),
                    a[1] - b[0] - sum(first for first, _ in cells),
                )
                cells.append(rest)
                points.append(([cells[i][0] for i in order], [cells[i][1] for i in order]))
            columns.append(points)
        return [as_columns(list(points)) for points in zip(*columns, strict=True)]

    def _negative(self, signs: list[int]) -> int:
        return sum(size - 1 for size in self._body.sizes) - sum(signs)


def _part(whole: Interval, digits: list[int]) -> list[Interval]:
    """All but the last share of a whole that is shared out at random; the last one is not used."""
    low, high = sum(digits), sum(digits) + len(digits)
    return [share((digit, digit + 1), low, high, whole, 1) for digit in digits[:-1]]


def positives(sizes: tuple[int, ...], source: Randomness) -> list[int]:
    """How many free cells of each table are positive; the module has the weights."""
    rest = products(sizes)
    weights = totals(sizes)
    left = index_of(weights, int(source.below(sum(weights), 1)[0]))
    signs = []
    for size, after in zip(sizes, rest[1:], strict=True):
        ways = [
            square * (after[left - j] if 0 <= left - j < len(after) else 0)
            for j, square in enumerate(squares(size - 1))
        ]
        signs.append(index_of(ways, int(source.below(sum(ways), 1)[0])))
        left -= signs[-1]
    return signs


@lru_cache(maxsize=256)
def squares(free: int) -> Weights:
    """binom(d, j)**2 for j = 0 .. d."""
    row = [1]
    for j in range(free):
        row.append(row[-1] * (free - j) // (j + 1))
    return tuple(number**2 for number in row)


@lru_cache(maxsize=64)
def products(sizes: tuple[int, ...]) -> tuple[Weights, ...]:
    """For each table on, and for none: how the positive cells of these add up, by their number."""
    sums: list[Weights] = [(1,)]
    for size in reversed(sizes):
        table, after = squares(size - 1), sums[-1]
        convolved = [0] * (len(table) + len(after) - 1)
        for i, ways in enumerate(table):
            for j, more in enumerate(after):
                convolved[i + j] += ways * more
        sums.append(tuple(convolved))
    return tuple(reversed(sums))


@lru_cache(maxsize=64)
def totals(sizes: tuple[int, ...]) -> Weights:
    """P! N! times the weight of P positive cells in all tables."""
    ways = products(sizes)[0]
    factorials = list(accumulate(range(1, len(ways)), lambda a, b: a * b, initial=1))
    return tuple(way * up * down for way, up, down in zip(ways, factorials, reversed(factorials), strict=True))
