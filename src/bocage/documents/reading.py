"""Strict JSON from anybody: what it would cost is known before the work is done.

A scan over the bytes comes first. It takes little more memory than the bytes, a few milliseconds a
megabyte, and refuses what is too large, too deep, has too many values, numbers of too many digits,
or half a surrogate pair. Only what passes is given to `json`, which refuses what is no JSON and what
has a key twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class Limits:
    """What a document may be.

    Parameters
    ----------
    bytes
        Its length.
    depth
        Lists and objects inside each other.
    digits
        One after the other in a number; an exponent has three at most.
    memory
        Bytes that the data may take, estimated from above: a list of small numbers takes eight times
        as much as its text, a list of empty objects twenty-five times.
    """

    bytes: int = 2**24
    depth: int = 16
    digits: int = 64
    memory: int = 80 * 2**20


USUAL = Limits()
OWN = Limits(bytes=2**28, memory=2**33)  # a file that this program itself keeps


class Unreadable(ValueError):
    """Why a document is refused; the reader of each kind says which one it is."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        self.problem, self.line = problem, line
        super().__init__(problem)


class Twin(Unreadable):
    """A key stands twice in one object."""


def parse(content: bytes, limits: Limits = USUAL, *, number: Callable[[str], Any] = Decimal) -> Any:
    """Plain data from JSON. `number` reads numbers with a point or an exponent.

    Raises
    ------
    Unreadable
        It is longer, deeper or larger than the limits, or no strict JSON.
    """
    scan(content, limits)
    try:
        return json.loads(
            content.decode("utf-8-sig"),
            parse_float=number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_twins,
        )
    except UnicodeDecodeError:
        raise Unreadable("it is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:  # where somebody allows more than the interpreter
        raise Unreadable("it is nested too deeply") from None


_BLOCK = 2**16  # splitting one takes a megabyte or two
_FLAT = bytes.maketrans(b"[]{}123456789E", b"()()000000000e")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"()")
_HALVES = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PAIRS = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
# Bytes of CPython's objects, from above; each has a place in the list or object around it.
_PLACE, _NUMBER, _FLOAT, _TEXT, _LIST, _OBJECT, _MEMBER = 10, 36, 112, 64, 96, 250, 130


def scan(content: bytes, limits: Limits) -> None:
    """Refuse what would cost more than the limits, without building any of it."""
    check_length(content, limits)
    plain = content
    if b"\\" in content:
        plain = content.replace(b"\\\\", b"_")
        _check_letters(plain)
        plain = plain.replace(b'\\"', b"")
    quotes = plain.count(b'"')
    if quotes % 2:
        raise Unreadable("it is not JSON: a text in it does not end")
    bare = _without_texts(plain)
    del plain
    _check_memory(content, bare, quotes // 2, limits)
    flat = bare.translate(_FLAT)
    del bare
    _check_numbers(flat, limits)
    brackets = flat.translate(None, _NO_BRACKETS)
    for _ in range(limits.depth):  # each turn takes away the innermost
        brackets = brackets.replace(b"()", b"")
    if b"()" in brackets or b"(" * (limits.depth + 1) in brackets:
        raise Unreadable(f"it is nested more than {limits.depth} deep")


def check_length(content: bytes, limits: Limits) -> None:
    """Refuse what has too many bytes, before anything else is done with it."""
    if len(content) > limits.bytes:
        raise Unreadable(f"it has more than {limits.bytes} bytes")


def _without_texts(plain: bytes) -> bytes:
    """What stands outside of quotation marks, none of which is escaped."""
    outside, inside = bytearray(), 0
    for start in range(0, len(plain), _BLOCK):
        parts = plain[start : start + _BLOCK].split(b'"')
        outside += b"".join(parts[inside::2])
        inside ^= (len(parts) - 1) & 1
    return bytes(outside)


def _check_letters(plain: bytes) -> None:
    """Refuse half a surrogate pair. UTF-8 itself has no way to write one."""
    halves = sum(1 for _ in _HALVES.finditer(plain))
    if halves and halves != 2 * sum(1 for _ in _PAIRS.finditer(plain)):
        raise Unreadable("a text in it has half a surrogate pair")


def _check_memory(content: bytes, bare: bytes, strings: int, limits: Limits) -> None:
    width = 1 if content.isascii() else 4 if max(content) >= 0xF0 else 2
    widest = 4 if b"\\u" in content else width
    lists, objects, members = bare.count(b"["), bare.count(b"{"), bare.count(b":")
    places = bare.count(b",") + lists + objects + 1
    floats = bare.count(b".") + bare.count(b"e") + bare.count(b"E")
    numbers = max(places - strings + members - lists - objects, 0)
    estimate = (
        width * len(content) + widest * (len(content) - len(bare))
        + _PLACE * places + _NUMBER * numbers + _FLOAT * min(floats, numbers)
        + _TEXT * strings + _LIST * lists + _OBJECT * objects + _MEMBER * members
    )  # fmt: skip
    if estimate > limits.memory:
        raise Unreadable(_too_large(limits))


def _check_numbers(flat: bytes, limits: Limits) -> None:
    """`flat` has 0 for every digit and e for both letters of an exponent."""
    for constant in (b"N", b"I"):
        _refuse(flat, constant, "it contains NaN or Infinity, which is no JSON")
    for long in (b"0" * (limits.digits + 1), b"e0000", b"e+0000", b"e-0000"):
        _refuse(flat, long, "a number in it has too many digits")


def _refuse(flat: bytes, what: bytes, problem: str) -> None:
    position = flat.find(what)
    if position >= 0:  # no text has an end of line in it
        raise Unreadable(problem, flat.count(b"\n", 0, position) + 1)


def _too_large(limits: Limits) -> str:
    return f"its values would take more than {limits.memory >> 20} MiB of memory"


def _refuse_constant(name: str) -> Any:
    raise Unreadable(f"it contains {name}, which is no JSON")


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        twin = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Twin(f"the key {twin!r:.40} stands twice in one object")
    return result
