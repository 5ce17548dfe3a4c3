"""Filters over a small table, and what they mean in plain Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

from bocage.plan.predicate import (
    And,
    Between,
    Bound,
    Compare,
    Every,
    Not,
    OneOf,
    Or,
    Predicate,
    Test,
)
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "t",
    (
        Categorical("job", ("farmer", "it's", "")),
        Categorical('say "hi"', ("a", "b")),
        Numeric("age", Fraction(-2), Fraction(3), step=Fraction(1)),
        Numeric("capital-gain", Fraction(0), Fraction(2), step=Fraction(1, 3)),
        Numeric("Not", Fraction(0), Fraction(1), cells=5),
    ),
)
COLUMNS = [column.name for column in SCHEMA]
ALL_CODES = [dict(zip(COLUMNS, codes, strict=True)) for codes in product(*(range(column.cells) for column in SCHEMA))]

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _numbers(column: Numeric) -> st.SearchStrategy[Any]:
    exact = st.fractions(column.lower, column.upper, max_denominator=50)
    on_grid = st.integers(0, column.cells - 1).map(column.edge)
    decimals = st.decimals(float(column.lower), float(column.upper), places=3)
    floats = st.floats(float(column.lower), float(column.upper))
    return st.one_of(exact, on_grid, decimals, floats, decimals.map(int))


@st.composite
def tests(draw: st.DrawFn) -> Predicate:
    column = SCHEMA[draw(st.sampled_from(COLUMNS))]
    if isinstance(column, Categorical):
        if draw(st.booleans()):
            values = draw(st.lists(st.sampled_from(column.values), min_size=1, max_size=4))
            return OneOf(column.name, tuple(values))
        relation = draw(st.sampled_from(["=", "!="]))
        return Compare(column.name, relation, draw(st.sampled_from(column.values)))
    kind = draw(st.sampled_from(["between", "ordered", "equal", "in"]))
    if kind == "between":
        return Between(column.name, draw(_numbers(column)), draw(_numbers(column)))
    if kind == "ordered" or column.step is None:
        relation = draw(st.sampled_from(["<", "<=", ">", ">="]))
        return Compare(column.name, relation, draw(_numbers(column)))
    points = st.integers(0, column.cells - 1).map(column.edge)
    if kind == "in":
        return OneOf(column.name, tuple(draw(st.lists(points, min_size=1, max_size=4))))
    return Compare(column.name, draw(st.sampled_from(["=", "!="])), draw(points))


def filters() -> st.SearchStrategy[Predicate]:
    return st.recursive(
        tests(),
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts))),
            st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts))),
            st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
            st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
        ),
        max_leaves=8,
    )


def means(predicate: Predicate, codes: dict[str, int]) -> bool:
    """The meaning of a filter on one row: a number is the lower edge of its cell."""
    match predicate:
        case Not(part):
            return not means(part, codes)
        case And(parts):
            return all(means(part, codes) for part in parts)
        case Or(parts):
            return any(means(part, codes) for part in parts)
        case Compare(name, relation, value):
            return _RELATIONS[relation](_shown(name, codes), _exact(value))
        case OneOf(name, values):
            return _shown(name, codes) in [_exact(value) for value in values]
        case Between(name, low, high):
            shown = _shown(name, codes)
            assert isinstance(shown, Fraction)
            return _exact(low) <= shown <= _exact(high)
    raise AssertionError(predicate)


def accepts(bound: Bound, codes: dict[str, int]) -> bool:
    """The meaning of a bound filter on one row."""
    if isinstance(bound, Test):
        return any(low <= codes[bound.column] <= high for low, high in bound.ranges)
    parts = [accepts(part, codes) for part in bound.parts]
    return all(parts) if isinstance(bound, Every) else any(parts)


def _shown(name: str, codes: dict[str, int]) -> str | Fraction:
    column = SCHEMA[name]
    if isinstance(column, Categorical):
        return column.values[codes[name]]
    return column.edge(codes[name])


def _exact(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return Fraction(value) if isinstance(value, int | Fraction | Decimal) else Fraction(str(value))
