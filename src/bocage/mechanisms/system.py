"""The noise provider that ships: exact samplers on the operating system's randomness."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bocage.errors import EpsilonError
from bocage.mechanisms.base import Contest, IntArray, Selection, T
from bocage.mechanisms.knorm import Body, Perturbation
from bocage.mechanisms.laplace import LARGEST_INT64_SCALE, draw_laplace
from bocage.mechanisms.randomized_response import randomize_response
from bocage.mechanisms.rng import RandomBits
from bocage.mechanisms.selection.exponential import select_exponential
from bocage.mechanisms.selection.permute_and_flip import select_permute_and_flip
from bocage.mechanisms.selection.rejection_sampling import Proposal, draw_by_rejection


class SystemNoise:
    """Exact noise from the operating system's randomness. There is nothing to configure.

    Safe to share between threads, and after a fork.

    Examples
    --------
    >>> noise = SystemNoise()
    >>> noise.laplace(Fraction(10), 3).shape
    (3,)
    """

    name = "system"

    def __init__(self) -> None:
        self._source = RandomBits()

    def laplace(self, scale: Fraction, size: int) -> IntArray:
        """Draw discrete Laplace noise; see `draw_laplace` for its guarantee."""
        check_scale(scale)
        return draw_laplace(scale, size, self._source)

    def select(self, contests: Sequence[Contest], selection: Selection) -> IntArray:
        """Select in each contest; see the two mechanisms for their guarantee."""
        if selection is Selection.EXPONENTIAL:
            return select_exponential(contests, self._source)
        return select_permute_and_flip(contests, self._source)

    def randomize(self, codes: IntArray, arity: int, rate: Fraction) -> IntArray:
        """Randomize responses; see `randomize_response` for the guarantee."""
        return randomize_response(codes, arity, rate, self._source)

    def perturb(self, bodies: Sequence[Body]) -> Perturbation:
        """Draw noise on tables; see `knorm` for its density."""
        return Perturbation(bodies, self._source)

    def draw_by_rejection(self, proposal: Proposal[T], rate: Fraction, total: float) -> T:
        """Draw by rejection from a proposal; see `draw_by_rejection` for the guarantee."""
        return draw_by_rejection(proposal, rate, total, self._source)


def check_scale(scale: Fraction) -> None:
    """Refuse noise that 63-bit answers could not hold."""
    if scale > LARGEST_INT64_SCALE:
        raise EpsilonError(
            f"Laplace noise of scale {round(scale)} does not fit 63-bit answers (at most "
            f"{LARGEST_INT64_SCALE}). Raise epsilon, or declare tighter bounds or a coarser grid "
            "for the column."
        )
