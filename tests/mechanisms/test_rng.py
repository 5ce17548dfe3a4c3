from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.mechanisms.rng import RandomBits


class Counter:
    """Bytes that count up in words, so that a word used twice is seen."""

    def __init__(self):
        self.next = 0
        self.lock = threading.Lock()

    def __call__(self, size):
        with self.lock:
            first, self.next = self.next, self.next + size // 8
        return np.arange(first, first + size // 8, dtype=np.uint64).tobytes()


def test_no_word_is_handed_out_twice():
    bits = RandomBits(read=Counter())
    words = np.concatenate([bits.words(n) for n in (1, 5, 511, 512, 513, 0, 300_000, 2)])
    assert len(np.unique(words)) == len(words) == 301_544


def test_used_words_do_not_stay_in_memory():
    bits = RandomBits(read=lambda size: b"\xff" * size)
    bits.words(1)
    memory = bits._buffer.base
    bits.words(10)
    assert memory is bits._buffer.base
    assert memory[:11].tolist() == [0] * 11


def test_threads_share_no_words():
    bits = RandomBits(read=Counter())
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda n: bits.words(n % 7), range(20_000)))
    words = np.concatenate(parts)
    assert len(np.unique(words)) == len(words)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads of other tests
def test_a_forked_child_does_not_repeat_its_parent():
    bits = RandomBits()
    bits.words(1)  # fills the buffer
    with bits._lock:  # as if another thread were drawing at the moment of the fork
        receive, send = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(send, bits.words(8).tobytes())
            os._exit(0)
    os.waitpid(child, 0)
    theirs = set(np.frombuffer(os.read(receive, 64), dtype=np.uint64).tolist())
    os.close(receive)
    os.close(send)
    ours = set(bits.words(500).tolist())
    assert len(theirs) == 8
    assert not theirs & ours


@given(st.integers(1, 1 << 200), st.integers(0, 20))
def test_integers_lie_below_their_bound(bound, count):
    integers = RandomBits().below(bound, count)
    assert len(integers) == count
    assert integers.dtype == (np.int64 if bound <= 1 << 63 else object)
    assert all(0 <= value < bound for value in integers.tolist())


@given(st.lists(st.integers(1, (1 << 63) - 1), min_size=1, max_size=50))
def test_each_integer_lies_below_its_own_bound(bounds):
    integers = RandomBits().below_each(np.array(bounds))
    assert all(0 <= value < bound for value, bound in zip(integers.tolist(), bounds, strict=True))


def test_large_integers_use_all_their_bits():
    # 400 draws below 2**200: that one of the 200 bits never changes has probability 2**-390.
    integers = RandomBits().below(1 << 200, 400).tolist()
    ones = zeros = 0
    for value in integers:
        ones |= value
        zeros |= ~value
    assert ones == (1 << 200) - 1
    assert zeros & ((1 << 200) - 1) == (1 << 200) - 1


def test_the_source_cannot_be_seeded_by_the_environment_or_numpy():
    np.random.seed(0)  # noqa: NPY002 - the point is that it has no effect
    first = RandomBits().words(4).tolist()
    np.random.seed(0)  # noqa: NPY002 - likewise
    assert RandomBits().words(4).tolist() != first
