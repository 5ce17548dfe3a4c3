"""Files that are read no further than allowed, and are there as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bocage.documents.reading import USUAL, Limits, Unreadable, check_length
from bocage.errors import BocageError


@dataclass(frozen=True)
class Files:
    """Reads and writes the files of a room.

    Parameters
    ----------
    error
        What is raised where a file cannot be read or written.
    """

    error: type[BocageError]

    def read(self, path: Path, limits: Limits = USUAL, *, what: str = "") -> bytes:
        """All of a file, if it is no longer than allowed. `what` stands before its name."""
        name = f"{what} {path}".strip()
        try:
            return read_bytes(path, limits)
        except OSError as error:
            raise self.error(f"{name} cannot be read: {error.strerror}.") from None
        except Unreadable as error:
            raise self.error(f"{name}: {error.problem}.") from None

    def write(self, path: Path, content: bytes, *, what: str = "", mode: int | None = None) -> None:
        """Write a file: all of it or nothing, also if the machine stops in between."""
        try:
            write_whole(path, content, mode)
        except OSError as error:
            name = f"{what} {path}".strip()
            raise self.error(f"{name} cannot be written: {error.strerror}.") from None


def read_bytes(path: Path, limits: Limits = USUAL) -> bytes:
    """All of a file, if it is no longer than allowed. Raises OSError or Unreadable."""
    with path.open("rb") as file:
        content = file.read(limits.bytes + 1)
    check_length(content, limits)
    return content


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file: all of it or nothing, also if the machine stops in between.

    `mode` are its permissions; by default those that a new file has. Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask() if mode is None else mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
