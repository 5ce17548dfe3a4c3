"""An anchor: the last entry of a ledger, kept on another disk, so that no older copy can pass for it.

The file has two lines of one length. The older is written over, so that a torn write leaves the
other, and nothing was released for the one that was torn.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from bocage.accounting.verification import Head, export_head
from bocage.errors import LedgerError

try:
    import fcntl
except ImportError:  # pragma: no cover - systems without it have no such locks
    fcntl = None  # type: ignore[assignment]

FORMAT = "bocage-anchor"
VERSION = 1
_LINE = 256


@dataclass(frozen=True)
class Mark:
    """A ledger by its name, and its last entry."""

    ledger: str
    number: int
    hash: str

    @property
    def head(self) -> Head:
        return Head(self.number, self.hash)

    @property
    def line(self) -> bytes:
        document = {"format": FORMAT, "version": VERSION, **asdict(self), "check": self._check}
        return json.dumps(document, separators=(",", ":")).encode().ljust(_LINE - 1) + b"\n"

    @property
    def _check(self) -> str:
        text = f"{self.ledger} {self.number} {self.hash}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @classmethod
    def read(cls, line: bytes) -> Mark | None:
        """The mark of a line; None for one that is empty or torn."""
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            document = json.loads(line)
            mark = cls(str(document["ledger"]), int(document["number"]), str(document["hash"]))
            if document["format"] == FORMAT and document["check"] == mark._check:
                return mark
        return None


class Anchor:
    """The file of an anchor; several processes may advance it.

    Privacy
    -------
    It only ever goes forward, and is on its disk before the answer of the entry may leave. It holds
    no more than a number and a hash.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()

    def begin(self, mark: Mark) -> None:
        """Make the file, which must not be there."""
        try:
            with self.path.open("xb") as file:
                file.write(mark.line + b" " * (_LINE - 1) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise LedgerError(f"the anchor {self.path} cannot be made ({error.strerror}).") from None

    def read(self) -> Mark:
        with self._open(os.O_RDONLY) as file:
            return self._last(file)[0]

    def require_writable(self) -> None:
        """Before a charge: refuse if there is nothing to write to."""
        if not os.access(self.path, os.W_OK):
            raise self._failed("it is not there, or cannot be written")

    def advance(self, mark: Mark) -> None:
        """Name a later entry; an earlier one is named already."""
        with self._open(os.O_RDWR) as file:
            last, free = self._last(file)
            if last.ledger != mark.ledger:
                raise LedgerError(f"{self.path} is the anchor of another ledger.")
            if last.number < mark.number:
                os.pwrite(file, mark.line, free * _LINE)
                os.fdatasync(file)

    def _last(self, file: int) -> tuple[Mark, int]:
        """The later mark, and which line is free."""
        content = os.pread(file, 2 * _LINE, 0)
        marks = [Mark.read(content[:_LINE]), Mark.read(content[_LINE:])]
        numbers = [(mark.number, i) for i, mark in enumerate(marks) if mark is not None]
        if not numbers:
            raise LedgerError(
                f"{self.path} is not an anchor, or was damaged. Compare the ledger with another "
                "copy of it, or an export, and begin a new one: bocage ledger anchor."
            )
        _, line = max(numbers)
        last = marks[line]
        assert last is not None  # noqa: S101 - it is one of those with a number
        return last, 1 - line

    @contextmanager
    def _open(self, flags: int) -> Iterator[int]:
        """The file, for this use alone: a forked child shares nothing, a replaced one is noticed."""
        try:
            file = os.open(self.path, flags)
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX)
                yield file
            finally:
                os.close(file)
        except OSError as error:
            raise self._failed(str(error.strerror)) from None

    def _failed(self, why: str) -> LedgerError:
        return LedgerError(
            f"the anchor {self.path} cannot be used ({why}). Is its disk there? If it is lost for "
            "good, the owner begins a new one: bocage ledger anchor."
        )


class AnchorLink:
    """What ties one open ledger to its anchor; without one, an anchored ledger takes no charges."""

    def __init__(self, ledger: str, anchor: Anchor | None) -> None:
        self._ledger, self._anchor = ledger, anchor
        self._owed: Head | None = None  # what is committed, and the anchor could not be told

    @property
    def path(self) -> Path | None:
        return None if self._anchor is None else self._anchor.path

    def require_ready(self) -> None:
        if self._anchor is None:
            raise LedgerError(
                "the ledger is anchored, and was opened without its anchor: name the file "
                "(anchor=…). Nothing was charged."
            )
        try:
            if self._owed is not None:
                self._tell(self._anchor, self._owed)
            self._anchor.require_writable()
        except LedgerError as error:
            raise LedgerError(f"{error} Nothing was charged.") from None

    def follow(self, head: Head) -> None:
        if self._anchor is None:
            return
        self._owed = head
        try:
            self._tell(self._anchor, head)
        except LedgerError as error:
            raise LedgerError(f"{error} The charge stands, and no answer leaves.") from None

    def _tell(self, anchor: Anchor, head: Head) -> None:
        anchor.advance(Mark(self._ledger, head.number, head.hash))
        self._owed = None


def known_head(path: str | os.PathLike[str]) -> Head:
    """The last entry that an anchor or an export names."""
    with Path(path).open("rb") as file:
        anchored = FORMAT.encode() in file.read(2 * _LINE)
    return Anchor(path).read().head if anchored else export_head(path)
