"""The readable tree: which splits a node chooses from, what its leaves say, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage import study
from bocage.accounting import MemoryAccount
from bocage.epsilon import LARGEST, Epsilon
from bocage.errors import LearnerError, PlanError
from bocage.learners import ReadableTree
from bocage.learners.frontier import OpenNode
from bocage.learners.readable.leaves import smoothed
from bocage.learners.readable.lower_levels import Extent, Reach, _nodes, _shallow
from bocage.learners.readable.upper_levels import Rule
from bocage.model.export.text import to_text
from bocage.plan.splits import alone
from bocage.private import Candidate, Drawn
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from learners.spy import spy_executor

JOBS = Categorical("job", ("farmer", "miller", "smith", "cook", "tailor"))
AGE = Numeric("age", lower=0, upper=1, cells=1024)
SCHEMA = Schema("people", (JOBS, AGE), label=Categorical("ill", ("no", "yes")))


def test_a_split_by_all_values_is_offered_where_it_fits_and_single_values_where_not():
    here = OpenNode(0, ("job", "age"))
    assert here.small_candidates(SCHEMA, 5, 64, {})[0] == Candidate("job")
    assert here.small_candidates(SCHEMA, 4.9, 64, {})[0] == Candidate("job", values=(0, 1, 2, 3, 4))
    assert here.small_candidates(SCHEMA, 1.9, 64, {}) == ()


def test_values_that_were_parted_are_not_offered_again():
    here = OpenNode(0, ("job", "age"))
    only, rest = here.children(SCHEMA, ("job", alone(1)), 1)
    assert (only.node, only.attributes) == (1, ("age",))
    assert (rest.node, rest.attributes) == (2, ("job", "age"))
    assert only.branches == rest.branches == 2
    assert rest.small_candidates(SCHEMA, 100, 64, {})[0] == Candidate("job", values=(0, 2, 3, 4))
    for code in (0, 2):
        _, rest = rest.children(SCHEMA, ("job", alone(code)), 3)
    assert rest.small_candidates(SCHEMA, 100, 64, {})[0].values == (3,)  # the other one is the rest
    assert rest.children(SCHEMA, ("job", alone(3)), 5)[1].attributes == ("age",)


def test_thresholds_get_finer_as_the_box_gets_smaller():
    here = OpenNode(0, ("age",))
    (first,) = here.small_candidates(SCHEMA, 2, 64, {})
    assert first.thresholds == range(16, 1024, 16)
    (inside,) = OpenNode(1, ("age",), {"age": (32, 95)}).small_candidates(SCHEMA, 2, 64, {})
    assert inside.thresholds == range(33, 96)


def test_thresholds_that_were_found_are_offered_where_they_part_the_box():
    cuts = {"age": (2, 5, 40, 700)}
    (first,) = OpenNode(0, ("age",)).small_candidates(SCHEMA, 2, 64, cuts)
    assert first.thresholds == (2, 5, 40, 700)
    (inside,) = OpenNode(1, ("age",), {"age": (5, 39)}).small_candidates(SCHEMA, 2, 64, cuts) or (None,)
    assert inside is None  # a cut at 5 would leave nothing below it
    (inside,) = OpenNode(1, ("age",), {"age": (2, 40)}).small_candidates(SCHEMA, 2, 64, cuts)
    assert inside.thresholds == (5, 40)


@pytest.mark.parametrize("cuts", [(5, 2), (0, 2), (2, 2), (1024,)])
def test_thresholds_outside_the_column_are_refused(cuts):
    with pytest.raises(PlanError, match="thresholds from 1"):
        Candidate("age", 1, 1023, cuts=cuts).check(SCHEMA)


def test_a_tree_splits_values_that_lie_in_a_small_part_of_the_range():
    rng = np.random.default_rng(0)
    age = rng.uniform(0.5, 0.51, 4000)  # ten of 1024 codes, between two of the 64 thresholds
    rows = {"job": ["cook"] * 4000, "age": age, "ill": np.where(age < 0.505, "no", "yes")}
    model = ReadableTree().fit(study(rows, SCHEMA), "2")
    assert (model.predict(rows) == rows["ill"]).mean() > 0.8


def test_a_leaf_without_records_decides_as_its_surroundings_do():
    leaves = {1: np.array([900, 100]), 2: np.array([-1, 0])}
    root, large, empty = smoothed([-1, 0, 0], leaves, dict.fromkeys(leaves, Epsilon.of(1)))
    assert root[1] == large[1] == empty[1] == 0
    assert sum(root[0]) == 999
    assert sum(large[0]) == 996  # 1000 and -1, with 4 of the noise's 2 records for both: 1004 : 3
    assert empty[0] == [3, 0]


def test_a_large_leaf_keeps_its_own_shares():
    leaves = {1: np.array([900, 100]), 2: np.array([20, 480])}
    _, _, other = smoothed([-1, 0, 0], leaves, dict.fromkeys(leaves, Epsilon.of(1)))
    # 4 sqrt(2) records of the root's shares, 920 : 580; of its rows 504 : 1004, with 4 for either child.
    assert other == ([23, 478], 1)


@given(
    st.lists(st.integers(0, 30), max_size=12),
    st.integers(2, 4),
    st.one_of(st.none(), st.tuples(st.integers(1, 10**6), st.sampled_from([None, Epsilon.of(1)]))),
    st.randoms(use_true_random=False),
)
def test_counts_of_a_tree_add_up(grown, labels, rows, random):
    parents, open_ = [-1], [0]
    for number in grown:  # one leaf after another gets two or three children
        node = open_.pop(number % len(open_))
        for _ in range(2 + number % 2):
            open_.append(len(parents))
            parents.append(node)
    order = sorted(range(len(parents)), key=lambda node: _depth(parents, node))
    place = {node: i for i, node in enumerate(order)}
    parents = [-1 if parents[node] < 0 else place[parents[node]] for node in order]
    ends = sorted(place[node] for node in open_)
    leaves = {leaf: np.array([random.randint(-50, 500) for _ in range(labels)]) for leaf in ends}
    decided = np.array([random.randrange(labels) for _ in parents])
    nodes = smoothed(parents, leaves, dict.fromkeys(leaves, Epsilon.of("0.1")), decided, rows)
    for node, (counts, label) in enumerate(nodes):
        assert min(counts) >= 0
        if node in leaves:
            assert label == decided[node]
        assert counts[label] == max(counts)
        below = [nodes[i][0] for i, parent in enumerate(parents) if parent == node]
        if below:
            assert np.sum(below, axis=0).tolist() == counts
    if rows and rows[1] is None:
        assert sum(nodes[0][0]) == rows[0]


def _depth(parents, node):
    return 0 if parents[node] < 0 else 1 + _depth(parents, parents[node])


def test_the_number_of_rows_is_known_better_from_its_own_count():
    leaves = {1: np.array([400, 300]), 2: np.array([200, 300])}
    paid = dict.fromkeys(leaves, Epsilon.of("0.1"))  # four counts are as noisy as four times one
    (root, _), *_ = smoothed([-1, 0, 0], leaves, paid, rows=(1000, Epsilon.of("0.1")))
    assert sum(root) == 1040  # four parts of 1000, one of 1200


def rows(size):
    jobs = [JOBS.values[i % 5] for i in range(size)]
    ages = [(i * 37 % size) / size for i in range(size)]
    ill = ["yes" if job == "smith" or age >= 0.75 else "no" for job, age in zip(jobs, ages, strict=True)]
    return {"job": jobs, "age": ages, "ill": ill}


def fit(learner, size, epsilon):
    executor = spy_executor(SCHEMA, rows(size), silent=True, has_ledger=False)
    return learner.fit(PrivateTable(executor, MemoryAccount.of(Epsilon(LARGEST)), WHOLE), epsilon)


@pytest.mark.parametrize("drawn", [True, False])
def test_a_tree_of_many_records_has_counts_and_says_the_rule(drawn):
    tree = fit(ReadableTree(drawn=drawn), 1000, 2)
    assert tree.has_counts.all()
    assert len(tree) <= 9  # subtrees that decide alike are one leaf
    right = tree.predict(rows(1000)) == np.array(rows(1000)["ill"])
    assert right.mean() > 0.99
    assert "age ≥ 0.75: yes" in to_text(tree)


@pytest.mark.parametrize("drawn", [True, False])
def test_a_tree_of_few_records_has_labels_alone(drawn):
    tree = fit(ReadableTree(drawn=drawn), 1000, 0.2)
    assert not tree.has_counts.any()


@pytest.mark.parametrize(("size", "named"), [(99, "max"), (100, "blend")])
def test_purity_counts_where_records_times_what_they_pay_reach_a_hundred(size, named):
    rule = Rule(SCHEMA, 2 * size, 4.0, 2.0, Epsilon.of(1), None)
    nodes = [OpenNode(1, ("age",), branches=branches) for branches in (2, 8)]
    assert rule.criterion(nodes, [Epsilon.of(1)] * 2).name == named


def test_a_declared_number_of_rows_leaves_all_of_epsilon_to_the_tree():
    plan = ReadableTree(rows=1000).plan(SCHEMA, 1)
    assert [str(step.epsilon) for step in plan.steps] == ["0.65", "0.35"]
    assert [str(step.epsilon) for step in ReadableTree().plan(SCHEMA, 1).steps] == [
        "0.05", "0.6175", "0.3325",
    ]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "leaves"), [("0.4", 20), ("2", 100), ("4", 100), ("400", 100)])
def test_leaves_keep_ten_records_on_average_however_large_epsilon_is(epsilon, leaves):
    half = Epsilon.of(epsilon).split([1, 1])
    assert ReadableTree()._rule(SCHEMA, 1000, *half, {}).most == pytest.approx(leaves)


@pytest.mark.parametrize("leaves", [2, 5])
def test_the_number_of_leaves_is_bounded_whatever_the_size(leaves):
    tree = fit(ReadableTree(leaves=leaves), 1000, 1000)
    assert len(tree.leaves) <= 3 * leaves


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"rows": 1.5}, {"leaves": 1}, {"leaves": None}, {"leaves": True}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(LearnerError, match=next(iter(wrong))):
        ReadableTree(**wrong).plan(SCHEMA, 1)


def extent(rows, epsilon, attributes, labels=2):
    schema = Schema("t", attributes, Categorical("y", tuple(map(str, range(labels)))))
    names = tuple(column.name for column in attributes)
    support = rows * epsilon
    return Extent(schema, names, rows, support, min(max(support / 20, 1), 1024), 2.0)


def numbers(count, cells=1024):
    return tuple(Numeric(f"x{i}", lower=0, upper=1, cells=cells) for i in range(count))


def values(count, size):
    return tuple(Categorical(f"a{i}", tuple(map(str, range(size)))) for i in range(count))


def test_as_many_levels_are_drawn_as_the_work_allows():
    assert extent(10_000, 1, values(8, 3)).reach() == Reach(5, 64)
    assert extent(300, 1, values(3, 2)).reach() == Reach(3, 64)  # no attribute is left for a fourth
    assert extent(60_000, 1, values(42, 3)).reach() == Reach(2, 16)
    assert extent(1_000, 1, numbers(2)).reach() == Reach(3, 64)
    assert extent(5_000, 1, numbers(2)).reach() == Reach(3, 16)
    assert extent(40_000, 1, numbers(10)).reach() == Reach(2, 16)
    assert extent(10**6, 1, numbers(10)).reach() is None


def test_a_number_of_rows_that_noise_made_too_low_costs_no_hours():
    assert extent(1, 0.001, numbers(10)).reach() == Reach(2, 8)
    assert extent(1, 0.0001, numbers(10)).reach() is None


def test_an_epsilon_that_floats_cannot_bear_draws_nothing():
    assert extent(1000, 10.0, values(4, 3)).reach() is not None
    assert extent(1000, 10.0**8, values(4, 3)).reach() is None


def test_a_drawn_tree_finds_what_two_attributes_say_together():
    random = np.random.default_rng(5)
    codes = random.integers(0, 2, (400, 6))
    schema = Schema("xor", values(6, 2), Categorical("y", ("0", "1")))
    data = {f"a{i}": [str(code) for code in codes[:, i]] for i in range(6)}
    data["y"] = [str(code) for code in codes[:, 1] ^ codes[:, 4]]
    tree = ReadableTree().fit(study(data, schema), 1)
    # The best other tree is wrong about 190 of 400 rows: it has less than exp(-150) of the weight.
    assert len(tree.leaves) == 4
    assert (tree.predict(data) == np.array(data["y"])).all()


def test_counts_follow_what_a_drawn_tree_decides():
    leaves = {1: np.array([900, 100]), 2: np.array([20, 480])}
    decided = np.array([0, 0, 0])
    nodes = smoothed([-1, 0, 0], leaves, dict.fromkeys(leaves, Epsilon.of(1)), decided)
    assert [label for _, label in nodes] == [0, 0, 0]
    assert nodes[2][0] == [478, 23]


def test_a_node_above_says_what_most_of_its_records_are():
    leaves = {1: np.array([900, 0]), 2: np.array([20, 40]), 3: np.array([0, 60])}
    decided = np.array([1, 0, 1, 1])  # the root as most of its leaves decide
    nodes = smoothed([-1, 0, 0, 0], leaves, dict.fromkeys(leaves, Epsilon.of(1)), decided)
    assert [label for _, label in nodes] == [0, 0, 1, 1]
    ill = nodes[0][0][1]
    assert ill < 120
    assert nodes[0][0][0] == 1020 - ill


@pytest.mark.parametrize("drawn", [True, False])
def test_counts_of_a_grown_tree_add_up_and_its_nodes_say_what_their_records_are(drawn):
    jobs = ["farmer"] * 3600 + [job for job in JOBS.values[1:] for _ in range(100)]
    data = {"job": jobs, "age": [0.5] * 4000}
    data["ill"] = ["no" if job == "farmer" else "yes" for job in jobs]
    model = ReadableTree(rows=4000, attributes=("job",), drawn=drawn).fit(study(data, SCHEMA), 2)
    assert len(model.leaves) == 5  # another tree is wrong about 100 rows: e**190 times less likely
    assert model.counts.sum(axis=1)[0] == 4000
    assert model.counts[1:].sum(axis=0).tolist() == model.counts[0].tolist()
    assert model.label.tolist() == [0, 0, 1, 1, 1, 1]  # most leaves are ill, most records are not


def test_a_drawn_tree_that_is_too_large_for_a_model_loses_its_lowest_levels():
    def leaf(label):
        return Drawn(label)

    deep = Drawn(-1, ("a", None), (leaf(1), Drawn(-1, ("b", None), (leaf(0), leaf(2), leaf(2)))))
    assert _nodes(deep) == 6
    assert _shallow(deep, 2) == deep
    assert _shallow(deep, 1) == Drawn(-1, ("a", None), (leaf(1), leaf(2)))
    assert _shallow(deep, 0) == leaf(2)
