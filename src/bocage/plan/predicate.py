"""Filters as data: comparisons, IN, BETWEEN, AND, OR, NOT on schema columns.

An analyst writes an expression (`col("age") >= 30`) or text (``age >= 30 and sex = 'F'``). Bound to a
schema it becomes a combination of tests "the code of this column lies in these ranges", which is
total on every engine: no casts, no division, no analyst code.

A number is known only by its grid cell: a comparison looks at the cell's lower edge (its grid point
if the column has a step).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

from bocage.errors import PredicateError
from bocage.schema import Categorical, Numeric, Schema, number

Value = str | int | float | Decimal | Fraction
MOST_DEPTH = 64
MOST_NODES = 4096

Ranges = tuple[tuple[int, int], ...]  # disjoint, ascending, both ends inclusive


@dataclass(frozen=True)
class Test:
    """The code of `column` lies in one of `ranges`."""

    column: str
    ranges: Ranges


@dataclass(frozen=True)
class Every:
    """All parts hold; with no part: always."""

    parts: tuple[Bound, ...]


@dataclass(frozen=True)
class Some:
    """At least one part holds; with no part: never."""

    parts: tuple[Bound, ...]


Bound = Test | Every | Some
ALWAYS = Every(())


class Predicate:
    """Base of the expressions; combine them with ``&``, ``|`` and ``~``."""

    def __and__(self, other: Predicate) -> Predicate:
        return And((self, other))

    def __or__(self, other: Predicate) -> Predicate:
        return Or((self, other))

    def __invert__(self) -> Predicate:
        return Not(self)

    def __bool__(self) -> bool:
        raise PredicateError("combine filters with &, | and ~, not with and, or, not.")


@dataclass(frozen=True)
class Compare(Predicate):
    """``column operator value`` with one of = != < <= > >=."""

    column: str
    operator: str
    value: Value


@dataclass(frozen=True)
class OneOf(Predicate):
    """The column has one of the values."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Between(Predicate):
    """The column lies between two numbers, both included."""

    column: str
    low: Value
    high: Value


@dataclass(frozen=True)
class And(Predicate):
    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Or(Predicate):
    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Not(Predicate):
    part: Predicate


@dataclass(frozen=True, eq=False)
class col:  # noqa: N801 - reads as a word inside an expression
    """A column in a filter: ``(col("age") >= 30) & (col("sex") == "F")``."""

    name: str
    __hash__ = None  # type: ignore[assignment] # an expression is no key: == builds data

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override] # builds data
        return Compare(self.name, "=", _literal(value))

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override] # builds data
        return Compare(self.name, "!=", _literal(value))

    def __lt__(self, value: Value) -> Predicate:
        return Compare(self.name, "<", _literal(value))

    def __le__(self, value: Value) -> Predicate:
        return Compare(self.name, "<=", _literal(value))

    def __gt__(self, value: Value) -> Predicate:
        return Compare(self.name, ">", _literal(value))

    def __ge__(self, value: Value) -> Predicate:
        return Compare(self.name, ">=", _literal(value))

    def is_in(self, *values: Value) -> Predicate:
        return OneOf(self.name, tuple(map(_literal, values)))

    def between(self, low: Value, high: Value) -> Predicate:
        return Between(self.name, _literal(low), _literal(high))


def bind(predicate: Predicate | None, schema: Schema) -> Bound:
    """Turn a filter into tests on codes; refuse what the schema does not have."""
    if predicate is None:
        return ALWAYS
    return _Binder(schema).bind(predicate, negated=False, depth=0)


