"""Where the noise of sums of discrete Laplace noises lies. Public arithmetic; no noise is drawn here.

An interval is made by testing: it holds every value for which what was released is not among the 5 % that
are furthest off. The laws of the noise follow from public scales alone.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MISS = 0.05  # of a 95 % interval
_STEPS = 32  # of the lattice, for each unit of scale: finer ones change less than 0.01 % of the law
_REACH, _SUM_REACH = 12, 6  # scales and, beside them, standard deviations that a sum is followed
_TURNS, _FURTHER = 12, 1e-5  # of a search for the end of an interval
_LEAST = 1e-300


def tail(off: Floats, ratio: Floats, for_sum: Fraction, for_count: Fraction) -> Floats:
    """An upper bound on P(abs(X - ratio * Y) >= off), for discrete Laplace X and Y of these scales.

    P(X >= k) = r**k / (1 + r) for integers k >= 0, with r = exp(-1 / scale), and r**z / (1 + r) is no
    smaller for real z below k. The sum over Y of these bounds, one side of 0 after the other, is
    geometric. It exceeds the true probability by a factor of 1 / r at most.
    """
    a, b = 1 / float(for_sum), 1 / float(for_count)
    ratio = np.maximum(np.abs(ratio), 1e-12)
    r, slope = exp(-a), a * ratio
    norm = -np.expm1(-b) / (1 + exp(-b))  # P(Y = 0)
    within = np.floor(off / ratio)  # Y down to minus this leaves X a number from 0 on to reach
    with np.errstate(under="ignore", over="ignore"):
        above = -1 / np.expm1(-(b + slope))  # the sum of exp(-(b + slope) y) over y >= 0
        apart = b - slope
        apart = np.where(np.abs(apart) < 1e-12, 1e-12, apart)
        below = np.exp(-apart) * np.expm1(-within * apart) / np.expm1(-apart)
        near = np.exp(-a * off) * above + np.where(np.isfinite(below), np.exp(-a * off) * below, np.inf)
        beyond = np.exp(-(within + 1) * b)
        far = beyond / -np.expm1(-b)
        far -= r / (1 + r) * beyond * np.exp(a * off - slope * (within + 1)) * above
    probability: Floats = np.minimum(2 * norm * (near / (1 + r) + far), 1.0)
    return probability


def excess(for_sum: Fraction) -> float:
    """By how much more often than in 95 % the interval of a quotient holds, at most.

    `tail` is too large by a factor of exp(1 / scale) at most: noise of a scale of few units is coarse.
    """
    return MISS * -float(np.expm1(-1 / float(for_sum)))


def quotients(
    sums: Floats, counts: Floats, most: float, for_sum: Fraction, for_count: Fraction
) -> tuple[Floats, Floats]:
    """95 % intervals of quotients within -most and most, given noisy dividends and divisors.

    For the true quotient m the noise of S - m N is X - m Y, whatever the rows are (Fieller 1954). The
    interval holds every m for which abs(S - m N) is not larger than what X - m Y reaches with 95 %. With
    no count above 0 that is everything. Where the quotient lies so far outside that no m is left, it counts
    as lying at the end.
    """
    n = np.where(counts <= 0, 1.0, counts)
    at = np.clip(sums / n, -most, most)

    def spare(m: Floats, s: Floats, n: Floats) -> Floats:
        """Above 0 for what the interval holds; nearly linear in m."""
        logarithm: Floats = np.log(np.maximum(tail(np.abs(s - m * n), m, for_sum, for_count), _LEAST))
        return logarithm - log(MISS)

    sums = np.where(spare(at, sums, n) > 0, sums, at * n)
    inside, s, n = np.tile(at, 2), np.tile(sums, 2), np.tile(n, 2)
    ends = np.repeat([-most, most], len(at)).astype(float)
    outside, within, beyond = ends.copy(), spare(inside, s, n), spare(ends, s, n)
    everything = np.tile(counts <= 0, 2) | (beyond > 0)
    for turn in range(_TURNS):  # regula falsi; the last looks a little further, to end outside
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.clip(np.nan_to_num(within / (within - beyond), nan=0.5), 0, 1)
        middle = inside + (outside - inside) * share
        if turn >= _TURNS - 2:
            middle = middle + (middle - np.tile(at, 2)) * _FURTHER
        spared = spare(middle, s, n)
        holds = spared > 0
        inside, within = np.where(holds, middle, inside), np.where(holds, spared, within / 2)
        outside, beyond = np.where(holds, outside, middle), np.where(holds, beyond / 2, spared)
    low, high = np.split(np.where(everything, ends, outside), 2)
    return np.maximum(low, -most), np.minimum(high, most)


@lru_cache(maxsize=256)
def _sum_law(scale: Fraction, terms: int) -> tuple[Floats, float]:
    """The law of a sum of so many discrete Laplace noises, on a lattice around 0, and its step.

    Noise of a scale above `_STEPS` is rounded to the lattice.
    """
    step = max(ceil(scale / _STEPS), 1)
    s = float(scale)
    deviation = sqrt(2 * terms) * s + 1
    half = int((_SUM_REACH * deviation + _REACH * s) / step) + 2
    size = 1 << (2 * half + 1).bit_length()
    numbers = np.minimum(np.arange(size), size - np.arange(size)).astype(float)
    if step == 1:
        one = np.exp(-numbers / s)
    else:  # P(number - 1/2 <= X / step < number + 1/2), but for a factor
        one = np.exp(-np.maximum(numbers * step - step / 2, 0) / s) - np.exp(-(numbers * step + step / 2) / s)
        one[0] = -2 * np.expm1(-step / 2 / s)
    law = np.fft.irfft(np.fft.rfft(one / one.sum()) ** terms, size)
    return np.clip(np.fft.fftshift(law), 0, 1), float(step)


def weighted_tail(off: float, scale: Fraction, first: tuple[int, int], second: tuple[int, int]) -> float:
    """P(v A - w B > off), where A and B are sums of discrete Laplace noises.

    `first` is v and the number of noises in A, `second` is w and that in B.
    """
    (v, many), (w, others) = first, second
    law, step = _sum_law(scale, many)
    other, width = _sum_law(scale, others)
    upto = np.concatenate([[0.0], law.cumsum()])
    middle = len(law) // 2
    values = (np.arange(len(other)) - len(other) // 2) * width
    least = np.floor((off + w * values) / (v * step) + 1e-9) + 1 + middle  # the first place above
    at = np.clip(least, 0, len(law)).astype(np.int64)
    return float((other * (upto[-1] - upto[at])).sum())


def weighted_reach(scale: Fraction, first: tuple[int, int], second: tuple[int, int]) -> float:
    """A number that v A - w B exceeds with 2.5 % at most, and little less than that."""
    (v, many), (w, others) = first, second
    if v == w:  # then it is known for all that have as many noises together
        return _reach(scale, (v, many + others), (w, 0))
    return _reach(scale, first, second)


@lru_cache(maxsize=2**14)
def _reach(scale: Fraction, first: tuple[int, int], second: tuple[int, int]) -> float:
    (v, many), (w, others) = first, second
    low, high = 0.0, 2.5 * float(scale) * sqrt(2 * (v * v * many + w * w * others)) + v + w
    while weighted_tail(high, scale, first, second) > MISS / 2:
        low, high = high, 2 * high
    while high - low > max(1e-3 * high, 0.5):
        middle = (low + high) / 2
        above = weighted_tail(middle, scale, first, second) > MISS / 2
        low, high = (middle, high) if above else (low, middle)
    return high
