"""Exact privacy loss of whole readable trees on tiny tables: every release, every neighbor, both ways."""

from __future__ import annotations

import pytest

from bocage.learners import ReadableTree
from bocage.schema import Categorical, Numeric, Schema
from privacy.test_learners_loss import CLASS, EPSILON, NOMINAL, SLACK, scripts, worst_loss

FIVE = Schema("five", (Categorical("a", ("r", "s", "t", "u", "v")),), CLASS)
THREE = Schema("three", (Categorical("a", ("t", "u", "v")), Categorical("b", ("u", "v"))), CLASS)
GRID = Schema("grid", (Numeric("x", lower=0, upper=3, step=1),), CLASS)


def test_a_tree_with_counted_rows_and_counted_leaves_loses_epsilon_and_no_more():
    # The noisy number of rows is scripted far below (a labeled leaf or two) or far above (counts).
    assert 0.85 * EPSILON < worst_loss(ReadableTree(), NOMINAL) <= EPSILON + SLACK


def test_one_value_against_the_rest_loses_epsilon_and_no_more():
    learner = ReadableTree(rows=1)  # room for four branches: no split by all five values
    assert len(scripts(learner, FIVE)) == 5 * 4  # five values, then a label for each side
    worst = worst_loss(learner, FIVE, most=2)
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


def test_thresholds_lose_epsilon_and_no_more():
    learner = ReadableTree(rows=1)
    assert len(scripts(learner, GRID)) == 3 * 4  # three thresholds
    worst = worst_loss(learner, GRID, most=2)
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_two_levels_whose_paths_pay_differently_lose_epsilon_and_no_more():
    learner = ReadableTree(rows=70)  # b first leaves room for a value of a against the rest
    worst = worst_loss(learner, THREE, most=1)
    assert 0.4 * EPSILON < worst <= EPSILON + SLACK


def test_neighbors_that_replace_a_record_lose_epsilon_and_no_more():
    worst = worst_loss(ReadableTree(rows=1), NOMINAL, most=2, adjacency="replace")
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


class Generous(ReadableTree):
    """Plans on twice what it says."""

    def plan(self, schema, epsilon):
        return super().plan(schema, 2 * epsilon)


def test_a_tree_that_spends_more_than_it_says_is_caught():
    assert worst_loss(Generous(), NOMINAL, most=2) > EPSILON + 0.05
