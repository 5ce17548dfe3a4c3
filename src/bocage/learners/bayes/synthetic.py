"""Made-up records: combinations of cells that are about as frequent as released tables say.

Post-processing of released numbers: nothing here looks at rows, and nothing drawn here is noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bocage.learners.bayes.log_odds import Evidence, Floats, Law

GRID = 20_000  # combinations of cells, of which all are looked at
DRAWN = 10_000  # of more combinations so many are
MOST = 2**22  # records times tables times labels, which is what a fit takes time for
ROUNDS = 5
LEAST, LARGEST = 0.02, 6.0  # what pairs make of a share at least, and of a weight at most
_SEED = 1


@dataclass(frozen=True)
class Population:
    """Made-up records.

    Attributes
    ----------
    cells
        For each attribute the cell of each record.
    weights
        How many rows each record stands for.
    """

    cells: NDArray[np.int64]
    weights: Floats


def population(evidence: Evidence, law: Law) -> Population:
    """Records of which single attributes, and pairs, have the released shares.

    Attributes may be independent, as where every combination is a row, or independent for each label, as
    naive Bayes has it. The released pairs say how much of the second there is, and so what to begin
    with. Then weights bring each pair to its share, as far as this is not noise.
    """
    given = [_given(table, law[i,]) for i, table in enumerate(evidence.singles)]
    tied = _tied(evidence, given)
    parts = np.append(1 - tied, tied * evidence.prior)
    shares = [np.column_stack([own @ evidence.prior, own]) for own in given]
    sizes = [len(table) for table in evidence.singles]
    most = MOST // (len(evidence.prior) * (1 + len(sizes) + len(evidence.pairs)))
    if prod(sizes) <= min(GRID, most):
        cells = np.indices(sizes).reshape(len(sizes), -1)
        chances = np.tile(parts, (cells.shape[1], 1))
        for own, cell in zip(shares, cells, strict=True):
            chances *= own[cell]
        weights = chances.sum(axis=1)
    else:
        cells = _drawn(parts, shares, max(min(DRAWN, most), 1))
        weights = np.full(cells.shape[1], 1 / cells.shape[1])
    return Population(cells, evidence.rows * _by_pairs(evidence, cells, weights))


def _given(counts: Floats, ratios: Floats) -> Floats:
    """For each label the shares of the cells of an attribute."""
    rows = np.maximum(counts.sum(axis=1), 0) + 0.5
    each = rows[:, None] * np.exp(ratios)
    shares: Floats = each / each.sum(axis=0)
    return shares


def _tied(evidence: Evidence, given: Sequence[Floats]) -> float:
    """How much of the dependence that labels alone would make pairs of attributes have: 0 to 1."""
    seen = whole = 0.0
    for (a, b), counts in evidence.pairs.items():
        apart = np.outer(given[a] @ evidence.prior, given[b] @ evidence.prior)
        labels = given[a] * evidence.prior @ given[b].T - apart
        seen += float(((counts.sum(axis=2) / evidence.rows - apart) * labels).sum())
        whole += float((labels**2).sum())
    return min(max(seen / max(whole, 1e-12), 0.0), 1.0)


def _drawn(parts: Floats, shares: Sequence[Floats], count: int) -> NDArray[np.int64]:
    """Records of several kinds, evenly spread over the cells of each attribute."""
    order = np.tile(np.arange(count), (len(shares) + 1, 1))
    places = (np.random.default_rng(_SEED).permuted(order, axis=1) + 0.5) / count
    kinds = np.searchsorted(parts.cumsum()[:-1], places[0])
    cells = np.empty((len(shares), count), np.int64)
    for kind in range(len(parts)):
        here = kinds == kind
        for own, place, codes in zip(shares, places[1:], cells, strict=True):
            codes[here] = np.searchsorted(own[:, kind].cumsum()[:-1], place[here])
    return cells


def _by_pairs(evidence: Evidence, cells: NDArray[np.int64], weights: Floats) -> Floats:
    """Shares of the records such that pairs are as frequent as released (iterative scaling)."""
    rows, labels, most = evidence.rows, len(evidence.prior), LARGEST * weights
    wanted = []
    for (a, b), counts in evidence.pairs.items():
        first, second, _ = counts.shape
        cell = cells[a] * second + cells[b]
        now = np.bincount(cell, weights, first * second)
        gap = counts.sum(axis=2).ravel() / rows - now
        noise = labels * evidence.noise[a, b] + rows / len(now)  # that of chance too
        chance = (first - 1) * (second - 1) * noise / rows**2
        signal = max(0.0, 1 - chance / max(float(gap @ gap), 1e-12))
        share = np.maximum(now + signal * gap, LEAST * now)
        wanted.append((cell, share / share.sum()))
    for _ in range(ROUNDS):
        for cell, share in wanted:
            now = np.bincount(cell, weights, len(share))
            weights = np.minimum(weights * (share / np.maximum(now, 1e-12))[cell], most)
            weights = weights / weights.sum()
    return weights
