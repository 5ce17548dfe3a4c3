from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.engine.reference import code_of
from bocage.errors import ModelError
from bocage.model import Tree, TreeBuilder
from bocage.plan import bind, parse
from bocage.schema import Categorical, Numeric, Schema
from filters import accepts
from models import (
    certificate_of,
    node_of,
    prediction_of,
    records,
    schema_of,
    schemas,
    table_of,
    trees,
)

JOBS = Categorical("job", ("farmer", "clerk", "nurse"))
AGE = Numeric("age", 0, 99, step=1)
SCHEMA = schema_of(JOBS, AGE)


def small_tree() -> Tree:
    """age < 40 decides by job; from 40 on all say yes."""
    builder = TreeBuilder(SCHEMA)
    young, old = builder.split(builder.root, "age", 40)
    builder.counts(builder.root, [10, 20])
    farmer, clerk, nurse = builder.split(young, "job")
    builder.counts(farmer, [7, 1])
    builder.counts(clerk, [2, 6])
    builder.counts(nurse, [-3, -1])
    builder.counts(old, [0, 9])
    return builder.freeze(certificate_of(SCHEMA))


def test_rows_follow_the_tests_to_their_leaf():
    tree = small_tree()
    codes = {"age": [39, 39, 40, 0], "job": [0, 1, 0, 2]}
    assert tree.apply_codes(codes).tolist() == [3, 4, 2, 5]
    assert tree.predict_codes(codes).tolist() == [0, 1, 1, 1]


def test_a_dropped_code_stops_at_the_node_that_asks_for_it():
    tree = small_tree()
    codes = {"age": [-1, 39, 40], "job": [0, -1, -1]}
    assert tree.apply_codes(codes).tolist() == [0, 1, 2]
    # The inner node without counts decides by the sum of the counts below: 6 against 6.
    assert tree.predict_codes(codes).tolist() == [1, 0, 1]


def test_shares_come_from_the_nearest_positive_counts():
    tree = small_tree()
    shares = tree.predict_proba_codes({"age": [0, 0, 0, 0], "job": [0, 1, 2, -1]})
    third = [10 / 30, 20 / 30]
    assert shares.tolist() == [[7 / 8, 1 / 8], [2 / 8, 6 / 8], third, third]


def test_shares_without_any_counts_are_all_for_the_decision():
    builder = TreeBuilder(SCHEMA)
    builder.label(0, 1)
    tree = builder.freeze(certificate_of(SCHEMA))
    assert tree.predict_proba_codes({"age": [1, 2]}).tolist() == [[0, 1], [0, 1]]
    assert tree.predict({"whatever": ["x", "y"]}).tolist() == ["yes", "yes"]


def test_raw_values_of_a_table_are_encoded_as_the_schema_says():
    rows = {"age": [39.4, 39.5, None, 500.0], "job": ["farmer", "clerk", "nurse", None]}
    assert small_tree().predict(rows).tolist() == ["no", "yes", "yes", "yes"]


@settings(deadline=None, max_examples=60)
@given(schema=schemas(), data=st.data())
def test_any_tree_predicts_as_it_reads(schema: Schema, data):
    tree = data.draw(trees(schema))
    rows = data.draw(records(schema))
    table = table_of(schema, rows)
    assert tree.apply_codes(tree.encode(table)).tolist() == [node_of(tree, row) for row in rows]
    assert tree.predict(table).tolist() == [prediction_of(tree, row) for row in rows]
    shares = tree.predict_proba(table)
    assert np.all(shares >= 0)
    assert np.allclose(shares.sum(axis=1), 1)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(schema=schemas(), data=st.data())
def test_its_cells_and_leaf_names_are_those_of_the_leaves(schema: Schema, data):
    tree = data.draw(trees(schema))
    tree.cells.check(schema)
    assert len(set(tree.leaf_names)) == len(tree.leaf_names) == tree.cells.count
    rows = data.draw(records(schema))
    codes = {c.name: np.array([code_of(c, row[c.name]) for row in rows]) for c in schema.attributes}
    kept = np.all([code >= 0 for code in codes.values()], axis=0)
    codes = {name: code[kept] for name, code in codes.items()}
    cells = tree.cells.route(codes, int(kept.sum()))
    leaves = [tree.leaves[cell] for cell in cells]
    assert tree.apply_codes(codes).tolist() == leaves
    for row, cell in zip(np.flatnonzero(kept).tolist(), cells.tolist(), strict=True):
        name = tree.leaf_names[cell]
        record = {c.name: code_of(c, rows[row][c.name]) for c in schema.attributes}
        assert accepts(bind(parse(name), schema), record)


