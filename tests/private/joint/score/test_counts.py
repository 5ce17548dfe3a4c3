"""Rows by the points of a released scorecard, and by label."""

from __future__ import annotations

import numpy as np
import pytest

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.private import DrawnScorecard
from bocage.private.joint.score.counts import ScoredCounts
from private.joint.score.scores import BLOCKS, level_of, some

ONE = Epsilon.of(1)


def test_rows_are_counted_by_points_and_label():
    records = some(3, 8, 50)
    card = DrawnScorecard(((BLOCKS[0], (0, 1)), (BLOCKS[2], (2, 0))), 2, (0, 2))
    counts = level_of(records, 3).fit(ScoredCounts(card, "label", ONE))
    expected = np.zeros((4, 3), int)
    for a, _, n, label in records:
        expected[a + 2 * (n < 2), label] += 1
    assert counts.tolist() == expected.tolist()
    alone = level_of(records, 3).fit(ScoredCounts(DrawnScorecard((), 0, (1, 1)), "label", ONE))
    assert alone.tolist() == [expected.sum(axis=0).tolist()]


def test_points_for_other_cells_than_there_are_are_refused_before_a_charge():
    level, card = level_of([]), DrawnScorecard(((BLOCKS[0], (0, 1, 2)),), 1, (0, 1))
    with pytest.raises(PlanError, match="points for each cell"):
        level.fit(ScoredCounts(card, "label", ONE))
    assert level.remaining() == Epsilon.of(10)
