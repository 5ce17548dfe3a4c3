"""Ladders: their points, every ladder by brute force, the law of a draw, what one record can change."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.private import Block, Candidate, Drawn, Ladder, Ladders, Sheet, Systems
from bocage.private.joint.ordinal import sampler as module
from bocage.private.joint.ordinal.family import climbs
from bocage.private.joint.ordinal.sampler import DrawnLadders
from bocage.private.query import Terms
from private.fits import one_of
from private.joint.scorecard.test_sampler import (
    BLOCKS,
    CELLS,
    Listening,
    kinds,
    level_of,
    schema_of,
    some,
)
from private.joint.tree.test_sampler import every_walk


def proposal(records, labels, ladders, *, epsilon="0.75", adjacency=Adjacency.ADD_REMOVE):
    matrix = np.array(records, np.uint16).reshape(-1, 4).T
    fit = DrawnLadders("label", Epsilon.of(epsilon), ladders)
    return fit.proposal(lambda: iter([matrix]), Terms(schema_of(labels), adjacency))


def predicted(ladder, record):
    rung = sum(points[CELLS[BLOCKS.index(block)](record)] for block, points in ladder.points)
    gate = 0 if ladder.gate is None else CELLS[BLOCKS.index(ladder.gate)](record)
    return ladder.labels[gate][rung]


def every_ladder(labels, most, top):
    """All ladders and their priors, listed apart from the code under test."""
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
                yield Ladder(None if gate is None else BLOCKS[gate], given, chosen), prior


def rising(cells, top, first):
    every = product(range(top + 1), repeat=cells)
    ups = [p for p in every if p[0] == 0 < p[-1] and sorted(p) == list(p)]
    return ups if first else ups + [p[::-1] for p in ups]


def test_points_climb_along_the_values_or_fall():
    assert climbs(3, 2, both=False) == [(0, 0, 1), (0, 0, 2), (0, 1, 1), (0, 1, 2), (0, 2, 2)]
    assert climbs(2, 1, both=True) == [(0, 1), (1, 0)]
    for cells, top in product(range(2, 6), range(1, 4)):
        assert sorted(climbs(cells, top, both=True)) == sorted(rising(cells, top, first=False))


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "most", "top"), [(2, 1, 1), (2, 2, 1), (2, 1, 2), (3, 1, 1)])
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 12))
def test_the_law_of_a_draw_is_prior_times_weight(labels, most, top, seed, rows):
    records = some(labels, seed, rows)
    walk, rate, total = proposal(records, labels, Ladders(BLOCKS, most, top, 64))
    assert rate == Fraction(3, 4)
    expected = dict(every_ladder(labels, most, top))
    assert sum(expected.values()) == 1
    weights = []
    for walked, chance in every_walk(walk):
        assert walked.score == sum(predicted(walked.outcome, r) == r[3] for r in records)
        assert Fraction(*walked.odds) == expected.pop(walked.outcome)
        weights.append(log(Fraction(*walked.odds)) + float(rate) * walked.score)
        assert chance == pytest.approx(weights[-1] - total, abs=1e-9)  # the contract of a walk
    assert not expected
    assert total == pytest.approx(log(fsum(map(exp, weights))), abs=1e-9)


@pytest.mark.parametrize("epsilon", ["9", "40"])
def test_weights_too_small_for_a_float_are_proposed_all_the_same(epsilon):
    records = [(a, 0, 0, a) for a in (0, 1)] * 100
    walk, rate, total = proposal(records, 2, Ladders(BLOCKS, 1, 1, 64), epsilon=epsilon)
    found = list(every_walk(walk))
    for walked, chance in found:
        weight = log(Fraction(*walked.odds)) + float(rate) * walked.score
        assert chance >= weight - total - 1e-9
    assert {walked.outcome for walked, _ in found} == {one for one, _ in every_ladder(2, 1, 1)}


def test_wide_frames_are_left_out():
    ladders = Ladders(BLOCKS, 3, 1, 6)
    sizes = [ladders.cells(frame) for kind in ladders.kinds for frame in kind]
    assert max(sizes) == 6
    assert len(sizes) == 3 + 6 + 3  # of 12 cells are all three columns together


def law(records, labels, adjacency, factor):
    ladders = Ladders(BLOCKS, 1, 1, 64)
    walk, rate, _ = proposal(records, labels, ladders, epsilon="1.4", adjacency=adjacency)
    found = [(repr(w.outcome), log(Fraction(*w.odds)) + factor * float(rate) * w.score) for w, _ in every_walk(walk)]  # fmt: skip
    weights = np.array([weight for _, weight in sorted(found)])
    return weights - np.logaddexp.reduce(weights)


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_one_record_more_costs_epsilon_and_no_more(adjacency):
    replaced, worst, hasty = adjacency is Adjacency.REPLACE, [], []
    records = some(2, 3, 5)
    for kind in kinds(2)[::5]:
        for losses, factor in ((worst, 1), (hasty, 2)):
            tables = records, [*records[replaced:], kind]
            here, there = (law(one, 2, adjacency, factor) for one in tables)
            losses.append(float(np.abs(here - there).max()))
    assert max(worst) <= 1.4 + 1e-9
    assert max(worst) > 0.7  # the price is not far from what is used
    assert max(hasty) > 1.5  # twice the rate would be caught


@pytest.mark.parametrize("favor", [0, 3])
def test_a_tree_a_ladder_or_points_are_drawn_as_one_of_all(favor):
    records, noise = some(2, 3, 9), Listening()
    paths = level_of(records, noise=noise).paths(Epsilon.of(1))
    others = [Ladders(BLOCKS, 1, 1, 64), Systems(BLOCKS, 1)]
    one_of(paths, [Candidate("a"), Candidate("b")], 1, 2, others, favor=favor)
    ((walk, rate, total),) = noise.proposals
    every = list(every_walk(walk))
    for kind, share in ((Drawn, 2**favor), (Ladder, 1), (Sheet, 1)):
        own = [w for w, _ in every if isinstance(w.outcome, kind)]
        assert sum(Fraction(*w.odds) for w in own) == Fraction(share, 2**favor + 2)
    for walked, chance in every:
        weight = log(Fraction(*walked.odds)) + float(rate) * walked.score
        assert chance == pytest.approx(weight - total, abs=1e-9)
    assert [str(left) for left in paths.purses()] == ["0"]


def test_what_cannot_be_drawn_is_refused_before_a_charge(monkeypatch):
    twice, wide = (*BLOCKS, BLOCKS[0]), (Block(("a", "b"), (2, 3), (6,)),)

    def draw(ladders, labels=2, place=lambda paths: paths):
        paths = place(level_of(some(labels, 1, 20), labels).paths(Epsilon.of(1)))
        try:
            one_of(paths, [Candidate("a")], 1, 2, [ladders])
        finally:
            assert [str(left) for left in paths.purses()] == ["1"]

    for ladders, words in (
        (Ladders(twice, 1, 1, 64), "each once"),
        (Ladders((Block(("label",), (2,), (2,)),), 1, 1, 64), "other than the label"),
        (Ladders(wide, 1, 1, 64), "single columns"),
        (Ladders(BLOCKS, 0, 1, 64), "a column and a point"),
        (Ladders(BLOCKS, 1, 0, 64), "a column and a point"),
        (Ladders(BLOCKS, 1, 1, 2**14), "8192 cells"),
        (Ladders(BLOCKS, 1, 1, 1), "choices of columns"),
    ):
        with pytest.raises(PlanError, match=words):
            draw(ladders)
    with pytest.raises(PlanError, match="2 to 1024 labels, not 1"):
        draw(Ladders(BLOCKS, 1, 1, 64), labels=1)
    with pytest.raises(PlanError, match="before it is split"):
        draw(
            Ladders(BLOCKS, 1, 1, 64),
            place=lambda all_: all_.split([("a", None)]).group({"a": [0]})["a"],
        )
    paths = level_of(some(2, 1, 20)).paths(Epsilon.of(1))
    for favor in (-1, 513):
        with pytest.raises(PlanError, match="favored by 0 to 512"):
            one_of(paths, [Candidate("a")], 1, 2, [Ladders(BLOCKS, 1, 1, 64)], favor=favor)
    assert [str(left) for left in paths.purses()] == ["1"]
    for name in ("MOST_FRAMES", "MOST_SYSTEMS"):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 1)
            with pytest.raises(PlanError, match="choices of points"):
                draw(Ladders(BLOCKS, 1, 2, 64))


def test_replaced_records_get_half_the_rate():
    rates = [proposal([], 2, Ladders(BLOCKS, 1, 1, 64), adjacency=one)[1] for one in Adjacency]
    assert rates[0] == 2 * rates[1]
