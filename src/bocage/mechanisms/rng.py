"""Random words from the operating system, and uniform integers made of them.

Everything random in Bocage passes through `Randomness`. The only implementation that ships,
`RandomBits`, reads the operating system's generator and cannot be seeded.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms.base import IntArray

Words = NDArray[np.uint64]

_BUFFERED = 512  # words; one system call serves many small draws
_BLOCK = 1 << 17  # words; a large request is read in blocks that stay in the cache
_INT64 = 1 << 63


class Randomness(Protocol):
    """Independent, uniform random integers."""

    word_bits: int

    def words(self, count: int) -> Words:
        """Return `count` words, each uniform on 0 .. 2**word_bits - 1."""

    def below(self, bound: int, count: int) -> NDArray[Any]:
        """Return `count` integers uniform on 0 .. bound - 1: int64, Python integers if too large."""

    def below_each(self, bounds: IntArray) -> IntArray:
        """Return one integer uniform on 0 .. bounds[i] - 1 for each i."""


class RandomBits:
    """Random words read from the operating system, each handed out once.

    Small requests are served from a buffer. Words leave it when they are handed out (their place is
    overwritten), a forked child starts with an empty one, and a lock keeps threads apart: no two
    draws ever share a bit.

    Parameters
    ----------
    read
        Returns as many random bytes as asked. Replaced only by tests.
    word_bits
        Size of a word, at most 64. Smaller words let tests enumerate all of them.
    """

    def __init__(self, read: Callable[[int], bytes] = os.urandom, word_bits: int = 64) -> None:
        self.word_bits = word_bits
        self._read = read
        self._forget()
        _instances.add(self)

    def _forget(self) -> None:
        # Also after a fork: the inherited lock may be held by a thread that no longer exists.
        self._lock = threading.Lock()
        self._buffer = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> Words:
        if count > _BUFFERED:
            words = np.empty(count, dtype=np.uint64)
            for start in range(0, count, _BLOCK):
                part = words[start : start + _BLOCK]
                part[:] = np.frombuffer(self._read(8 * len(part)), dtype=np.uint64)
        else:
            words = self._from_buffer(count)
        return words if self.word_bits == 64 else words >> np.uint64(64 - self.word_bits)

    def _from_buffer(self, count: int) -> Words:
        with self._lock:
            if len(self._buffer) < count:
                self._buffer = np.frombuffer(self._read(8 * _BUFFERED), dtype=np.uint64).copy()
            words = self._buffer[:count].copy()
            self._buffer[:count] = 0
            self._buffer = self._buffer[count:]
        return words

    def below(self, bound: int, count: int) -> NDArray[Any]:
        if bound > min(_INT64, 1 << self.word_bits):
            integers = np.empty(count, dtype=object)
            integers[:] = [self._wide(bound) for _ in range(count)]
            return integers
        return self._below(np.uint64(bound), count)

    def below_each(self, bounds: IntArray) -> IntArray:
        return self._below(bounds.astype(np.uint64), len(bounds))

    def _below(self, bounds: np.uint64 | Words, count: int) -> IntArray:
        """Reduce words modulo the bound, redrawing those of the last, incomplete run of residues.

        The words kept are uniform on a whole number of runs, so their residues are uniform.
        """
        one, largest = np.uint64(1), np.uint64((1 << self.word_bits) - 1)
        last = largest - (largest % bounds + one) % bounds
        words = self.words(count)
        bad = np.flatnonzero(words > last)
        while len(bad):
            words[bad] = self.words(len(bad))
            last_bad = last if isinstance(last, np.uint64) else last[bad]
            bad = bad[words[bad] > last_bad]
        return (words % bounds).astype(np.int64)

    def _wide(self, bound: int) -> int:
        bits = (bound - 1).bit_length()
        while True:
            value = 0
            for word in self.words(-(-bits // self.word_bits)).tolist():
                value = value << self.word_bits | word
            value >>= -bits % self.word_bits
            if value < bound:
                return value


_instances: weakref.WeakSet[RandomBits] = weakref.WeakSet()


def _forget_all() -> None:
    for instance in _instances:
        instance._forget()  # noqa: SLF001 - the same module


os.register_at_fork(after_in_child=_forget_all)
