"""Greenlets that do one task after another: a new one would ask the system for a stack every time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

_MOST_IDLE = 64


class Outcome:
    """What a task has returned or raised."""

    __slots__ = ("error", "result")

    def __init__(self, result: Any, error: BaseException | None) -> None:
        self.result, self.error = result, error


class Hands:
    """Idle greenlets of one thread, each in the middle of waiting for its next task.

    Whoever switches to one with a task gets its `Outcome`, or whatever the task itself switches back
    with in between. One that is done is given back; one that is dropped ends its task.
    """

    def __init__(self) -> None:
        self._idle: list[greenlet] = []

    def take(self) -> greenlet:
        if self._idle:
            return self._idle.pop()
        hand = greenlet(_serve)
        hand.switch()
        return hand

    def give_back(self, hand: greenlet) -> None:
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(hand)

    def close(self) -> None:
        """End those that are idle: in their own thread, where alone they can end."""
        self._idle.clear()


def _serve() -> None:
    """Wait for a task, do it, and hand over what came of it; an idle hand holds nothing of it."""
    thread, done = getcurrent().parent, list[Outcome | None]((None,))
    while True:
        work = thread.switch(done.pop())
        done.append(_outcome(work))
        del work


def _outcome(work: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(work(), None)
    except GreenletExit:
        raise
    except BaseException as error:  # noqa: BLE001 - who waits for it gets it
        return Outcome(None, error)
