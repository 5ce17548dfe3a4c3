"""Files that owners exchange: strict JSON, whole or not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bocage.documents import reading
from bocage.documents.files import Files
from bocage.documents.reading import Limits, Unreadable
from bocage.documents.writing import canonical, digest
from bocage.errors import BocageError, PartyError

__all__ = ["FILE", "HEADER", "about", "canonical", "digest", "head", "parse", "read", "write"]
FILE = Limits(bytes=2**25)  # two million counts of 15 digits
HEADER = Limits(bytes=2**18)  # of a contribution, with the shapes of a thousand trees
_FILES = Files(PartyError)


def read(path: Path, limits: Limits = FILE) -> bytes:
    """All of a file, if it is no larger than a file of ours may be."""
    return _FILES.read(path, limits)


def parse(content: bytes, limits: Limits = reading.USUAL) -> dict[str, Any]:
    """An object in JSON, strictly: see `bocage.documents.reading`."""
    try:
        document = reading.parse(content, limits)
    except Unreadable as error:
        where = f" (line {error.line})" if error.line else ""
        raise PartyError(f"{error.problem}{where}.") from None
    if not isinstance(document, dict):
        raise PartyError("it is no object.")
    return document


def head(document: dict[str, Any], form: str, version: int) -> None:
    """Refuse another kind of file, and versions that this program does not know."""
    if document.get("format") != form:
        raise PartyError(f'this is no "{form}" file.')
    given = document.get("version")
    if given != version or isinstance(given, bool):
        raise PartyError(f"this file has format version {given!r:.40}; this program reads version {version}.")


def write(path: Path, content: bytes, *, mode: int | None = None, replace: bool = True) -> None:
    """Write a file: all of it or nothing, also if the machine stops in between."""
    if not replace and path.exists():
        raise PartyError(f"{path} exists already. Choose another name.")
    _FILES.write(path, content, mode=mode)


@contextmanager
def about(what: object) -> Iterator[None]:
    """Name what a refusal is about."""
    try:
        yield
    except BocageError as error:
        raise PartyError(f"{what}: {error}") from None
