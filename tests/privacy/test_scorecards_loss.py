"""Exact privacy loss of whole scorecards, and of a tree or a scorecard: every release, every neighbor, both ways."""

from __future__ import annotations

import pytest

from bocage.learners import ReadableTree, Scorecard
from bocage.private.joint.score import sampler
from bocage.schema import Categorical, Schema
from privacy.test_learners_loss import CLASS, EPSILON, NOMINAL, SLACK, scripts, worst_loss

ONE = Schema("one", (Categorical("a", ("u", "v")),), CLASS)


@pytest.fixture(autouse=True)
def _no_ordinal_scores(monkeypatch):
    """They are enumerated elsewhere."""
    monkeypatch.setattr("bocage.learners.score.rule.SIZES", ())


@pytest.mark.slow
def test_scorecards_with_counted_rows_lose_epsilon_and_no_more():
    # The noisy number of rows is scripted far below or far above (rows are counted by points too).
    worst = worst_loss(Scorecard(), ONE, most=1)
    assert 0.6 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_a_tree_or_a_scorecard_loses_epsilon_and_no_more(adjacency):
    learner = ReadableTree(rows=1, scorecards=True)
    labeled = 2 + 2 * 2  # a leaf, or a split by the other column into two of them
    # a label; one or two points for one of two values of a column, or of both, and a threshold up to 2 or 4
    scorecards = 2 + 2 * 4 * 2 + 4 * 4 * 4
    assert len(scripts(learner, NOMINAL)) == 2 + 2 * labeled**2 + scorecards
    worst = worst_loss(learner, NOMINAL, most=1, once=True, adjacency=adjacency)
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_scorecards_drawn_with_their_rate_lose_epsilon_and_no_more():
    worst = worst_loss(ReadableTree(rows=1, scorecards=True), NOMINAL, most=1, once=True, epsilon=2)
    assert 0.8 < worst <= 2 + SLACK


def test_scorecards_drawn_with_twice_the_rate_are_caught(monkeypatch):
    own = sampler.DrawnScores.proposal

    def hasty(self, read, terms):
        walk, rate, total = own(self, read, terms)
        return walk, 2 * rate, total

    monkeypatch.setattr(sampler.DrawnScores, "proposal", hasty)
    assert worst_loss(Scorecard(), ONE, most=1) > EPSILON + SLACK
