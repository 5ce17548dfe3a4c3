"""The wall between what a driver says and what a caller hears.

A driver's message may quote a value of a row. So it stays behind: the owner's log gets the name of
the failure, the caller one opaque sentence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TypeVar

from bocage.errors import BocageError, EngineError

_log = logging.getLogger("bocage.engine")
Answer = TypeVar("Answer")


def guarded(work: Callable[[], Answer], failures: tuple[type[Exception], ...], error: EngineError) -> Answer:
    """Do the work; if it fails, raise `error` without a trace of the failure."""
    try:
        return work()
    except BocageError:
        raise
    except failures as failure:
        name = type(failure).__name__
    _log.error("an engine failed: %s", name)
    raise error  # outside the handler, so that the failure is not even its context


def guarded_each(
    work: Callable[[], Iterator[Answer]], failures: tuple[type[Exception], ...], error: EngineError
) -> Iterator[Answer]:
    """The same for work that comes in pieces."""
    pieces = guarded(work, failures, error)
    while (piece := guarded(lambda: next(pieces, None), failures, error)) is not None:
        yield piece
