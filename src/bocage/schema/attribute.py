"""One public column: its complete domain, and where every possible value goes.

Every column becomes a small integer *code* before anything private happens. A code is the index of
a categorical value or of a grid cell; what is missing or outside the domain goes where the owner
declared, or the row is dropped (code -1). Nothing is ever raised because of what a row contains.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import cached_property
from math import floor, gcd
from typing import Any, ClassVar

from bocage.errors import SchemaError

DROP = -1
DEFAULT_CELLS = 1024
MOST_CELLS = 2**16
MOST_VALUES = 2**16
# With at most 2**40 rows and codes below 2**16, a sum of codes stays far inside 63 bits.
MOST_ROWS = 2**40
LARGEST_BOUND = 10**15
FINEST = Fraction(1, 2**42)  # width of a cell, as a part of the larger bound
SMALLEST = Fraction(1, 10**200)  # width of a cell: its inverse is an ordinary double


@dataclass(frozen=True)
class Categorical:
    """A column with a complete list of values.

    Parameters
    ----------
    name
        The column's name, as in the source.
    values
        All values, as text. Code i stands for ``values[i]``.
    missing, outside
        The value that a missing entry or a value outside the list becomes, or None to drop the row.
    marker
        Text that the source uses for a missing entry, besides NULL.
    """

    kind: ClassVar[str] = "categorical"
    name: str
    values: tuple[str, ...]
    missing: str | None = None
    outside: str | None = None
    marker: str | None = None
    index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_text(self.name, "name", "an attribute")
        if not self.values:
            raise SchemaError(f"attribute {self.name!r} has an empty list of values.", at=("values",))
        if len(self.values) > MOST_VALUES:
            raise SchemaError(f"attribute {self.name!r} has more than {MOST_VALUES} values.", at=("values",))
        for text in (*self.values, self.marker or ""):
            check_text(text, "values", f"attribute {self.name!r}")
        index = {value: code for code, value in enumerate(self.values)}
        if len(index) < len(self.values):
            twice = next(v for i, v in enumerate(self.values) if index[v] != i)
            raise SchemaError(f"attribute {self.name!r} lists the value {twice!r} twice.", at=("values",))
        for rule, value in (("missing", self.missing), ("outside", self.outside)):
            if value is not None and value not in index:
                raise SchemaError(
                    f"attribute {self.name!r} sends {rule} entries to {value!r}, which is not in "
                    'its list of values. Add it to the list, or drop such rows with "drop".',
                    at=(rule,),
                )
        if self.marker is not None and self.marker in index and self.missing != self.marker:
            raise SchemaError(
                f"attribute {self.name!r} lists {self.marker!r} as a value, but it also marks a "
                "missing entry, which goes elsewhere. Remove it from the list.",
                at=("values",),
            )
        object.__setattr__(self, "index", index)

    @property
    def cells(self) -> int:
        return len(self.values)

    @property
    def missing_code(self) -> int:
        return DROP if self.missing is None else self.index[self.missing]

    @property
    def outside_code(self) -> int:
        return DROP if self.outside is None else self.index[self.outside]

    def text(self, code: int) -> str:
        """What a code stands for."""
        return self.values[code]


@dataclass(frozen=True)
class Numeric:
    """A column of numbers between public bounds, known only by its cell on a public grid.

    Parameters
    ----------
    lower, upper
        Public bounds, exact: a float means the decimal number that Python prints for it.
    cells
        Number of grid cells, if the column is continuous.
    step
        Distance of the grid points, if the column is discrete (1 for whole numbers): then a number
        goes to the nearest grid point and the upper bound is one of them.
    missing
        The number that a missing entry (NULL or NaN) becomes, or None to drop the row.
    clamp
        Whether numbers outside the bounds go to the nearest bound; otherwise the row is dropped.
    """

    kind: ClassVar[str] = "numeric"
    name: str
    lower: Fraction
    upper: Fraction
    cells: int = DEFAULT_CELLS
    step: Fraction | None = None
    missing: Fraction | None = None
    clamp: bool = True
    marker: str | None = None

    def __post_init__(self) -> None:
        check_text(self.name, "name", "an attribute")
        where = f"attribute {self.name!r}"
        for key in ("lower", "upper", "step", "missing"):
            object.__setattr__(self, key, _exact(getattr(self, key), key, where))
        for bound, value in (("lower", self.lower), ("upper", self.upper)):
            if abs(value) > LARGEST_BOUND:
                raise SchemaError(f"{where} has a bound beyond 1e15.", at=(bound,))
        if not self.lower < self.upper:
            raise SchemaError(
                f"{where} needs lower < upper, not {number(self.lower)} and {number(self.upper)}.",
                at=("lower",),
            )
        if self.step is not None:
            self._check_step(self.step, where)
            object.__setattr__(self, "cells", int((self.upper - self.lower) / self.step) + 1)
        self._check_grid(where)
        if self.missing is not None and not self.lower <= self.missing <= self.upper:
            raise SchemaError(
                f"{where} sends missing entries to {number(self.missing)}, "
                f"outside [{number(self.lower)}, {number(self.upper)}].",
                at=("missing",),
            )

    def _check_step(self, step: Fraction, where: str) -> None:
        if step <= 0:
            raise SchemaError(f"{where} needs a step above 0.", at=("step",))
        if ((self.upper - self.lower) / step).denominator != 1:
            raise SchemaError(
                f"{where}: the step {number(step)} does not divide the "
                f"range from {number(self.lower)} to {number(self.upper)}.",
                at=("step",),
            )

    def _check_grid(self, where: str) -> None:
        at = ("cells" if self.step is None else "step",)
        if not 1 <= self.cells <= MOST_CELLS:
            raise SchemaError(
                f"{where} has {self.cells} grid cells; 1 to {MOST_CELLS} are "
                "possible. Choose a larger step or fewer cells.",
                at=at,
            )
        # Two roundings of a number near the larger bound stay below a thousandth of a cell, so the
        # double-precision formula below finds the cell that a grid point or a middle belongs to.
        if self.width < max(abs(self.lower), abs(self.upper)) * FINEST or self.width < SMALLEST:
            raise SchemaError(
                f"{where} has a grid too fine for double precision between its bounds. Choose "
                "fewer cells or a larger step, or move the bounds nearer to 0.",
                at=at,
            )

    @cached_property
    def width(self) -> Fraction:
        return self.step if self.step is not None else (self.upper - self.lower) / self.cells

    # Every engine encodes x as min(floor((x - lower) * per_unit + shift), cells - 1), after clamping
    # to [lower, upper], in double precision and in this order: IEEE 754 makes them agree bit by bit.
    @property
    def per_unit(self) -> float:
        return float(1 / self.width)

    @property
    def shift(self) -> float:
        return 0.5 if self.step is not None else 0.0

    def cell_of(self, value: Fraction | float) -> int:
        """Code of a public number, with the arithmetic that every engine uses."""
        clamped = min(max(float(value), float(self.lower)), float(self.upper))
        return min(floor((clamped - float(self.lower)) * self.per_unit + self.shift), self.cells - 1)

    @property
    def missing_code(self) -> int:
        return DROP if self.missing is None else self.cell_of(self.missing)

    def edge(self, code: int) -> Fraction:
        """Lower edge of a cell, or its grid point; ``edge(cells)`` is the end of the grid."""
        return self.lower + code * self.width

    def value(self, code: int) -> Fraction:
        """The number that a cell stands for: its edge if discrete, otherwise its middle."""
        return self.edge(code) if self.step is not None else self.edge(code) + self.width / 2

    @cached_property
    def fixed_point(self) -> tuple[Fraction, int, int]:
        """`unit, first, slope`: a cell stands for exactly ``(first + slope * code) * unit``."""
        start, width = self.value(0), self.width
        denominator = start.denominator * width.denominator
        a, b = int(start * denominator), int(width * denominator)
        common = gcd(a, b)
        return Fraction(common, denominator), a // common, b // common

    def text(self, code: int) -> str:
        """What a code stands for."""
        if self.step is not None:
            return number(self.edge(code))
        return f"[{number(self.edge(code))}, {number(self.edge(code + 1))})"


Attribute = Categorical | Numeric


def number(value: Fraction) -> str:
    """Print a public number shortly: exact where it is a decimal of few digits, else rounded."""
    context = Context(prec=15)
    decimal = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if context.flags[Inexact] or abs(decimal.adjusted()) > 15:
        return f"{decimal.normalize(context):.6g}"
    return f"{decimal.normalize(context):f}"


def _exact(value: Any, key: str, where: str) -> Fraction | None:
    try:
        return value if value is None else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise SchemaError(f"{where}: {key} must be a finite number.", at=(key,)) from None


def check_text(text: str, key: str, where: str) -> None:
    """Refuse what no database can store, so that all engines mean the same by a name or value."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise SchemaError(f"{where}: {text!r} has a NUL or half a surrogate pair in it.", at=(key,))
