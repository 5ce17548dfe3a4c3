from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bocage.errors import SchemaError
from bocage.schema import DROP, MOST_CELLS, MOST_VALUES, Categorical, Numeric, number

BOUNDS = st.one_of(
    st.integers(-(10**15), 10**15).map(Fraction),
    st.decimals(-1000, 1000, places=4).map(Fraction),
    st.fractions(-(10**6), 10**6, max_denominator=10**6),
)


def accepted(**declared: object) -> Numeric:
    """A declared grid, unless the schema refuses it: then Hypothesis looks for another."""
    try:
        return Numeric("x", **declared)  # type: ignore[arg-type] # made by strategies
    except SchemaError:
        assume(False)
        raise


def codes_to_try(column: Numeric) -> set[int]:
    last = column.cells - 1
    spread = {last * part // 23 for part in range(24)}
    return {0, min(1, last), max(0, last - 1), last, *spread}


@given(BOUNDS, st.fractions(Fraction(1, 10**6), 10**6), st.integers(1, MOST_CELLS - 1))
@example(Fraction(10**14), Fraction(1, 100), 60_000)
@example(Fraction(10**15 - 65_536), Fraction(1), 65_535)
@example(Fraction("0.1"), Fraction("0.1"), 65_535)
@example(Fraction("-0.3"), Fraction(1, 3), 2)
def test_a_grid_point_has_its_own_code(lower: Fraction, step: Fraction, steps: int) -> None:
    column = accepted(lower=lower, upper=lower + steps * step, step=step)
    assert column.cells == steps + 1
    for code in codes_to_try(column):
        assert column.cell_of(column.value(code)) == code
        assert column.cell_of(float(column.value(code))) == code


@given(BOUNDS, BOUNDS, st.integers(1, MOST_CELLS))
@example(Fraction(0), Fraction(1), 10)
@example(Fraction(10**15 - 1), Fraction(10**15), 1024)
@example(Fraction(0), Fraction(1, 10**150), 1024)
def test_the_middle_of_a_cell_has_its_code(lower: Fraction, upper: Fraction, cells: int) -> None:
    column = accepted(lower=lower, upper=upper, cells=cells)
    for code in codes_to_try(column):
        assert column.cell_of(column.value(code)) == code
    assert column.edge(0) == lower
    assert column.edge(cells) == upper


@given(BOUNDS, BOUNDS, st.integers(1, MOST_CELLS), st.floats(-2e15, 2e15))
def test_codes_rise_with_the_number_and_never_leave_the_grid(
    lower: Fraction, upper: Fraction, cells: int, value: float
) -> None:
    column = accepted(lower=lower, upper=upper, cells=cells)
    code = column.cell_of(value)
    assert 0 <= code < cells
    assert column.cell_of(value + abs(value)) >= code
    assert column.cell_of(float("inf")) == cells - 1
    assert column.cell_of(float("-inf")) == 0


@given(BOUNDS, BOUNDS, st.integers(1, MOST_CELLS), st.data())
def test_fixed_point_numbers_are_the_values_exactly(
    lower: Fraction, upper: Fraction, cells: int, data: st.DataObject
) -> None:
    column = accepted(lower=lower, upper=upper, cells=cells)
    unit, first, slope = column.fixed_point
    code = data.draw(st.integers(0, cells - 1))
    assert unit > 0
    assert slope > 0
    assert (first + slope * code) * unit == column.value(code)


def test_fixed_point_of_whole_numbers_is_the_number_itself() -> None:
    age = Numeric("age", Fraction(18), Fraction(90), step=Fraction(1))
    assert age.fixed_point == (1, 18, 1)
    assert [age.value(code) for code in (0, 72)] == [18, 90]


def test_a_grid_finer_than_double_precision_is_refused() -> None:
    with pytest.raises(SchemaError, match="too fine for double precision") as caught:
        Numeric("x", Fraction(10**14), Fraction(10**14 + 1), step=Fraction(1, 1000))
    assert caught.value.at == ("step",)
    with pytest.raises(SchemaError, match="too fine"):
        Numeric("x", Fraction(0), Fraction(1, 10**250), cells=2)


@pytest.mark.parametrize(
    ("declared", "message", "key"),
    [
        ({"lower": 5, "upper": 5}, "'x' needs lower < upper, not 5 and 5", "lower"),
        ({"lower": 0, "upper": 10**16}, "bound beyond 1e15", "upper"),
        ({"lower": 0, "upper": 1, "step": 0}, "step above 0", "step"),
        ({"lower": 0, "upper": 10, "step": 3}, "the step 3 does not divide the range", "step"),
        ({"lower": 0, "upper": 10**6, "step": 1}, "1000001 grid cells; 1 to 65536", "step"),
        ({"lower": 0, "upper": 1, "cells": 0}, "has 0 grid cells", "cells"),
        ({"lower": float("nan"), "upper": 9}, "lower must be a finite number", "lower"),
        ({"lower": 0, "upper": float("inf")}, "upper must be a finite number", "upper"),
        (
            {"lower": 0, "upper": 9, "missing": 10},
            r"missing entries to 10, outside \[0, 9\]",
            "missing",
        ),
    ],
)
def test_a_contradictory_number_column_is_refused(declared: dict[str, float], message: str, key: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Numeric("x", **declared)  # type: ignore[arg-type] # deliberately wrong
    assert caught.value.at == (key,)


@pytest.mark.parametrize(
    ("values", "rules", "message", "key"),
    [
        ((), {}, "empty list of values", "values"),
        (("a", "b", "a"), {}, "lists the value 'a' twice", "values"),
        (tuple(map(str, range(MOST_VALUES + 1))), {}, "more than 65536 values", "values"),
        (("a",), {"missing": "b"}, "sends missing entries to 'b', which is not in", "missing"),
        (("a",), {"outside": "b"}, "sends outside entries to 'b', which is not in", "outside"),
        (("a", "?"), {"marker": "?"}, "lists '\\?' as a value, but it also marks", "values"),
        (("a\0",), {}, "NUL or half a surrogate", "values"),
        (("\ud800",), {}, "NUL or half a surrogate", "values"),
    ],
)
def test_a_contradictory_list_of_values_is_refused(
    values: tuple[str, ...], rules: dict[str, str], message: str, key: str
) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Categorical("x", values, **rules)
    assert caught.value.at == (key,)


def test_a_float_bound_means_the_decimal_that_is_printed() -> None:
    column = Numeric("x", 0.1, 0.7, step=0.1)  # type: ignore[arg-type] # as people write it
    assert (column.lower, column.upper, column.cells) == (Fraction(1, 10), Fraction(7, 10), 7)


def test_missing_and_outside_go_where_the_owner_says() -> None:
    column = Categorical("x", ("a", "b", "?"), missing="?", outside="b", marker="?")
    assert (column.missing_code, column.outside_code) == (2, 1)
    plain = Categorical("x", ("a", "b"))
    assert (plain.missing_code, plain.outside_code) == (DROP, DROP)
    height = Numeric("h", Fraction(0), Fraction(10), cells=5, missing=Fraction(5))
    assert height.missing_code == 2
    assert Numeric("h", Fraction(0), Fraction(10)).missing_code == DROP


def test_the_text_of_a_code_says_what_it_stands_for() -> None:
    assert Categorical("x", ("a", "b")).text(1) == "b"
    assert Numeric("x", Fraction(0), Fraction(1), cells=4).text(1) == "[0.25, 0.5)"
    assert Numeric("x", Fraction(1000000), Fraction(1000001), step=Fraction(1, 2)).text(1) == ("1000000.5")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(10**6), "1000000"),
        (Fraction("0.1"), "0.1"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(10**20), "1e+20"),
        (Fraction(0), "0"),
    ],
)
def test_numbers_print_shortly(value: Fraction, text: str) -> None:
    assert number(value) == text
