"""Exponential variables as real numbers: binary digits now, further ones whenever they are needed.

The density exp(-x) is a product over the binary digits of x, so that the digits of an Exp(1)
variable are independent: the whole part is n with probability proportional to exp(-n), and the k-th
digit after the point is 1 with probability exp(-2**-k) / (1 + exp(-2**-k)). Each is drawn exactly
on integers. What has been drawn of a variable never changes; more digits only narrow it down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms.base import IntArray
from bocage.mechanisms.bernoulli import bernoulli_exp
from bocage.mechanisms.rng import Randomness

FIRST_BITS = 56
MORE_BITS = 64
_AT_ONCE = 56  # so many digits fit an integer


class Exponentials:
    """Independent Exp(1) variables, known up to their next binary digit.

    Attributes
    ----------
    digits
        Python integers: variable i lies between ``digits[i]`` and ``digits[i] + 1``, both times
        ``2**-bits``.
    bits
        How many digits after the point are known.
    """

    def __init__(self, count: int, source: Randomness, bits: int = FIRST_BITS) -> None:
        self._source = source
        self.bits = 0
        self.digits: NDArray[Any] = _integer_parts(count, source).astype(object)
        self.refine(bits)

    def refine(self, bits: int = MORE_BITS) -> None:
        """Draw that many further digits of every variable."""
        places = range(self.bits + 1, self.bits + bits + 1)
        for first in places[::_AT_ONCE]:
            taken = min(_AT_ONCE, places.stop - first)
            drawn = _digits(len(self.digits), first, taken, self._source)
            self.digits = self.digits * (1 << taken) + drawn.astype(object)
            self.bits += taken


def _integer_parts(count: int, source: Randomness) -> IntArray:
    """P(n) proportional to exp(-n): how often Bernoulli(exp(-1)) succeeds in a row."""
    parts = np.zeros(count, np.int64)
    running = np.arange(count)
    while len(running):
        running = running[bernoulli_exp(np.ones(len(running), np.int64), 1, source)]
        parts[running] += 1
    return parts


def _digits(count: int, first: int, taken: int, source: Randomness) -> IntArray:
    """So many digits from one place on, of each variable, as one integer.

    The digit at a place is 1 with probability e / (1 + e), where e = exp(-2**-place). A fair coin
    proposes 0 or 1; 0 is accepted, 1 with probability e; what is not accepted is proposed anew.
    """
    last = first + taken - 1
    powers = np.array([1 << (last - place) for place in range(first, last + 1)], np.int64)
    digits = np.zeros(count * taken, np.int64)
    running = np.arange(count * taken)
    while len(running):
        ones = running[source.below(2, len(running)) == 1]
        accepted = bernoulli_exp(powers[ones % taken], 1 << last, source)
        digits[ones[accepted]] = 1
        running = ones[~accepted]
    return digits.reshape(count, taken) @ powers
