"""Threads that work for an event loop, with as few words between them as can be."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Task = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class Outbox:
    """What threads have finished for an event loop: whatever is there at once wakes it once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()

    def put(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        with self._lock:
            first = not self._done
            self._done.append((future, result, error))
        loop = future.get_loop()
        if first and not loop.is_closed():
            loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        with self._lock:
            done, self._done = self._done, deque()
        for future, result, error in done:
            if future.done():  # whoever asked has gone
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)


class Crew:
    """A fixed number of threads. What several of them finish at once wakes the event loop once.

    An executor does the same, with a lock, a condition and a wake-up for every task: with short
    tasks that is what most of the time goes into.
    """

    def __init__(self, size: int) -> None:
        self._size, self._threads, self._idle = size, 0, 0
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._outbox = Outbox()

    async def run(self, work: Callable[[], Any]) -> Any:
        """What `work` returns or raises, done by one of the threads."""
        future = asyncio.get_running_loop().create_future()
        with self._lock:
            short = self._idle <= self._tasks.qsize() and self._threads < self._size
            self._threads += short
        if short:
            threading.Thread(target=self._serve, name="question", daemon=True).start()
        self._tasks.put((work, future))
        return await future

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            task = self._tasks.get()
            with self._lock:
                self._idle -= 1
            if task is None:
                return
            work, future = task
            result, error = None, None
            try:
                result = work()
            except BaseException as raised:  # noqa: BLE001 - who waits for it gets it
                error = raised
            self._outbox.put(future, result, error)
            del task, work, future, result, error  # an idle thread holds nothing of a request

    def close(self) -> None:
        """Let the threads end after what they are doing."""
        for _ in range(self._threads):
            self._tasks.put(None)
