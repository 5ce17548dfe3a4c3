"""A question that is alone needs no thread of its own: the event loop's does it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from greenlet import getcurrent, greenlet

from bocage.service.crew import Crew
from bocage.service.hands import Hands, Outcome
from bocage.storage import Change, Writers, hand_in

PATIENCE_SECONDS = 0.02  # how long the event loop waits for others who write


class Alone:
    """Short tasks in the thread of the event loop, for a loop that has nothing else to do.

    To hand a question to a thread and its answer back takes longer than to count. The loop stands
    still for a commit, for which whoever comes meanwhile would have to wait as well; but it does not
    stand still for others who hold the ledger: a thread of the crew waits for those.

    Privacy
    -------
    A task goes on when `Writers` has made its change durable, or has the error of it.
    """

    def __init__(self, crew: Crew) -> None:
        self._crew, self._hands = crew, Hands()

    async def run(self, work: Callable[[], Any]) -> Any:
        """What `work` returns or raises."""
        hand = self._hands.take()
        found = _go(hand, work)
        while not isinstance(found, Outcome):
            writers, change = found
            await self._crew.run(partial(writers.make, [change]))
            found = _go(hand)
        self._hands.give_back(hand)
        if found.error is None:
            return found.result
        try:
            raise found.error
        finally:
            del found  # no cycle with the frames of its own traceback

    def close(self) -> None:
        self._hands.close()


def _go(hand: greenlet, *task: Callable[[], Any]) -> Any:
    """Let a task begin or go on until it has to wait for others who write, or to its end."""
    hand_in(_write_soon)
    try:
        return hand.switch(*task)
    finally:
        hand_in(None)


def _write_soon(writers: Writers, change: Change) -> None:
    if not writers.make_soon(change, PATIENCE_SECONDS):
        getcurrent().parent.switch((writers, change))
