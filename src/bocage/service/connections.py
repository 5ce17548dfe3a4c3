"""The connections of one worker process: never more than it can serve, the oldest that waits goes first."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Protocol

MOST = 4096
RESERVE = 128  # files that a process opens for itself: ledger, registry, tables, logs


class Connection(Protocol):
    """What can be cut off."""

    def cut(self) -> None: ...


class Connections:
    """Who is connected. A connection waits, or is being answered.

    Who waits has sent no whole request: a head or a body is missing, or nothing has come since the
    last answer. Where there is no room for one more, who has waited longest is cut off. Nobody who
    is being answered is; where all are, the newcomer is.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._waiting: OrderedDict[Connection, None] = OrderedDict()
        self._working: set[Connection] = set()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._working)

    def open(self, new: Connection) -> None:
        self._waiting[new] = None
        if len(self) > self.most:
            oldest, _ = self._waiting.popitem(last=False)
            oldest.cut()

    def wait(self, one: Connection) -> None:
        """Its answer is given, and the next request is expected."""
        if one in self._working:
            self._working.discard(one)
            self._waiting[one] = None

    def work(self, one: Connection) -> None:
        """A whole request is here."""
        if one in self._waiting:
            del self._waiting[one]
            self._working.add(one)

    def close(self, one: Connection) -> None:
        self._waiting.pop(one, None)
        self._working.discard(one)


def room() -> int:
    """How many connections a process may have: what it can open, less what it needs itself."""
    if sys.platform == "win32":
        return 512 - RESERVE
    import resource  # noqa: PLC0415 - not on every system

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST
    return max(16, min(MOST, soft - RESERVE))
