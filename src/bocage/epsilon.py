"""Epsilon as an exact integer of 1e-9 units, so that what is asked is what is charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Self

from bocage.errors import EpsilonError

UNIT = 10**9
_LONGEST_KEPT = 40  # characters of an amount that is not read again
_LONGEST = 400  # characters of any: the exact fraction of a million digits takes half a minute
LARGEST = 10**6 * UNIT  # no guarantee worth the name lies beyond; keeps sums far inside 63 bits


@dataclass(frozen=True, order=True, slots=True)
class Epsilon:
    """A non-negative amount of privacy loss, counted in units of 1e-9.

    Examples
    --------
    >>> Epsilon.of(0.1) + Epsilon.of("0.2") == Epsilon.of(0.3)
    True
    >>> [str(part) for part in Epsilon.of(1).split([1, 1, 1])]
    ['0.333333334', '0.333333333', '0.333333333']
    """

    nano: int

    def __post_init__(self) -> None:
        if self.nano < 0:
            raise EpsilonError("an amount of epsilon cannot be negative")

    @classmethod
    def of(cls, value: Epsilon | Decimal | Fraction | float | str) -> Self:
        """Read a positive epsilon. A float means the decimal number that Python prints for it."""
        nano = _nano(value)
        if not 0 < nano <= LARGEST:
            raise EpsilonError(f"epsilon must be greater than 0 and at most {LARGEST // UNIT}, not {value}.")
        return cls(nano)

    @classmethod
    def total(cls, amounts: Sequence[Epsilon]) -> Self:
        return cls(sum(amount.nano for amount in amounts))

    @property
    def fraction(self) -> Fraction:
        return Fraction(self.nano, UNIT)

    def split(self, weights: Sequence[int | Fraction]) -> list[Epsilon]:
        """Divide into parts proportional to `weights` that add up exactly.

        Each part is rounded down to a whole unit and the units left over go to the first parts,
        one each. A part of zero is refused: it would be a question without noise or meaning.
        """
        whole = sum(weights)
        nanos = [int(self.nano * Fraction(weight) / Fraction(whole)) for weight in weights]
        for i in range(self.nano - sum(nanos)):
            nanos[i] += 1
        if min(nanos) <= 0:
            raise EpsilonError(
                f"epsilon={self} is too small to be shared by {len(weights)} questions: "
                "each needs at least 0.000000001."
            )
        return [Epsilon(nano) for nano in nanos]

    def __add__(self, other: Epsilon) -> Epsilon:
        return Epsilon(self.nano + other.nano)

    def __sub__(self, other: Epsilon) -> Epsilon:
        return Epsilon(self.nano - other.nano)

    def __mul__(self, times: int) -> Epsilon:
        return Epsilon(self.nano * times)

    def __float__(self) -> float:
        return self.nano / UNIT

    def __str__(self) -> str:
        text = f"{self.nano // UNIT}.{self.nano % UNIT:09d}"
        return text.rstrip("0").rstrip(".")


ZERO = Epsilon(0)


def _nano(value: object) -> int:
    if isinstance(value, Epsilon):
        return value.nano
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        raise EpsilonError(f"epsilon must be a number, not {type(value).__name__}.")
    if isinstance(value, Fraction):
        exact = value * UNIT
    elif isinstance(value, str) and len(value) <= _LONGEST_KEPT:
        return _read_kept(value)
    else:
        exact = _decimal(value)
    return _whole(exact, value)


def _decimal(value: object) -> Fraction:
    text = str(value).strip()
    if len(text) > _LONGEST:
        raise EpsilonError(f"epsilon is a number of at most {_LONGEST} characters.")
    try:
        decimal = Decimal(text)
    except InvalidOperation:
        raise EpsilonError(f"epsilon must be a number, not {value!r}.") from None
    if not decimal.is_finite():
        raise EpsilonError(f"epsilon must be a finite number, not {value}.")
    if abs(decimal.adjusted()) > 40:
        raise EpsilonError(f"epsilon must be between 1e-9 and {LARGEST // UNIT}, not {value}.")
    return Fraction(decimal) * UNIT


def _whole(exact: Fraction, value: object) -> int:
    if exact.denominator != 1:
        raise EpsilonError(
            f"epsilon={value} has more than nine decimals. The ledger counts whole units of 1e-9: "
            f"write {float(round(exact)) / UNIT:.9g} instead."
        )
    return int(exact)


@lru_cache(maxsize=1024)
def _read_kept(text: str) -> int:
    """The same few amounts are asked for over and over."""
    return _whole(_decimal(text), text)
