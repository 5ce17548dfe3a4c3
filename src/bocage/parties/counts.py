"""The counts of a JSON contribution, read without a Python object for each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bocage.errors import PartyError
from bocage.model import reading
from bocage.parties.trees import MOST_COUNTS, MOST_TREES
from bocage.private import IntArray

# In canonical JSON the keys are sorted, so that the counts come first.
_START, _END = b'{"counts":[[', b']],"digest":'


def split(content: bytes) -> tuple[bytes, bytes] | None:
    """A canonical file in two: the object without its counts, and the counts as they stand there."""
    end = content.find(_END)
    if not content.startswith(_START) or end < 0:
        return None
    return b"{" + content[end + 3 :], content[len(_START) : end]


def from_text(text: bytes) -> tuple[list[int], IntArray]:
    """How many counts each tree has, and all of them; refuses what is no whole number.

    Leading zeros pass, and a number of more than 63 bits is cut: neither is what was signed, unless
    it is the same count.
    """
    sizes = [tree.count(b",") + 1 for tree in text.split(b"],[")]
    if sum(sizes) > MOST_COUNTS or len(sizes) > MOST_TREES:
        raise PartyError(f"a contribution has at most {MOST_COUNTS} counts.")
    flat = text.replace(b"],[", b",")
    if not _whole_numbers(flat):
        raise PartyError("a count is a whole number of at most 63 bits.")
    return sizes, np.fromstring(flat.decode("ascii"), np.int64, sep=",")


def _whole_numbers(text: bytes) -> bool:
    """Whether this is nothing but whole numbers between commas, without a look at each of them."""
    return (
        not text.translate(None, b"0123456789-,")
        and not any(wrong in text for wrong in (b",,", b"--", b"-,"))
        and text[:1] not in {b"", b","}
        and text[-1:] not in {b",", b"-"}
        and text.count(b"-") == text.count(b",-") + text.startswith(b"-")
    )


def from_lists(value: Any) -> tuple[list[int], IntArray]:
    """The same from parsed JSON, for files that somebody has laid out anew."""
    trees = reading.listed(value, '"counts"', most=MOST_TREES)
    numbers: list[int] = []
    for tree in trees:
        numbers += reading.listed(tree, 'an entry of "counts"', most=MOST_COUNTS)
    if set(map(type, numbers)) - {int}:  # a bool is an int to NumPy, and no count to us
        raise PartyError("a count is a whole number of at most 63 bits.")
    try:
        return [len(tree) for tree in trees], np.array(numbers, np.int64)
    except OverflowError:
        raise PartyError("a count is a whole number of at most 63 bits.") from None
