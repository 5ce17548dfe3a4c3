"""Sets of rows have one identity, however they are written; checked by listing the points of a grid."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.errors import PlanError
from bocage.plan import ALWAYS, OUTSIDE, Branch, Cells, Cut
from bocage.plan import regions as regions_module
from bocage.plan.predicate import Every, Some, ranges
from bocage.plan.predicate import Test as CodeTest
from bocage.plan.regions import both, filters_of, geometry_of
from bocage.schema import Categorical, Numeric, Schema

SIZES = {"a": 3, "b": 2, "c": 4}
SCHEMA = Schema(
    "t",
    (
        *(Categorical(name, tuple(map(str, range(SIZES[name])))) for name in "ab"),
        Numeric("c", lower=0, upper=3, step=1),
    ),
)
POINTS = list(product(*(range(size) for size in SIZES.values())))
PLACE = {name: i for i, name in enumerate(SIZES)}


def holds(where, point):
    if isinstance(where, CodeTest):
        return any(low <= point[PLACE[where.column]] <= high for low, high in where.ranges)
    return (all if isinstance(where, Every) else any)(holds(part, point) for part in where.parts)


def points_of(where):
    return frozenset(point for point in POINTS if holds(where, point))


@st.composite
def code_tests(draw):
    column = draw(st.sampled_from(sorted(SIZES)))
    return CodeTest(column, ranges(draw(st.sets(st.integers(0, SIZES[column] - 1)))))


filters = st.recursive(
    code_tests(),
    lambda part: st.builds(
        lambda kind, parts: kind(tuple(parts)),
        st.sampled_from([Every, Some]),
        st.lists(part, max_size=3),
    ),
    max_leaves=12,
)


def listed(points):
    """A filter that names its points one by one."""
    each = [
        Every(tuple(CodeTest(name, ((code, code),)) for name, code in zip(SIZES, point, strict=True)))
        for point in points
    ]
    return Some(tuple(each))


def complement(where):
    if isinstance(where, CodeTest):
        codes = {code for low, high in where.ranges for code in range(low, high + 1)}
        return CodeTest(where.column, ranges(set(range(SIZES[where.column])) - codes))
    other = Some if isinstance(where, Every) else Every
    return other(tuple(complement(part) for part in where.parts))


@given(filters, filters)
def test_two_filters_have_one_identity_just_if_they_accept_the_same_points(one, other):
    names = [geometry_of(SCHEMA, [where]).name for where in (one, other)]
    assert (names[0] == names[1]) == (points_of(one) == points_of(other))
    assert geometry_of(SCHEMA, [listed(points_of(one))]).name == names[0]
    assert geometry_of(SCHEMA, [complement(complement(one))]).name == names[0]


@st.composite
def colorings(draw):
    """Every point in one of four regions or in none: all partitions of the grid are of this kind."""
    colors = draw(st.lists(st.integers(0, 4), min_size=len(POINTS), max_size=len(POINTS)))
    return [frozenset(p for p, c in zip(POINTS, colors, strict=True) if c == i) for i in range(4)]


@given(colorings(), colorings(), st.permutations(range(4)))
def test_partitions_have_one_identity_just_if_their_regions_are_the_same(one, other, order):
    geometry = geometry_of(SCHEMA, [listed(points) for points in one])
    second = geometry_of(SCHEMA, [listed(points) for points in other])
    assert (geometry.name == second.name) == ({*one, frozenset()} == {*other, frozenset()})
    shuffled = geometry_of(SCHEMA, [complement(complement(listed(one[i]))) for i in order])
    assert shuffled.name == geometry.name
    assert [shuffled.numbers[order.index(i)] for i in range(4)] == list(geometry.numbers)
    inhabited = [i for i in range(4) if one[i]]
    assert sorted(inhabited, key=lambda i: min(one[i])) == sorted(inhabited, key=lambda i: geometry.numbers[i])
    assert [geometry.numbers[i] is None for i in range(4)] == [not points for points in one]


@st.composite
def routers(draw):
    cells = Cells()
    for _ in range(draw(st.integers(0, 3))):
        column = draw(st.sampled_from(sorted(SIZES)))
        child = st.integers(0, 2) | st.just(OUTSIDE)
        if draw(st.booleans()):
            size = SIZES[column]
            node = Branch(column, (0, *draw(st.lists(child, min_size=size - 1, max_size=size - 1))))
        else:
            node = Cut(column, draw(st.integers(1, SIZES[column] - 1)), 0, draw(child))
        cells = cells.refine({draw(st.integers(0, cells.count - 1)): node})
        kept = draw(st.permutations(range(cells.count)))
        cells = cells.only(kept[: draw(st.integers(1, cells.count))])
    return cells


@given(routers())
def test_the_filter_of_a_cell_lets_through_just_the_rows_that_are_routed_there(cells):
    codes = {name: np.array([point[i] for point in POINTS]) for name, i in PLACE.items()}
    routed = cells.route(codes, len(POINTS)).tolist()
    wheres = filters_of(cells, SCHEMA)
    for point, cell in zip(POINTS, routed, strict=True):
        assert [holds(where, point) for where in wheres] == [i == cell for i in range(cells.count)]


@given(filters, filters)
def test_both_filters_together_let_through_what_each_does(one, other):
    assert points_of(both(one, other)) == points_of(one) & points_of(other)
    assert both(ALWAYS, one) == one or isinstance(one, Every)


@given(colorings(), colorings())
@settings(max_examples=50)
def test_what_is_too_large_for_a_diagram_keeps_the_identity_of_its_text(one, other):
    steps, regions_module.MOST_STEPS = regions_module.MOST_STEPS, -1000
    try:
        first, second = (geometry_of(SCHEMA, [listed(p) for p in each]) for each in (one, other))
    finally:
        regions_module.MOST_STEPS = steps
    assert first.name != second.name or one == other
    assert first.numbers == (0, 1, 2, 3)
    if any(one):
        assert first.name != geometry_of(SCHEMA, [listed(points) for points in one]).name


def test_a_cell_that_too_many_ways_lead_to_is_refused():
    columns = tuple(Categorical(f"x{i}", ("0", "1")) for i in range(15))
    # Ever again two ways to the same two nodes: the parity of all codes.
    nodes = [Branch("x0", (1, 2))]
    for i in range(1, 15):
        even = 2 * i + 1
        ends = (even, even + 1) if i < 14 else (~0, ~1)
        nodes += [Branch(f"x{i}", ends), Branch(f"x{i}", ends[::-1])]
    with pytest.raises(PlanError, match="ways lead to one part"):
        filters_of(Cells(tuple(nodes), 2), Schema("t", columns))
