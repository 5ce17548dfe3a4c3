"""Noise that a person's own machine draws: integer tables that Python and JavaScript both compute.

A table says how many of the 2**128 values of a random integer U belong to each outcome. The counts
follow from the parameters by integer arithmetic alone, step by step as written here, so that the
same 16 random bytes give the same outcome in every language. They are rounded against the person
who would learn something: the ratio of two counts never exceeds the epsilon claimed.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from bocage.errors import EpsilonError, NoiseError
from bocage.mechanisms.base import IntArray
from bocage.mechanisms.bounds import ceil_div, exp_bounds, power_bounds
from bocage.mechanisms.rng import Randomness, Words

BITS = 128
WHOLE = 1 << BITS
WEIGHT_BITS = BITS + 64  # of the weights that counts are made of
LARGEST_EPSILON = 64  # beyond, a count could round to 0; nothing is protected there anyway
MOST_STEPS = 1 << 20  # the reach of noise on a grid

_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class LocalTable:
    """Outcomes `first`, `first` + 1, ...: as many as there are `thresholds`, and one more.

    The outcome of U is `first` plus the number of thresholds that are at most U.
    """

    first: int
    thresholds: tuple[int, ...]

    @cached_property
    def counts(self) -> list[int]:
        """How many of the 2**128 values of U give each outcome; their sum is 2**128."""
        return [b - a for a, b in pairwise((0, *self.thresholds, WHOLE))]

    @cached_property
    def _high(self) -> Words:
        return np.array([threshold >> 64 for threshold in self.thresholds], dtype=np.uint64)

    def draw(self, words: Words) -> IntArray:
        """The outcomes of an array of shape (n, 2): the upper and the lower word of each U."""
        high = words[:, 0]
        outcome = np.searchsorted(self._high, high, side="right")
        near = np.searchsorted(self._high, high, side="left") < outcome
        for i in np.flatnonzero(near).tolist():  # the upper word alone does not settle these
            whole = int(words[i, 0]) << 64 | int(words[i, 1])
            outcome[i] = bisect_right(self.thresholds, whole)
        return np.asarray(outcome + self.first, dtype=np.int64)


def draw_local(tables: list[LocalTable], size: int, source: Randomness) -> IntArray:
    """Draw one outcome of every table for each of `size` records: shape (size, number of tables).

    Record after record, 16 bytes for each table in turn; one call for many records takes the same
    bytes as one call for each of them.
    """
    if source.word_bits != 64:
        raise NoiseError("a local table is read with words of 64 bits.")
    outcomes = np.empty((size, len(tables)), dtype=np.int64)
    chunk = 1 << 16
    for start in range(0, size, chunk):
        part = outcomes[start : start + chunk]
        words = source.words(2 * part.size).reshape(len(part), len(tables), 2)
        for column, table in enumerate(tables):
            part[:, column] = table.draw(words[:, column])
    return outcomes


@lru_cache(maxsize=128)
def uniform_table(alpha: int) -> LocalTable:
    """Noise uniform on -alpha .. alpha, up to one part in 2**128 for each value."""
    _check_steps(alpha)
    return _symmetric([WHOLE * (alpha + 1 - k) // (2 * alpha + 1) for k in range(1, alpha + 1)])


@lru_cache(maxsize=128)
def gaussian_table(sigma: Fraction, reach: int) -> LocalTable:
    """Discrete Gaussian noise, P(k) proportional to exp(-k**2 / (2 sigma**2)), cut at +-`reach`.

    A draw beyond the reach becomes the reach. Tails of less than one part in 2**128 are not there.
    """
    _check_steps(reach)
    if not 0 < sigma <= MOST_STEPS // 8:
        raise NoiseError(f"sigma must be greater than 0 and at most {MOST_STEPS // 8} grid steps, not {sigma}.")
    rate = Fraction(sigma.denominator**2, sigma.numerator**2)
    ratio = exp_bounds(rate * Fraction(1, 2), WEIGHT_BITS)[0]  # of weight k + 1 to weight k
    shrink = exp_bounds(rate, WEIGHT_BITS)[0]  # of this ratio to the one before
    weight = 1 << WEIGHT_BITS
    weights = []
    while weight:
        weights.append(weight)
        weight = weight * ratio >> WEIGHT_BITS
        ratio = ratio * shrink >> WEIGHT_BITS
    whole = 2 * sum(weights) - weights[0]
    tails, above = [], 0
    for weight in reversed(weights[1:]):
        above += weight
        tails.append((above << BITS) // whole)
    tails.reverse()
    tails = [tail for tail in tails[:reach] if tail]
    if not tails:
        raise NoiseError(f"sigma = {sigma} grid steps is no noise at all.")
    return _symmetric(tails)


@lru_cache(maxsize=128)
def laplace_table(epsilon: Fraction, steps: int) -> LocalTable:
    """Discrete Laplace noise of scale `steps` / epsilon, cut at +-`steps`.

    Privacy
    -------
    Added to a code of 0 .. `steps` and clamped to this range, it is `epsilon`-differentially
    private in the local model: the truncated geometric mechanism (Ghosh, Roughgarden and
    Sundararajan 2009), which loses nothing against the one that is not truncated, because all
    answers beyond the range have the same likelihoods. With q = exp(-epsilon / steps) the tail is
    P(noise >= k) = q**k / (1 + q). It is rounded up for k >= 1; so P(noise <= 0) is rounded down,
    and the ratio of the two, the largest there is, stays at or below exp(epsilon).
    """
    _check_epsilon(epsilon)
    _check_steps(steps)
    lows, highs = power_bounds(epsilon * Fraction(1, steps), steps + 1, WEIGHT_BITS)
    below = (1 << WEIGHT_BITS) + lows[1]
    return _symmetric([ceil_div(high << BITS, below) for high in highs[1:]])


@lru_cache(maxsize=128)
def response_table(epsilon: Fraction, arity: int) -> LocalTable:
    """k-ary randomized response as a shift of the code, modulo `arity`: 0 tells the truth.

    Privacy
    -------
    `epsilon`-differentially private in the local model. The count of a lie is rounded up, and is
    the same for every lie; the truth has what is left, so the ratio is at most exp(epsilon).
    """
    _check_epsilon(epsilon)
    if not 2 <= arity <= 1 << 16:
        raise NoiseError(f"a randomized response needs 2 to 65536 values, not {arity}.")
    high = exp_bounds(epsilon, WEIGHT_BITS)[1]
    lie = ceil_div(high << BITS, (1 << WEIGHT_BITS) + (arity - 1) * high)
    truth = WHOLE - (arity - 1) * lie
    return LocalTable(0, tuple(truth + k * lie for k in range(arity - 1)))


def _symmetric(tails: list[int]) -> LocalTable:
    """The table of noise with P(noise >= k) = P(noise <= -k) = tails[k - 1] / 2**128."""
    return LocalTable(-len(tails), (*reversed(tails), *(WHOLE - tail for tail in tails)))


def _check_epsilon(epsilon: Fraction) -> None:
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise EpsilonError(
            f"the epsilon of one local answer must be greater than 0 and at most {LARGEST_EPSILON},"
            f" not {epsilon}. Above that nothing is protected: send the answer clear."
        )


def _check_steps(steps: int) -> None:
    if not 1 <= steps <= MOST_STEPS:
        raise NoiseError(
            f"noise must reach 1 to {MOST_STEPS} grid steps, not {steps}. Choose a coarser grid, or less noise."
        )
