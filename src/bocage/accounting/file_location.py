"""Where the file of a ledger is: it has one place, and everybody uses the log there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bocage.errors import LedgerError


@dataclass(frozen=True)
class FileLocation:
    """A file by its number, and the directory and name after which SQLite calls its log.

    Attributes
    ----------
    path
        Without symbolic links: all of them lead to one place.
    text
        As it is kept in the ledger. A copy has another number; a file under a second name, such as
        that of a bind mount, is in another directory.
    file
        Device and number of the file.
    """

    path: str
    text: str
    file: tuple[int, int]

    @classmethod
    def of(cls, final: str | os.PathLike[str], now: str | os.PathLike[str]) -> FileLocation:
        """The place of a file that will be linked to `final`."""
        folder, name = os.path.split(os.fspath(final))
        file, above = Path(now).stat(), Path(folder).stat()
        text = f"{file.st_ino} {above.st_ino} {os.fsencode(name).hex()}"
        return cls(os.fspath(final), text, (file.st_dev, file.st_ino))

    @classmethod
    def find(cls, path: str | os.PathLike[str], refuse: Callable[[LedgerError], None]) -> FileLocation:
        """The place of a file, which has one name only."""
        real = os.path.realpath(path)
        try:
            location, names = cls.of(real, real), Path(real).stat().st_nlink
        except OSError as error:
            raise LedgerError(f"{real} cannot be used ({error.strerror}).") from None
        if names > 1:
            refuse(
                LedgerError(
                    f"{real} has {names} names (hard links). SQLite keeps a log for each, so that "
                    "two could spend one budget. Nothing is charged to it: remove the other names."
                )
            )
        return location

    @property
    def shown(self) -> str:
        """The path as text that every database takes."""
        return self.path.encode("utf-8", "backslashreplace").decode()

    def refusal(self, recorded: str) -> str:
        """What to say where the ledger was kept at another place."""
        return (
            f"{self.shown} is not where the ledger was kept: it was moved, restored or copied (on "
            f"record is {recorded}). Of two copies both would spend one budget, so that nothing is "
            "charged to it. If it is the only one, its owner says so: bocage ledger move."
        )


class WatchedFile:
    """A file that has to stay under its name, looked at after every commit.

    Where there is `/proc`, the kernel tells the name of a descriptor that opens nothing: to close that
    one drops no lock of SQLite. To ask for the inode under the name would be simpler, but who looks at
    the times of a file lets Linux record a finer one with the next write, and a charge take a quarter longer.
    """

    def __init__(self, path: str) -> None:
        self._path, self._descriptor = path, -1
        if sys.platform == "linux":
            try:
                self._descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
                self._known = self._seen()
            except OSError:
                self._close()
        if self._descriptor < 0:
            self._known = self._seen()

    def is_in_place(self) -> bool:
        """Whether the file was neither moved, nor replaced, nor deleted."""
        return self._seen() == self._known

    def _seen(self) -> str | int | None:
        if self._descriptor >= 0:
            return os.readlink(f"/proc/self/fd/{self._descriptor}")  # noqa: PTH115 - at every charge
        try:
            return os.stat(self._path).st_ino  # noqa: PTH116 - at every charge
        except OSError:
            return None

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def __del__(self) -> None:
        self._close()
