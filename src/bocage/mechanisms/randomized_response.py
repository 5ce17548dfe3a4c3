"""k-ary randomized response: the truth with probability e**rate / (e**rate + k - 1)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from bocage.errors import EpsilonError
from bocage.mechanisms.base import IntArray
from bocage.mechanisms.bounds import exp_bounds
from bocage.mechanisms.finite_distribution import FiniteDistribution, Weights
from bocage.mechanisms.rng import Randomness


def randomize_response(codes: IntArray, arity: int, rate: Fraction, source: Randomness) -> IntArray:
    """Keep each code or replace it by one of the other `arity` - 1, all equally likely, exactly.

    Whatever the codes are, they are answered: one outside 0 .. arity - 1 counts modulo `arity`.

    Privacy
    -------
    Each code is protected with epsilon = `rate` in the local model (Warner 1965; Kairouz, Oh and
    Viswanath 2014): any two values give any answer with probabilities of ratio at most exp(rate).
    Both the coin and the replacement are drawn for every code, kept or not.
    """
    if rate <= 0:
        raise EpsilonError(f"the rate of a randomized response must exceed 0, not {rate}.")
    if arity < 2:
        raise ValueError(f"a randomized response needs at least two values, not {arity}")
    lies = _coin(arity, rate, source.word_bits).draw(len(codes), source)
    shifts = 1 + source.below(arity - 1, len(codes))
    return np.asarray((codes % arity + lies * shifts) % arity, dtype=np.int64)


@lru_cache(maxsize=256)
def _coin(arity: int, rate: Fraction, word_bits: int) -> FiniteDistribution:
    return FiniteDistribution(partial(_weights, arity, rate), word_bits)


def _weights(arity: int, rate: Fraction, bits: int) -> Weights:
    low, high = exp_bounds(rate, bits)
    return [1 << bits, (arity - 1) * low], [1 << bits, (arity - 1) * high]
