from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.errors import ModelError
from bocage.model import Forest, Tree, TreeBuilder
from bocage.schema import Categorical
from models import certificate_of, forests, prediction_of, records, schema_of, schemas, table_of

SCHEMA = schema_of(Categorical("c", ("x", "y")), Categorical("d", ("x", "y")), labels=("a", "b", "z"))
CERTIFICATE = certificate_of(SCHEMA)


def stump(column: str, *leaves: list[int]) -> Tree:
    builder = TreeBuilder(SCHEMA)
    for node, counts in zip(builder.split(0, column), leaves, strict=True):
        builder.counts(node, counts)
    return builder.freeze(CERTIFICATE)


TREES = (
    stump("c", [90, 30, 0], [0, 5, -20]),
    stump("d", [1, 9, 0], [0, 0, 3]),
    stump("c", [-4, 2, 0], [1, 1, 1]),
)
ROW = {"c": ["x"], "d": ["x"]}


def test_counts_are_added_as_they_are():
    forest = Forest(TREES, "counts", CERTIFICATE)
    assert forest.predict(ROW).tolist() == ["a"]  # 87, 41, 0
    assert forest.predict_proba(ROW).tolist() == [[87 / 128, 41 / 128, 0]]
    other = {"c": ["y"], "d": ["y"]}  # 1, 6, -16
    assert forest.predict(other).tolist() == ["b"]
    assert forest.predict_proba(other).tolist() == [[1 / 7, 6 / 7, 0]]


def test_confidence_weighs_the_vote_of_each_tree():
    forest = Forest(TREES, "confidence", CERTIFICATE)
    # 0.75 for a; 0.9 and 1.0 for b
    assert forest.predict(ROW).tolist() == ["b"]
    assert forest.predict_proba(ROW)[0].tolist() == pytest.approx([0.75 / 2.65, 1.9 / 2.65, 0])


def test_a_tree_without_a_positive_count_has_no_weight():
    empty = stump("c", [-1, 0, -3], [0, 0, 0])
    forest = Forest((empty, TREES[0]), "confidence", CERTIFICATE)
    assert forest.predict(ROW).tolist() == ["a"]
    alone = Forest((empty,), "confidence", CERTIFICATE)
    assert alone.predict_proba(ROW).tolist() == [[1, 0, 0]]


def test_a_majority_needs_one_vote_each_and_ties_go_to_the_first_label():
    assert Forest(TREES, "majority", CERTIFICATE).predict(ROW).tolist() == ["b"]
    assert Forest(TREES[:2], "majority", CERTIFICATE).predict(ROW).tolist() == ["a"]


def test_a_row_that_stops_early_votes_with_the_counts_below():
    forest = Forest(TREES[:1], "counts", CERTIFICATE)
    assert forest.predict_proba({"c": [None]}).tolist() == [[90 / 125, 35 / 125, 0]]


@settings(deadline=None, max_examples=50)
@given(schema=schemas(), data=st.data())
def test_any_forest_predicts_as_it_reads(schema, data):
    forest = data.draw(forests(schema))
    rows = data.draw(records(schema))
    table = table_of(schema, rows)
    assert forest.predict(table).tolist() == [prediction_of(forest, row) for row in rows]
    assert forest.predict_proba(table).sum(axis=1) == pytest.approx([1.0] * len(rows))


def test_forests_that_cannot_vote_are_refused():
    with pytest.raises(ModelError, match="1 to 1024 trees"):
        Forest((), "majority", CERTIFICATE)
    with pytest.raises(ModelError, match="not 'loudly'"):
        Forest(TREES, "loudly", CERTIFICATE)  # type: ignore[arg-type] # on purpose
    with pytest.raises(ModelError, match="different schemas"):
        Forest(TREES, "majority", certificate_of(schema_of(Categorical("c", ("x",)))))
    builder = TreeBuilder(SCHEMA)
    builder.label(0, 1)
    with pytest.raises(ModelError, match="without counts"):
        Forest((builder.freeze(CERTIFICATE),), "counts", CERTIFICATE)


def test_a_copy_is_the_same_forest():
    forest = Forest(TREES, "counts", CERTIFICATE)
    assert copy.deepcopy(forest).to_dict() == forest.to_dict()
    assert len(forest) == 3
