"""Log-odds fitted at once to all released tables, so that none says what another has said.

Of all laws p(y|x) whose expected tables are the released ones, the one of maximum entropy has log-odds that add up
over the tables (Berger, Della Pietra & Della Pietra 1996). It is the minimum of a convex function, in which rows occur
only through the tables; where x lies is a matter of a made-up population. Post-processing: nothing here looks at rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from bocage.learners.bayes.log_odds import Evidence, Floats, Law, moved, naive, weighted
from bocage.learners.bayes.synthetic import Population, population

STEPS = 20
ENOUGH = 1e-5  # of the logarithmic loss of a row: smaller steps are the last
MEMORY = 8
FREE = 1e-3  # ridge of the intercept, which the labels' totals are enough for
WEAKEST = 1e-4  # variance of the log-odds of a table of pure noise
MOST_FITTED = 2**18  # numbers
FARTHEST = 2.0**12  # log-odds; counts that noise makes negative could ask for any
RAREST = 1e-3  # least p(1-p) of a label


def laws(evidence: Evidence) -> list[Law]:
    """What the released tables may say: log-odds to choose from."""
    law = naive(evidence)
    alone, half = weighted(law, 0), weighted(law, 0.5)
    if not fits([table.size for table in (*evidence.singles, *evidence.pairs.values())], 1):
        return [law, half, alone]
    people = population(evidence, law)
    single = fitted(evidence, people, alone)
    if not evidence.pairs:
        return [single, alone]
    return [fitted(evidence, people, weighted(law, 0.25)), single, law, half]


def fits(sizes: Sequence[int], labels: int) -> bool:
    """Whether tables of so many cells are small enough to be fitted at once."""
    return sum(sizes) * labels <= MOST_FITTED


def fitted(evidence: Evidence, people: Population, center: Law) -> Law:
    """The law with the tables of `center` that explains what was released.

    An entry is normal around that of `center`. Its variance is what the deviations of its table, less
    noise and chance, say of how far log-odds go. The noise of a count of N rows with a label of share p
    is, in log-odds, its own over N p (1-p): where this is more than the entry can be, it stays at the center.
    """
    places = list(center)
    sizes = [prod(center[at].shape[:-1]) for at in places]
    index = [_index(people, at, center[at].shape) for at in places]
    rows = [np.bincount(own, people.weights, size).astype(np.float64) for own, size in zip(index, sizes, strict=True)]
    parts = [_target(evidence, center, at, own) for at, own in zip(places, rows, strict=True)]
    target, ridge, curvature = (np.concatenate(part) for part in zip(*parts, strict=True))
    starts = np.cumsum([0, *sizes])
    loss = _Loss(people.weights, [*zip(index, starts, strict=False)], target, ridge)
    flat = np.concatenate([center[at].reshape(size, -1) for at, size in zip(places, sizes, strict=True)])
    log_odds = loss.least(flat, 1 / (curvature + ridge)).clip(-FARTHEST, FARTHEST)
    return {
        at: part.reshape(center[at].shape) for at, part in zip(places, np.split(log_odds, starts[1:-1]), strict=True)
    }


def _index(people: Population, at: Sequence[int], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The cell of each record in one table."""
    cell = np.zeros(len(people.weights), np.int64)
    for i, size in zip(at, shape, strict=False):
        cell = cell * size + people.cells[i]
    return cell


def _target(evidence: Evidence, center: Law, at: tuple[int, ...], rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Counts to be explained, for as many rows as are made up, ridges, and about the curvature."""
    prior, labels = evidence.prior, len(evidence.prior)
    if not at:
        whole = evidence.rows * prior[None]
        return whole, np.full(whole.shape, FREE), whole * (1 - prior)
    if len(at) == 1:
        counts, variance = evidence.singles[at[0]], evidence.variances[at[0]]
        before = np.broadcast_to(prior, counts.shape)
        free = (len(counts) - 1) / len(counts)
    else:
        a, b = at
        counts, variance = evidence.pairs[a, b], evidence.noise[a, b]
        counts = moved(counts, (evidence.singles[a], evidence.singles[b]))
        before = prior * np.exp(center[a,][:, None] + center[b,][None])
        before = (before / before.sum(axis=2, keepdims=True)).reshape(-1, labels)
        free = float(np.prod([(size - 1) / size for size in counts.shape[:2]]))
        counts = counts.reshape(-1, labels)
    said = counts.sum(axis=1, keepdims=True)
    each = np.maximum(rows, 0.5)[:, None]
    fisher = each * np.maximum(before * (1 - before), RAREST)
    free *= (labels - 1) / labels
    signal = float(((counts - said * before) ** 2).sum() - free * (variance + fisher).sum())
    strength = max(signal / float((fisher**2).sum()), WEAKEST)
    target = counts + (rows[:, None] - said) * before
    # A rare label has more rows in the prior than in the tables. Unless all agree, they pull forever.
    target += rows[:, None] * (prior - target.sum(axis=0) / evidence.rows)
    return target, (variance / fisher + 1) / strength, each * (target / each).clip(0.02, 0.25)


class _Loss:
    """The logarithmic loss of tables that are explained, with a ridge: all scores in one array."""

    def __init__(
        self,
        weights: Floats,
        tables: Sequence[tuple[NDArray[np.int64], int]],
        target: Floats,
        ridge: Floats,
    ) -> None:
        self._weights, self._target, self._ridge = weights, target, ridge
        self._tables = []
        for cell, start in tables:
            order = np.argsort(cell, kind="stable")
            present, first = np.unique(cell[order], return_index=True)
            self._tables.append((start + cell, order, start + present, first))

    def least(self, center: Floats, scale: Floats) -> Floats:
        """The minimum, by L-BFGS (Nocedal 1980) from the center on."""
        at = center
        value, slope = self._value(at, center)
        past: list[tuple[Floats, Floats, float]] = []
        for _ in range(STEPS):
            way, parts = slope, []
            for step, change, product in reversed(past):
                parts.append(float((step * way).sum()) / product)
                way = way - parts[-1] * change
            way = scale * way
            for (step, change, product), part in zip(past, reversed(parts), strict=True):
                way = way + (part - float((change * way).sum()) / product) * step
            length, fall = 1.0, float((slope * way).sum())
            while True:
                there = at - length * way
                new, other = self._value(there, center)
                if new <= value - 1e-4 * length * fall or length < 1e-3:
                    break
                length /= 2
            product = float(((there - at) * (other - slope)).sum())
            if product > 0:
                past = [*past[1 - MEMORY :], (there - at, other - slope, product)]
            gain, at, value, slope = value - new, there, new, other
            if gain < ENOUGH * float(self._weights.sum()):
                break
        return at

    def _value(self, at: Floats, center: Floats) -> tuple[float, Floats]:
        sums = np.zeros((len(self._weights), at.shape[1]))
        for cell, *_ in self._tables:
            sums += at[cell]
        top = sums.max(axis=1, keepdims=True)
        chances = np.exp(sums - top)
        whole = chances.sum(axis=1, keepdims=True)
        chances *= self._weights[:, None] / whole
        slope = self._ridge * (at - center)
        value = float(self._weights @ (np.log(whole) + top)[:, 0])
        value += float(((at - center) * slope).sum()) / 2 - float((at * self._target).sum())
        slope -= self._target
        for _, order, present, first in self._tables:
            slope[present] += np.add.reduceat(chances[order], first, axis=0)
        return value, slope
