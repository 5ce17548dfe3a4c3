"""Random trees: structures from the schema alone, leaf vectors counted by hand, refusals."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners import RandomTrees
from bocage.learners.forest_size import arities, largest, paper_height, room, shape
from bocage.learners.papers.rdt import LEAVES, SIZE
from bocage.learners.papers.structure import Structure, one_per_value, random_structure
from bocage.model import Certificate, Forest, PlanLine, TreeBuilder
from bocage.plan import Branch, Cells, Cut
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentRecordingNoise
from private.tables import PEOPLE, ROWS, TENNIS, WEATHER, table

PARTED = Schema(
    "parted",
    (
        Categorical("part", ("p0", "p1", "p2")),
        Categorical("sex", ("F", "M")),
        Numeric("age", lower=0, upper=9, step=1),
    ),
    label=Categorical("buys", ("yes", "no")),
    row_cap=64,
)
PARTED_ROWS = {
    "part": ["p0", "p1", "p2", "p0", "p1", "p2", "p0", "p0"],
    "sex": ["F", "F", "F", "M", "M", "M", "M", "F"],
    "age": [3, 5, 5, 7, 9, 0, 2, 4],
    "buys": ["yes", "yes", "no", "no", "no", "yes", "yes", "no"],
}


def schema_of(arities_, labels=2):
    attributes = tuple(Categorical(f"a{i}", tuple(f"v{j}" for j in range(n))) for i, n in enumerate(arities_))
    return Schema("made", attributes, label=Categorical("y", tuple(map(str, range(labels)))))


def coins(seed):
    return Random(seed)  # noqa: S311 - the same structures again


def names_of(schema):
    return tuple(a.name for a in schema.attributes)


@given(
    trees=st.none() | st.integers(1, 30),
    height=st.none() | st.integers(1, 5),
    rows=st.none() | st.integers(1, 10**9),
    nano=st.integers(20, 10**10),
)
def test_the_plan_adds_up_to_the_budget(trees, height, rows, nano):
    budget = Epsilon(nano)
    plan = RandomTrees(trees=trees, height=height, rows=rows).plan(PEOPLE, budget)
    assert Epsilon.total([step.epsilon for step in plan.steps]) == budget
    pays_for_size = rows is None and (trees is None or height is None)
    assert [step.question for step in plan.steps] == ([SIZE] if pays_for_size else []) + [LEAVES]


@pytest.mark.parametrize(
    ("arity", "rows", "height"),
    [
        ([3, 5, 4, 4, 3, 2, 3, 3], 12_960, 4),  # nursery: k/2 = 4, b = 27/8, log_b n = 7.8
        # mushroom without stalk-root: b = 5.57, log_b n = 5.2, less one
        ([6, 4, 10, 2, 9, 4, 3, 2, 12, 2, 4, 4, 9, 9, 2, 4, 3, 8, 9, 6, 7], 8_124, 4),
        ([2] * 16, 435, 7),  # votes imputed: log_2 n = 8.8, less one
        ([3] * 16, 435, 4),  # votes with '?': log_3 n = 5.5, less one
        ([2] * 40, 1_023, 8),
        ([2] * 40, 1_024, 9),  # exactly a power: no rounding
        ([2] * 40, 1, 1),
    ],
)
def test_the_height_of_the_paper_by_hand(arity, rows, height):
    schema = schema_of(arity)
    assert paper_height(schema, names_of(schema), rows) == height


@pytest.mark.parametrize(
    ("rows", "epsilon", "expected"),
    [
        (1_000, "0.1", (3, 3)),  # 1000 * 0.1 / (3/4 * 3 * sqrt(2)) = 31.4 = 3**3.1
        (1_000, "1", (7, 4)),  # the cube root of 333 is 6.9
        (100_000, "10", (20, 4)),  # there are no more than four attributes
        (10, "0.01", (3, 1)),
    ],
)
def test_the_rule_stays_within_its_bounds(rows, epsilon, expected):
    schema = schema_of([3, 3, 3, 3])
    trees, height = shape(schema, names_of(schema), rows, Epsilon.of(epsilon))
    assert (trees, height) == expected


def test_more_rows_and_more_epsilon_never_make_trees_lower_or_fewer():
    schema = schema_of([2, 3, 4, 2, 3, 5, 2, 2], labels=3)
    for axis in range(2):
        shapes = [
            shape(schema, names_of(schema), *((n, Epsilon.of(1)) if axis else (9999, Epsilon(n))))
            for n in np.geomspace(20, 10**9, 60).astype(int).tolist()
        ]
        trees = [count for count, _ in shapes]
        assert trees == sorted(trees)
        # With the number of trees fixed, heights rise too.
        fixed = [shape(schema, names_of(schema), n, Epsilon.of(1), 10)[1] for n in range(20, 9000, 97)]
        assert fixed == sorted(fixed)


def test_a_random_cut_counts_for_less_than_a_split_in_two():
    numbers = tuple(Numeric(f"x{i}", 0, 99, step=1) for i in range(4))
    label = Categorical("y", ("a", "b"))
    cut = Schema("n", numbers, label=label)
    split = schema_of([2] * 4)
    for rows, high, low in ((1_000, 12, 4), (40, 6, 2)):
        assert shape(cut, names_of(cut), rows, Epsilon.of(1), 5)[1] == high
        assert shape(split, names_of(split), rows, Epsilon.of(1), 5)[1] == low


def test_the_rule_never_asks_for_trees_that_do_not_fit():
    schema = schema_of([1000] * 30, labels=20)
    trees, height = shape(schema, names_of(schema), 2**40, Epsilon.of(9))
    assert largest(schema, names_of(schema), height) <= room(20, trees)
    assert height == 1
    numbers = Schema("n", (Numeric("x", 0, 9, step=1),), label=Categorical("y", ("a", "b")))
    assert largest(numbers, ("x",), 5) == 32
    assert largest(schema, names_of(schema), 20) == float("inf")
    assert arities(PEOPLE, ("city", "age")) == [3, 2]


def _walk(structure, schema):
    """Every node with the codes of each column that can still reach it, as the splits say."""
    reach = {0: {a.name: set(range(a.cells)) for a in schema.attributes}}
    following = 1  # children are numbered as they are created
    for node, split in enumerate(structure.splits):
        yield node, split, reach[node]
        if split is None:
            continue
        column, threshold = split
        codes = range(schema[column].cells)
        groups = (
            [{code} for code in codes]
            if threshold is None
            else [{c for c in codes if c < threshold}, {c for c in codes if c >= threshold}]
        )
        for group in groups:
            reach[following] = {**reach[node], column: reach[node][column] & group}
            following += 1


@settings(max_examples=60)
@given(height=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_thresholds_lie_inside_the_box_and_no_branch_is_empty(height, seed):
    structure = random_structure(PEOPLE, ("sex", "city", "age", "income"), height, coins(seed), 10**6)
    for _, _, reach in _walk(structure, PEOPLE):
        assert all(reach.values())


def test_the_structure_is_independent_of_the_data(monkeypatch):
    """The same coins and the same public size give the same structure, whatever the rows."""
    monkeypatch.setattr("bocage.learners.papers.rdt.SystemRandom", lambda: coins(7))
    drawn = []
    for rows in (ROWS, {name: [] for name in ROWS}, {k: v[::-1] * 3 for k, v in ROWS.items()}):
        forest = RandomTrees(rows=1000).fit(table(rows, PEOPLE), 1)
        drawn.append([Structure.of(tree) for tree in forest.trees])
    assert drawn[0] == drawn[1] == drawn[2]
    assert len(set(drawn[0])) > 1


def test_the_size_that_the_rule_uses_is_the_noisy_one():
    noise = SilentRecordingNoise()
    RandomTrees(trees=3).fit(table(ROWS, PEOPLE, noise=noise), 1)
    (size, _), (leaves, _) = noise.scales
    assert size == 20  # 5 % of epsilon
    assert leaves == 3 / (1 - 1 / size)


def test_without_noise_the_leaf_vectors_are_the_counts():
    forest = RandomTrees(trees=5, height=3).fit(table(ROWS, PEOPLE), 1)
    codes = forest.encode(ROWS)
    labels = np.array([{"yes": 0, "no": 1}[value] for value in ROWS["buys"]])
    for tree in forest.trees:
        by_hand = np.zeros((len(tree), 2), int)
        np.add.at(by_hand, (tree.apply_codes(codes), labels), 1)
        assert (tree.counts[tree.is_leaf] == by_hand[tree.is_leaf]).all()
        assert by_hand[tree.is_leaf].sum() == 8


def test_all_trees_are_one_release_with_noise_of_scale_trees_over_epsilon():
    noise = SilentRecordingNoise()
    forest = RandomTrees(trees=6, height=2).fit(table(WEATHER, TENNIS, noise=noise), "0.5")
    leaves = sum(len(tree.leaves) for tree in forest.trees)
    assert noise.scales == [(12, 2 * leaves)]


def test_with_parts_a_tree_counts_its_own_part_with_noise_of_scale_one_over_epsilon():
    noise = SilentRecordingNoise()
    learner = RandomTrees(height=2, parts="part")
    forest = learner.fit(table(PARTED_ROWS, PARTED, noise=noise), "0.5")
    assert len(forest) == 3
    assert [scale for scale, _ in noise.scales] == [2]
    assert [int(tree.counts[tree.is_leaf].sum()) for tree in forest.trees] == [4, 2, 2]
    assert forest.trees[0].counts[forest.trees[0].is_leaf].sum(axis=0).tolist() == [2, 2]
    assert "part" not in forest.columns
    people = {name: PARTED_ROWS[name] for name in ("sex", "age")}
    assert len(forest.predict(people)) == 8


def test_the_height_with_parts_is_that_of_a_part_of_the_rows():
    learner = RandomTrees(parts="part", rows=3000)
    assert len(learner.structures(PARTED, 3000, Epsilon.of(1))) == 3
    plan = RandomTrees(parts="part").plan(PARTED, 1)
    assert [step.question for step in plan.steps] == [SIZE, LEAVES]
    plan = RandomTrees(parts="part", height=1).plan(PARTED, 1)
    assert [step.question for step in plan.steps] == [LEAVES]


def test_one_router_for_all_parts_sends_each_row_through_its_own():
    trees = [
        Cells((Branch("sex", (~0, ~1)),), 2),
        Cells(),
        Cells((Branch("sex", (1, ~0)), Cut("age", 5, ~1, ~2)), 3),
    ]
    whole = one_per_value("part", trees)
    whole.check(PARTED)
    codes = {
        "part": np.array([0, 0, 1, 2, 2, 2]),
        "sex": np.array([0, 1, 1, 1, 0, 0]),
        "age": np.array([9, 9, 9, 9, 4, 5]),
    }
    assert whole.route(codes, 6).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_structure_survives_the_way_through_a_tree():
    random = coins(3)
    for height in range(1, 6):
        structure = random_structure(PEOPLE, names_of(PEOPLE), height, random, 10**6)
        leaves = sum(split is None for split in structure.splits)
        built = structure.tree(PEOPLE, np.ones((leaves, 2), int)).freeze(certified(PEOPLE))
        assert Structure.of(built) == structure
        vectors = np.array([[random.randint(-9, 9) for _ in "ab"] for _ in range(leaves)])
        slow = structure.tree(PEOPLE, vectors).freeze(certified(PEOPLE))
        fast = structure.freeze(PEOPLE, vectors, certified(PEOPLE))
        for array in ("column", "threshold", "label", "counts", "has_counts", "total", "parent"):
            assert (getattr(slow, array) == getattr(fast, array)).all()
        assert built.cells.count == leaves


def certified(schema):
    line = PlanLine(0, "all", "none", "1")
    return Certificate("rdt", "", "1", "add_remove", schema.name, schema.fingerprint, (line,))


def test_negative_totals_do_not_turn_the_decision_around():
    """Algorithm 3 divides by the sum of all counts; where it is negative, the least count wins."""
    trees = []
    for counts in ([-9, -1], [2, -3]):
        builder = TreeBuilder(PEOPLE)
        builder.counts(builder.root, counts)
        trees.append(builder.freeze(certified(PEOPLE)))
    forest = Forest(tuple(trees), "counts", certified(PEOPLE))
    sums = np.array([-7, -4])
    assert (sums / sums.sum()).argmax() == 0  # what the printed formula says
    assert forest.predict(ROWS).tolist() == ["no"] * 8
    assert forest.predict_proba(ROWS)[0].tolist() == [0, 1]


def test_attributes_that_are_not_named_are_not_split_by():
    forest = RandomTrees(trees=9, height=3, attributes=("sex", "age")).fit(table(), 1)
    assert set(forest.columns) <= {"sex", "age"}


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"trees": 0}, "trees from 1 to 1000, not 0"),
        ({"trees": True}, "not True"),
        ({"trees": 2.0}, "not 2.0"),
        ({"height": 41}, "height from 1 to 40"),
        ({"rows": -1}, "rows from 1"),
        ({"parts": "nobody"}, "not 'nobody'"),
        ({"parts": "age"}, "categorical attribute"),
        ({"parts": "buys"}, "categorical attribute"),
        ({"parts": "part", "trees": 4}, "cannot be 4 trees"),
        ({"parts": "part", "attributes": ("part", "sex")}, "no tree splits by it"),
        ({"attributes": ("nobody",)}, "no attribute 'nobody'"),
        ({"parts": "sex", "attributes": ("sex",)}, "no tree splits by it"),
    ],
)
def test_bad_parameters_are_refused_before_a_charge(parameters, said):
    private = table(PARTED_ROWS, PARTED)
    with pytest.raises(LearnerError, match=said):
        RandomTrees(**parameters).fit(private, 1)
    assert private.spent() == Epsilon(0)


def test_parts_need_something_else_to_split_by():
    alone = replace(PARTED, attributes=PARTED.attributes[:1])
    with pytest.raises(LearnerError, match="nothing but 'part'"):
        RandomTrees(parts="part").plan(alone, 1)


@pytest.mark.slow
def test_trees_with_too_many_leaves_are_refused_before_a_charge():
    wide = schema_of([30] * 6)
    private = table({c.name: [] for c in wide}, wide)
    with pytest.raises(LearnerError, match=r"more than 262144 leaves.*Nothing was charged"):
        RandomTrees(trees=2, height=6).fit(private, 1)
    assert private.spent() == Epsilon(0)


def test_an_epsilon_that_cannot_be_shared_is_refused():
    with pytest.raises(LearnerError, match="too small"):
        RandomTrees().plan(PEOPLE, "0.000000019")
