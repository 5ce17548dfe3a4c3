"""What noisy counts say about the label: sums that agree, and log-odds without the noise in them.

Post-processing of released numbers: nothing here looks at rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = tuple[int, int]
Law = dict[tuple[int, ...], Floats]  # log-odds: the intercept, and by the attributes of each table

ADDED = 0.5  # standard deviations of the noise that are added to every count
RAREST = 0.005  # share of a label that the prior does not go below


@dataclass(frozen=True)
class Evidence:
    """Released tables, moved so that they agree; each with the variance of its noise in a cell.

    Attributes
    ----------
    prior
        The shares of the labels.
    rows
        About how many rows there are; positive.
    """

    prior: Floats
    rows: float
    singles: Sequence[Floats]
    variances: Sequence[float]
    pairs: Mapping[Pair, Floats]
    noise: Mapping[Pair, float]


def prior_of(totals: Floats) -> Floats:
    """The shares of the labels."""
    least = np.maximum(totals, max(1.0, RAREST * float(totals.sum())))
    shares: Floats = least / least.sum()
    return shares


def with_consistent_totals(
    tables: Sequence[Floats], said: Sequence[tuple[Floats, float]]
) -> tuple[Floats, list[Floats]]:
    """The label totals, and the tables, of shape (cells, labels), moved so that they have them.

    What is said of the totals, with a variance each, is averaged by precision.
    """
    weights = np.array([1 / variance for _, variance in said])
    totals: Floats = weights @ np.array([total for total, _ in said]) / weights.sum()
    return totals, [t + (totals - t.sum(axis=0)) / len(t) for t in tables]


def with_pairs(
    tables: Sequence[Floats],
    variances: Sequence[float],
    pairs: Mapping[Pair, Floats],
    own: Mapping[Pair, float],
) -> tuple[list[Floats], list[float]]:
    """The tables of single attributes, made more precise by the sums of the tables of pairs."""
    better, left = [], []
    for i, (table, variance) in enumerate(zip(tables, variances, strict=True)):
        weight, total = 1 / variance, table / variance
        for pair, counts in pairs.items():
            if i in pair:
                axis = 1 - pair.index(i)
                precision = 1 / (own[pair] * counts.shape[axis])
                weight += precision
                total = total + counts.sum(axis=axis) * precision
        better.append(total / weight)
        left.append(1 / weight)
    return better, left


def log_ratios(counts: Floats, shares: Floats, variance: float, freedom: int) -> Floats:
    """By how much the logarithm of each label's odds differs from what `shares` says.

    Half a standard deviation of the noise is added to every count, so that small ones say little. Then
    all of the table is multiplied by the share of its deviations that noise does not explain (James
    & Stein 1961, positive part): a table of pure noise says nothing.
    """
    expected = counts.sum(axis=-1, keepdims=True) * shares
    added = ADDED * variance**0.5 * shares * counts.shape[-1] + 1e-9
    ratios: Floats = np.log((np.maximum(counts, 0) + added) / (np.maximum(expected, 0) + added))
    deviations = float(((counts - expected) ** 2).sum()) / variance
    signal: Floats = ratios * max(0.0, 1 - freedom / max(deviations, 1e-9))
    return signal


def pair_ratios(
    counts: Floats,
    singles: tuple[Floats, Floats],
    ratios: tuple[Floats, Floats],
    prior: Floats,
    variance: float,
) -> Floats:
    """What two attributes say together beyond the sum of what each of them says."""
    first, second, labels = counts.shape
    counts = moved(counts, singles)
    shares = prior * np.exp(ratios[0][:, None] + ratios[1][None])
    shares /= shares.sum(axis=2, keepdims=True)
    return log_ratios(counts, shares, variance, (first - 1) * (second - 1) * (labels - 1))


def moved(counts: Floats, singles: tuple[Floats, Floats]) -> Floats:
    """Counts of shape (cells, cells, labels) with the sums of single attributes, known better."""
    first, second, _ = counts.shape
    counts = counts + (singles[0] - counts.sum(axis=1))[:, None] / second
    counts += (singles[1] - counts.sum(axis=0))[None] / first
    return counts


def naive(evidence: Evidence) -> Law:
    """What single attributes say, as if they were independent, and pairs beyond them."""
    prior, singles = evidence.prior, evidence.singles
    ratios = [
        log_ratios(table, prior, variance, (len(table) - 1) * (len(prior) - 1))
        for table, variance in zip(singles, evidence.variances, strict=True)
    ]
    law: Law = {(): np.log(prior)} | {(i,): own for i, own in enumerate(ratios)}
    for (a, b), counts in evidence.pairs.items():
        own, both = (singles[a], singles[b]), (ratios[a], ratios[b])
        law[a, b] = pair_ratios(counts, own, both, prior, evidence.noise[a, b])
    return law


def weighted(law: Law, weight: float) -> Law:
    """The same with a part of what pairs say; without their tables if that is nothing."""
    return {at: weight * own if len(at) == 2 else own for at, own in law.items() if weight or len(at) < 2}


def power(counts: Floats, ratios: Floats, prior: Floats) -> float:
    """How much an attribute says about the label: its squared log-odds, averaged over the rows."""
    rows = np.maximum(counts.sum(axis=1), 0)
    return float(rows @ (ratios**2 @ prior)) / max(float(rows.sum()), 1.0)
