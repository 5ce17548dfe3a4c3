"""How far noise on tables reaches. Public arithmetic on the bodies alone; no noise is drawn here."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import sqrt

from bocage.mechanisms.knorm import Body, Roots, facets


def deviations(body: Body) -> list[float]:
    """The standard deviation of one entry of each table, from the moments of the exponentials."""
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
    total = Fraction(0)
    for i in range(1, size):
        for j in range(i, size):
            product = Fraction(i * (size - j), size * min(i, size - i) * min(j, size - j))
            total += 2 * product  # the diagonal counts twice, the rest from both sides
    return total / (size * (size + 1) * size)
