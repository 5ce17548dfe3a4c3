"""The contract of a noise provider: what `private` may ask for, and nothing else.

Everything is exact: scales and rates are fractions, noise and scores are integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bocage.mechanisms.knorm import Body, Perturbation
    from bocage.mechanisms.selection.rejection_sampling import Proposal

T = TypeVar("T")
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class Adjacency(StrEnum):
    """Which two tables must look alike."""

    ADD_REMOVE = "add_remove"  # one has a record more
    REPLACE = "replace"  # one record differs

    def factor(self) -> int:
        """How many added or removed records one step between neighbors amounts to."""
        return 1 if self is Adjacency.ADD_REMOVE else 2


class Selection(StrEnum):
    """How one candidate is selected privately."""

    EXPONENTIAL = "exponential"
    PERMUTE_AND_FLIP = "permute_and_flip"

    @property
    def words(self) -> str:
        """The name for people."""
        return self.value.replace("_", " ")


@dataclass(frozen=True)
class Contest:
    """One private selection: integer scores, public integer weights, and the rate.

    Candidate i is favored by exp(rate * scores[i]). `rate` is epsilon divided by the range of the
    score: the width of the interval in which all scores move together when one record is added.
    For a monotone score the range is its sensitivity, otherwise twice that; `private` works it out.
    """

    scores: IntArray
    rate: Fraction
    weights: IntArray | None = None  # base measure of the exponential mechanism; 0 excludes


class Noise(Protocol):
    """Draws noise and selects. The shipped package has no provider that is seeded or silent."""

    name: str

    def laplace(self, scale: Fraction, size: int) -> IntArray:
        """Draw `size` integers with P(x) proportional to exp(-abs(x) / scale), exactly."""

    def select(self, contests: Sequence[Contest], selection: Selection) -> IntArray:
        """Return the index of the selected candidate of each contest."""

    def randomize(self, codes: IntArray, arity: int, rate: Fraction) -> IntArray:
        """k-ary randomized response with ratio exp(rate) between truth and any other value."""

    def perturb(self, bodies: Sequence[Body]) -> Perturbation:
        """Draw real-valued noise on tables, as digits that can be refined; see `knorm`."""

    def draw_by_rejection(self, proposal: Proposal[T], rate: Fraction, total: float) -> T:
        """Draw what is proposed, with P proportional to prior * exp(rate * score), exactly."""
