"""Every score by brute force: its weight, and the law of a draw."""

from __future__ import annotations

from fractions import Fraction
from math import exp, fsum, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.private import OrdinalScores, Scorecards
from bocage.private.joint.score.space import Space
from private.joint.score.scores import (
    BLOCKS,
    every_ordinal_score,
    every_scorecard,
    predicted,
    proposal,
    some,
)
from private.joint.tree.test_sampler import every_walk


def check_the_law(scores, every, labels, records):
    walk, rate, total = proposal(records, labels, scores)
    assert rate == Fraction(3, 4)
    expected = dict(every(scores, labels))
    assert sum(expected.values()) == 1
    weights = []
    for walked, chance in every_walk(walk):
        assert walked.score == sum(predicted(walked.outcome, r) == r[3] for r in records)
        assert Fraction(*walked.odds) == expected.pop(walked.outcome)
        weights.append(log(Fraction(*walked.odds)) + float(rate) * walked.score)
        assert chance == pytest.approx(weights[-1] - total, abs=1e-9)  # the contract of a walk
    assert not expected
    assert total == pytest.approx(log(fsum(map(exp, weights))), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 3), st.integers(0, 12), st.integers(1, 3), st.booleans())
def test_the_law_of_a_drawn_scorecard_is_prior_times_weight(seed, labels, rows, most, rich):
    rich = rich and most < 3  # thousands of scorecards are enough
    scores = Scorecards(BLOCKS, most, rich)
    check_the_law(scores, every_scorecard, labels, some(labels, seed, rows))


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "most", "top"), [(2, 1, 1), (2, 2, 1), (2, 1, 2), (3, 1, 1)])
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 12))
def test_the_law_of_a_drawn_ordinal_score_is_prior_times_weight(labels, most, top, seed, rows):
    scores = OrdinalScores(BLOCKS, most, top, 64)
    check_the_law(scores, every_ordinal_score, labels, some(labels, seed, rows))


@pytest.mark.parametrize("first", [0, 1, 2])
def test_rows_and_folded_counts_give_the_same(first, monkeypatch):
    """However many columns are added up by rows, the sums are the same."""
    records, scores = some(3, 5, 40), Scorecards(BLOCKS, 3)
    _, _, total = proposal(records, 3, scores, epsilon="1")
    monkeypatch.setattr(Space, "_first", lambda self, columns: min(first, len(columns) - 1))
    walk, _, other = proposal(records, 3, scores, epsilon="1")
    assert other == pytest.approx(total, abs=1e-9)
    assert sum(exp(chance) for _, chance in every_walk(walk)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "every", "epsilon"),
    [
        (Scorecards(BLOCKS, 2), every_scorecard, "9"),
        (OrdinalScores(BLOCKS, 1, 1, 64), every_ordinal_score, "9"),
        (OrdinalScores(BLOCKS, 1, 1, 64), every_ordinal_score, "40"),
    ],
)
def test_weights_too_small_for_a_float_are_proposed_all_the_same(scores, every, epsilon):
    records = [(a, 0, 0, a) for a in (0, 1)] * 100
    walk, rate, total = proposal(records, 2, scores, epsilon=epsilon)
    found = list(every_walk(walk))
    for walked, chance in found:
        weight = log(Fraction(*walked.odds)) + float(rate) * walked.score
        assert chance >= weight - total - 1e-9
    assert {walked.outcome for walked, _ in found} == {one for one, _ in every(scores, 2)}
