"""Work on many files with all cores, in their order, a few at a time."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Done = TypeVar("Done")
MOST_THREADS = 4  # reading and hashing let go of the interpreter, the rest does not


def in_order(work: Callable[[Given], Done], given: Iterable[Given]) -> Iterator[Done]:
    """What `work` makes of each of them; the first failure, in their order, ends it.

    No more than two results for each thread are waiting at any time.
    """
    threads = min(MOST_THREADS, os.cpu_count() or 1)
    waiting: deque[Future[Done]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="bocage-merge")
    try:
        for one in given:
            waiting.append(pool.submit(work, one))
            if len(waiting) >= 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
