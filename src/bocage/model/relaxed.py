"""The same release under a weaker promise with a smaller epsilon: (epsilon, delta) through zCDP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp2, log, log1p
from typing import TYPE_CHECKING

from bocage.errors import ModelError

if TYPE_CHECKING:
    from bocage.model.certificate import Certificate

DELTA = 1e-6
_STEPS = 100  # of the search; each of them yields a valid bound
_DECIMALS = 6


@dataclass(frozen=True)
class Relaxed:
    """But for a probability of `delta`, no outcome is more than exp(`epsilon`) times as likely.

    Attributes
    ----------
    rho
        The guarantee as zero-concentrated differential privacy, from which the others follow.
    """

    rho: Fraction
    epsilon: float
    delta: float


def relaxed(certificate: Certificate, delta: float = DELTA) -> Relaxed | None:
    """What a certificate's release promises with a `delta`; None if that is no smaller an epsilon.

    Privacy
    -------
    A question that is e-DP is (e**2 / 2)-zCDP (Bun & Steinke 2016, proposition 1.4), and these add up
    (lemma 1.7): q equal questions that share e have e**2 / (2 q) together. rho-zCDP is
    (epsilon, delta)-DP with epsilon = a rho + (log(1/delta) + (a-1) log(1 - 1/a) - log(a)) / (a-1) for
    every a > 1 (Canonne, Kamath & Steinke 2020, proposition 12). The best `a` is searched for, and
    the result rounded up.

    Only questions that were all put to the whole table count so: on the way down a tree, a path that
    ends early spends the shares of many questions on one. The ledger goes on charging the epsilon of
    the certificate, which holds without any `delta`.
    """
    if not 0 < delta < 1:
        raise ModelError(f"delta is a probability between 0 and 1, not {delta!r}.")
    if certificate.epsilon is None or any(line.level for line in certificate.plan):
        return None
    rho = sum(
        (line.cost.fraction**2 / (2 * line.queries) for line in certificate.plan), Fraction(0)
    )
    epsilon = ceil(_smallest(float(rho), delta) * 10**_DECIMALS + 1e-3) / 10**_DECIMALS
    return Relaxed(rho, epsilon, delta) if epsilon < float(certificate.epsilon) else None


def _smallest(rho: float, delta: float) -> float:
    """The least bound, over a = 1 + 2**t: it falls and then rises, so that thirds close in on it."""

    def bound(t: float) -> float:
        above = exp2(t)
        a = 1 + above
        return a * rho + (-log(delta) - above * log1p(1 / above) - log(a)) / above

    low, high = -10.0, 60.0
    for _ in range(_STEPS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        if bound(left) < bound(right):
            high = right
        else:
            low = left
    return max(bound(low), 0.0)
