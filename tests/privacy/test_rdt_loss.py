"""Random trees: sensitivity and exact loss of the one release, over all tiny tables and neighbors."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from bocage.learners import RandomTrees
from bocage.mechanisms import Adjacency, laplace_probability, privacy_loss
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentRecordingNoise
from private.tables import table

TINY = Schema(
    "tiny",
    (
        Categorical("part", ("p", "q")),
        Categorical("a", ("u", "v")),
        Numeric("x", lower=0, upper=2, step=1),
    ),
    label=Categorical("c", ("no", "yes")),
    row_cap=3,
)
RECORDS = list(product(("p", "q"), ("u", "v"), (0, 1, 2), ("no", "yes")))
LEARNERS = {
    "shared rows": RandomTrees(trees=3, height=2),
    "disjoint parts": RandomTrees(parts="part", height=2),
}


class Fixed(RandomTrees):
    """The same structures every time, as if the coins had fallen so."""

    drawn = None

    def structures(self, schema, rows, epsilon):
        if self.drawn is None:
            object.__setattr__(self, "drawn", super().structures(schema, rows, epsilon))
        return self.drawn


def vectors(learner, rows, adjacency=Adjacency.ADD_REMOVE):
    """All leaf counts, without noise, and the scale of the noise that would have been added."""
    noise = SilentRecordingNoise()
    columns = {c.name: [record[i] for record in rows] for i, c in enumerate(TINY)}
    forest = learner.fit(table(columns, TINY, noise=noise, adjacency=adjacency), 1)
    counts = np.concatenate([tree.counts[tree.is_leaf].ravel() for tree in forest.trees])
    ((scale, size),) = noise.scales
    assert size == counts.size
    return counts, scale


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_one_record_moves_the_leaf_vectors_by_the_sensitivity_and_never_more(name):
    learner = Fixed(**LEARNERS[name].parameters())
    trees = 3 if learner.parts is None else 1
    moved = set()
    for rows in combinations_with_replacement(RECORDS[::3], 2):
        before, _ = vectors(learner, rows)
        for record in RECORDS:
            after, _ = vectors(learner, (*rows, record))
            moved.add(int(np.abs(after - before).sum()))
    assert moved == {trees}


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("name", LEARNERS)
def test_the_exact_loss_of_the_release_is_at_most_epsilon_and_reaches_it(name, adjacency):
    learner = Fixed(**LEARNERS[name].parameters())
    worst = Decimal(0)
    for rows in combinations_with_replacement(RECORDS[::4], 2):
        before, scale = vectors(learner, rows, adjacency)
        added = adjacency is Adjacency.ADD_REMOVE
        neighbors = [((*rows, r) if added else (rows[0], r)) for r in RECORDS]
        for neighbor in neighbors:
            after, again = vectors(learner, neighbor, adjacency)
            assert again == scale
            worst = max(worst, loss(before, after, scale))
    assert worst <= 1 + Decimal("1e-20")
    assert worst > Decimal("0.999")


_LOSSES: dict[tuple[int, Fraction], Decimal] = {}


def loss(before, after, scale):
    """The largest log ratio of the probabilities of any output: counts are noisy on their own."""
    total = Decimal(0)
    for shift in np.abs(after - before).tolist():
        if shift:
            key = (shift, scale)
            if key not in _LOSSES:
                outputs = range(-30, 31)
                _LOSSES[key] = privacy_loss(
                    [laplace_probability(scale, out) for out in outputs],
                    [laplace_probability(scale, out - shift) for out in outputs],
                )
            total += _LOSSES[key]
    return total
