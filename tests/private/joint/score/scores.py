"""Small tables, all scores of some columns listed by brute force, and a noise that keeps what is proposed."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np

from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency
from bocage.private import Block, Drawn, DrawnOrdinalScore, DrawnScorecard
from bocage.private.executor import LiveExecutor
from bocage.private.joint.score.family import patterns_of
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from privacy.test_boosting_loss import columns_of
from private.noises import SilentNoise

BLOCKS = (Block(("a",), (2,), (2,)), Block(("b",), (3,), (3,)), Block(("n",), (2,), (2,)))
CELLS = (lambda r: r[0], lambda r: r[1], lambda r: r[2] // 2)


def schema_of(labels=2):
    return Schema(
        "t",
        (Categorical("a", ("x", "y")), Categorical("b", ("p", "q", "r")), Numeric("n", 0, 4, 4)),
        Categorical("label", tuple("012"[:labels])),
        row_cap=500,
    )


def kinds(labels):
    return list(product(range(2), range(3), range(4), range(labels)))


def some(labels, seed, rows):
    rng = np.random.default_rng(seed)
    return [kinds(labels)[i] for i in rng.integers(0, len(kinds(labels)), rows)]


class Listening(SilentNoise):
    """Keeps what is proposed, and takes the walk of the largest weights."""

    def __init__(self):
        self.proposals = []

    def draw_by_rejection(self, proposal, rate, total):
        outcome = proposal(self).outcome
        if isinstance(
            outcome, Drawn | DrawnOrdinalScore | DrawnScorecard
        ):  # else it was only asked whether there are walks
            self.proposals.append((proposal, rate, total))
        return outcome

    @staticmethod
    def choose(weights):
        return int(weights.argmax())

    @staticmethod
    def choose_each(weights):
        return weights.argmax(axis=1)


def level_of(records, labels=2, adjacency=Adjacency.ADD_REMOVE, noise=None):
    schema = schema_of(labels)
    engine = MemoryEngine(columns_of(schema, records), schema)
    executor = LiveExecutor(Terms(schema, adjacency), engine, noise or Listening())
    return PrivateTable(executor, MemoryAccount.of(Epsilon.of(10)), WHOLE).reserve(10, "points")


def proposal(records, labels, scores, *, epsilon="0.75", adjacency=Adjacency.ADD_REMOVE):
    """A walk, its rate and its total."""
    matrix = np.array(records, np.uint16).reshape(-1, 4).T
    fit = DrawnScores("label", Epsilon.of(epsilon), scores)
    return fit.proposal(lambda: iter([matrix]), Terms(schema_of(labels), adjacency))


def predicted(score, record):
    rung = sum(points[CELLS[BLOCKS.index(block)](record)] for block, points in score.points)
    if isinstance(score, DrawnScorecard):
        return score.labels[rung >= score.threshold]
    gate = 0 if score.gate is None else CELLS[BLOCKS.index(score.gate)](record)
    return score.labels[gate][rung]


def every_scorecard(scores, labels):
    """All scorecards and their priors, listed apart from the code under test."""
    schema, most = schema_of(labels), scores.most
    own = [patterns_of(schema[b.columns[0]], b.size, rich=scores.rich) for b in BLOCKS]
    for label in range(labels):
        yield DrawnScorecard((), 0, (label, label)), Fraction(1, (most + 1) * labels)
    for size in range(1, most + 1):
        found = [
            DrawnScorecard(tuple((BLOCKS[i], p) for i, p in zip(which, chosen, strict=True)), threshold, pair)
            for which in combinations(range(3), size)
            for chosen in product(*(own[i] for i in which))
            for threshold in range(1, 1 + sum(max(map(max, own[i])) for i in which))
            for pair in combinations(range(labels), 2)
        ]
        yield from ((one, Fraction(1, (most + 1) * len(found))) for one in found)


def every_ordinal_score(scores, labels):
    """All ordinal scores and their priors, likewise."""
    most, top = scores.most, scores.top
    wide = sorted(range(3), key=lambda i: -BLOCKS[i].size)
    kinds_of = [
        [
            (gate, tuple(zip(columns, points, strict=True)))
            for columns in combinations(wide, size)
            for gate in ([i for i in range(3) if i not in columns] if gated else [None])
            for points in product(*(rising(BLOCKS[i].size, top, i == columns[0]) for i in columns))
        ]
        for size, gated in product(range(1, most + 1), (False, True))
    ]
    found = [kind for kind in kinds_of if kind]
    for kind in found:
        for gate, points in kind:
            parts = 1 if gate is None else BLOCKS[gate].size
            for chosen in product(product(range(labels), repeat=1 + top * len(points)), repeat=parts):  # fmt: skip
                prior = Fraction(1, len(found) * len(kind))
                for own in chosen:
                    prior *= Fraction(1, labels)
                    for a, b in pairwise(own):
                        prior *= Fraction(3, 4) if a == b else Fraction(1, 4 * (labels - 1))
                given = tuple((BLOCKS[i], own) for i, own in points)
                yield DrawnOrdinalScore(None if gate is None else BLOCKS[gate], given, chosen), prior  # fmt: skip


def rising(cells, top, first):
    every = product(range(top + 1), repeat=cells)
    ups = [p for p in every if p[0] == 0 < p[-1] and sorted(p) == list(p)]
    return ups if first else ups + [p[::-1] for p in ups]
