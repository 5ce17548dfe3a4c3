"""One thread that does many short tasks by turns: while one waits for the disk, others go on."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from greenlet import getcurrent, greenlet

from bocage.service.crew import Outbox, Task
from bocage.service.hands import Hands, Outcome
from bocage.storage import MOST_TOGETHER, Change, Writers, hand_in

_LOG = logging.getLogger("bocage.service")


class _Turn:
    """A task that has begun. It stops where it writes to a store, and goes on when that is durable."""

    def __init__(self, task: Task, hand: greenlet) -> None:
        self.task: tuple[Callable[[], Any], ...] = task[:1]  # until it has begun
        self.future, self.hand = task[1], hand


class Turns:
    """Tasks of one thread that share transactions, and the waits for the disk.

    Threads of their own would do the same. But of twenty threads that answer a question each, most
    of the time goes into who is next: each wakes up for every commit, and takes the interpreter from
    all others around every statement. Here all go on together, in one thread, after one commit.

    Only what is done soon belongs here: everybody waits for a task that computes for long.

    Privacy
    -------
    A task goes on when `Writers` has made its change durable, or has the error of it, as if it
    had a thread of its own.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._waiting: list[tuple[_Turn, Writers, Change]] = []
        self._outbox = Outbox()
        self._hands = Hands()
        self._thread: threading.Thread | None = None

    async def run(self, work: Callable[[], Any]) -> Any:
        """What `work` returns or raises."""
        future = asyncio.get_running_loop().create_future()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._serve, name="questions", daemon=True)
            self._thread.start()
        self._tasks.put((work, future))
        return await future

    def _serve(self) -> None:
        hand_in(_wait)
        self._hands, is_open = Hands(), True
        try:
            while is_open or self._waiting:
                is_open = is_open and self._take_in()
                self._write()
        except BaseException as error:  # noqa: BLE001 - no memory, say: nobody waits forever
            _LOG.error("the thread of light questions ended with %s", type(error).__name__)
            failed, self._waiting = self._waiting, []
            for turn, _, _ in failed:
                self._outbox.put(turn.future, None, error)
        finally:
            self._hands.close()

    def _take_in(self) -> bool:
        """Begin what has come; where nobody waits, wait for it. False when there will be no more."""
        for _ in range(MOST_TOGETHER):
            if self._waiting and self._tasks.empty():
                break
            task = self._tasks.get()
            if task is None:
                return False
            self._go(_Turn(task, self._hands.take()))
            del task  # an idle thread holds nothing of a request
        return True

    def _go(self, turn: _Turn) -> None:
        """Let a task begin or go on until it wants to write, or to its end."""
        task, turn.task = turn.task, ()
        found = turn.hand.switch(*task)
        del task
        if isinstance(found, Outcome):
            self._hands.give_back(turn.hand)
            self._outbox.put(turn.future, found.result, found.error)
        else:
            self._waiting.append((turn, *found))

    def _write(self) -> None:
        """One transaction for each store that somebody waits for, that of the newcomers first.

        A question writes to the registry before it writes to the ledger: so it gets there at once.
        """
        stores = {id(writers): writers for _, writers, _ in reversed(self._waiting)}
        for store in stores.values():
            here = [one for one in self._waiting if one[1] is store]
            store.make([change for _, _, change in here])
            for one in here:
                self._waiting.remove(one)
                self._go(one[0])

    def close(self) -> None:
        """Let the thread end after what was begun."""
        self._tasks.put(None)


def _wait(writers: Writers, change: Change) -> None:
    getcurrent().parent.switch((writers, change))
