"""With silent noise every learner is its non-private ancestor."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.learners import DPDF, DiffPC45, DiffPID3, PrivateID3, SulqID3
from bocage.schema import Categorical, Numeric, Schema
from learners.oracle import Oracle, nested
from learners.spy import schemas, some_rows
from private.tables import TENNIS, WEATHER, table

PLENTY = 10**6  # so large that thresholds and handicaps vanish
# Mitchell (1997), figure 3.1; leaves are (no, yes).
TEXTBOOK = (
    "outlook",
    None,
    (
        ("humidity", None, ((3, 0), (0, 2))),  # sunny: high, normal
        (0, 4),  # overcast
        ("wind", None, ((0, 3), (2, 0))),  # rain: weak, strong
    ),
)
GOLF = Schema(  # Quinlan (1993), figure 1.1: temperature and humidity in numbers
    "golf",
    (
        Categorical("outlook", ("sunny", "overcast", "rain")),
        Numeric("temperature", lower=60, upper=90, step=1),
        Numeric("humidity", lower=60, upper=100, step=1),
        Categorical("windy", ("true", "false")),
    ),
    label=Categorical("play", ("no", "yes")),
    row_cap=100,
)
_ROUNDS = """sunny 75 70 true yes
sunny 80 90 true no
sunny 85 85 false no
sunny 72 95 false no
sunny 69 70 false yes
overcast 72 90 true yes
overcast 83 78 false yes
overcast 64 65 true yes
overcast 81 75 false yes
rain 71 80 true no
rain 65 70 true no
rain 75 80 false yes
rain 68 80 false yes
rain 70 96 false yes"""
_FIELDS = zip(*[line.split() for line in _ROUNDS.splitlines()], strict=True)
ROUNDS = dict(zip(("outlook", "temperature", "humidity", "windy", "play"), map(list, _FIELDS), strict=True))
ROUNDS |= {name: [int(x) for x in ROUNDS[name]] for name in ("temperature", "humidity")}


def test_private_id3_is_the_textbook_tree():
    assert nested(PrivateID3().fit(table(WEATHER, TENNIS), PLENTY)) == TEXTBOOK


@pytest.mark.parametrize(
    "learner",
    [SulqID3(2), SulqID3(2, sizes="summed"), DiffPID3(2, "information_gain")],
    ids=lambda learner: f"{learner.name}",
)
def test_two_levels_of_id3_are_the_textbook_tree(learner):
    name, _, (sunny, overcast, rain) = nested(learner.fit(table(WEATHER, TENNIS), PLENTY))
    assert (name, None, (sunny, (0, 4), rain)) == TEXTBOOK
    # Overcast days are pure. No algorithm that adds noise can know; every split is as good.
    assert sum(sum(leaf) for leaf in overcast[2]) == 4
    assert all(leaf[0] == 0 for leaf in overcast[2])


@pytest.mark.parametrize("selection", ["permute_and_flip", "exponential"])
@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("criterion", ["max", "gini", "information_gain"])
def test_diffpid3_is_the_best_tree_by_its_criterion(criterion, printed, selection):
    tree = DiffPID3(4, criterion, selection, printed).fit(table(WEATHER, TENNIS), PLENTY)
    assert nested(tree) == Oracle(TENNIS, WEATHER, criterion).grow(4)
    assert tree.predict(WEATHER).tolist() == WEATHER["play"]


@settings(max_examples=40, deadline=None)
@given(schema=schemas(numeric=False), seed=st.integers(), size=st.integers(0, 40))
def test_diffpid3_is_the_best_tree_on_any_table(schema, seed, size):
    rows = some_rows(schema, seed, size)
    for criterion in ("max", "gini"):
        tree = DiffPID3(3, criterion).fit(table(rows, schema), PLENTY)
        assert nested(tree) == Oracle(schema, rows, criterion).grow(3)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(schema=schemas(numeric=True), seed=st.integers(), size=st.integers(0, 40))
def test_diffpc45_is_the_best_tree_on_any_table(schema, seed, size):
    rows = some_rows(schema, seed, size)
    for points in ("joint", "separate"):
        tree = DiffPC45(3, "max", points=points, prune=False).fit(table(rows, schema), PLENTY)
        assert nested(tree) == Oracle(schema, rows, "max").grow(3)


@pytest.mark.parametrize("points", ["joint", "separate"])
@pytest.mark.parametrize("criterion", ["max", "gini"])
def test_diffpc45_finds_the_thresholds_of_the_golf_table(criterion, points):
    learner = DiffPC45(3, criterion, points=points, prune=False)
    tree = learner.fit(table(ROUNDS, GOLF), PLENTY)
    assert nested(tree) == Oracle(GOLF, ROUNDS, criterion).grow(3)


def test_diffpc45_prunes_the_golf_table_to_quinlans_tree():
    learner = DiffPC45(2, "information_gain", confidence=0.5, attributes=("outlook", "humidity"))
    name, _, (sunny, overcast, _) = nested(learner.fit(table(ROUNDS, GOLF), PLENTY))
    assert name == "outlook"
    # Humidity 70 and below: play; 85 and above: do not. The first threshold between them is 71.
    assert sunny == ("humidity", 71 - 60, ((0, 2), (3, 0)))
    assert overcast == (0, 4)  # pure: the split below it gained nothing


def test_one_numeric_split_by_hand():
    schema = Schema(
        "ages",
        (Numeric("age", lower=0, upper=9, step=1),),
        label=Categorical("buys", ("no", "yes")),
    )
    rows = {"age": [1, 2, 3, 6, 7, 8], "buys": ["no", "no", "no", "yes", "yes", "yes"]}
    tree = DiffPC45(1).fit(table(rows, schema), PLENTY)
    assert nested(tree) == ("age", 4, ((3, 0), (0, 3)))  # 4, 5 and 6 part them; 4 is the first
    assert tree.predict({"age": [0, 3, 4, 9]}).tolist() == ["no", "no", "yes", "yes"]


def test_dpdf_grows_the_best_gini_trees_with_distinct_roots():
    def pure_or_few(counts):
        return sum(counts) < 1 or max(counts) == sum(counts)

    forest = DPDF(trees=3, depth=3, support=1).fit(table(WEATHER, TENNIS), PLENTY)
    oracle = Oracle(TENNIS, WEATHER, "gini", stops=pure_or_few)
    roots = []
    for tree in forest.trees:
        expected = oracle.grow(2, without=roots)
        roots.append(expected[0])
        assert nested(tree) == expected
    assert roots == ["outlook", "humidity", "wind"]


def test_dpdf_nodes_below_the_support_are_leaves():
    # Rain and sunny hold five days each, overcast four: none of them may be split.
    forest = DPDF(trees=1, depth=5, support=6).fit(table(WEATHER, TENNIS), PLENTY)
    assert nested(forest.trees[0]) == ("outlook", None, ((3, 2), (0, 4), (2, 3)))
    assert forest.trees[0].has_counts.all()


def test_dpdf_with_as_many_trees_as_attributes_uses_each_root_once():
    forest = DPDF(trees=4, depth=2, support=0).fit(table(WEATHER, TENNIS), 3)
    roots = [int(tree.column[0]) for tree in forest.trees if len(tree) > 1]
    assert len(set(roots)) == len(roots)


def test_ties_of_sulq_id3_favor_no_attribute():
    schema = Schema(
        "twins",
        tuple(Categorical(f"a{i}", ("x", "y")) for i in range(4)),
        label=Categorical("c", ("n", "y")),
    )
    rows = {f"a{i}": ["x", "y"] * 8 for i in range(4)} | {"c": ["n", "y"] * 8}
    # 400 draws of four equal attributes: each has 100 expected. P(fewer than 50) < 1e-9 each.
    runs = (SulqID3(1).fit(table(rows, schema), PLENTY) for _ in range(400))
    seen = Counter(int(tree.column[0]) for tree in runs)
    assert min(seen[i] for i in range(4)) >= 50


def test_an_empty_table_gives_a_leaf_and_one_value_a_tree_without_errors():
    empty = {name: [] for name in WEATHER}
    same = {name: [values[0]] * 30 for name, values in WEATHER.items()}
    learners = (
        SulqID3(), DiffPID3(), DiffPC45(), PrivateID3(), DPDF(2),
    )  # fmt: skip
    for learner in learners:
        assert len(learner.fit(table(empty, TENNIS), PLENTY).predict(WEATHER)) == 14
        model = learner.fit(table(same, TENNIS), PLENTY)
        assert model.predict({name: values[:1] for name, values in same.items()}).tolist() == ["no"]


def test_a_filter_limits_what_a_tree_is_made_from():
    windy = table(WEATHER, TENNIS).where("wind = 'strong'")
    tree = DiffPID3(1, attributes=("outlook",)).fit(windy, PLENTY)
    assert nested(tree) == ("outlook", None, ((1, 1), (0, 2), (2, 0)))
