"""Exact discrete Laplace noise: P(x) proportional to exp(-abs(x) / scale), x any integer.

With q = exp(-1 / scale), a draw is X = G or, with probability q / (1 + q), X = -1 - G, where G is
geometric, P(G = g) = (1 - q) q**g: the two halves of the distribution, without rejection. For any
base m, G = D + m * H with D and H independent, P(D = d) proportional to q**d for d < m, and H
geometric with ratio q**m. So G is written in base m, one `FiniteDistribution` a digit, until the ratio is small;
in the last digit the outcome "m or more" adds m and draws again, which is exact because a geometric
variable has no memory. The sign shares the table of the first digit: its outcome 2 d + s has the
weight q**(d + s).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import EpsilonError
from bocage.mechanisms.base import IntArray
from bocage.mechanisms.bounds import ceil_div, power_bounds
from bocage.mechanisms.finite_distribution import FiniteDistribution, Weights
from bocage.mechanisms.rng import Randomness

# Up to this scale int64 is used: it would overflow only after a thousand last digits in a row were
# "m or more", each with a probability below exp(-12).
LARGEST_INT64_SCALE = 1 << 48

_BASE = 512
_LAST = 12  # the last digit reaches so many scales; beyond it, it is drawn again
_CHUNK = 1 << 16


def draw_laplace(scale: Fraction, size: int, source: Randomness) -> NDArray[Any]:
    """Draw discrete Laplace noise, exactly.

    Returns
    -------
    int64 up to `LARGEST_INT64_SCALE`, Python integers (object array) beyond.

    Privacy
    -------
    Added to an integer query of sensitivity S (in the adjacency of the caller), noise of scale
    S / epsilon makes its release epsilon-differentially private. No floating-point number is
    involved (Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020).
    """
    digits = _digits(*scale.as_integer_ratio(), source.word_bits, _BASE)
    if size == 1:
        return np.array([digits.draw_one(source)], digits.kind)
    noise = np.empty(size, digits.kind)
    for start in range(0, size, _CHUNK):
        part = noise[start : start + _CHUNK]
        part[:] = digits.draw(len(part), source, part.dtype)
    return noise


class _Digits:
    """The tables of one scale, from the lowest digit (with the sign) to the highest."""

    def __init__(self, scale: Fraction, word_bits: int, base: int) -> None:
        if scale <= 0:
            raise EpsilonError(f"the scale of Laplace noise must be greater than 0, not {scale}.")
        self.kind = np.dtype(np.int64 if scale <= LARGEST_INT64_SCALE else object)
        self.bases: list[int] = []
        self.tables: list[FiniteDistribution] = []
        decay, more = Fraction(scale.denominator, scale.numerator), True
        while more:
            reach = ceil_div(_LAST * decay.denominator, decay.numerator)
            more = reach > base
            size = base if more else 1 << (reach - 1).bit_length()
            weights = partial(_weights, decay, size, not self.tables, not more)
            self.tables.append(FiniteDistribution(weights, word_bits))
            self.bases.append(size)
            decay *= size

    def draw(self, count: int, source: Randomness, dtype: np.dtype[Any]) -> NDArray[Any]:
        first = self._digit(0, count, source)
        value: NDArray[Any] = (first >> 1).astype(dtype)
        unit = self.bases[0]
        for level in range(1, len(self.tables)):
            value += self._digit(level, count, source).astype(dtype) * unit
            unit *= self.bases[level]
        return np.where(first & 1, ~value, value)

    def draw_one(self, source: Randomness) -> int:
        """One draw, digit by digit as `draw`, without arrays."""
        words = source.words(len(self.tables)).tolist()
        outcomes = [t.draw_one(word, source) for t, word in zip(self.tables, words, strict=True)]
        end = self.bases[-1] << (len(self.bases) == 1)  # the outcome "m or more" of the last digit
        fresh = outcomes[-1]
        while fresh == end:
            fresh = self.tables[-1].draw_one(int(source.words(1)[0]), source)
            outcomes[-1] += fresh
        value, unit = outcomes[0] >> 1, self.bases[0]
        for digit, base in zip(outcomes[1:], self.bases[1:], strict=True):
            value += digit * unit
            unit *= base
        return ~value if outcomes[0] & 1 else value

    def _digit(self, level: int, count: int, source: Randomness) -> IntArray:
        table = self.tables[level]
        digit = table.draw(count, source)
        if level < len(self.tables) - 1:
            return digit
        end = self.bases[level] << (level == 0)  # the outcome "m or more"
        again = np.flatnonzero(digit == end)
        while len(again):
            fresh = table.draw(len(again), source)
            digit[again] += fresh
            again = again[fresh == end]
        return digit


def _weights(decay: Fraction, base: int, signed: bool, open_end: bool, bits: int) -> Weights:
    """Bound the weights of one digit; the geometric tail beyond an open end is the last of them."""
    low, high = power_bounds(decay, base + 1, bits)
    exponents = [(i + 1) // 2 for i in range(2 * base)] if signed else range(base)
    lows, highs = [low[e] for e in exponents], [high[e] for e in exponents]
    if open_end:  # the body once more, shrunk by q**m, by q**2m, ...: a geometric series
        one = 1 << bits
        tail_low = sum(lows) * low[base] // (one - low[base])
        tail_high = ceil_div(sum(highs) * high[base], one - high[base])
        lows.append(tail_low)
        highs.append(tail_high)
    return lows, highs


@lru_cache(maxsize=256)
def _digits(numerator: int, denominator: int, word_bits: int, base: int) -> _Digits:
    """Found by integers: to hash a fraction takes as long as half a draw."""
    return _Digits(Fraction(numerator, denominator), word_bits, base)
