"""How often one key or address may ask, and when answers leave.

Each key and each address has a bucket of tokens in each worker process.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from typing import Any

from bocage.errors import RateLimited

MOST_BUCKETS = 10_000


class Limited(RateLimited):
    """Too many requests; after some seconds there may be more."""

    def __init__(self, message: str, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"{message} Wait {seconds} s.")


class Buckets:
    """Buckets that hold `burst` tokens and fill at `rate` a second; a request takes one."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> int:
        """0 if the request may pass, else how many whole seconds to wait."""
        with self._lock:
            now = self._clock()
            level, then = self._levels.pop(key, (self._burst, now))
            level = min(self._burst, level + (now - then) * self._rate)
            passes = level >= 1
            self._levels[key] = (level - 1 if passes else level, now)
            while len(self._levels) > MOST_BUCKETS:
                self._levels.popitem(last=False)
        return 0 if passes else max(1, math.ceil((1 - level) / self._rate))


def sender(scope: MutableMapping[str, Any], *, behind_proxy: bool) -> str:
    """The address that a request came from.

    Behind a proxy all come from the proxy: the last address in its header is the one that it saw,
    whatever the sender wrote before.
    """
    named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    if behind_proxy and named:
        return str(named[-1].decode("latin-1").rpartition(",")[2].strip()[:64])
    client: tuple[str, int] | None = scope.get("client")
    return client[0] if client else ""


def padding(elapsed: float, quantum: float) -> float:
    """How long to wait so that the whole time is a multiple of the quantum, and at least one."""
    return max(math.ceil(elapsed / quantum), 1) * quantum - elapsed
