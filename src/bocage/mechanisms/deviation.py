"""How far noise on tables reaches. Public arithmetic on the bodies alone; no noise is drawn here."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial, sqrt

from bocage.mechanisms.consistent_noise import ConsistentTables, products, squares, totals
from bocage.mechanisms.knorm import Body, Roots, facets


def deviations(body: Body) -> list[float]:
    """The standard deviation of one entry of each table, from the moments of the exponentials.

    Tables that agree are centered first: what they have in common is the noise of their sum, which a
    table of one cell has.
    """
    if isinstance(body, ConsistentTables):
        squared = (body.dimension + 1) * (body.dimension + 2) / body.rate**2
        each = {size: _agreed_square(body.sizes, size) for size in set(body.sizes)}
        return [sqrt(squared * each[size]) for size in body.sizes]
    if isinstance(body, Roots):
        labels, weights = body.labels, facets(body.labels)
        squares = sum(
            Fraction(weight, sum(weights)) * (Fraction(2, m + 1) + Fraction(2, labels - m + 1))
            for m, weight in enumerate(weights, 1)
        )
        variance = (labels - 1) * squares / body.rate**2
        return [sqrt(variance * (1 - Fraction(1, body.size) if body.size > 1 else 1))]
    dimension = body.columns * sum(max(size - 1, 1) for size in body.sizes)
    radius = (dimension + 1) * (dimension + 2) / body.rate**2
    return [sqrt(radius * _square(size)) for size in body.sizes]


@cache
def _square(size: int) -> Fraction:
    """The mean square of an entry of a uniform point of B_c.

    The weighted gaps have mean product (1 + [i = j]) / (c (c+1)), and gaps i <= j of 1 contribute
    i (c-j) / c to the sum of the squares of all entries.
    """
    if size == 1:
        return Fraction(1, 3)
    total = later = Fraction(0)
    for i in range(size - 1, 0, -1):
        later += Fraction(size - i, min(i, size - i))
        total += Fraction(2 * i, size * min(i, size - i)) * later
        # the diagonal counts twice, the rest from both sides
    return total / (size * (size + 1) * size)


@cache
def _agreed_square(sizes: tuple[int, ...], size: int) -> Fraction:
    """The mean square of an entry of a uniform point of tables that agree, without its mean.

    With P positive and N negative cells, a and b are Dirichlet distributed with P+1 and N+1 on the
    norm of 1; j positive cells of a table and what is left are uniform shares of a. The cells of
    a table are exchangeable, so that its free ones tell the mean square of all.
    """
    whole = totals(sizes)
    free = len(whole) - 1
    order = (free + 2) * (free + 3)
    if size == 1:
        sums = [
            (p + 1) * (p + 2) + (free - p + 1) * (free - p + 2) - 2 * (p + 1) * (free - p + 1) for p in range(free + 1)
        ]
        return Fraction(sum(w * s for w, s in zip(whole, sums, strict=True)), sum(whole) * order)
    others = list(sizes)
    others.remove(size)
    after, factorials = products(tuple(others))[0], [factorial(n) for n in range(free + 1)]
    cells = Fraction(0)
    for j, square in enumerate(squares(size - 1)):
        for positive, above in ((j, True), (size - 1 - j, False)):
            sides = ((j + rest, free - j - rest) for rest in range(len(after)))
            mean = sum(
                ways * factorials[p] * factorials[n] * ((p + 1) * (p + 2) if above else (n + 1) * (n + 2))
                for ways, (p, n) in zip(after, sides, strict=True)
            )
            cells += Fraction(2 * positive * square * mean, (positive + 1) * (positive + 2))
    entry = cells / (sum(whole) * order * (size - 1))
    return entry - _agreed_square((1, *sizes), 1) / size**2
