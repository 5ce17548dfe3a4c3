"""C4.5's pessimistic error: the upper confidence limit of a binomial rate.

SciPy has this function, but as its only use it would double the weight of the installation; the
tests compare with SciPy.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p


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
        off = beta_distribution(x, a, b) - (1 - confidence)
        low, high = (x, high) if off < 0 else (low, x)
        step = x - off / max(_density(x, a, b), 1e-300)
        following = step if low < step < high else (low + high) / 2
        if abs(following - x) <= 1e-12:
            break
        x = following
    return x


def _density(x: float, a: float, b: float) -> float:
    norm = lgamma(a + b) - lgamma(a) - lgamma(b)
    return exp(norm + (a - 1) * log(x) + (b - 1) * log1p(-x))


def beta_distribution(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b), by its continued fraction."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # where the fraction for the complement converges faster
        return 1 - beta_distribution(1 - x, b, a)
    front = _density(x, a, b) * x * (1 - x) / a
    return front / _fraction(x, a, b)


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
