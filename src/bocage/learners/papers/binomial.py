"""C4.5's pessimistic error: the upper confidence limit of a binomial rate.

SciPy has this function, but as its only use it would double the weight of the installation; the
tests compare with SciPy.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

_MANY = 100  # from here on the density is smooth enough to be integrated


def upper_error_rate(errors: float, cases: float, confidence: float) -> float:
    """The rate at which `errors` or fewer in `cases` have probability `confidence`.

    This is the quantile 1 - confidence of the beta distribution with parameters errors + 1 and
    cases - errors, for fractional counts too.

    Examples
    --------
    >>> round(upper_error_rate(0, 6, 0.25), 3)  # Quinlan (1993), chapter 4: U25%(0, 6) = 0.206
    0.206
    """
    if cases <= errors:
        return 1.0
    if errors == 0:
        return 1 - exp(log(confidence) / cases)
    a, b = errors + 1, cases - errors
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(100):  # Newton's steps, or halving where they leave the bracket
        if not low < x < high:  # nearer to an end than doubles tell
            break
        off = beta_distribution(x, a, b) - (1 - confidence)
        low, high = (x, high) if off < 0 else (low, x)
        step = x - off / max(_density(x, a, b), 1e-300)
        following = step if low < step < high else (low + high) / 2
        if abs(following - x) <= 1e-12:
            break
        x = following
    return x


def _density(x: float, a: float, b: float) -> float:
    return exp(_norm(a, b) + (a - 1) * log(x) + (b - 1) * log1p(-x))


def _norm(a: float, b: float) -> float:
    return lgamma(a + b) - lgamma(a) - lgamma(b)


def beta_distribution(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if min(a, b) > _MANY:
        return _integral(x, a, b)
    if x > (a + 1) / (a + b + 2):  # where the fraction for the complement converges faster
        return 1 - beta_distribution(1 - x, b, a)
    front = _density(x, a, b) * x * (1 - x) / a
    return front / _fraction(x, a, b)


def _integral(x: float, a: float, b: float) -> float:
    """The area under the density, which is nearly normal, from `x` to the far end of one tail."""
    mean, deviation = a / (a + b), sqrt(a * b / (a + b + 1)) / (a + b)
    above = x > mean
    end = min(mean + 12 * deviation, 1.0) if above else max(mean - 12 * deviation, 0.0)
    if (x >= end) if above else (x <= end):
        return float(above)
    points, weights = _legendre()
    t = x + (end - x) * points
    area = abs(end - x) * float(weights @ np.exp(_norm(a, b) + (a - 1) * np.log(t) + (b - 1) * np.log1p(-t)))
    return 1 - area if above else area


@lru_cache(maxsize=1)
def _legendre() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss's points and weights on (0, 1)."""
    points, weights = np.polynomial.legendre.leggauss(48)
    return (points + 1) / 2, weights / 2


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d1/(1 + d2/(1 + ...)), evaluated from the front (Lentz)."""
    tiny = 1e-300
    value, c, d = 1.0, 1.0, 0.0
    for i in range(1, 2000):
        m = i // 2
        if i % 2:
            step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + step * d or tiny)
        c = 1 + step / c or tiny
        value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value
