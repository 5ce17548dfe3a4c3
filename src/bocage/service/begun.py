"""A request is begun by the callback that has read it, and becomes a task where it has to wait.

To make a task, to put it on the queue of the event loop and to come back to it takes longer than most
of what is done for a short question, which as a rule waits for nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any


def begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
    """Let `work` go on until it waits; the task that does the rest, if there is one.

    What needs a task around it, as timeouts and cancel scopes do, comes after `in_a_task`.
    """
    try:
        awaited = work.send(None)
    except StopIteration:
        return None
    return asyncio.get_running_loop().create_task(_rest(work, awaited))


async def in_a_task() -> None:
    """Go on in a task: in that of the caller, or in one that is made for it."""
    if asyncio.current_task() is None:
        await asyncio.sleep(0)


async def _rest(work: Coroutine[Any, Any, None], awaited: Any) -> None:
    await _Rest(work, awaited)


class _Rest:
    """What is left of a coroutine that waits for something."""

    def __init__(self, work: Coroutine[Any, Any, None], awaited: Any) -> None:
        self._work, self._awaited = work, awaited

    def __await__(self) -> Generator[Any, Any, None]:
        work, awaited = self._work, self._awaited
        try:
            while True:
                try:
                    sent = yield awaited
                except BaseException as error:  # noqa: BLE001 - such as a cancellation: it is the work's
                    awaited = work.throw(error)
                else:
                    awaited = work.send(sent)
        except StopIteration:
            return
