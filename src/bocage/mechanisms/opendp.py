"""OpenDP as noise provider, for an owner who wants its proofs and reputation.

Only what OpenDP offers as the same integer mechanism is passed on. The rest is refused: no silent
change of mechanism, and no falling back to our own samplers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from bocage.errors import EpsilonError, NoiseError
from bocage.mechanisms.base import Contest, IntArray, Selection, T
from bocage.mechanisms.knorm import Body, Perturbation
from bocage.mechanisms.selection.rejection_sampling import Proposal
from bocage.mechanisms.system import check_scale


class OpenDPNoise:
    """Noise drawn by OpenDP (the extra ``bocage[opendp]``).

    Privacy
    -------
    OpenDP takes its scales as floating-point numbers. Where the exact scale is not one, the next
    larger one is used: a relative 2**-52 more noise, never less. Its samplers are exact for the
    scale they are given.
    """

    name = "opendp"

    def __init__(self) -> None:
        _prelude()

    def laplace(self, scale: Fraction, size: int) -> IntArray:
        """Draw discrete Laplace noise by `make_laplace`."""
        check_scale(scale)
        return np.array(_laplace(_round_up(scale))([0] * size), dtype=np.int64)

    def select(self, contests: Sequence[Contest], selection: Selection) -> IntArray:
        """Select in each contest by `make_noisy_max`.

        With exponential noise it is permute-and-flip (Ding et al. 2021), with Gumbel noise the
        exponential mechanism. Weights other than 0 and 1 are refused.
        """
        return np.array([_select(contest, selection) for contest in contests], dtype=np.int64)

    def randomize(
        self,
        codes: IntArray,  # noqa: ARG002 - the contract's signature
        arity: int,  # noqa: ARG002 - likewise
        rate: Fraction,  # noqa: ARG002 - likewise
    ) -> IntArray:
        """Refuse: OpenDP's randomized response takes a probability in floating point."""
        raise NoiseError(
            "OpenDP has no exact randomized response: it takes the probability as a floating-point "
            "number. Use the noise provider 'system' for it."
        )

    def perturb(self, bodies: Sequence[Body]) -> Perturbation:  # noqa: ARG002 - likewise
        """Refuse: OpenDP has no such noise."""
        raise NoiseError(
            "OpenDP has no noise on the body in which a record moves tables, which the additive "
            "model and tables of counts need. Use the noise provider 'system' for them."
        )

    def draw_by_rejection(
        self,
        proposal: Proposal[T],  # noqa: ARG002 - likewise
        rate: Fraction,  # noqa: ARG002 - likewise
        total: float,  # noqa: ARG002 - likewise
    ) -> T:
        """Refuse: OpenDP selects from candidates that are listed."""
        raise NoiseError(
            "OpenDP has no draw of whole trees: it selects from candidates that are listed, and "
            "there are too many. Use the noise provider 'system' for it."
        )


def _select(contest: Contest, selection: Selection) -> int:
    eligible = np.arange(len(contest.scores))
    if contest.weights is not None:
        eligible = np.flatnonzero(contest.weights)
        if contest.weights.max() > 1:
            raise NoiseError(
                "OpenDP's selection knows no weights, which ranges of a numeric column need. "
                "Use the noise provider 'system' for it."
            )
    if contest.rate <= 0:
        raise EpsilonError(f"the rate of a selection must be greater than 0, not {contest.rate}.")
    choose = _noisy_max(_round_up(1 / contest.rate), selection)
    return int(eligible[choose(contest.scores[eligible].tolist())])


def _round_up(exact: Fraction) -> float:
    if exact <= 0:
        raise EpsilonError(f"the scale of noise must be greater than 0, not {exact}.")
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


@lru_cache(maxsize=256)
def _laplace(scale: float) -> Any:
    dp = _prelude()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return dp.m.make_laplace(*space, scale=scale)


@lru_cache(maxsize=256)
def _noisy_max(scale: float, selection: Selection) -> Any:
    dp = _prelude()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    # The measure selects the noise: Gumbel under concentrated, exponential under pure.
    exponential = selection is Selection.EXPONENTIAL
    measure = dp.zero_concentrated_divergence() if exponential else dp.max_divergence()
    return dp.m.make_noisy_max(*space, measure, scale=scale)


def _prelude() -> Any:
    try:
        import opendp.prelude as dp  # noqa: PLC0415 - an optional extra, loaded when asked for
    except ImportError as error:
        raise NoiseError("OpenDP is not installed: pip install 'bocage[opendp]'.") from error
    dp.enable_features("contrib")
    return dp