def test_a_leaf_name_is_a_filter():
    assert small_tree().leaf_names == (
        "age >= 40",
        "age < 40 AND job = 'farmer'",
        "age < 40 AND job = 'clerk'",
        "age < 40 AND job = 'nurse'",
    )


def test_pruning_turns_nodes_into_leaves_that_decide_as_before():
    tree = small_tree()
    pruned = tree.pruned({0})
    assert len(pruned) == 3
    assert pruned.label.tolist() == tree.label[:3].tolist()
    assert pruned.leaf_names == ("age < 40", "age >= 40")
    mask = np.zeros(len(tree), bool)
    assert len(tree.pruned(mask)) == 1
    mask[:2] = True
    assert tree.pruned(mask).to_dict() == tree.to_dict()


@given(schema=schemas(), data=st.data())
@settings(deadline=None, max_examples=40)
def test_a_pruned_tree_reaches_the_nearest_node_that_is_left(schema: Schema, data):
    tree = data.draw(trees(schema))
    keep = data.draw(st.sets(st.integers(0, len(tree) - 1)))
    pruned = tree.pruned(keep)
    for row in data.draw(records(schema)):
        node, way = node_of(tree, row), []
        while node >= 0:
            way.append(node)
            node = int(tree.parent[node])
        stops = [n for n in reversed(way) if n not in keep]
        reached = stops[0] if stops else way[0]
        assert prediction_of(pruned, row) == tree.label_attribute.values[tree.label[reached]]


def test_a_tree_cannot_be_changed():
    tree = small_tree()
    for twin in (tree, copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):  # noqa: S301 - ours
        with pytest.raises(ValueError, match="read-only"):
            twin.counts[0, 0] = 7
        with pytest.raises(AttributeError):
            twin.label = twin.column
        assert twin.to_dict() == tree.to_dict()


def test_the_arrays_given_stay_the_callers_own():
    column = np.array([-1])
    tree = replace(small_tree().pruned(set()), column=column)
    column[0] = 0
    assert tree.column.tolist() == [-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"column": [5, -1, -1]}, "column that the schema does not have"),
        ({"threshold": [-1, -1, -1]}, "make no tree"),
        ({"column": [-1, 1, -1], "threshold": [-1, 40, -1]}, "make no tree"),
        ({"threshold": [0, -1, -1]}, "threshold lies"),
        ({"threshold": [100, -1, -1]}, "threshold lies"),
        ({"threshold": [40, 3, -1]}, "threshold lies"),
        ({"label": [0, 0, 2]}, "decides for a label"),
        ({"label": [0, 0]}, "differ in length"),
        ({"counts": [[0, 0]] * 2}, "count for every node"),
        ({"total": [1, 0, 0]}, "not released"),
        ({"counts": [[0, 0], [2**43, 0], [0, 0]]}, "within"),
    ],
)
def test_arrays_that_make_no_tree_are_refused(change, message):
    tree = small_tree().pruned({0})
    with pytest.raises(ModelError, match=message):
        replace(tree, **{name: np.array(value) for name, value in change.items()})


def test_codes_that_do_not_fit_are_refused():
    tree = small_tree()
    with pytest.raises(ModelError, match="'job', which is not given"):
        tree.predict_codes({"age": [1]})
    with pytest.raises(ModelError, match="differ in length"):
        tree.predict_codes({"age": [1], "job": [0, 1]})
    with pytest.raises(ModelError, match=r"lie in -1\.\.2"):
        tree.predict_codes({"age": [1], "job": [3]})
    with pytest.raises(ModelError, match="whole numbers"):
        tree.predict_codes({"age": [1.5], "job": [0]})


def test_a_certificate_about_another_schema_is_refused():
    other = certificate_of(schema_of(JOBS))
    with pytest.raises(ModelError, match="another schema"):
        replace(small_tree(), certificate=other)


def test_many_rows_are_routed_block_by_block():
    tree = small_tree()
    rng = np.random.default_rng(5)
    codes = {"age": rng.integers(-1, 100, 70_001), "job": rng.integers(-1, 3, 70_001)}
    halves = [{k: v[part] for k, v in codes.items()} for part in (slice(0, 11), slice(11, None))]
    assert tree.apply_codes(codes).tolist() == np.concatenate([tree.apply_codes(half) for half in halves]).tolist()
    assert tree.apply_codes({"age": [], "job": []}).tolist() == []
