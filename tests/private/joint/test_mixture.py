"""A tree, an ordinal score or a scorecard: one draw among all of them."""

from __future__ import annotations

from fractions import Fraction
from math import exp, fsum, log

import pytest

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.private import (
    Candidate,
    Drawn,
    DrawnOrdinalScore,
    DrawnScorecard,
    OrdinalScores,
    Scorecards,
)
from bocage.private.joint.mixture import OneOf
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.joint.tree.sampler import DrawnTrees
from bocage.private.query import Terms
from private.fits import one_of
from private.joint.score.scores import (
    BLOCKS,
    Listening,
    kinds,
    level_of,
    proposal,
    schema_of,
    some,
)
from private.joint.tree.test_sampler import every_walk

TREES = [Candidate("a"), Candidate("b")]


@pytest.mark.parametrize("labels", [2, 3])
def test_a_tree_or_a_scorecard_is_drawn_as_one_of_all_of_both(labels):
    records, noise = some(labels, 3, 9), Listening()
    paths = level_of(records, labels, noise=noise).paths(Epsilon.of(1))
    one_of(paths, TREES, 1, 2, [Scorecards(BLOCKS, 2)])
    walk, rate, total = noise.proposals[0]
    points, _, points_total = proposal(records, labels, Scorecards(BLOCKS, 2), epsilon="1")
    every = list(every_walk(walk))
    cards = [w for w, _ in every if isinstance(w.outcome, DrawnScorecard)]
    assert len(cards) == len(list(every_walk(points))) < len(every)
    assert sum(Fraction(*w.odds) for w in cards) == Fraction(1, 2)
    assert sum(Fraction(*w.odds) for w, _ in every) == 1
    for walked, chance in every:
        weight = log(Fraction(*walked.odds)) + float(rate) * walked.score
        assert chance == pytest.approx(weight - total, abs=1e-9)
    half = fsum(exp(log(Fraction(*w.odds)) + float(rate) * w.score) for w in cards)
    assert log(half) == pytest.approx(points_total - log(2), abs=1e-9)


@pytest.mark.parametrize("favor", [0, 3])
def test_a_tree_an_ordinal_score_or_a_scorecard_is_drawn_as_one_of_all(favor):
    records, noise = some(2, 3, 9), Listening()
    paths = level_of(records, noise=noise).paths(Epsilon.of(1))
    others = [OrdinalScores(BLOCKS, 1, 1, 64), Scorecards(BLOCKS, 1)]
    one_of(paths, TREES, 1, 2, others, favor=favor)
    ((walk, rate, total),) = noise.proposals
    every = list(every_walk(walk))
    for kind, share in ((Drawn, 2**favor), (DrawnOrdinalScore, 1), (DrawnScorecard, 1)):
        own = [w for w, _ in every if isinstance(w.outcome, kind)]
        assert sum(Fraction(*w.odds) for w in own) == Fraction(share, 2**favor + 2)
    for walked, chance in every:
        weight = log(Fraction(*walked.odds)) + float(rate) * walked.score
        assert chance == pytest.approx(weight - total, abs=1e-9)
    assert [str(left) for left in paths.purses()] == ["0"]


def test_what_only_a_tree_can_say_is_said_by_a_tree_and_a_sum_by_a_scorecard():
    xor = [(a, b, 0, a ^ (b == 2)) for a in (0, 1) for b in range(3)] * 40
    sums = [(a, b, n, int(a + b + n // 2 >= 3)) for a, b, n, _ in kinds(1)] * 20
    for records, kind in ((xor, Drawn), (sums, DrawnScorecard)):
        paths = level_of(records, noise=Listening()).paths(Epsilon.of(1))
        drawn = one_of(paths, TREES, 2, 8, [Scorecards(BLOCKS, 3)])
        assert isinstance(drawn, kind)


def test_what_is_drawn_costs_the_path_all_that_it_has_left():
    paths = level_of(some(2, 1, 20)).paths(Epsilon.of("0.5"))
    one_of(paths, [Candidate("a")], 1, 2, [Scorecards(BLOCKS, 1)])
    assert [str(left) for left in paths.purses()] == ["0"]


def test_a_favor_out_of_range_is_refused_before_a_charge():
    paths = level_of(some(2, 1, 20)).paths(Epsilon.of(1))
    for favor in (-1, 513):
        with pytest.raises(PlanError, match="favored by 0 to 512"):
            one_of(paths, [Candidate("a")], 1, 2, [OrdinalScores(BLOCKS, 1, 1, 64)], favor=favor)  # fmt: skip
    assert [str(left) for left in paths.purses()] == ["1"]


def test_a_tree_and_a_scorecard_of_different_prices_are_refused():
    place = level_of([])._place
    trees = DrawnTrees(place.cells, ((Candidate("a"),),), "label", 1, (1,), (Epsilon.of(1),))
    terms = Terms(schema_of(), Adjacency.ADD_REMOVE)
    with pytest.raises(PlanError, match="same epsilon"):
        OneOf(trees, (DrawnScores("label", Epsilon.of(2), Scorecards(BLOCKS, 1)),)).check(terms, place)
