"""Compiled search of texts in a list of known ones, on the bytes as Arrow holds them.

Every text is hashed, and a text with the hash and the length of a known one is compared with it. The
hash decides how fast a text is found, never which.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bocage.engine.codes.kernels import compiled

_WORD = 8  # bytes that are loaded at once
_MASKS = np.array([256**size - 1 for size in range(_WORD + 1)], np.uint64)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses nothing
_HALF = np.uint64(32)
_ONE = np.uint64(1)


class KnownTexts:
    """Different texts, each with the code to write; `beyond` is the code of every other text.

    A negative code drops the row.
    """

    def __init__(self, texts: Sequence[str], codes: Sequence[int], beyond: int) -> None:
        parts = [text.encode() for text in texts]
        self._data = np.frombuffer(b"".join(parts), np.uint8)
        self._edges = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        self._codes = np.array([*codes, beyond], np.int64)  # number -1 stands for no text
        self._hashes = np.empty(len(parts), np.uint64)
        hash_texts(self._edges, self._data, self._hashes)
        self._slots = np.full(4 << len(parts).bit_length(), -1, np.int32)
        last = len(self._slots) - 1
        for number, mixed in enumerate(self._hashes.tolist()):
            slot = mixed & last
            while self._slots[slot] >= 0:
                slot = (slot + 1) & last
            self._slots[slot] = number

    def encode(self, array: pa.Array, codes: NDArray[Any], dropped: NDArray[np.bool_]) -> None:
        """Write the codes of texts; those of NULL have no meaning."""
        _, ends, data = array.buffers()
        kind = np.int64 if pa.types.is_large_string(array.type) else np.int32
        edges = np.frombuffer(ends, kind)[array.offset : array.offset + len(array) + 1]
        octets = np.frombuffer(data or b"", np.uint8)
        hashes = np.empty(len(array), np.uint64)
        hash_texts(edges, octets, hashes)
        find_texts(
            edges, octets, hashes,
            self._edges, self._data, self._hashes, self._slots, self._codes,
            codes, dropped,
        )  # fmt: skip


# Neither loop calls another on its arrays: counting references would cost more than the work.
@compiled
def hash_texts(edges: Any, data: Any, hashes: Any) -> None:
    """Texts of at most one word and of one length have different hashes if they differ."""
    for i in range(len(hashes)):
        start, stop = np.int64(edges[i]), np.int64(edges[i + 1])
        mixed = np.uint64(stop - start)
        while start < stop:
            size: Any = min(stop - start, _WORD)
            word = np.uint64(0)
            if start + _WORD <= len(data):
                at = np.uint64(start)  # in this form the compiler loads the bytes at once
                word = (
                    np.uint64(data[at])
                    | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
                    | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
                    | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
                    | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
                    | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
                    | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
                    | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
                ) & _MASKS[size]
            else:
                for byte in range(size):
                    word |= np.uint64(data[start + byte]) << np.uint64(8 * byte)
            mixed = (mixed ^ word) * _FACTOR
            mixed ^= mixed >> _HALF
            start += _WORD
        hashes[i] = mixed


@compiled
def find_texts(
    edges: Any, data: Any, hashes: Any,
    known_edges: Any, known: Any, known_hashes: Any, slots: Any, codes_of: Any,
    codes: Any, dropped: Any,
) -> None:  # fmt: skip
    """The code of each text ``data[edges[i] : edges[i + 1]]``."""
    last = np.uint64(len(slots) - 1)
    for i in range(len(hashes)):
        size = np.int64(edges[i + 1]) - np.int64(edges[i])
        slot = hashes[i] & last
        number = slots[slot]
        while number >= 0:
            begin = known_edges[number]
            same = known_hashes[number] == hashes[i] and known_edges[number + 1] - begin == size
            if same and size > _WORD:
                for byte in range(size):  # unsigned places: nothing counts from the end
                    here, there = np.uint64(edges[i] + byte), np.uint64(begin + byte)
                    same &= data[here] == known[there]
            if same:
                break
            slot = (slot + _ONE) & last
            number = slots[slot]
        code = codes_of[number]
        if code < 0:
            dropped[i] = True
            code = 0
        codes[i] = code
