"""The rows that an engine lists are the reference's, in whatever order and batches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from cases import Case, cases
from hypothesis import HealthCheck, given, settings
from makers_local import numpy

from bocage.engine.reference import ReferenceEngine
from bocage.errors import BocageError, PlanError
from bocage.plan import Cells, Cut, Question, bind, col
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "t",
    (
        Numeric("age", Fraction(0), Fraction(100), 10),
        Categorical("tree", ("oak", "elm", "other"), outside="other"),
    ),
)
TABLE = {"age": [5.0, 15.0, None, 99.0, 15.0], "tree": ["elm", "ash", "oak", "oak", "elm"]}


def lines(engine, question):
    """All rows, sorted: an engine promises no order."""
    found = [batch.T.tolist() for batch in engine.rows(question)]
    return sorted(map(tuple, (row for batch in found for row in batch)))


def test_rows_are_listed_as_codes_in_the_order_of_the_columns(open_table):
    with open_table(TABLE, SCHEMA) as engine:
        listed = lines(engine, Question(columns=("tree", "age")))
        assert listed == [(0, 9), (1, 0), (1, 1), (2, 1)]


def test_a_filter_and_a_dropping_column_that_is_not_listed_leave_rows_out(open_table):
    with open_table(TABLE, SCHEMA) as engine:
        where = bind(col("age") < 20, SCHEMA)
        assert lines(engine, Question(where=where, columns=("tree",))) == [(1,), (1,), (2,)]


def test_rows_can_be_listed_again_and_a_listing_can_be_left_early(open_table):
    question = Question(columns=("tree",))
    with open_table(TABLE, SCHEMA) as engine:
        first = lines(engine, question)
        for _ in engine.rows(question):
            break
        assert lines(engine, question) == first
        assert engine.answer([question])[0].totals.tolist() == [[4]]


def test_an_empty_table_lists_nothing(open_table):
    empty = {"age": [None], "tree": ["oak"]}
    with open_table(empty, SCHEMA) as engine:
        assert lines(engine, Question(columns=("tree", "age"))) == []


def test_cells_labels_and_unknown_columns_are_refused(open_table, maker):
    if maker is numpy:
        pytest.skip("the reference is given what the other engines have checked")
    with open_table(TABLE, SCHEMA) as engine:
        for question in (
            Question(Cells((Cut("age", 3, ~0, ~1),), 2), columns=("tree",)),
            Question(label="tree", columns=("age",)),
            Question(columns=()),
        ):
            with pytest.raises(PlanError, match="by columns and a filter"):
                list(engine.rows(question))
        with pytest.raises(BocageError):
            list(engine.rows(Question(columns=("no such column",))))


@pytest.mark.slow
def test_every_listing_equals_the_reference(maker, request):
    if maker is numpy:
        pytest.skip("the reference itself")
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    examples = max(getattr(maker, "examples", 60) // 6, 3)

    @settings(max_examples=examples, deadline=None, suppress_health_check=slow)
    @given(cases())
    def check(case: Case) -> None:
        reference = ReferenceEngine(case.columns, case.schema)
        names = tuple(column.name for column in case.schema)
        with maker(case.columns, case.schema, request) as engine:
            for asked in case.questions:
                question = Question(where=asked.where, columns=names)
                assert lines(engine, question) == lines(reference, question)

    check()


def test_more_rows_than_a_batch_are_all_listed(open_table, maker):
    # Some makers write row groups of three rows, each of which is a batch.
    thirds = 100 if maker.__name__.endswith("parquet") else 50_000
    values = ["oak", "elm", "elm"] * thirds
    with open_table({"tree": values, "age": [5.0] * len(values)}, SCHEMA) as engine:
        batches = list(engine.rows(Question(columns=("tree",))))
    assert max(batch.shape[1] for batch in batches) <= 2**17 or len(batches) == 1
    assert np.bincount(np.concatenate(batches, axis=1)[0]).tolist() == [thirds, 2 * thirds]
