"""Which points there are, and which choices of columns."""

from __future__ import annotations

from itertools import product

import pytest

from bocage.private import OrdinalScores
from bocage.private.joint.score.family import MOST, climbs, patterns_of
from bocage.schema import Categorical, Numeric
from private.joint.score.scores import BLOCKS, rising


@pytest.mark.parametrize("rich", [False, True])
@pytest.mark.parametrize("cells", range(1, 9))
@pytest.mark.parametrize("numeric", [False, True])
def test_patterns_are_few_distinct_and_there_with_their_opposites(cells, numeric, rich):
    values = tuple(map(str, range(cells)))
    column = Numeric("n", 0, 16, 16) if numeric else Categorical("c", values)
    found = patterns_of(column, cells, rich=rich)
    top = max(max(one) for one in found) if found else 0
    assert len({*found}) == len(found) <= max(2 * cells, 50)
    assert all(len(one) == cells and min(one) == 0 and 1 <= max(one) <= MOST for one in found)
    assert rich or {max(one) for one in found} == ({top} if found else set())
    assert {tuple(max(one) - p for p in one) for one in found} == {*found}
    assert {*patterns_of(column, cells, rich=False)} <= {*found}


def test_points_climb_along_the_values_or_fall():
    assert climbs(3, 2)[:5] == [(0, 0, 1), (0, 0, 2), (0, 1, 1), (0, 1, 2), (0, 2, 2)]
    assert climbs(2, 1) == [(0, 1), (1, 0)]
    for cells, top in product(range(2, 6), range(1, 4)):
        assert climbs(cells, top)[: len(climbs(cells, top)) // 2] == rising(cells, top, first=True)
        assert sorted(climbs(cells, top)) == sorted(rising(cells, top, first=False))


def test_wide_frames_are_left_out():
    scores = OrdinalScores(BLOCKS, 3, 1, 6)
    sizes = [scores.cells(frame) for kind in scores.kinds for frame in kind]
    assert max(sizes) == 6
    assert len(sizes) == 3 + 6 + 3  # of 12 cells are all three columns together
