"""Trees drawn at once: the sums that propose them, the law of a walk, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage import study
from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.errors import NoiseError, PlanError
from bocage.learners import ReadableTree
from bocage.mechanisms import Adjacency, OpenDPNoise
from bocage.plan import Branch, Cells
from bocage.plan.predicate import ALWAYS
from bocage.private import Candidate
from bocage.private.executor import LiveExecutor
from bocage.private.joint.temperature import UNITS
from bocage.private.joint.tree.sampler import DrawnTrees
from bocage.private.joint.tree.space import Ground, _Node
from bocage.private.query import Place, Terms
from bocage.private.table import WHOLE as EVERYTHING
from bocage.private.table import PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentRecordingNoise

SCHEMA = Schema(
    "made",
    (Categorical("a", ("u", "v", "w")), Numeric("x", lower=0, upper=9, step=1), Categorical("b", ("u", "v"))),
    label=Categorical("c", ("no", "yes")),
)  # fmt: skip
AMONG = (Candidate("a"), Candidate("x", 1, 9, cuts=(3, 7)), Candidate("b"))
WHOLE = Place(ALWAYS, Cells(), ("",))


def ground(records, *, rate=Fraction(3, 4), room=1, among=AMONG):
    names = ("a", "x", "b", "c")
    rows = {name: np.array([r[i] for r in records], np.uint16) for i, name in enumerate(names)}
    return Ground.of(rows, among, "c", SCHEMA, rate=rate, room=room)


class Out(Exception):
    """Asks for the next choice."""

    def __init__(self, count):
        self.count = count


class Told:
    """Choices that are told, and the logarithm of how likely they are."""

    def __init__(self, choices):
        self.left, self.log = list(choices), 0.0

    def choose(self, weights):
        if not self.left:
            raise Out(len(weights))
        place = self.left.pop(0)
        self.log += float(weights[place] - np.logaddexp.reduce(weights))
        return place

    def choose_each(self, weights):
        if not self.left:
            raise Out(weights.shape)
        places = np.array(self.left.pop(0))
        for row, place in zip(weights, places, strict=True):
            self.log += float(row[place] - np.logaddexp.reduce(row))
        return places


class Drawing(Told):
    """Choices that are drawn, seeded, and the logarithm of how likely they are."""

    def __init__(self, random):
        super().__init__([])
        self.random = random

    def choose(self, weights):
        self.left = [int((weights + self.random.gumbel(size=len(weights))).argmax())]
        return super().choose(weights)

    def choose_each(self, weights):
        self.left = [(weights + self.random.gumbel(size=weights.shape)).argmax(axis=1)]
        return super().choose_each(weights)


def every_walk(walk):
    """All that a walk can come to, each with the logarithm of its probability."""
    open_ = [()]
    while open_:
        choices = open_.pop()
        told = Told(choices)
        try:
            walked = walk(told)
        except Out as more:
            ways = (
                range(more.count)
                if isinstance(more.count, int)
                else product(range(more.count[1]), repeat=more.count[0])
            )
            open_ += [(*choices, way) for way in ways]
        else:
            yield walked, told.log


def decided(tree, record):
    """What a drawn tree predicts."""
    while tree.split is not None:
        column, at = tree.split
        code = record[("a", "x", "b").index(column)]
        tree = tree.below[code if at is None else int(code >= at)]
    return tree.label


def trees(depth, branches=1, a=True, b=True, low=0, high=3, room=1):  # noqa: PLR0917 - a recursion
    """Every tree on cells of x and its prior, worked out apart from the code under test."""
    splits = [("a", 3)] * a + [("b", 2)] * b
    cuts = list(range(low + 1, high))
    able = len(splits) + bool(cuts)
    chance = Fraction(1, 2) if branches <= room else Fraction(room, 2 * branches)
    if not (able and depth):
        chance = Fraction(0)
    for label in (0, 1):
        yield label, (1 - chance) / 2
    if not chance:
        return
    for name, size in splits:
        below = list(trees(depth - 1, branches * size, a and name != "a", b and name != "b", low, high, room))
        for children in product(below, repeat=size):
            yield combined(name, children, chance / able)
    for cut in cuts:
        sides = [list(trees(depth - 1, 2 * branches, a, b, *ends, room)) for ends in ((low, cut), (cut, high))]
        for children in product(*sides):
            yield combined(f"x{cut}", children, chance / able / len(cuts))


def combined(name, children, prior):
    for _, own in children:
        prior *= own
    return (name, tuple(tree for tree, _ in children)), prior


def right(tree, record):
    """Whether a tree of the independent list predicts a record right."""
    while isinstance(tree, tuple):
        name, below = tree
        if name in {"a", "b"}:
            tree = below[record["axb".index(name)]]
        else:
            cell = int(record[1] >= 3) + int(record[1] >= 7)
            tree = below[int(cell >= int(name[1:]))]
    return tree == record[3]


RECORDS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(0, 1), st.integers(0, 1)),
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(records=RECORDS, room=st.sampled_from([1, 4]))
def test_the_total_is_the_sum_over_all_trees(records, room):
    for depth in (1, 2):
        listed = list(trees(depth, room=room))
        assert sum(prior for _, prior in listed) == 1
        weights = [float(prior) * exp(0.75 * sum(right(tree, record) for record in records)) for tree, prior in listed]
        _, rate, total = ground(records, room=room).proposal(depth, Fraction(3, 4))
        assert rate == Fraction(3, 4)
        assert total == pytest.approx(log(fsum(weights)), abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(records=RECORDS, room=st.sampled_from([1, 4]))
def test_a_walk_comes_to_every_tree_as_often_as_it_should(records, room):
    walk, rate, total = ground(records, room=room, among=AMONG[1:]).proposal(2, Fraction(3, 4))
    found = list(every_walk(walk))
    assert len({walked.outcome for walked, _ in found}) == len(found)  # one tree, one way to it
    assert fsum(exp(log_q) for _, log_q in found) == pytest.approx(1, abs=1e-9)
    for walked, log_q in found:
        score = sum(decided(walked.outcome, record) == record[3] for record in records)
        assert walked.score == score
        wanted = log(Fraction(*walked.odds)) + float(rate) * score - total
        assert log_q == pytest.approx(wanted, abs=1e-9)  # far inside the margin of a walk


def test_the_prior_of_a_large_tree_is_exact():
    every = list(product(range(3), range(10), range(2)))
    records = [(a, x, b, (a + x + b) % 2) for a, x, b in every * 5]
    among = (AMONG[0], Candidate("x", 1, 9), AMONG[2])
    walk, rate, total = ground(records, rate=Fraction(3), among=among).proposal(5, Fraction(3))
    drawing = Drawing(np.random.default_rng(4))
    walked = walk(drawing)
    assert walked.odds[1] > 2**64  # more than a machine's numbers hold
    wanted = log(Fraction(*walked.odds)) + float(rate) * walked.score - total
    assert drawing.log == pytest.approx(wanted, abs=1e-6)


def test_a_deep_tree_is_summed_up_by_threads_alike():
    random = np.random.default_rng(3)
    made = ground(random.integers(0, (3, 10, 2, 2), (500, 4)).tolist(), room=8)
    root = _Node(np.arange(500, dtype=np.int32), made.facts, 4)
    assert made.weights(root, 2).tolist() == made.weights(root).tolist()
    assert root.facts.tolist() == [[3, 0, 0, 3], [3, 1, 0, 3], [2, 0, 0, 2]]


def asked(**changed):
    fields = {
        "cells": Cells(), "among": (AMONG,), "label": "c", "depth": 2, "room": (1,),
        "each": (Epsilon.of(1),),
    }  # fmt: skip
    return DrawnTrees(**(fields | changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"among": ()}, "candidates, room and an epsilon"),
        ({"room": (1, 2)}, "candidates, room and an epsilon"),
        ({"room": (0,)}, "room for 1 to"),
        ({"depth": 0}, "1 to 8 levels, not 0"),
        ({"depth": 9}, "1 to 8 levels, not 9"),
        ({"among": ((Candidate("c"),),)}, "other columns than its label"),
        ({"among": ((Candidate("a"), Candidate("a")),)}, "each named once"),
        ({"among": ((Candidate("a", values=(1,)),),)}, "splits by all values"),
        ({"among": ((Candidate("x"),),)}, "thresholds from 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changed, message):
    with pytest.raises(PlanError, match=message):
        asked(**changed).check(Terms(SCHEMA, Adjacency.ADD_REMOVE), WHOLE)
    asked().check(Terms(SCHEMA, Adjacency.ADD_REMOVE), WHOLE)


def rows(count):
    return {
        "a": ["u", "v"] * count,
        "x": [0, 9] * count,
        "b": ["u", "u"] * count,
        "c": ["no", "yes"] * count,
    }


def test_every_cell_pays_for_its_own_tree_and_no_more_than_it_has():
    with study(rows(500), SCHEMA) as table:
        paths = table.reserve(Epsilon.of(2), "test", ()).paths(Epsilon.of(2))
        below = paths.split([("a", None)])
        one, two = Epsilon.of("0.5"), Epsilon.of("1.5")
        trees = DrawnTrees(below.cells, (AMONG[1:],) * 3, "c", 1, (1, 1, 1), (one, two, two))
        drawn = below.fit(trees)
        assert [decided(drawn[0], (0, 0, 0)), decided(drawn[1], (1, 9, 0))] == [0, 1]
        assert [str(left) for left in below.purses()] == ["1.5", "0.5", "0.5"]
        with pytest.raises(PlanError, match="no more than its path has left"):
            below.fit(trees)


@pytest.mark.parametrize(("adjacency", "steps"), [("add_remove", 1), ("replace", 2)])
def test_every_cell_is_drawn_with_the_rate_of_its_own_epsilon(adjacency, steps):
    noise = SilentRecordingNoise()
    each = tuple(Epsilon.of(amount) for amount in ("0.5", "4", "1"))
    three = Cells().refine({0: Branch("a", (0, 1, 2))})
    fit = asked(cells=three, among=(AMONG[1:],) * 3, room=(1, 1, 1), each=each)
    codes = {"a": [0, 1, 1], "x": [0, 9, 9], "b": [0, 0, 1], "c": [0, 1, 1]}
    matrix = np.array([codes[name] for name in fit.names], np.uint16)
    fit.run(lambda: iter([matrix]), Terms(SCHEMA, Adjacency(adjacency)), noise)
    units = (1, UNITS, 1)  # where rates are drawn too
    own = [one.fraction / steps / unit for one, unit in zip(each, units, strict=True)]
    assert [rate for rate, _ in noise.walks] == own


def test_a_table_without_rows_has_trees_too():
    with study({name: [] for name in "axbc"}, SCHEMA) as table:
        paths = table.reserve(Epsilon.of(1), "test", ()).paths(Epsilon.of(1))
        trees = DrawnTrees(paths.cells, (AMONG,), "c", 2, (4,), (Epsilon.of(1),))
        (drawn,) = paths.fit(trees)
        every = product(range(3), range(10), range(2))
        assert {decided(drawn, record) for record in every} <= {0, 1}


def test_a_provider_without_walks_is_refused_before_the_charge():
    executor = LiveExecutor(Terms(SCHEMA, Adjacency.ADD_REMOVE), MemoryEngine(rows(100), SCHEMA), OpenDPNoise())
    table = PrivateTable(executor, MemoryAccount.of(Epsilon.of(100)), EVERYTHING)
    with pytest.raises(NoiseError):
        ReadableTree().fit(table, 1)
    assert str(table.spent()) == "0"
    tree = ReadableTree(drawn=False).fit(table, 1)
    # Noise turns a leaf of 100 records around with a probability of less than exp(-30).
    assert (tree.predict(rows(100)) == np.array(rows(100)["c"])).all()
