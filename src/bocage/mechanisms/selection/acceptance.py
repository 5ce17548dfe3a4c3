"""A coin of probability n / d * exp(-x), flipped exactly, whatever the sizes of n, d and x.

A number above 1 is no probability. It is told from one by the same intervals, before the coin falls.

n and d are products of thousands of integers, and x may be 10**5 of either sign, while the probability
is an ordinary number. So every quantity is kept as an interval of a few hundred leading bits and a
power of two (`_Span`), rounded outwards after each multiplication. exp(-x) is exp(-x / 2**h) squared
h times; where x is negative, exp(x) goes to the other side of the fraction.

A uniform real U is drawn digit by digit and compared with the interval. As long as the digits leave
open whether U lies below the probability, more of them are drawn, and the intervals are computed anew
with as many bits more. The precision decides how long that takes, not what comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import NamedTuple

from bocage.mechanisms.bounds import ceil_div, exp_bounds
from bocage.mechanisms.rng import Randomness

# Bits beyond those of U. A multiplication takes a unit of the last bit and a squaring doubles the
# error, so that 2**20 factors or x = 2**30 leave half of these: a second round is an exception.
_SPARE = 96
_CHUNK = 16  # factors multiplied exactly before they meet an interval


class UncoveredError(ArithmeticError):
    """A draw that its proof does not cover. It says nothing of what was drawn."""


class _Span(NamedTuple):
    """A positive real number r: low * 2**shift <= r <= high * 2**shift."""

    low: int
    high: int
    shift: int

    def times(self, other: _Span, bits: int) -> _Span:
        low, high = self.low * other.low, self.high * other.high
        cut = max(0, high.bit_length() - bits)
        return _Span(low >> cut, ceil_div(high, 1 << cut), self.shift + other.shift + cut)


def accept(
    numerators: Sequence[int],
    denominators: Sequence[int],
    exponent: Fraction,
    source: Randomness,
    spare: int = _SPARE,
) -> bool:
    """Return True with the probability in the title of the module; refuse one above 1."""
    if _exceeds_one(numerators, denominators, exponent):
        raise UncoveredError("an acceptance above 1: the proposal claims less than there is.")
    place = digits = 0  # U lies in [place, place + 1) / 2**digits
    while True:
        place = place << source.word_bits | int(source.words(1)[0])
        digits += source.word_bits
        above, below = _fraction(numerators, denominators, exponent, digits + spare)
        shift = above.shift + digits - below.shift
        left, right = max(0, -shift), max(0, shift)
        if (place + 1) * below.high << left <= above.low << right:
            return True
        if place * below.low << left >= above.high << right:
            return False


def _exceeds_one(numerators: Sequence[int], denominators: Sequence[int], exponent: Fraction) -> bool:
    """Decide n exp(-x) > d. Unless x = 0 the two sides differ: exp(x) is irrational then."""
    if not exponent:
        return reduce(mul, numerators, 1) > reduce(mul, denominators, 1)
    bits = 2 * _SPARE
    while True:
        above, below = _fraction(numerators, denominators, exponent, bits)
        shift = above.shift - below.shift
        left, right = max(0, -shift), max(0, shift)
        if above.high << right <= below.low << left:
            return False
        if above.low << right > below.high << left:
            return True
        bits *= 2


def _fraction(
    numerators: Sequence[int], denominators: Sequence[int], exponent: Fraction, bits: int
) -> tuple[_Span, _Span]:
    above, below = _product(numerators, bits), _product(denominators, bits)
    decay = _exp(abs(exponent), bits)
    if exponent < 0:
        return above, below.times(decay, bits)
    return above.times(decay, bits), below


def _product(factors: Sequence[int], bits: int) -> _Span:
    span = _Span(1, 1, 0)
    for start in range(0, len(factors), _CHUNK):
        exact = reduce(mul, factors[start : start + _CHUNK])
        span = span.times(_Span(exact, exact, 0), bits)
    return span


def _exp(x: Fraction, bits: int) -> _Span:
    """Return bounds on exp(-x), for x >= 0."""
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 1)
    span = _Span(*exp_bounds(Fraction(x.numerator, x.denominator << halvings), bits), -bits)
    for _ in range(halvings):
        span = span.times(span, bits)
    return span
