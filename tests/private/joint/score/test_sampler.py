"""What a draw finds, what one record can change, and what is refused before a charge."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.private import Block, Candidate, DrawnScorecard, OrdinalScores, Scorecards
from bocage.private.joint.score import family
from bocage.private.joint.score.counts import ScoredCounts
from bocage.private.joint.score.sampler import DrawnScores
from private.fits import one_of
from private.joint.score.scores import BLOCKS, kinds, level_of, predicted, proposal, some
from private.joint.tree.test_sampler import every_walk

CARDS, ORDINAL = Scorecards(BLOCKS, 2), OrdinalScores(BLOCKS, 1, 1, 64)
TWICE, WIDE = (*BLOCKS, BLOCKS[0]), (Block(("a", "b"), (2, 3), (6,)),)
LABEL = Block(("label",), (2,), (2,))


def test_more_crosses_than_noughts_is_found_by_every_attribute():
    """A sum that no single attribute shows much of, at a small epsilon."""
    records = [(a, b, n, int(a + (b == 2) + (n >= 2) >= 2)) for a, b, n, _ in kinds(1)] * 3
    scores, epsilon = Scorecards(BLOCKS, 3), Epsilon.of("1.4")
    card = level_of(records).fit(DrawnScores("label", epsilon, scores))
    walk, _, _ = proposal(records, 2, scores, epsilon="1.4")
    assert {block.columns for block, _ in card.points} == {("a",), ("b",), ("n",)}
    best = max(walked.score for walked, _ in every_walk(walk))
    assert sum(predicted(card, r) == r[3] for r in records) == best > 0.9 * len(records)


def law(records, labels, scores, factor, **price):
    walk, rate, _ = proposal(records, labels, scores, **price)
    found = [(repr(w.outcome), log(Fraction(*w.odds)) + factor * float(rate) * w.score) for w, _ in every_walk(walk)]
    weights = np.array([weight for _, weight in sorted(found)])
    return weights - np.logaddexp.reduce(weights)


def losses(scores, labels, seeds, every, **price):
    """The largest loss for one record more or another, at the rate that is paid for and at twice that."""
    replaced, worst, hasty = price["adjacency"] is Adjacency.REPLACE, [], []
    for seed in seeds:
        records = some(labels, seed, 5)
        for kind in kinds(labels)[::every]:
            for found, factor in ((worst, 1), (hasty, 2)):
                tables = records, [*records[replaced:], kind]
                here, there = (law(one, labels, scores, factor, **price) for one in tables)
                found.append(float(np.abs(here - there).max()))
    return max(worst), max(hasty)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_one_record_more_costs_a_scorecard_epsilon_and_no_more(labels, adjacency):
    worst, hasty = losses(CARDS, labels, range(2), 5 if labels == 2 else 15, epsilon="1.5", adjacency=adjacency)
    assert worst <= 1.5 + 1e-9
    assert worst > 0.8  # the price is not far from what is used
    assert hasty > 1.6  # twice the rate would be caught


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_one_record_more_costs_an_ordinal_score_epsilon_and_no_more(adjacency):
    worst, hasty = losses(ORDINAL, 2, [3], 5, epsilon="1.4", adjacency=adjacency)
    assert worst <= 1.4 + 1e-9
    assert worst > 0.7
    assert hasty > 1.5


@pytest.mark.parametrize("scores", [CARDS, ORDINAL])
def test_replaced_records_get_half_the_rate(scores):
    rates = [proposal([], 2, scores, adjacency=one)[1] for one in Adjacency]
    assert rates[0] == 2 * rates[1]


def test_scorecards_that_cannot_be_drawn_are_refused_before_a_charge(monkeypatch):
    level, one = level_of([]), Epsilon.of(1)
    for scores, words in (
        (Scorecards(TWICE, 2), "each once"),
        (Scorecards((*BLOCKS, LABEL), 2), "other than the label"),
        (Scorecards(WIDE, 1), "single columns"),
        (Scorecards(BLOCKS, 4), "1 to 3 columns"),
        (Scorecards(BLOCKS, 0), "1 to 3 columns"),
    ):
        with pytest.raises(PlanError, match=words):
            level.fit(DrawnScores("label", one, scores))
    for name, value, words in (
        ("MOST_SUM", 3, "add up to 3"),
        ("MOST_SETS", 7, "one of 7 sets"),
        ("MOST_CARD_CELLS", 2, "2 cells at most"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(family, name, value)
            with pytest.raises(PlanError, match=words):
                level.fit(DrawnScores("label", one, Scorecards(BLOCKS, 3)))
    assert level.remaining() == Epsilon.of(10)


def test_ordinal_scores_that_cannot_be_drawn_are_refused_before_a_charge(monkeypatch):
    def draw(scores, labels=2, place=lambda paths: paths):
        paths = place(level_of(some(labels, 1, 20), labels).paths(Epsilon.of(1)))
        try:
            one_of(paths, [Candidate("a")], 1, 2, [scores])
        finally:
            assert [str(left) for left in paths.purses()] == ["1"]

    for scores, words in (
        (OrdinalScores(TWICE, 1, 1, 64), "each once"),
        (OrdinalScores((LABEL,), 1, 1, 64), "other than the label"),
        (OrdinalScores(WIDE, 1, 1, 64), "single columns"),
        (OrdinalScores(BLOCKS, 0, 1, 64), "a column and a point"),
        (OrdinalScores(BLOCKS, 1, 0, 64), "a column and a point"),
        (OrdinalScores(BLOCKS, 1, 1, 2**14), "8192 cells"),
        (OrdinalScores(BLOCKS, 1, 1, 1), "choices of columns"),
    ):
        with pytest.raises(PlanError, match=words):
            draw(scores)
    with pytest.raises(PlanError, match="2 to 1024 labels, not 1"):
        draw(ORDINAL, labels=1)
    with pytest.raises(PlanError, match="before it is split"):
        draw(ORDINAL, place=lambda all_: all_.split([("a", None)]).group({"a": [0]})["a"])
    for name in ("MOST_FRAMES", "MOST_CHOICES"):
        with monkeypatch.context() as patch:
            patch.setattr(family, name, 1)
            with pytest.raises(PlanError, match="choices of points"):
                draw(OrdinalScores(BLOCKS, 1, 2, 64))


def test_scores_read_all_rows_and_are_refused_where_a_part_of_them_pays():
    paths, level = level_of(some(2, 1, 20)).paths(Epsilon.of(1)), level_of(some(2, 1, 20))
    here = paths.split([("a", None)]).group({"a": [0]})["a"]
    with pytest.raises(PlanError, match="before it is split"):
        one_of(here, [Candidate("b")], 1, 2, [Scorecards(BLOCKS, 1)])
    assert [str(left) for left in here.purses()] == ["1"]
    below = level.split([("a", None)])
    for ask in (
        lambda: below.fit(DrawnScores("label", Epsilon.of(1), Scorecards(BLOCKS, 1))),
        lambda: below.fit(ScoredCounts(DrawnScorecard((), 0, (0, 0)), "label", Epsilon.of(1))),
    ):
        with pytest.raises(PlanError, match="before it is split"):
            ask()
    assert below.remaining() == Epsilon.of(10)
