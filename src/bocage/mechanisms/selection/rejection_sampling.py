"""The exponential mechanism over outcomes that are far too many to list, such as whole trees.

Outcome T is to be drawn with probability proportional to prior(T) * exp(rate * score(T)), where the
score is an integer and the prior a public rational number. A proposal makes one choice after another by
weights in floating point, each the sum over all that may still come, and so reaches T with a
probability q(T) that is nearly right. What is wrong with it is known, and taken away:

1. A choice is made by integers w_i = floor(2**52 exp(W_i - max W)) + 1, or 0 where W_i is -inf: by
   an exact uniform integer below their sum. So q(T) is the product of w_i / sum(w) over the choices,
   exactly, wherever the floats came from.
2. With M = exp(total + MARGIN), T is accepted with probability a(T) = prior(T) exp(rate * score(T))
   / (q(T) M), by a coin that is exact (`acceptance`); otherwise it is proposed anew.

Each round thus ends with T with probability q(T) a(T) = prior(T) exp(rate * score(T)) / M. M is the
same for all T, so that T is drawn exactly in proportion as long as a(T) <= 1 for all T, however wrong
the floats are otherwise. A round fails with probability 1 - sum(prior exp(rate * score)) / M: about
MARGIN, whatever the table.

The contract
------------
For every T the proposal must know one sequence of choices that leads to T, all of them by `Choices`, with

    sum over its choices of (ln sum exp W - W_i) <= total + MARGIN / 2 - ln(prior exp(rate * score)),

which holds without MARGIN / 2 if weights and total are free of error. -inf may stand only where no
outcome that follows has a positive prior. Then a(T) <= 1: of n candidates w_i is at least 2**52
exp(W_i - max W), and sum(w) exceeds 2**52 sum exp(W - max W) by n at most, so that a choice costs
n 2**-52, and less than 2**-46 for the rounding of difference and exponential (a difference beyond 37
weighs less than the 1 that is added; of a smaller one 2**-48 is lost). All choices stay below
MARGIN / 2 while choices * (n + 64) <= 2**41. From 1024 candidates on there are fewer bits, so that
sums fit int64, and a choice costs at most 2**-61 n**2 + 2**-46.

Who keeps the contract
----------------------
`total` has to be an upper bound whatever the table: that is a matter of sizes, and so checked before the
charge, see :mod:`bocage.private.preconditions`. Were it broken all the same, by an error in a loop, T would be
drawn with q(T), less often than it should be. So a(T) is compared with 1, exactly, for each T that a proposal
comes to, accepted or not, and a larger one ends the draw: `UncoveredError`, nothing is released, and what
was charged stays charged. The law of what is released never changes in silence.

That refusal is a net, and no part of the proof. It is made after rows were read, and for some T only, so that
it could tell something of the rows: that a proposal came to a T whose a(T) exceeds 1. Without an error in the
code there is no such T in any table, and then the refusal has the probability 0 for all of them. It carries
nothing of T, and the way out is not to ask again but to report it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import Generic

import numpy as np

from bocage.errors import EpsilonError
from bocage.mechanisms.base import FloatArray, IntArray, T
from bocage.mechanisms.rng import Randomness
from bocage.mechanisms.selection.acceptance import accept

MARGIN = Fraction(1, 1 << 10)  # what floats may be off; a round fails about as often
_BITS = 52


class Choices:
    """The choices of one proposal, and how likely they were."""

    def __init__(self, source: Randomness, bits: int = _BITS) -> None:
        self._source = source
        self._bits = bits
        # The probability of all choices made: the product of `taken` over that of `sums`.
        self.taken: list[int] = []
        self.sums: list[int] = []

    def choose(self, weights: FloatArray) -> int:
        """Choose an index by the natural logarithms of weights; -inf for never."""
        return int(self.choose_each(weights[np.newaxis])[0])

    def choose_each(self, weights: FloatArray) -> IntArray:
        """Choose in each row of a table."""
        columns = weights.shape[1]
        integers = _integer_weights(weights, min(self._bits, 62 - columns.bit_length()))
        ends = np.cumsum(integers, axis=1)
        places = self._source.below_each(ends[:, -1])
        chosen: IntArray = (ends <= places[:, np.newaxis]).sum(axis=1)
        self.taken += integers[np.arange(len(integers)), chosen].tolist()
        self.sums += ends[:, -1].tolist()
        return chosen


@dataclass(frozen=True)
class Proposed(Generic[T]):
    """What was proposed."""

    outcome: T
    score: int
    odds: tuple[int, int]  # the public prior: numerator and denominator, not necessarily reduced


Proposal = Callable[[Choices], Proposed[T]]


def draw_by_rejection(proposal: Proposal[T], rate: Fraction, total: float, source: Randomness, bits: int = _BITS) -> T:
    """Draw an outcome with probability proportional to prior * exp(rate * score), exactly.

    `total` is about the logarithm of the sum of these over all outcomes. The module says how much
    floats may be off. `bits` sets how close a choice comes to its weights, not the distribution.

    Privacy
    -------
    epsilon-differentially private if `rate` is epsilon over the range of the scores; see `Contest`
    (McSherry and Talwar 2007). A monotone score of sensitivity 1, such as the number of rows
    that a tree predicts right, costs `rate`. The prior and the set of outcomes must be public.
    """
    if rate <= 0:
        raise EpsilonError(f"the rate of a selection must be greater than 0, not {rate}.")
    ceiling = Fraction(total) + MARGIN
    while True:
        choices = Choices(source, bits)
        proposed = proposal(choices)
        numerator, denominator = proposed.odds
        if accept(
            [index(numerator), *choices.sums],
            [index(denominator), *choices.taken],
            ceiling - rate * index(proposed.score),
            source,
        ):
            return proposed.outcome


def _integer_weights(weights: FloatArray, bits: int) -> IntArray:
    """Turn logarithms into integer weights: the only place where a float is looked at."""
    most = weights.max(axis=1, keepdims=True)
    if not np.isfinite(most).all():
        raise ValueError("a choice needs a candidate that may be chosen, and weights below infinity")
    integers: IntArray = (np.exp(weights - most) * 2.0**bits).astype(np.int64)
    return integers + (weights > -np.inf)
