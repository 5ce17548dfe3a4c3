"""Exact privacy loss of trees that may be ordinal scores: every release, every neighbor, both ways."""

from __future__ import annotations

import pytest

from bocage.learners import ReadableTree
from bocage.private.joint.score import sampler
from privacy.test_learners_loss import EPSILON, NOMINAL, SLACK, scripts, worst_loss

TREES = 2 + 2 * (2 + 2 * 2) ** 2  # a leaf, or a split by one column, and by the other below
# One column of two gives one point for its second value: two rungs, and the other may be a gate.
ORDINAL = 2 * 2**2 + 2 * (2**2) ** 2


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr("bocage.learners.score.rule.SIZES", ((1, 1),))


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_a_tree_or_ordinal_score_loses_epsilon_and_no_more(adjacency):
    learner = ReadableTree(rows=1)
    assert len(scripts(learner, NOMINAL)) == TREES + ORDINAL
    worst = worst_loss(learner, NOMINAL, most=1, once=True, adjacency=adjacency)
    assert 0.5 * EPSILON < worst <= EPSILON + SLACK


@pytest.mark.slow
def test_a_tree_or_ordinal_score_drawn_with_its_rate_loses_epsilon_and_no_more():
    worst = worst_loss(ReadableTree(rows=1), NOMINAL, most=1, once=True, epsilon=2)
    assert 0.8 < worst <= 2 + SLACK
    assert len(scripts(ReadableTree(rows=1), NOMINAL, epsilon=2)) == 2 * (TREES + ORDINAL)


def test_ordinal_scores_drawn_with_twice_the_rate_are_caught(monkeypatch):
    own = sampler.DrawnScores.proposal

    def hasty(self, read, terms):
        walk, rate, total = own(self, read, terms)

        def twice(steps):
            found = walk(steps)
            return type(found)(found.outcome, 2 * found.score, found.odds)

        return twice, rate, total

    monkeypatch.setattr(sampler.DrawnScores, "proposal", hasty)
    assert worst_loss(ReadableTree(rows=1), NOMINAL, most=1, once=True) > EPSILON + SLACK
