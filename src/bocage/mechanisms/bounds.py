"""Bounds on exp(-x) in integer arithmetic, as tight as asked."""

from __future__ import annotations

from fractions import Fraction


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Return integers with low <= 2**bits * exp(-x) <= high, for x >= 0.

    exp(-y) with y = x / 2**halvings < 1/16 by its alternating series, then squared `halvings`
    times. Every step rounds the lower bound down and the upper bound up.

    Examples
    --------
    >>> exp_bounds(Fraction(1), 20)  # 2**20 / e = 385749.85...
    (385749, 385750)
    """
    if x == 0:
        return 1 << bits, 1 << bits
    if x >= bits:  # exp(-x) < 2**-x
        return 0, 1
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 5)
    work = bits + 2 * halvings + 16
    p, q = x.numerator, x.denominator << halvings
    low = high = term_low = term_high = 1 << work
    k = 0
    while term_high > 1:
        k += 1
        term_low = term_low * p // (q * k)
        term_high = ceil_div(term_high * p, q * k)
        if k % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
    # The terms alternate and shrink, so the rest of the series is smaller than the last of them.
    low, high = low - 1, high + 1
    for _ in range(halvings):
        low, high = low * low >> work, ceil_div(high * high, 1 << work)
    return low >> (work - bits), ceil_div(high, 1 << (work - bits))


def power_bounds(x: Fraction, count: int, bits: int) -> tuple[list[int], list[int]]:
    """Return lower and upper bounds on 2**bits * exp(-x * k) for k = 0 .. count - 1."""
    work = bits + count.bit_length() + 8
    step_low, step_high = exp_bounds(x, work)
    low = high = 1 << work
    lows, highs = [], []
    for _ in range(count):
        lows.append(low >> (work - bits))
        highs.append(ceil_div(high, 1 << (work - bits)))
        low, high = low * step_low >> work, ceil_div(high * step_high, 1 << work)
    return lows, highs


def ceil_div(a: int, b: int) -> int:
    """Divide and round up."""
    return -(-a // b)
