"""Requests as strict JSON: no name twice, no NaN, no depth that a stack would feel."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from bocage.documents import reading
from bocage.documents.reading import Limits, Unreadable
from bocage.errors import RequestInvalid


class Refused(RequestInvalid):
    """A body that is no request of ours."""


def parse(content: bytes, most_depth: int) -> Any:
    """Read JSON, strictly."""
    limits = Limits(bytes=max(len(content), 1), depth=most_depth)  # the gate has counted the bytes
    try:
        document = reading.parse(content, limits, number=_number)
    except Unreadable as error:
        where = f" (line {error.line})" if error.line else ""
        raise Refused(f"the request is refused: {error.problem}{where}.") from None
    if b"\\u0000" in content and "\\u0000" in json.dumps(document):
        raise Refused("a text in the request has a NUL.")
    return document


def _number(text: str) -> int | float:
    """In JSON 2.0 is a whole number."""
    value = float(text)
    if not isfinite(value):
        raise Unreadable("a number in it is too large")
    return int(value) if abs(value) < 2**53 and value.is_integer() else value
