"""How far Laplace noise reaches. Public arithmetic on the scale alone; no noise is drawn here.

Estimates in floating point are only starting points: what is returned has been compared with
integer bounds, so that widths are right to the integer.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from bocage.errors import EpsilonError
from bocage.mechanisms.bounds import exp_bounds

DEFAULT_CONFIDENCE = Fraction(19, 20)


def laplace_tail(scale: Fraction, k: int) -> float:
    """Return P(abs(X) >= k) = 2 q**k / (1 + q), with q = exp(-1 / scale), for k >= 1."""
    if k <= 0:
        return 1.0
    return 2 * math.exp(-k / scale) / (1 + math.exp(-1 / scale))


def laplace_standard_deviation(scale: Fraction) -> float:
    """Return the standard deviation sqrt(2 q) / (1 - q), a little below sqrt(2) * scale."""
    return math.sqrt(2) * math.exp(-1 / (2 * scale)) / -math.expm1(-1 / scale)


def laplace_half_width(scale: Fraction, confidence: Fraction = DEFAULT_CONFIDENCE) -> int:
    """Return the smallest integer w with P(abs(X) <= w) >= confidence.

    Examples
    --------
    >>> laplace_half_width(Fraction(1)), laplace_half_width(Fraction(10))
    (3, 30)
    """
    _check(confidence)
    # 2 q**(w + 1) / (1 + q) = 1 - confidence, solved in 50 digits
    with localcontext(prec=50):
        s = Decimal(scale.numerator) / scale.denominator
        q = (-1 / s).exp()
        miss = 1 - Decimal(confidence.numerator) / confidence.denominator
        width = max(0, math.ceil(-s * (miss * (1 + q) / 2).ln()) - 1)
    while width > 0 and _holds(scale, width - 1, confidence):
        width -= 1
    while not _holds(scale, width, confidence):
        width += 1
    return width


def laplace_scale_for(half_width: int, confidence: Fraction = DEFAULT_CONFIDENCE) -> Fraction:
    """Return the largest scale whose half width is at most `half_width`, to twelve digits.

    Rounded down: noise of the scale returned keeps the promise. Epsilon is the sensitivity divided
    by it, rounded up to what the ledger counts.

    Examples
    --------
    >>> scale = laplace_scale_for(50)
    >>> round(float(scale), 3), laplace_half_width(scale)
    (16.86, 50)
    """
    _check(confidence)
    if half_width < 0:
        raise EpsilonError(f"a half width must be 0 or more, not {half_width}.")
    low, high = Fraction(0), Fraction(half_width + 1)
    while _holds(high, half_width, confidence):
        low, high = high, 2 * high
    while high - low > high * Fraction(1, 10**13):
        middle = (low + high) / 2
        middle = Fraction(round(middle * 10**18), 10**18)  # keeps the numbers short
        low, high = (middle, high) if _holds(middle, half_width, confidence) else (low, middle)
    return low


def _holds(scale: Fraction, width: int, confidence: Fraction) -> bool:
    """Decide P(abs(X) > width) <= 1 - confidence, that is 2 q**(width + 1) <= miss (1 + q).

    q is transcendental and the confidence rational, so the two sides differ and tighter bounds
    always tell them apart.
    """
    miss = 1 - confidence
    bits = 64
    while True:
        one_low, one_high = exp_bounds(1 / scale, bits)
        far_low, far_high = exp_bounds((width + 1) / scale, bits)
        if 2 * far_high <= miss * ((1 << bits) + one_low):
            return True
        if 2 * far_low > miss * ((1 << bits) + one_high):
            return False
        bits *= 2


def _check(confidence: Fraction) -> None:
    if not 0 < confidence < 1:
        raise EpsilonError(f"a confidence must lie between 0 and 1, not {confidence}.")
