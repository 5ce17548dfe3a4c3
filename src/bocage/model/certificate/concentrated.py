"""The same release under a weaker promise with a smaller epsilon: (epsilon, delta) through zCDP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp2, log, log1p
from typing import TYPE_CHECKING

from bocage.errors import ModelError
from bocage.model.certificate.releases import composed

if TYPE_CHECKING:
    from bocage.model.certificate.certificate import Certificate

DELTA = 1e-6
_STEPS = 100  # of the search; each of them yields a valid bound
_DECIMALS = 6
_ORDERS = (1, 2, 4, 8)  # of the bounds that hold together, against the first of them


@dataclass(frozen=True)
class Relaxed:
    """But for a probability of `delta`, no outcome is more than exp(`epsilon`) times as likely.

    Attributes
    ----------
    rho
        The guarantee as zero-concentrated differential privacy, from which the others follow.
    settled
        Whether it was settled before any answer. If not, it is one of the model that was released.
    """

    rho: Fraction
    epsilon: float
    delta: float
    settled: bool = True


def relaxed(certificate: Certificate, delta: float | None = None) -> Relaxed | None:
    """What a certificate's release promises with a `delta`.

    Without one it is 1e-6, and None where epsilon is no smaller. With one, epsilon is never larger than
    that of the certificate, which holds with any delta.

    Privacy
    -------
    What was released has a rho for each line, see :class:`~bocage.private.transcript.Used`. They add up
    in sequence (Bun & Steinke 2016, lemma 1.7), and of disjoint parts the largest counts.

    If what is asked was settled before any answer, rho-zCDP is (epsilon, delta)-DP with epsilon = a rho +
    (log(1/delta) + (a-1) log(1 - 1/a) - log(a)) / (a-1) for every a > 1 (Canonne, Kamath & Steinke
    2020, proposition 12). The best `a` is searched for, and the result rounded up.

    If answers had a say in what was asked, the rho of this run is no bound on that of others. But for every a
    fixed in advance exp((a-1) (L - a rho)), with the privacy loss L and the rho so far, is a
    supermartingale that starts at 1: a question of cost r multiplies it by a factor of mean 1 at
    most, whatever led to the question. So L is larger than a rho + log(1/d) / (a-1) at the end with a probability of
    d at most (Markov's inequality). Four values of a, which follow from delta and the epsilon charged,
    with d = delta / 4 each, hold together, and the best of them is taken. With a probability of 1 - delta
    the loss of what is released is within it, on every table.

    Lines of a plan, which older versions have, count only if all questions were put to the whole table: on
    the way down a tree, a path that ends early spends the shares of many questions on one. The ledger
    goes on charging the epsilon of the certificate, which holds without any `delta`.
    """
    stated, delta = delta is not None, DELTA if delta is None else delta
    if not 0 < delta < 1:
        raise ModelError(f"delta is a probability between 0 and 1, not {delta!r}.")
    executed = certificate.executed
    if certificate.epsilon is None or not (executed or not any(line.level for line in certificate.plan)):
        return None
    charged = float(certificate.epsilon)
    rho = composed(certificate.plan, lambda line: line.concentrated)
    settled = certificate.settled or not executed
    least = _smallest(float(rho), delta) if settled else _released(float(rho), delta, charged)
    epsilon = ceil(least * 10**_DECIMALS + 1e-3) / 10**_DECIMALS
    if epsilon < charged:
        return Relaxed(rho, epsilon, delta, settled)
    return Relaxed(rho, charged, delta, settled) if stated else None


def _released(rho: float, delta: float, charged: float) -> float:
    """A bound on the loss of one run, of which `rho` is known afterwards and nothing else."""
    unlikely = log(len(_ORDERS) / delta)
    return min((1 + above) * rho + unlikely / above for above in (2 * order * unlikely / charged for order in _ORDERS))


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
