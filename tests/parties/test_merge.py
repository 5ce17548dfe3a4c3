"""Files are worked on by all cores, in their order, a few at a time."""

from __future__ import annotations

import threading
import time

import pytest

from bocage.errors import PartyError
from bocage.parties.merge import MOST_THREADS, in_order


def test_results_come_in_the_order_of_what_was_given():
    def work(i):
        time.sleep(0.001 * (i % 3))
        return i * i

    assert list(in_order(work, range(50))) == [i * i for i in range(50)]
    assert list(in_order(work, [])) == []


def test_no_more_are_taken_than_a_few_ahead_of_what_was_used():
    taken, ahead = 0, []

    def given():
        nonlocal taken
        for i in range(100):
            taken += 1
            yield i

    for used, _ in enumerate(in_order(lambda i: i, given()), start=1):
        ahead.append(taken - used)
    assert max(ahead) <= 2 * MOST_THREADS


def test_the_first_failure_in_order_is_raised_and_nothing_goes_on():
    seen, lock = [], threading.Lock()

    def work(i):
        with lock:
            seen.append(i)
        if i in {3, 4}:
            raise PartyError(f"number {i}")
        return i

    found = []
    with pytest.raises(PartyError, match="number 3"):
        found.extend(in_order(work, range(1000)))
    assert len(seen) <= 4 + 2 * MOST_THREADS
    assert not [t for t in threading.enumerate() if t.name.startswith("bocage-merge")]
