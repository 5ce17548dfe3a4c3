"""Draw from a fixed finite distribution whose probabilities are real numbers, exactly.

The distribution is cut into [0, 1) by thresholds T_1 < T_2 < ...; the outcome is the number of
thresholds at or below a uniform real U. Neither U nor the thresholds are ever written down in full.
The first word of U settles the outcome unless U's cell, one of 2**64, touches the bounds of a
threshold. In that case further words of U are drawn and the thresholds are computed to as many
bits, until the bounds part. This ends with probability one and is the same as comparing the real
numbers, so that the outcome has exactly the distribution asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

import numpy as np

from bocage.mechanisms.base import IntArray
from bocage.mechanisms.bounds import ceil_div
from bocage.mechanisms.rng import Randomness

Weights = tuple[list[int], list[int]]  # lower and upper bounds of 2**bits times each weight
_GUARD = 32  # further bits of the weights, so that the bounds of a threshold share a cell or two


class FiniteDistribution:
    """A distribution over 0 .. n - 1 with probabilities proportional to n positive weights.

    Parameters
    ----------
    weights
        Called with a number of bits, returns bounds on the weights to that precision. The sum of
        the weights must be at least 1, and the bounds must close in as the bits grow.
    word_bits
        Size of the words that the table will be read with.
    """

    def __init__(self, weights: Callable[[int], Weights], word_bits: int) -> None:
        self._weights = weights
        self._word_bits = word_bits
        low, high = self._thresholds(word_bits)
        self._low = np.array(low, dtype=np.uint64)
        # Last cell that touches the threshold. The leading entry stands for "below all of them"; a
        # word that it flags without need is refined to the same outcome.
        self._last = np.array([0, *(bound - 1 for bound in high)], dtype=np.uint64)
        # The same numbers as Python integers, for who looks at one of them.
        self._lows, self._lasts = self._low.data, self._last.data

    def draw(self, count: int, source: Randomness) -> IntArray:
        words = source.words(count)
        outcome = np.searchsorted(self._low, words, side="right")
        for i in np.flatnonzero(words <= self._last[outcome]).tolist():
            outcome[i] = self._refine(int(words[i]), source)
        return outcome

    def draw_one(self, word: int, source: Randomness) -> int:
        """The outcome for a U whose first word is there: `draw` for one, without arrays."""
        outcome = bisect_right(self._lows, word)
        return self._refine(word, source) if word <= self._lasts[outcome] else outcome

    def _refine(self, prefix: int, source: Randomness) -> int:
        """Extend one U, of which `prefix` is the first word, until its outcome is settled."""
        bits = self._word_bits
        while True:
            prefix = prefix << self._word_bits | int(source.words(1)[0])
            bits += self._word_bits
            low, high = self._thresholds(bits)
            outcome = bisect_right(low, prefix)
            if outcome == 0 or high[outcome - 1] <= prefix:
                return outcome

    def _thresholds(self, bits: int) -> tuple[list[int], list[int]]:
        """Bound 2**bits times the share of the first k weights, for k = 1 .. n - 1."""
        lows, highs = self._weights(bits + _GUARD)
        before_low, before_high = list(accumulate(lows)), list(accumulate(highs))
        all_low, all_high = before_low.pop(), before_high.pop()
        both = list(zip(before_low, before_high, strict=True))
        return (
            [(a << bits) // (a + all_high - b) for a, b in both],
            [ceil_div(b << bits, b + all_low - a) for a, b in both],
        )
