"""Filters as data: comparisons, IN, BETWEEN, AND, OR, NOT on schema columns.

An analyst writes an expression (`col("age") >= 30`) or text (``age >= 30 and sex = 'F'``). Bound to a
schema it becomes a combination of tests "the code of this column lies in these ranges", which is
total on every engine: no casts, no division, no analyst code.

A number is known only by its grid cell: a comparison looks at the cell's lower edge (its grid point
if the column has a step). The cell itself is found in double precision: without a step, a number that
is within rounding of an edge may lie in the cell below it. Whole numbers and other discrete columns
want a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from numbers import Integral, Real
from reprlib import repr as short
from typing import Any

from bocage.errors import PredicateError
from bocage.schema import Categorical, Numeric, Schema, number

Value = str | int | float | Decimal | Fraction
MOST_DEPTH = 64
MOST_NODES = 4096
MOST_DIGITS = 400
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

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

    # A long chain stays flat, so that the limit on nesting is about meaning and not about style.
    def __and__(self, other: Predicate) -> Predicate:
        return And((*(self.parts if isinstance(self, And) else (self,)), other))

    def __or__(self, other: Predicate) -> Predicate:
        return Or((*(self.parts if isinstance(self, Or) else (self,)), other))

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
        return Compare(self.name, "=", literal(value))

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override] # builds data
        return Compare(self.name, "!=", literal(value))

    def __lt__(self, value: Value) -> Predicate:
        return Compare(self.name, "<", literal(value))

    def __le__(self, value: Value) -> Predicate:
        return Compare(self.name, "<=", literal(value))

    def __gt__(self, value: Value) -> Predicate:
        return Compare(self.name, ">", literal(value))

    def __ge__(self, value: Value) -> Predicate:
        return Compare(self.name, ">=", literal(value))

    def is_in(self, *values: Value) -> Predicate:
        return OneOf(self.name, tuple(map(literal, values)))

    def between(self, low: Value, high: Value) -> Predicate:
        return Between(self.name, literal(low), literal(high))


def bind(predicate: Predicate | None, schema: Schema) -> Bound:
    """Turn a filter into tests on codes; refuse what the schema does not have."""
    if predicate is None:
        return ALWAYS
    return _Binder(schema).bind(predicate, negated=False, depth=0)


class _Binder:
    def __init__(self, schema: Schema) -> None:
        self.schema, self.nodes = schema, 0

    def bind(self, predicate: Predicate, *, negated: bool, depth: int) -> Bound:
        self._count(1, depth)
        match predicate:
            case Not(part):
                return self.bind(part, negated=not negated, depth=depth + 1)
            case And(parts) | Or(parts):
                bound = [self.bind(p, negated=negated, depth=depth + 1) for p in parts]
                return _join(Every if isinstance(predicate, And) != negated else Some, bound)
            case Compare(column, operator, value):
                codes = self._compare(column, operator, value)
            case OneOf(column, values):
                if not values:
                    raise PredicateError(f"IN on column {column!r} needs at least one value.")
                self._count(len(values), depth)
                equal = {first for v in values for first, _ in self._compare(column, "=", v)}
                codes = ranges(equal)
            case Between(column, low, high):
                above, below = self._compare(column, ">=", low), self._compare(column, "<=", high)
                codes = tuple((a, b) for a, _ in above for _, b in below if a <= b)
            case _:
                raise PredicateError(f"a filter is made with col(...) or as text, not from {type(predicate).__name__}.")
        if negated:
            codes = _complement(codes, self.schema[column].cells)
        return Test(column, codes)

    def _count(self, nodes: int, depth: int) -> None:
        self.nodes += nodes
        if depth > MOST_DEPTH or self.nodes > MOST_NODES:
            raise PredicateError(f"the filter is too large: at most {MOST_NODES} parts nested {MOST_DEPTH} deep.")

    def _compare(self, name: str, operator: str, value: Value) -> Ranges:
        """The codes that a comparison accepts: one range, except for !=."""
        column = self.schema[name]
        if operator not in OPERATORS:
            raise PredicateError(f"{operator!r} is no comparison; there are {' '.join(OPERATORS)}.")
        if operator == "!=":
            return _complement(self._compare(name, "=", value), column.cells)
        if isinstance(column, Categorical):
            return _categorical(column, operator, literal(value))
        return _numeric(column, operator, literal(value))


def _join(kind: type[Every | Some], parts: list[Bound]) -> Bound:
    """Flat where it can be, so that the same filter written with other parentheses is the same."""
    flat = [q for p in parts for q in (p.parts if isinstance(p, kind) else (p,))]
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def _complement(codes: Ranges, cells: int) -> Ranges:
    starts = [0, *(last + 1 for _, last in codes)]
    ends = [*(first - 1 for first, _ in codes), cells - 1]
    return tuple((a, b) for a, b in zip(starts, ends, strict=True) if a <= b)


def _categorical(column: Categorical, operator: str, value: Value) -> Ranges:
    if operator != "=":
        raise PredicateError(
            f"column {column.name!r} is categorical: it can be compared with =, != and IN, not with {operator}."
        )
    if not isinstance(value, str) or value not in column.index:
        shown = ", ".join(map(repr, column.values[:12])) + (", …" if column.cells > 12 else "")
        raise PredicateError(f"{short(value)} is not a value of column {column.name!r}. Its values are {shown}.")
    code = column.index[value]
    return ((code, code),)


def _numeric(column: Numeric, operator: str, value: Value) -> Ranges:
    if isinstance(value, str):
        raise PredicateError(f"column {column.name!r} is numeric and cannot be compared with {short(value)}.")
    exact = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    if not column.lower <= exact <= column.upper:
        raise PredicateError(
            f"{number(exact)} is outside the domain of column {column.name!r}, "
            f"[{number(column.lower)}, {number(column.upper)}]."
        )
    position = (exact - column.lower) / column.width
    if operator == "=":
        if column.step is None:
            raise PredicateError(f"column {column.name!r} is continuous: ask for a range with BETWEEN, <= or >=.")
        if position.denominator != 1:
            raise PredicateError(
                f"{number(exact)} is not on the grid of column {column.name!r}, which goes from "
                f"{number(column.lower)} in steps of {number(column.step)}."
            )
        return ((int(position), int(position)),)
    first, last = {
        ">=": (ceil(position), column.cells - 1),
        ">": (floor(position) + 1, column.cells - 1),
        "<=": (0, floor(position)),
        "<": (0, ceil(position) - 1),
    }[operator]
    last = min(last, column.cells - 1)
    return ((first, last),) if first <= last else ()


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


def literal(value: object) -> Value:
    """A value that a filter may compare with, as a plain Python value; anything else is refused."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise PredicateError(f"a filter compares with text or numbers, not {type(value).__name__}.")
    plain: int | float | Decimal | Fraction
    if isinstance(value, Integral):
        plain = int(value)
    else:
        plain = value if isinstance(value, Decimal | Fraction) else float(value)
    if isinstance(plain, Decimal) and not plain.is_finite():
        plain = float("nan")
    if isinstance(plain, float) and not isfinite(plain):
        raise PredicateError("a filter compares with finite numbers, not infinity or NaN.")
    if _too_long(plain):
        raise PredicateError(f"a filter compares with numbers of at most {MOST_DIGITS} digits.")
    return plain


def _too_long(value: float | Decimal | Fraction) -> bool:
    """Whether the exact fraction would be long; a short text can mean a number of gigabytes."""
    if isinstance(value, Decimal):
        return max(abs(value.adjusted()), len(value.as_tuple().digits)) > MOST_DIGITS
    if isinstance(value, float):
        return False
    longest: int = 10**MOST_DIGITS
    return max(abs(value.numerator), value.denominator) > longest
