"""Exact privacy loss of whole readable trees on tiny tables: every release, every neighbor, both ways."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from bocage.learners import ReadableTree
from bocage.private.joint.tree.space import Ground
from bocage.schema import Categorical, Numeric, Schema
from privacy.test_learners_loss import (
    CLASS,
    EPSILON,
    NOMINAL,
    SLACK,
    OutOfScript,
    log_probability,
    records,
    scripts,
    worst_loss,
)

FIVE = Schema("five", (Categorical("a", ("r", "s", "t", "u", "v")),), CLASS)
THREE = Schema("three", (Categorical("a", ("t", "u", "v")), Categorical("b", ("u", "v"))), CLASS)
GRID = Schema("grid", (Numeric("x", lower=0, upper=3, step=1),), CLASS)


@pytest.fixture(autouse=True)
def _trees_alone(monkeypatch):
    """Ordinal scores are enumerated elsewhere."""
    monkeypatch.setattr("bocage.learners.score.rule.SIZES", ())


@pytest.mark.slow
def test_a_drawn_tree_with_counted_rows_loses_epsilon_and_no_more():
    # The noisy number of rows is scripted far below (two levels are drawn) or far above (counts too).
    worst = worst_loss(ReadableTree(), NOMINAL, most=1)
    assert 0.6 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_a_tree_drawn_at_once_loses_epsilon_and_no_more():
    learner = ReadableTree(rows=1)
    labeled = 2 + 2 * 2  # a leaf, or a split by the other column into two of them
    assert len(scripts(learner, NOMINAL)) == 2 + 2 * labeled**2
    worst = worst_loss(learner, NOMINAL, most=2, once=True)
    assert 0.8 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_a_tree_drawn_with_its_rate_loses_epsilon_and_no_more():
    worst = worst_loss(ReadableTree(rows=1), NOMINAL, most=2, once=True, epsilon=2)
    assert 1.2 < worst <= 2 + SLACK
    assert len(scripts(ReadableTree(rows=1), NOMINAL, epsilon=2)) == 2 * 74  # two rates


@pytest.mark.slow
def test_drawn_thresholds_lose_epsilon_and_no_more():
    learner = ReadableTree(rows=70)  # room for four leaves, and all thresholds
    trees = [2]  # of 1, 2, ... codes: a label, or a threshold and a tree on either side
    for codes in range(2, 5):
        trees.append(2 + sum(trees[cut - 1] * trees[codes - cut - 1] for cut in range(1, codes)))
    assert len(scripts(learner, GRID)) == trees[-1] == 142
    worst = worst_loss(learner, GRID, most=2, once=True)
    assert 0.8 * EPSILON < worst <= EPSILON + SLACK


def test_drawn_neighbors_that_replace_a_record_lose_epsilon_and_no_more():
    worst = worst_loss(ReadableTree(rows=1), NOMINAL, most=2, once=True, adjacency="replace")
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_trees_drawn_below_a_chosen_split_lose_epsilon_and_no_more(monkeypatch):
    monkeypatch.setattr("bocage.learners.readable.lower_levels.WORK", 5000)  # two of three columns at once
    three = Schema("three", tuple(Categorical(name, ("u", "v")) for name in "abd"), CLASS)
    learner = ReadableTree(rows=130)  # room for eight leaves
    told = [some_script(learner, three, Random(seed)) for seed in range(60)]  # noqa: S311
    assert {lines[0] for lines in told} == {(0,), (1,), (2,)}  # a split, then two trees
    none = np.array([log_probability(learner, three, (), lines) for lines in told])
    worst = max(
        float(np.abs(none - [log_probability(learner, three, (one,), line) for line in told]).max())
        for one in records(three)
    )
    assert 0.4 * EPSILON < worst <= EPSILON + SLACK


def some_script(learner, schema, random):
    """One of many things that can be released."""
    lines = ()
    while True:
        try:
            log_probability(learner, schema, (), lines)
        except OutOfScript as more:
            lines = (*lines, random.choice(more.options))
        else:
            return lines


class Hasty(Ground):
    """Draws with twice the rate."""

    @classmethod
    def of(cls, *arguments, rate, room):
        return super().of(*arguments, rate=2 * rate, room=room)

    def proposal(self, depth, rate):
        return super().proposal(depth, 2 * rate)


def test_trees_drawn_with_twice_the_rate_are_caught(monkeypatch):
    monkeypatch.setattr("bocage.private.joint.tree.sampler.Ground", Hasty)
    assert worst_loss(ReadableTree(rows=1), NOMINAL, most=2, once=True) > EPSILON + 0.05


@pytest.mark.slow
def test_a_tree_with_counted_rows_and_counted_leaves_loses_epsilon_and_no_more():
    # The noisy number of rows is scripted far below (a labeled leaf or two) or far above (counts).
    worst = worst_loss(ReadableTree(drawn=False), NOMINAL)
    assert 0.85 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_one_value_against_the_rest_loses_epsilon_and_no_more():
    learner = ReadableTree(rows=1, drawn=False)  # room for four branches: no split by all five values
    assert len(scripts(learner, FIVE)) == 5 * 4  # five values, then a label for each side
    worst = worst_loss(learner, FIVE, most=2)
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_thresholds_lose_epsilon_and_no_more():
    learner = ReadableTree(rows=1, drawn=False)
    assert len(scripts(learner, GRID)) == 3 * 4  # three thresholds
    worst = worst_loss(learner, GRID, most=2)
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_two_levels_whose_paths_pay_differently_lose_epsilon_and_no_more():
    learner = ReadableTree(rows=70, drawn=False)  # b first leaves room for a value of a against the rest
    worst = worst_loss(learner, THREE, most=1)
    assert 0.4 * EPSILON < worst <= EPSILON + SLACK


def test_neighbors_that_replace_a_record_lose_epsilon_and_no_more():
    worst = worst_loss(ReadableTree(rows=1, drawn=False), NOMINAL, most=2, adjacency="replace")
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


class Generous(ReadableTree):
    """Plans on twice what it says."""

    def plan(self, schema, epsilon):
        return super().plan(schema, 2 * epsilon)


@pytest.mark.slow
def test_a_tree_that_spends_more_than_it_says_is_caught():
    assert worst_loss(Generous(drawn=False), NOMINAL, most=2) > EPSILON + 0.05
