"""Both ways through a tree end at the same node."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from bocage.learners.papers.structure import random_structure
from bocage.model import Certificate, Forest, PlanLine
from bocage.model.tree import forest, routing
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "made",
    (
        Categorical("a", ("0", "1", "2")),
        Categorical("b", ("0", "1")),
        Numeric("x", lower=0, upper=30, step=1),
        Numeric("unused", lower=0, upper=9, step=1),
    ),
    label=Categorical("y", ("no", "yes")),
)
MADE = Certificate("rdt", "", "1", "add_remove", "made", SCHEMA.fingerprint, (PlanLine(0, "all", "none", "1"),))


def grown(seed, height):
    coins = Random(seed)  # noqa: S311 - not noise
    structure = random_structure(SCHEMA, ("a", "b", "x"), height, coins, 10**6)
    leaves = structure.splits.count(None)
    counts = np.array([[coins.randint(-9, 9) for _ in "ny"] for _ in range(leaves)])
    return structure.freeze(SCHEMA, counts, MADE)


def codes_of(rows):
    rng = np.random.default_rng(5)
    return {c.name: rng.integers(-1, c.cells, rows) for c in SCHEMA.attributes}


@pytest.mark.parametrize("height", [1, 3, 6])
@pytest.mark.parametrize("columns", [("a", "b", "x"), ("x", "unused", "b", "a")])
def test_the_compiled_loop_ends_where_the_levels_do(height, columns):
    tree, codes = grown(height, height), codes_of(3000)
    steps = tree.steps(columns)
    matrix = np.array([codes[name] for name in columns], np.int32)
    by_levels = routing.route(steps, matrix)
    assert (by_levels == routing.route(steps, matrix, much=True)).all()
    assert (by_levels == tree.apply_codes(codes)).all()
    plain = np.zeros(3000, np.int32)
    arrays = (steps.row, steps.threshold, steps.target, steps.multiway)
    routing.descend(matrix, 0, 3000, *arrays, plain)
    assert (by_levels == plain).all()


def test_a_forest_predicts_the_same_either_way(monkeypatch):
    trees = tuple(grown(seed, 4) for seed in range(5))
    model, codes = Forest(trees, "counts", MADE), codes_of(2000)
    by_hand = sum(votes[tree.apply_codes(codes)] for tree, votes in zip(trees, model.votes, strict=True))
    assert (model.predict_codes(codes) == by_hand.argmax(axis=1)).all()
    monkeypatch.setattr(forest, "MUCH", 0)
    assert (model.predict_codes(codes) == by_hand.argmax(axis=1)).all()


def test_no_rows_reach_nothing():
    tree = grown(1, 3)
    assert len(routing.route(tree.steps(("a", "b", "x")), np.zeros((3, 0), np.int32), much=True)) == 0
