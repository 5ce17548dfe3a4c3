"""Ordinal scores as readable trees: which are drawn among, the tree that one of them is, what they find."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage import study
from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners import Auto, ReadableTree
from bocage.learners.discretization import Spreads
from bocage.learners.readable.learner import favor_of
from bocage.learners.score import rule
from bocage.learners.score.models import tree_of
from bocage.learners.score.rule import ordinal_scores_of
from bocage.learners.score.text import ordinal_score_in_words
from bocage.mechanisms import Adjacency
from bocage.private import Block, Drawn, DrawnOrdinalScore
from bocage.private.joint.score import family, sampler
from bocage.private.query import Terms
from bocage.private.table import WHOLE
from bocage.schema import Categorical, Numeric, Schema

LABELS = ("low", "middle", "high")
SCHEMA = Schema(
    "t",
    (
        Categorical("a", ("x", "y")),
        Categorical("b", ("p", "q", "r")),
        Numeric("n", 0, 100, 100),
        Numeric("m", 0, 8, 8),
    ),
    Categorical("label", LABELS),
)
BLOCKS = (
    Block(("a",), (2,), (2,)),
    Block(("b",), (3,), (3,)),
    Block(("n",), (4,), (4,), ((5, 10, 50),)),
    Block(("m",), (4,), (4,)),
)
NAMES = tuple(column.name for column in SCHEMA.attributes)
GRADES = Schema(
    "grades",
    tuple(Categorical(f"g{i}", ("bad", "fair", "good", "best")) for i in range(5)),
    Categorical("verdict", LABELS),
)


def grades(rows, seed=1):
    """Three marks of which the first counts twice: their sum says one of three things, another one spoils it."""
    rng = np.random.default_rng(seed)
    marks = rng.integers(0, 4, (rows, 5))
    points = 2 * marks[:, 0] + marks[:, 1]
    verdict = np.where(marks[:, 2] == 0, 0, np.searchsorted([3, 7], points, "right"))
    values = np.array(GRADES.attributes[0].values)
    columns = {f"g{i}": pa.array(values[marks[:, i]]) for i in range(5)}
    return pa.table(columns | {"verdict": pa.array(np.array(LABELS)[verdict])})


def decided(tree, codes):
    while tree.split is not None:
        name, at = tree.split
        tree = tree.below[codes[name] if at is None else int(codes[name] >= at)]
    return tree.label


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_tree_predicts_what_the_ladder_says(data):
    gate, *chosen = data.draw(st.permutations(BLOCKS))
    chosen = chosen[: data.draw(st.integers(1, 3))]
    points = [tuple(data.draw(st.lists(st.integers(0, 3), min_size=b.size, max_size=b.size))) for b in chosen]  # fmt: skip
    rungs = 1 + 3 * len(chosen)
    gate = data.draw(st.sampled_from([gate, None]))
    labels = tuple(
        tuple(data.draw(st.lists(st.integers(0, 2), min_size=rungs, max_size=rungs)))
        for _ in range(1 if gate is None else gate.size)
    )
    ladder = DrawnOrdinalScore(gate, tuple(zip(chosen, points, strict=True)), labels)
    tree = tree_of(ladder, SCHEMA)
    lookups = {b.columns[0]: b.lookup(SCHEMA)[0] for b in BLOCKS}
    for a, b, n, m in product((0, 1), range(3), (0, 4, 5, 9, 10, 49, 50, 99), range(8)):
        codes = {"a": a, "b": b, "n": n, "m": m}
        cell = {name: int(lookups[name][code]) for name, code in codes.items()}
        rung = sum(own[cell[block.columns[0]]] for block, own in ladder.points)
        part = 0 if gate is None else cell[gate.columns[0]]
        assert decided(tree, codes) == labels[part][rung]


def test_a_tree_splits_only_where_something_differs():
    steep = ((BLOCKS[1], (0, 1, 3)), (BLOCKS[2], (0, 0, 1, 1)))
    labels = (0, 0, 0, 1, 1, 0, 0)
    tree = tree_of(DrawnOrdinalScore(BLOCKS[0], steep, (labels, labels)), SCHEMA)
    assert tree == Drawn(-1, ("b", None), (Drawn(0), Drawn(0), Drawn(1)))
    other = tree_of(DrawnOrdinalScore(BLOCKS[0], steep, (labels, (1,) * 7)), SCHEMA)
    assert other == Drawn(-1, ("a", None), (tree, Drawn(1)))


def test_a_ladder_is_told_in_words():
    ladder = DrawnOrdinalScore(
        BLOCKS[0],
        ((BLOCKS[1], (0, 1, 1)), (BLOCKS[2], (2, 2, 1, 0)), (BLOCKS[3], (0, 0, 0, 1))),
        ((0, 0, 1, 2, 2, 0, 0), (1,) * 7),
    )
    assert list(ordinal_score_in_words(ladder, SCHEMA)) == [
        "The tree is a ladder: points add up, and their sum decides.",
        "Points: 0 if b is p, 1 if b in q, r.",
        "Points: 2 if n < 10, 1 if 10 ≤ n < 50, 0 if n ≥ 50.",
        "Points: 0 if m < 6, 1 if m ≥ 6.",
        "Where a is x: 0 to 1 points low, 2 points middle, 3 to 4 points high.",
        "Where a is y: 0 to 4 points middle.",
    ]
    alone = DrawnOrdinalScore(None, ((BLOCKS[1], (2, 1, 0)),), ((0, 1, 2),))
    assert list(ordinal_score_in_words(alone, SCHEMA))[1:] == [
        "Points: 2 if b is p, 1 if b is q, 0 if b is r.",
        "0 points low, 1 point middle, 2 points high.",
    ]


@pytest.mark.slow
def test_sums_of_grades_behind_a_gate_are_found_with_few_records():
    rows, fresh = grades(1500), grades(2000, seed=2)
    with study(rows, GRADES) as table:
        model = ReadableTree().fit(table, "0.5")
    # The right ladder has every row right; others lose 30 of them at least, which is e**14 times less likely,
    # and what it may do without are cells of a gate that hardly a row is in.
    assert (model.predict(fresh) == np.array(fresh["verdict"])).mean() > 0.9
    assert model.certificate.learner == "readable"
    assert "is a ladder" in model.certificate.notes[0]
    with study(rows, GRADES) as table:
        assert not ReadableTree(ordinal_scores=False).fit(table, "0.5").certificate.notes
    with study(grades(800), GRADES) as table:  # more would be for tables
        assert "is a ladder" in Auto().fit(table, "0.5").certificate.notes[0]


def test_how_many_attributes_climb_follows_from_public_numbers(monkeypatch):
    def ladders(rows, epsilon="0.5", names=NAMES):
        return ordinal_scores_of(SCHEMA, names, rows, Epsilon.of(epsilon), Spreads())

    assert (ladders(1000).most, ladders(1000).top) == (3, 3)
    assert [block.cells for block in ladders(1000).blocks] == [(2,), (3,), (4,), (4,)]
    assert ladders(10**9) is None  # every choice of columns takes a look at every row
    assert (ladders(1000, names=("a", "b")).most, ladders(1000, names=("a", "b")).top) == (2, 4)
    assert ladders(1000, names=("a",)).most == 1
    monkeypatch.setattr(rule, "ORDINAL_WORK", 2e7)
    few, many = ladders(1000), ladders(1000, epsilon="3")  # rates are tried beside a large one
    assert (few.most, few.top) > (many.most, many.top)


def test_what_the_rule_allows_is_never_refused_later():
    """A refusal would come when all is charged."""
    assert rule.ORDINAL_WORK / rule._frame_work(0, 1) < family.MOST_FRAMES
    assert rule.LEAVES <= family.MOST_LEAVES
    for count, cells in ((5, 5), (9, 4), (22, 12), (30, 2), (200, 2)):
        values = tuple(map(str, range(cells)))
        columns = tuple(Categorical(f"a{i}", values) for i in range(count))
        schema = Schema("t", columns, Categorical("y", ("0", "1")))
        names = tuple(column.name for column in columns)
        found = ordinal_scores_of(schema, names, 100, Epsilon.of(2), Spreads())
        fit = sampler.DrawnScores("y", Epsilon.of(2), found)
        fit.check(Terms(schema, Adjacency.ADD_REMOVE), WHOLE)


def test_trees_are_favored_where_records_are_plenty():
    assert [favor_of(support) for support in (0, 500, 535, 1193, 1e9)] == [0, 0, 1, 20, 512]


def test_wide_attributes_stay_out():
    wide, small = Categorical("w", tuple(map(str, range(40)))), Categorical("c", ("a", "b"))
    both = Schema("t", (wide, small), Categorical("y", ("0", "1")))
    found = ordinal_scores_of(both, ("w", "c"), 100, Epsilon.of(1), Spreads())
    assert [block.columns for block in found.blocks] == [("c",)]
    assert ordinal_scores_of(both, ("w",), 100, Epsilon.of(1), Spreads()) is None


def test_a_wish_for_ladders_is_yes_or_no():
    with pytest.raises(LearnerError, match="ordinal_scores to be True or False"):
        ReadableTree(ordinal_scores=1).plan(GRADES, 1)


@pytest.mark.parametrize("drawn", [True, False])
def test_numeric_attributes_climb_too(drawn):
    schema = Schema(
        "t", (Numeric("x", 0, 4, 4), Numeric("z", 0, 4, 4)), Categorical("y", ("0", "1"))
    )
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 4, (800, 2))
    told = pa.table({"x": cells[:, 0] + 0.5, "z": cells[:, 1] + 0.5, "y": (cells.sum(axis=1) >= 3).astype(int).astype(str)})  # fmt: skip
    with study(told, schema) as table:
        model = ReadableTree(drawn=drawn).fit(table, 2)
    right = (model.predict(told) == np.array(told["y"])).mean()
    assert right > (0.97 if drawn else 0.7)
