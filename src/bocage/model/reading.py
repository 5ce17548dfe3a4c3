"""Strict readers for the entries of a document from outside. What does not fit is a ModelError."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from math import inf
from reprlib import repr as short
from typing import Any

from bocage.errors import ModelError


def keys(document: Any, needed: Iterable[str], what: str) -> dict[str, Any]:
    """The document, if it is an object with exactly these keys."""
    if not isinstance(document, dict):
        raise ModelError(f"{what} is an object, not {short(document)}.")
    needed = set(needed)
    for key in document:
        if key not in needed:
            raise ModelError(f"{what} has the unknown key {short(key)}.")
    for key in sorted(needed):
        if key not in document:
            raise ModelError(f"{what} has no {key!r}.")
    return document


def text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ModelError(f"{what} is a text, not {short(value)}.")
    return value


def whole(value: Any, low: int, high: int, what: str) -> int:
    # A bool is an int to Python, and no number to us.
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ModelError(f"{what} is a whole number from {low} to {high}, not {short(value)}.")
    return value


def truth(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise ModelError(f"{what} is true or false, not {short(value)}.")
    return value


def positive(value: Any, what: str) -> float:
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    if not number or not 0 < float(value) < inf:
        raise ModelError(f"{what} is a number greater than 0, not {short(value)}.")
    return float(value)


def listed(value: Any, what: str, *, most: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"{what} is a list, not {short(value)}.")
    if most is not None and len(value) > most:
        raise ModelError(f"{what} has more than {most} entries.")
    return value
