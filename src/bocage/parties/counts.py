"""The counts of a JSON contribution: as lists, or compiled where there are many of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

from bocage.documents.entries import Entries
from bocage.errors import PartyError
from bocage.parties.plan import MOST_COUNTS, MOST_TREES
from bocage.private import IntArray

_read = Entries(PartyError)

# In canonical JSON the keys are sorted, so that the counts come first.
_START, _END = b'{"counts":[[', b']],"digest":'
TOO_MANY = -2
MANY = 2**16  # bytes from which on it pays to load a compiler, if other files follow


def split(content: bytes) -> tuple[bytes, bytes] | None:
    """A large canonical file in two: the object without its counts, and what stands for them."""
    end = content.find(_END) if len(content) >= MANY else -1
    if end < 0 or not content.startswith(_START):
        return None
    return b"{" + content[end + 3 :], content[len(_START) : end]


def from_text(text: bytes, most: int) -> tuple[list[int], IntArray]:
    """How many counts each tree has, and all of them; refuses what is no whole number.

    More or less than `most`, the number that the header names, are refused before they are read.
    """
    if text.count(b",") + 1 != most:  # between counts as well as between trees
        raise PartyError("its counts are not as many as its shapes say.")
    if text.translate(None, b"0123456789-,[]"):
        raise PartyError("a count is a whole number of at most 18 digits.")
    sizes, values = np.zeros(MOST_TREES, np.int64), np.empty(most, np.int64)
    trees = _compiled()(np.frombuffer(text, np.uint8), sizes, values)
    if trees == TOO_MANY:
        raise PartyError("its counts are not as many as its shapes say.")
    if trees < 0:
        raise PartyError("a count is a whole number of at most 18 digits.")
    return sizes[:trees].tolist(), values[: sizes.sum()]


def from_lists(value: Any) -> tuple[list[int], IntArray]:
    """The same from parsed JSON."""
    trees = _read.items(value, '"counts"', most=MOST_TREES)
    numbers: list[int] = []
    for tree in trees:
        numbers += _read.items(tree, 'an entry of "counts"', most=MOST_COUNTS)
    if set(map(type, numbers)) - {int}:  # a bool is an int to NumPy, and no count to us
        raise PartyError("a count is a whole number.")
    try:
        return [len(tree) for tree in trees], np.array(numbers, np.int64)
    except OverflowError:
        raise PartyError("a count is a whole number of at most 63 bits.") from None


def scan(text: Any, sizes: Any, values: Any) -> int:
    """Read ``1,-2],[3``: two trees; how many there are, or less than 0 for anything else.

    Slow as Python.
    """
    at = filled = tree = 0
    while True:
        negative = at < len(text) and text[at] == 45  # -
        at += negative
        first, value = at, 0
        while at < len(text) and 48 <= text[at] <= 57:
            value = 10 * value + text[at] - 48
            at += 1
            if at - first > 18:
                return -1
        if at == first or (text[first] == 48 and at - first > 1):
            return -1
        if filled == len(values):
            return TOO_MANY
        values[filled] = -value if negative else value
        filled += 1
        sizes[tree] += 1
        if at == len(text):
            return tree + 1
        if text[at] == 44:  # ,
            at += 1
        elif at + 2 < len(text) and text[at] == 93 and text[at + 1] == 44 and text[at + 2] == 91:
            at += 3  # ],[
            tree += 1
            if tree == len(sizes):
                return -1
        else:
            return -1


@cache
def _compiled() -> Callable[[Any, Any, Any], int]:
    import numba  # noqa: PLC0415 - loads a compiler

    try:
        made = numba.njit(cache=True, nogil=True)(scan)
    except RuntimeError:  # no directory is writable: compile again in every process
        made = numba.njit(nogil=True)(scan)
    return cast("Callable[[Any, Any, Any], int]", made)
