"""Which columns a correction may look at together: all of a few, and those of a table before with one more."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.private.objective import interactions
from bocage.private.objective.interactions import Interactions


def test_a_few_columns_are_any_and_more_grow_from_what_was_drawn():
    free = Interactions((3, 2, 4), 2, 12)
    assert free.choices == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    assert free.out_of == [2 * 3] * 3 + [2 * 3] * 3
    small = Interactions((3, 2, 4), 2, 8)
    assert small.choices == ((0,), (1,), (2,), (0, 1), (1, 2))  # the other pair has twelve cells
    assert small.out_of == [6] * 3 + [4] * 2
    after = Interactions((3, 2, 4, 2), 2, 24, ((0, 2), (1,), (0, 2)))
    assert after.choices[10:] == ((0, 1, 2), (0, 2, 3))
    assert after.out_of[10:] == [3 * 2] * 2


@given(st.data())
def test_all_choices_together_are_certain_and_none_is_twice(data):
    sizes = tuple(data.draw(st.lists(st.integers(2, 5), min_size=1, max_size=6)))
    most = data.draw(st.integers(1, len(sizes)))
    among = Interactions(sizes, most, data.draw(st.integers(5, 80)))
    for _ in range(3):
        among = Interactions(sizes, most, among.cells, (*among.drawn, data.draw(st.sampled_from(among.choices))))
    assert sum(Fraction(1, one) for one in among.out_of) == 1
    assert len(set(among.choices)) == len(among.choices)
    assert all(prod(sizes[i] for i in one) <= among.cells for one in among.choices)
    assert all(list(one) == sorted(set(one)) for one in among.choices)


def test_groups_are_all_choices_in_order_and_fit(monkeypatch):
    monkeypatch.setattr(interactions, "GROUP", 10)
    among = Interactions((3, 2, 4, 6), 2, 24)
    groups = list(among.groups())
    assert sum(groups, ()) == among.choices
    assert all(len(one) == 1 or sum(map(among.size, one)) <= 10 for one in groups)
    assert max(map(len, groups)) > 1


@pytest.mark.parametrize("drawn", [(), ((0, 1),)])
def test_choices_that_begin_alike_are_neighbors(drawn):
    choices = Interactions((2,) * 6, 3, 64, drawn).choices
    fronts = [one[:-1] for one in choices if len(one) == 3]
    assert fronts == sorted(fronts)
