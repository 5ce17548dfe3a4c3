"""How far a draw trusts the rows is drawn with it: an exponential mechanism over outcomes and rates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from bocage.mechanisms import Proposed
from bocage.mechanisms.base import T

if TYPE_CHECKING:
    from bocage.mechanisms import Choices, Proposal

LEAST = Fraction(3, 4)  # rate below which none is tried beside the full one
SURE = 6  # ... from which on none is: one label of 400 would be wrong, and those that are would be learned by heart
UNIT_BITS = 20
UNITS = 2**UNIT_BITS  # of a score, for the full rate

Claim = tuple["Proposal[T]", Fraction, float]


def tempered(propose: Callable[[Fraction], Claim[T]], rows: int, labels: int, rate: Fraction) -> Claim[T]:
    """A proposal among the outcomes at several rates, its rate, and about the logarithm of its sum.

    At rate r an outcome has weight prior * exp(r * rows right). If a label is as predicted with
    probability proportional to e**r, and any other with 1, the likelihood of all labels is that
    weight without the prior, over (e**r + labels - 1)**rows. So with r itself unknown, equally
    likely to be one of `rates_of`, outcome and r have the weight prior * exp(r * right - c * rows)
    with c = log(e**r + labels - 1). Labels that are partly chance ask for a small r: at a large
    one, they are learned by heart.

    Privacy
    -------
    One more record adds r - c or -c to the exponent, whatever the others are. For all r up to the
    full rate these numbers lie between -c and r - c of the full rate (both functions of r are
    monotone, and `_costs` sees to it after rounding): all outcomes move within an interval as long
    as the full rate. That is the range of the exponential mechanism without a smaller r, and costs
    the same. The rates are public.
    """
    halvings = _halvings(rate)
    if halvings == [0]:
        return propose(rate)
    costs, unit = _costs(rate, halvings, labels), rate / UNITS
    proposals = [propose(rate / 2**k) for k in halvings]
    totals = np.array([total - float(cost * unit) * rows for (*_, total), cost in zip(proposals, costs, strict=True)])

    def proposal(choices: Choices) -> Proposed[T]:
        place = choices.choose(totals)
        proposed = proposals[place][0](choices)
        numerator, denominator = proposed.odds
        score = (UNITS >> halvings[place]) * proposed.score - costs[place] * rows
        return Proposed(proposed.outcome, score, (numerator, len(costs) * denominator))

    return proposal, unit, float(np.logaddexp.reduce(totals)) - log(len(costs))


def rates_of(rate: Fraction) -> list[Fraction]:
    """The full rate, its half and so on, without those that trust the rows too much or too little."""
    return [rate / 2**k for k in _halvings(rate)]


def _halvings(rate: Fraction) -> list[int]:
    return [k for k in range(UNIT_BITS + 1) if LEAST <= rate / 2**k < SURE] or [0]


def _costs(rate: Fraction, halvings: list[int], labels: int) -> list[int]:
    """What a row costs at each rate, in units; within what the full rate allows."""
    unit = float(rate / UNITS)

    def cost(k: int) -> int:
        one = float(rate / 2**k)
        return round((one + log1p((labels - 1) * exp(-one))) / unit)

    full = cost(0)
    return [min(max(cost(k), full - UNITS + (UNITS >> k)), full) for k in halvings]
