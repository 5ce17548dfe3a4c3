"""Point systems: patterns, every system by brute force, the law of a draw, counts by points."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.private import Block, Candidate, Sheet, Systems
from bocage.private.executor import LiveExecutor
from bocage.private.joint.mixture import OneOf
from bocage.private.joint.scorecard import sampler as module
from bocage.private.joint.scorecard.counts import ScoredCounts
from bocage.private.joint.scorecard.patterns import MOST, patterns_of
from bocage.private.joint.scorecard.sampler import DrawnPoints
from bocage.private.joint.scorecard.space import Visited
from bocage.private.joint.tree.sampler import DrawnTrees
from bocage.private.joint.tree.space import Drawn
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from privacy.test_boosting_loss import columns_of
from private.fits import one_of
from private.joint.tree.test_sampler import every_walk
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

    def walk(self, walk, rate, total):
        outcome = walk(self).outcome
        if isinstance(outcome, Sheet | Drawn):  # else it was only asked whether there are walks
            self.proposals.append((walk, rate, total))
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


def draw(records, labels=2, *, most=3, rich=False, epsilon="1", adjacency=Adjacency.ADD_REMOVE):
    """What is drawn by the largest weights, and what was proposed."""
    noise = Listening()
    level = level_of(records, labels, adjacency, noise)
    drawn = level.fit(DrawnPoints("label", Epsilon.of(epsilon), Systems(BLOCKS, most, rich)))
    return drawn, noise.proposals[0]


def predicted(sheet, record):
    given = sum(points[CELLS[BLOCKS.index(block)](record)] for block, points in sheet.points)
    return sheet.labels[given >= sheet.threshold]


def every_system(schema, labels, most, *, rich):
    """All systems and their priors, listed apart from the code under test."""
    own = [patterns_of(schema[b.columns[0]], b.size, rich=rich) for b in BLOCKS]
    for label in range(labels):
        yield Sheet((), 0, (label, label)), Fraction(1, (most + 1) * labels)
    for size in range(1, most + 1):
        found = [
            Sheet(
                tuple((BLOCKS[i], p) for i, p in zip(which, chosen, strict=True)), threshold, pair
            )
            for which in combinations(range(3), size)
            for chosen in product(*(own[i] for i in which))
            for threshold in range(1, 1 + sum(max(map(max, own[i])) for i in which))
            for pair in combinations(range(labels), 2)
        ]
        yield from ((one, Fraction(1, (most + 1) * len(found))) for one in found)


@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("cells", range(1, 9))
@pytest.mark.parametrize("numeric", [False, True])
def test_patterns_are_few_distinct_and_there_with_their_opposites(cells, numeric, rich):
    values = tuple(map(str, range(cells)))
    column = Numeric("n", 0, 16, 16) if numeric else Categorical("c", values)
    found = patterns_of(column, cells, rich=rich)
    top = max(max(one) for one in found) if found else 0
    assert len({*found}) == len(found) <= max(2 * cells, 50)
    assert all(len(one) == cells and min(one) == 0 and 1 <= max(one) <= MOST for one in found)
    assert rich or {max(one) for one in found} == ({top} if found else set())
    assert {tuple(max(one) - p for p in one) for one in found} == {*found}
    assert {*patterns_of(column, cells, rich=False)} <= {*found}


def test_more_crosses_than_noughts_is_found_by_every_attribute():
    """A sum that no single attribute shows much of, at a small epsilon."""
    records = [(a, b, n, int(a + (b == 2) + (n >= 2) >= 2)) for a, b, n, _ in kinds(1)] * 3
    sheet, (walk, _, _) = draw(records, epsilon="1.4")
    assert {block.columns for block, _ in sheet.points} == {("a",), ("b",), ("n",)}
    best = max(walked.score for walked, _ in every_walk(walk))
    assert sum(predicted(sheet, r) == r[3] for r in records) == best > 0.9 * len(records)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 2**32), st.integers(2, 3), st.integers(0, 12), st.integers(1, 3), st.booleans()
)
def test_the_law_of_a_draw_is_prior_times_weight(seed, labels, rows, most, rich):
    rich = rich and most < 3  # thousands of systems are enough
    records = some(labels, seed, rows)
    _, (walk, rate, total) = draw(records, labels, most=most, rich=rich, epsilon="0.75")
    assert rate == Fraction(3, 4)
    expected = dict(every_system(schema_of(labels), labels, most, rich=rich))
    assert sum(expected.values()) == 1
    weights = []
    for walked, chance in every_walk(walk):
        assert walked.score == sum(predicted(walked.outcome, r) == r[3] for r in records)
        assert Fraction(*walked.odds) == expected.pop(walked.outcome)
        weights.append(log(Fraction(*walked.odds)) + float(rate) * walked.score)
        assert chance == pytest.approx(weights[-1] - total, abs=1e-9)  # the contract of a walk
    assert not expected
    assert total == pytest.approx(log(fsum(map(exp, weights))), abs=1e-9)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_rows_and_folded_counts_give_the_same(first, monkeypatch):
    """However many columns are added up by rows, the sums are the same."""
    records = some(3, 5, 40)
    _, (_, _, total) = draw(records, 3)
    monkeypatch.setattr(Visited, "_first", lambda self, columns: min(first, len(columns) - 1))
    _, (walk, _, other) = draw(records, 3)
    assert other == pytest.approx(total, abs=1e-9)
    assert sum(exp(chance) for _, chance in every_walk(walk)) == pytest.approx(1, abs=1e-9)


def test_weights_too_small_for_a_float_are_proposed_all_the_same():
    records = [(a, 0, 0, a) for a in (0, 1)] * 100
    _, (walk, rate, total) = draw(records, most=2, epsilon="9")
    found = {w.outcome: (w, chance) for w, chance in every_walk(walk)}
    assert len(found) == len(list(every_system(schema_of(), 2, 2, rich=False)))
    for walked, chance in found.values():
        weight = log(Fraction(*walked.odds)) + float(rate) * walked.score
        assert chance >= weight - total - 1e-9


def law(records, labels, adjacency, factor):
    _, (walk, rate, _) = draw(records, labels, most=2, epsilon="1.5", adjacency=adjacency)
    found = [(repr(w.outcome), log(Fraction(*w.odds)) + factor * float(rate) * w.score) for w, _ in every_walk(walk)]  # fmt: skip
    weights = np.array([weight for _, weight in sorted(found)])
    return weights - np.logaddexp.reduce(weights)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_one_record_more_costs_epsilon_and_no_more(labels, adjacency):
    replaced, worst, hasty = adjacency is Adjacency.REPLACE, [], []
    for seed in range(2):
        records = some(labels, seed, 5)
        for kind in kinds(labels)[:: 5 if labels == 2 else 15]:
            for losses, factor in ((worst, 1), (hasty, 2)):
                tables = records, [*records[replaced:], kind]
                here, there = (law(one, labels, adjacency, factor) for one in tables)
                losses.append(float(np.abs(here - there).max()))
    assert max(worst) <= 1.5 + 1e-9
    assert max(worst) > 0.8  # the price is not far from what is used
    assert max(hasty) > 1.6  # twice the rate would be caught


def either_of(records, labels=2, epsilon="1"):
    noise, epsilon = Listening(), Epsilon.of(epsilon)
    paths = level_of(records, labels, noise=noise).paths(epsilon)
    drawn = one_of(paths, [Candidate("a"), Candidate("b")], 1, 2, [Systems(BLOCKS, 2)])
    return drawn, noise.proposals[0]


@pytest.mark.parametrize("labels", [2, 3])
def test_a_tree_or_points_are_drawn_as_one_of_all_of_both(labels):
    records = some(labels, 3, 9)
    _, (walk, rate, total) = either_of(records, labels)
    _, (points, _, points_total) = draw(records, labels, most=2)
    every = list(every_walk(walk))
    sheets = [w for w, _ in every if isinstance(w.outcome, Sheet)]
    assert len(sheets) == len(list(every_walk(points))) < len(every)
    assert sum(Fraction(*w.odds) for w in sheets) == Fraction(1, 2)
    assert sum(Fraction(*w.odds) for w, _ in every) == 1
    for walked, chance in every:
        weight = log(Fraction(*walked.odds)) + float(rate) * walked.score
        assert chance == pytest.approx(weight - total, abs=1e-9)
    half = fsum(exp(log(Fraction(*w.odds)) + float(rate) * w.score) for w in sheets)
    assert log(half) == pytest.approx(points_total - log(2), abs=1e-9)


def test_what_only_a_tree_can_say_is_said_by_a_tree_and_a_sum_by_points():
    xor = [(a, b, 0, a ^ (b == 2)) for a in (0, 1) for b in range(3)] * 40
    trees = [Candidate("a"), Candidate("b")]
    for records, kind in ((xor, Drawn), ([(a, b, n, int(a + b + n // 2 >= 3)) for a, b, n, _ in kinds(1)] * 20, Sheet)):  # fmt: skip
        paths = level_of(records, noise=Listening()).paths(Epsilon.of(1))
        drawn = one_of(paths, trees, 2, 8, [Systems(BLOCKS, 3)])
        assert isinstance(drawn, kind)


def test_a_tree_or_points_cost_the_path_all_that_it_has_left():
    paths = level_of(some(2, 1, 20)).paths(Epsilon.of("0.5"))
    one_of(paths, [Candidate("a")], 1, 2, [Systems(BLOCKS, 1)])
    assert [str(left) for left in paths.purses()] == ["0"]


def test_points_read_all_rows_and_are_refused_where_a_part_of_them_pays():
    paths, level = level_of(some(2, 1, 20)).paths(Epsilon.of(1)), level_of(some(2, 1, 20))
    here = paths.split([("a", None)]).group({"a": [0]})["a"]
    with pytest.raises(PlanError, match="before it is split"):
        one_of(here, [Candidate("b")], 1, 2, [Systems(BLOCKS, 1)])
    assert [str(left) for left in here.purses()] == ["1"]
    below = level.split([("a", None)])
    for ask in (
        lambda: below.fit(DrawnPoints("label", Epsilon.of(1), Systems(BLOCKS, 1))),
        lambda: below.fit(ScoredCounts(Sheet((), 0, (0, 0)), "label", Epsilon.of(1))),
    ):
        with pytest.raises(PlanError, match="before it is split"):
            ask()
    assert below.remaining() == Epsilon.of(10)


def test_rows_are_counted_by_points_and_label():
    records = some(3, 8, 50)
    sheet = Sheet(((BLOCKS[0], (0, 1)), (BLOCKS[2], (2, 0))), 2, (0, 2))
    counts = level_of(records, 3).fit(ScoredCounts(sheet, "label", Epsilon.of(1)))
    expected = np.zeros((4, 3), int)
    for a, _, n, label in records:
        expected[a + 2 * (n < 2), label] += 1
    assert counts.tolist() == expected.tolist()
    alone = level_of(records, 3).fit(ScoredCounts(Sheet((), 0, (1, 1)), "label", Epsilon.of(1)))
    assert alone.tolist() == [expected.sum(axis=0).tolist()]


def test_replaced_records_get_half_the_rate():
    rates = [draw([], adjacency=adjacency)[1][1] for adjacency in Adjacency]
    assert rates[0] == 2 * rates[1]


def test_what_cannot_be_drawn_is_refused_before_a_charge(monkeypatch):
    level, one = level_of([]), Epsilon.of(1)
    twice, wide = (*BLOCKS, BLOCKS[0]), (Block(("a", "b"), (2, 3), (6,)),)
    for systems, words in (
        (Systems(twice, 2), "each once"),
        (Systems((*BLOCKS, Block(("label",), (2,), (2,))), 2), "other than the label"),
        (Systems(wide, 1), "single columns"),
        (Systems(BLOCKS, 4), "1 to 3 columns"),
        (Systems(BLOCKS, 0), "1 to 3 columns"),
    ):
        with pytest.raises(PlanError, match=words):
            level.fit(DrawnPoints("label", one, systems))
    for name, value, words in (
        ("MOST_SUM", 3, "add up to 3"),
        ("MOST_SETS", 7, "one of 7 sets"),
        ("MOST_CELLS", 2, "2 cells at most"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            with pytest.raises(PlanError, match=words):
                level.fit(DrawnPoints("label", one, Systems(BLOCKS, 3)))
    with pytest.raises(PlanError, match="points for each cell"):
        level.fit(ScoredCounts(Sheet(((BLOCKS[0], (0, 1, 2)),), 1, (0, 1)), "label", one))
    assert level.remaining() == Epsilon.of(10)


def test_a_tree_and_points_of_different_prices_are_refused():
    place = level_of([])._place
    trees = DrawnTrees(place.cells, ((Candidate("a"),),), "label", 1, (1,), (Epsilon.of(1),))
    terms = Terms(schema_of(), Adjacency.ADD_REMOVE)
    with pytest.raises(PlanError, match="same epsilon"):
        OneOf(trees, (DrawnPoints("label", Epsilon.of(2), Systems(BLOCKS, 1)),)).check(terms, place)
