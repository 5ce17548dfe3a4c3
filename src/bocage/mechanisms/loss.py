"""What each mechanism outputs with which probability, and the privacy loss that follows.

Written from the definitions, in decimal numbers of 60 digits and with nothing from the samplers:
the tests compare the samplers with these, and the guide quotes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from bocage.mechanisms.base import Contest

_DIGITS = 60


def laplace_probability(scale: Fraction, x: int) -> Decimal:
    """Return P(X = x) = (1 - q) / (1 + q) * q**abs(x), with q = exp(-1 / scale)."""
    with localcontext(prec=_DIGITS):
        q = (-_decimal(1 / scale)).exp()
        return (1 - q) / (1 + q) * (-_decimal(abs(x) / scale)).exp()


def laplace_loss(scale: Fraction, sensitivity: int) -> Fraction:
    """Return the exact privacy loss of adding the noise to a query of that sensitivity."""
    return sensitivity / scale


def exponential_probabilities(contest: Contest) -> list[Decimal]:
    """Return the probability of each candidate under the exponential mechanism."""
    with localcontext(prec=_DIGITS):
        weights = _weights(contest)
        mass = [n * w for n, w in zip(weights, _heads(contest, weights), strict=True)]
        return [m / sum(mass) for m in mass]


def permute_and_flip_probabilities(contest: Contest) -> list[Decimal]:
    """Return the probability of each candidate under permute-and-flip.

    Candidate i wins if it has heads and is the first of those that do: the expectation of
    1 / (1 + number of other heads), from the distribution of that number.
    """
    weights = _weights(contest)
    if max(weights) > 1:
        raise ValueError("permute-and-flip knows no weights but 0 and 1")
    with localcontext(prec=_DIGITS):
        heads = [n * w for n, w in zip(weights, _heads(contest, weights), strict=True)]
        probabilities = []
        for i, own in enumerate(heads):
            others = [Decimal(1)]  # others[h] = P(h heads among the candidates so far)
            for j, p in enumerate(heads):
                if j != i:
                    tails = [(1 - p) * before for before in others] + [Decimal(0)]
                    others = [stay + p * step for stay, step in zip(tails, [Decimal(0), *others], strict=True)]
            share = sum((p / (h + 1) for h, p in enumerate(others)), Decimal(0))
            probabilities.append(own * share)
        return probabilities


def response_probabilities(arity: int, rate: Fraction) -> list[list[Decimal]]:
    """Return the matrix P(answer | truth) of randomized response, one row for each truth."""
    with localcontext(prec=_DIGITS):
        ratio = _decimal(rate).exp()
        total = ratio + arity - 1
        return [[(ratio if a == t else 1) / total for a in range(arity)] for t in range(arity)]


def privacy_loss(one: Sequence[Decimal], other: Sequence[Decimal]) -> Decimal:
    """Return the largest absolute log ratio of two distributions over the same outcomes."""
    with localcontext(prec=_DIGITS):
        both = [(p, r) for p, r in zip(one, other, strict=True) if p or r]
        if not all(p and r for p, r in both):
            return Decimal("Infinity")
        return max(abs((p / r).ln()) for p, r in both)


def _weights(contest: Contest) -> list[int]:
    return [1] * len(contest.scores) if contest.weights is None else contest.weights.tolist()


def _heads(contest: Contest, weights: list[int]) -> list[Decimal]:
    """exp(-rate * gap) of each candidate, 0 where the weight is."""
    scores = contest.scores.tolist()
    best = max(s for s, n in zip(scores, weights, strict=True) if n)
    return [
        (-_decimal(contest.rate * (best - s))).exp() if n else Decimal(0) for s, n in zip(scores, weights, strict=True)
    ]


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / x.denominator