class _Binder:
    def __init__(self, schema: Schema) -> None:
        self.schema, self.nodes = schema, 0

    def bind(self, predicate: Predicate, *, negated: bool, depth: int) -> Bound:
        self.nodes += 1
        if depth > MOST_DEPTH or self.nodes > MOST_NODES:
            raise PredicateError(
                f"the filter is too large: at most {MOST_NODES} parts nested {MOST_DEPTH} deep."
            )
        match predicate:
            case Not(part):
                return self.bind(part, negated=not negated, depth=depth + 1)
            case And(parts) | Or(parts):
                bound = tuple(self.bind(p, negated=negated, depth=depth + 1) for p in parts)
                return Every(bound) if isinstance(predicate, And) != negated else Some(bound)
            case Compare(column, operator, value):
                codes = self._compare(column, operator, value)
            case OneOf(column, values):
                codes = {c for value in values for c in self._compare(column, "=", value)}
            case Between(column, low, high):
                codes = self._compare(column, ">=", low) & self._compare(column, "<=", high)
            case _:
                raise PredicateError(
                    f"a filter is made with col(...) or as text, not from {type(predicate).__name__}."
                )
        if negated:
            codes = set(range(self.schema[column].cells)) - codes
        return Test(column, ranges(codes))

    def _compare(self, name: str, operator: str, value: Value) -> set[int]:
        column = self.schema[name]
        if operator == "!=":
            return set(range(column.cells)) - self._compare(name, "=", value)
        if isinstance(column, Categorical):
            return _categorical(column, operator, value)
        return _numeric(column, operator, value)


def _categorical(column: Categorical, operator: str, value: Value) -> set[int]:
    if operator != "=":
        raise PredicateError(
            f"column {column.name!r} is categorical: it can be compared with =, != and IN, "
            f"not with {operator}."
        )
    if not isinstance(value, str) or value not in column.index:
        shown = ", ".join(map(repr, column.values[:12])) + (", …" if column.cells > 12 else "")
        raise PredicateError(
            f"{value!r} is not a value of column {column.name!r}. Its values are {shown}."
        )
    return {column.index[value]}


def _numeric(column: Numeric, operator: str, value: Value) -> set[int]:
    if isinstance(value, str):
        raise PredicateError(
            f"column {column.name!r} is numeric and cannot be compared with {value!r}."
        )
    exact = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    if not column.lower <= exact <= column.upper:
        raise PredicateError(
            f"{number(exact)} is outside the domain of column {column.name!r}, "
            f"[{number(column.lower)}, {number(column.upper)}]."
        )
    position = (exact - column.lower) / column.width
    if operator == "=":
        if column.step is None:
            raise PredicateError(
                f"column {column.name!r} is continuous: ask for a range with BETWEEN, <= or >=."
            )
        if position.denominator != 1:
            raise PredicateError(
                f"{number(exact)} is not on the grid of column {column.name!r}, which goes from "
                f"{number(column.lower)} in steps of {number(column.step)}."
            )
        return {int(position)}
    first, last = {
        ">=": (ceil(position), column.cells - 1),
        ">": (floor(position) + 1, column.cells - 1),
        "<=": (0, floor(position)),
        "<": (0, ceil(position) - 1),
    }[operator]
    return set(range(first, min(last, column.cells - 1) + 1))


def ranges(codes: set[int]) -> Ranges:
    """The smallest list of inclusive ranges that covers exactly these codes."""
    result: list[tuple[int, int]] = []
    for code in sorted(codes):
        if result and result[-1][1] == code - 1:
            result[-1] = (result[-1][0], code)
        else:
            result.append((code, code))
    return tuple(result)


def columns_of(bound: Bound) -> set[str]:
    """The columns that a bound filter looks at."""
    if isinstance(bound, Test):
        return {bound.column}
    return {name for part in bound.parts for name in columns_of(part)}


def to_json(bound: Bound) -> Any:
    """A bound filter as plain data, the same for the same tests."""
    if isinstance(bound, Test):
        return {"column": bound.column, "codes": [list(pair) for pair in bound.ranges]}
    key = "every" if isinstance(bound, Every) else "some"
    return {key: [to_json(part) for part in bound.parts]}


def _literal(value: object) -> Value:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal | Fraction):
        raise PredicateError(f"a filter compares with text or numbers, not {type(value).__name__}.")
    if isinstance(value, float | Decimal) and not -1e300 < value < 1e300:
        raise PredicateError(f"a filter compares with finite numbers, not {value}.")
    return value
