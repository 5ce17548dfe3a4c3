"""Scorecards as a learner: what it finds, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bocage import study
from bocage.errors import LearnerError
from bocage.learners import ReadableTree, Scorecard
from bocage.learners.discretization import Spreads
from bocage.learners.score.rule import scorecards_of
from bocage.model import AdditiveModel
from bocage.schema import Categorical, Schema
from learners.score.tables import (
    BOARD,
    boards,
)


def test_a_sum_over_many_attributes_is_found_with_few_records():
    rows, fresh = boards(600), boards(2000, seed=2)
    with study(rows, BOARD) as table:
        model = Scorecard().fit(table, 1)
    assert isinstance(model, AdditiveModel)
    # 20 of 600 rows more right is e**20 times as likely: all but certain among 10**7 systems.
    assert (model.predict(fresh) == np.array(fresh["won"])).mean() > 0.97


def test_attributes_of_too_many_values_give_no_points_and_alone_are_refused():
    wide = Categorical("w", tuple(map(str, range(40))))
    label = Categorical("y", ("0", "1"))
    both = Schema("t", (wide, Categorical("c", ("a", "b"))), label)
    assert [b.columns for b in scorecards_of(both, ("w", "c"), 9, 1.0, Spreads()).blocks] == [("c",)]
    with pytest.raises(LearnerError, match="2 to 32 values"):
        Scorecard().plan(Schema("t", (wide,), label), 1)
    assert ReadableTree(scorecards=True).plan(Schema("t", (wide,), label), 1)
    with pytest.raises(LearnerError, match="scorecards to be True or False"):
        ReadableTree(scorecards=1).plan(both, 1)
