"""Files held open, so that who replaces one under its name changes nothing of what is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from weakref import finalize

from bocage.errors import EngineError

MOST_HELD = 64  # a process may have few files open; more of them are compared by name
_HELD = Path("/proc/self/fd")  # where a file that is held can be opened again
_BLOCK = 2**20

Stamp = tuple[int, ...]


def stamps(paths: Sequence[Path]) -> tuple[Stamp, ...]:
    """What the files are that stand under these names now; `OSError` where there is none."""
    return tuple(_stamp(os.stat(path)) for path in paths)  # noqa: PTH116 - for every question


def _stamp(status: os.stat_result) -> Stamp:
    """Which file, and when it was written. The last two change with its names too."""
    return (
        *(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns),
        *(status.st_nlink, status.st_ctime_ns),
    )


class HeldFiles:
    """Some files as they are now, for as long as this object lives.

    Attributes
    ----------
    stamps
        What the files were when they were opened.
    names
        Under which names their content can be read: those of the held files where the system has
        such names, otherwise the given ones.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = list(paths)
        self._opened: list[int] = []
        self._close = finalize(self, _close_all, self._opened)
        self._lock = Lock()
        self._digest: str | None = None
        if len(self._paths) <= MOST_HELD and _HELD.is_dir():
            for path in self._paths:
                self._opened.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            self.names = [str(_HELD / str(number)) for number in self._opened]
        else:
            self.names = list(map(str, self._paths))
        self.stamps = self._now()

    def _now(self) -> tuple[Stamp, ...]:
        if self._opened:
            return tuple(_stamp(os.fstat(number)) for number in self._opened)
        return stamps(self._paths)

    def check(self) -> None:
        """Refuse what was read if a file was written since it was opened."""
        for was, now in zip(self.stamps, self._now(), strict=True):
            # Who renames or removes a file changes its time too, and nothing in it.
            renamed = bool(self._opened) and was[4] != now[4]
            if was[:4] != now[:4] or (was != now and not renamed):
                raise EngineError(
                    "a file of the table was written while it was open. Replace files as a whole: "
                    "write a new one and rename it."
                )

    def digest(self) -> str:
        """A hash of all bytes, in order; computed once."""
        with self._lock:
            if self._digest is None:
                files = sha256()
                for name in self.names:
                    content = sha256()
                    with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - a held file
                        while block := file.read(_BLOCK):
                            content.update(block)
                    files.update(content.digest())
                self.check()
                self._digest = files.hexdigest()
            return self._digest

    def close(self) -> None:
        self._close()


def _close_all(opened: list[int]) -> None:
    for number in opened:
        os.close(number)
