"""Scores in the place of a tree: what `readable` and `auto` find."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from bocage import study
from bocage.errors import LearnerError
from bocage.learners import Auto, ReadableTree
from bocage.learners.readable.learner import favor_of
from bocage.model import AdditiveModel
from bocage.schema import Categorical, Numeric, Schema
from learners.score.tables import (
    BOARD,
    GRADES,
    boards,
    grades,
)


def test_auto_and_a_tree_that_may_be_a_scorecard_take_one_for_a_sum_and_a_tree_for_a_tree():
    rows = boards(600)
    with study(rows, BOARD) as table:
        assert isinstance(ReadableTree(scorecards=True).fit(table, 2), AdditiveModel)
        assert isinstance(Auto().fit(table, 2), AdditiveModel)
        assert not isinstance(ReadableTree().fit(table, 2), AdditiveModel)
    odd = pa.array(np.where((np.array(rows["s0"]) == "x") ^ (np.array(rows["s1"]) == "x"), "yes", "no"))  # fmt: skip
    with study(rows.set_column(5, "won", odd), BOARD) as table:
        model = ReadableTree(scorecards=True).fit(table, 2)
    assert not isinstance(model, AdditiveModel)
    assert model.certificate.learner == "readable"


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


@pytest.mark.parametrize("drawn", [True, False])
def test_numeric_attributes_climb_too(drawn):
    schema = Schema("t", (Numeric("x", 0, 4, 4), Numeric("z", 0, 4, 4)), Categorical("y", ("0", "1")))
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 4, (800, 2))
    told = pa.table(
        {"x": cells[:, 0] + 0.5, "z": cells[:, 1] + 0.5, "y": (cells.sum(axis=1) >= 3).astype(int).astype(str)}
    )
    with study(told, schema) as table:
        model = ReadableTree(drawn=drawn).fit(table, 2)
    right = (model.predict(told) == np.array(told["y"])).mean()
    assert right > (0.97 if drawn else 0.7)


def test_trees_are_favored_where_records_are_plenty():
    assert [favor_of(support) for support in (0, 500, 535, 1193, 1e9)] == [0, 0, 1, 20, 512]


def test_a_wish_for_ordinal_scores_is_yes_or_no():
    with pytest.raises(LearnerError, match="ordinal_scores to be True or False"):
        ReadableTree(ordinal_scores=1).plan(GRADES, 1)
