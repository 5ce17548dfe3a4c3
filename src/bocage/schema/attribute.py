"""One public column: its complete domain, and where every possible value goes.

Every column becomes a small integer *code* before anything private happens. A code is the index of
a categorical value or of a grid cell; what is missing or outside the domain goes where the owner
declared, or the row is dropped (code -1). Nothing is ever raised because of what a row contains.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import floor, gcd
from typing import ClassVar

from bocage.errors import SchemaError

DROP = -1
DEFAULT_CELLS = 1024
MOST_CELLS = 2**16
MOST_VALUES = 2**16
# With at most 2**40 rows and codes below 2**16, a sum of codes stays far inside 63 bits.
MOST_ROWS = 2**40


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
        if not self.values:
            raise SchemaError(f"attribute {self.name!r} has an empty list of values.")
        if len(self.values) > MOST_VALUES:
            raise SchemaError(f"attribute {self.name!r} has more than {MOST_VALUES} values.")
        index = {value: code for code, value in enumerate(self.values)}
        if len(index) < len(self.values):
            twice = next(v for i, v in enumerate(self.values) if index[v] != i)
            raise SchemaError(f"attribute {self.name!r} lists the value {twice!r} twice.")
        for rule, value in (("missing", self.missing), ("outside", self.outside)):
            if value is not None and value not in index:
                raise SchemaError(
                    f"attribute {self.name!r} sends {rule} entries to {value!r}, which is not in "
                    'its list of values. Add it to the list, or drop such rows with "drop".'
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
        Public bounds, exact.
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
        if not self.lower < self.upper:
            raise SchemaError(
                f"attribute {self.name!r} needs lower < upper, "
                f"not {number(self.lower)} and {number(self.upper)}."
            )
        if abs(self.lower) > 10**15 or abs(self.upper) > 10**15:
            raise SchemaError(f"attribute {self.name!r} has a bound beyond 1e15.")
        if self.step is not None:
            if self.step <= 0:
                raise SchemaError(f"attribute {self.name!r} needs a step above 0.")
            if ((self.upper - self.lower) / self.step).denominator != 1:
                raise SchemaError(
                    f"attribute {self.name!r}: the step {number(self.step)} does not divide the "
                    f"range from {number(self.lower)} to {number(self.upper)}."
                )
            object.__setattr__(self, "cells", int((self.upper - self.lower) / self.step) + 1)
        if not 1 <= self.cells <= MOST_CELLS:
            raise SchemaError(
                f"attribute {self.name!r} has {self.cells} grid cells; 1 to {MOST_CELLS} are "
                "possible. Choose a larger step or fewer cells."
            )
        if self.missing is not None and not self.lower <= self.missing <= self.upper:
            raise SchemaError(
                f"attribute {self.name!r} sends missing entries to {number(self.missing)}, "
                f"outside [{number(self.lower)}, {number(self.upper)}]."
            )
        if float(self.upper) - float(self.lower) <= 0 or self.per_unit == float("inf"):
            raise SchemaError(f"attribute {self.name!r} has bounds too close for its grid.")

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
        return min(
            floor((clamped - float(self.lower)) * self.per_unit + self.shift), self.cells - 1
        )

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
    """Print a public number shortly: exact where it is a short decimal, else six digits."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.6g}"
