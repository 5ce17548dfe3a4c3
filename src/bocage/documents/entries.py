"""Strict readers for the entries of a document from outside. What does not fit is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from reprlib import repr as short
from typing import Any

from bocage.errors import BocageError


@dataclass(frozen=True)
class Entries:
    """Readers of single entries, each told what the entry is called.

    Parameters
    ----------
    error
        What is raised where an entry does not fit.
    """

    error: type[BocageError]

    def fields(self, document: Any, needed: Iterable[str], what: str) -> dict[str, Any]:
        """The document, if it is an object with exactly these keys."""
        if not isinstance(document, dict):
            raise self.error(f"{what} is an object, not {short(document)}.")
        needed = set(needed)
        for key in document:
            if key not in needed:
                raise self.error(f"{what} has the unknown key {short(key)}.")
        for key in sorted(needed):
            if key not in document:
                raise self.error(f"{what} has no {key!r}.")
        return document

    def text(self, value: Any, what: str) -> str:
        if not isinstance(value, str):
            raise self.error(f"{what} is a text, not {short(value)}.")
        return value

    def integer(self, value: Any, low: int, high: int, what: str) -> int:
        # A bool is an int to Python, and no number to us.
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(f"{what} is a whole number from {low} to {high}, not {short(value)}.")
        return value

    def boolean(self, value: Any, what: str) -> bool:
        if not isinstance(value, bool):
            raise self.error(f"{what} is true or false, not {short(value)}.")
        return value

    def positive(self, value: Any, what: str) -> float:
        number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        if not number or not 0 < float(value) < inf:
            raise self.error(f"{what} is a number greater than 0, not {short(value)}.")
        return float(value)

    def items(self, value: Any, what: str, *, most: int | None = None) -> list[Any]:
        if not isinstance(value, list):
            raise self.error(f"{what} is a list, not {short(value)}.")
        if most is not None and len(value) > most:
            raise self.error(f"{what} has more than {most} entries.")
        return value
