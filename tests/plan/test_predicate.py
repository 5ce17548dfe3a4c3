from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import PlanError, PredicateError
from bocage.plan import ALWAYS, Predicate, bind, col
from bocage.plan.predicate import (
    MOST_DEPTH,
    MOST_NODES,
    And,
    Compare,
    Every,
    Not,
    Or,
    Some,
    columns_of,
    ranges,
    to_json,
)
from bocage.plan.predicate import Test as CodeTest  # pytest would collect the name Test
from filters import ALL_CODES, SCHEMA, accepts, filters, means


def accepted(predicate: Predicate) -> list[bool]:
    bound = bind(predicate, SCHEMA)
    return [accepts(bound, codes) for codes in ALL_CODES]


@pytest.mark.slow
@given(filters())
def test_a_bound_filter_accepts_the_codes_that_the_filter_means(predicate: Predicate) -> None:
    assert accepted(predicate) == [means(predicate, codes) for codes in ALL_CODES]


@pytest.mark.slow
@given(filters(), filters())
def test_de_morgan(first: Predicate, second: Predicate) -> None:
    assert bind(~(first & second), SCHEMA) == bind(~first | ~second, SCHEMA)
    assert bind(~(first | second), SCHEMA) == bind(~first & ~second, SCHEMA)


@given(filters())
def test_a_filter_and_its_negation_share_no_row_and_miss_none(predicate: Predicate) -> None:
    assert [not answer for answer in accepted(predicate)] == accepted(~predicate)
    assert bind(~~predicate, SCHEMA) == bind(predicate, SCHEMA)


@given(filters())
def test_ranges_are_disjoint_ascending_and_inside_the_column(predicate: Predicate) -> None:
    def look(bound: CodeTest | Every | Some) -> None:
        if not isinstance(bound, CodeTest):
            for part in bound.parts:
                look(part)
            return
        ends = [-2]
        for low, high in bound.ranges:
            assert ends[-1] + 1 < low <= high  # neighbors would have been joined
            ends.append(high)
        assert ends[-1] < SCHEMA[bound.column].cells

    look(bind(predicate, SCHEMA))


def test_the_same_filter_in_other_parentheses_is_the_same() -> None:
    a, b, c = col("age") > 0, col("age") < 2, col("job") == ""
    assert bind(a & (b & c), SCHEMA) == bind((a & b) & c, SCHEMA) == bind(And((a, b, c)), SCHEMA)
    assert bind(And((a,)), SCHEMA) == bind(Or((a,)), SCHEMA) == bind(a, SCHEMA)
    assert bind(None, SCHEMA) == bind(And(()), SCHEMA) == ALWAYS


def test_bound_filters_name_their_columns_and_become_plain_data() -> None:
    bound = bind((col("age") >= 0) & ~col("job").is_in("farmer", ""), SCHEMA)
    assert columns_of(bound) == {"age", "job"}
    assert to_json(bound) == {"every": [{"column": "age", "codes": [[2, 5]]}, {"column": "job", "codes": [[1, 1]]}]}


def test_numbers_of_numpy_are_numbers() -> None:
    plain = bind(col("age") == 1, SCHEMA)
    assert bind(col("age") == np.int64(1), SCHEMA) == plain
    assert bind(col("age") == np.float64(1), SCHEMA) == plain
    assert bind(col("age") == np.float32(1), SCHEMA) == plain


@pytest.mark.parametrize(
    ("predicate", "message"),
    [
        (col("size") == 1, "table 't' has no column 'size'"),
        (col("job") == "smith", "'smith' is not a value of column 'job'. Its values are 'farmer'"),
        (col("job") == 3, "3 is not a value of column 'job'"),
        (col("job") < "farmer", "'job' is categorical: it can be compared with =, != and IN"),
        (col("job").between("a", "b"), "'job' is categorical"),
        (col("age") == "old", "'age' is numeric and cannot be compared with 'old'"),
        (col("age") > 4, r"4 is outside the domain of column 'age', \[-2, 3\]"),
        (
            col("age") == 0.5,
            "0.5 is not on the grid of column 'age', which goes from -2 in steps of 1",
        ),
        (col("Not") == 0.5, "'Not' is continuous: ask for a range"),
        (col("age").is_in(), "IN on column 'age' needs at least one value"),
        (Compare("age", "~", 1), "'~' is no comparison; there are = != < <= > >="),
        (Compare("age", "=", [1]), "text or numbers, not list"),
        (7, "made with col\\(...\\) or as text, not from int"),
    ],
)
def test_a_filter_that_does_not_fit_the_schema_is_refused(predicate: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        bind(predicate, SCHEMA)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (Decimal("NaN"), "finite"),
        (Decimal("sNaN"), "finite"),
        (Decimal("-Infinity"), "finite"),
        (10**401, "400 digits"),
        (Fraction(1, 10**401), "400 digits"),
        (Decimal("1e999999999"), "400 digits"),
        (Decimal("1e-999999999"), "400 digits"),
        (True, "text or numbers, not bool"),
        (None, "text or numbers, not NoneType"),
        (1j, "text or numbers, not complex"),
        (np.True_, "text or numbers, not bool"),
    ],
)
def test_a_filter_compares_with_text_and_finite_numbers_only(value: Any, message: str) -> None:
    with pytest.raises(PredicateError, match=message):
        col("age") >= value  # noqa: B015 - the comparison itself refuses


def test_python_words_cannot_combine_filters() -> None:
    with pytest.raises(PredicateError, match="combine filters with &"):
        bool(col("age") > 0)
    with pytest.raises(PredicateError, match="combine filters with &"):
        _ = 0 < col("age") < 3


def test_a_filter_too_deep_or_too_large_is_refused() -> None:
    deep = col("age") > 0
    for _ in range(MOST_DEPTH):
        deep = Not(deep)
    bind(deep, SCHEMA)
    with pytest.raises(PredicateError, match="too large: at most 4096 parts nested 64 deep"):
        bind(Not(deep), SCHEMA)
    chain = col("age") > 0
    for _ in range(MOST_NODES - 2):
        chain = chain & (col("age") > 0)
    bind(chain, SCHEMA)
    with pytest.raises(PredicateError, match="too large"):
        bind(chain & chain, SCHEMA)
    with pytest.raises(PredicateError, match="too large"):
        bind(col("age").is_in(*[1] * MOST_NODES), SCHEMA)


@given(st.sets(st.integers(0, 30)))
def test_ranges_cover_exactly_the_codes(codes: set[int]) -> None:
    covered = ranges(codes)
    assert {code for low, high in covered for code in range(low, high + 1)} == codes
    assert all(a[1] + 1 < b[0] for a, b in pairwise(covered))
