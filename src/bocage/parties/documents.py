"""Files that owners exchange: strict JSON, canonical bytes to hash and sign, whole or not there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from bocage.errors import BocageError, PartyError
from bocage.model.writing import write_whole

LARGEST_FILE = 2**29  # bytes


def canonical(document: Any) -> bytes:
    """The one way to write a document, so that equal documents have equal hashes."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return text.encode("ascii")


def digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


def read(path: Path) -> bytes:
    """All of a file, if it is no larger than a file of ours may be."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise PartyError(f"{path} cannot be read: {error.strerror}.") from None
    if len(content) > LARGEST_FILE:
        raise PartyError(f"{path} has more than {LARGEST_FILE} bytes.")
    return content


def parse(content: bytes) -> dict[str, Any]:
    """An object in JSON, strictly: no key twice, no NaN, no number of thousands of digits."""
    try:
        document = json.loads(
            content.decode("utf-8"),
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_no_twins,
        )
    except RecursionError:
        problem = "it is nested too deeply"
    except UnicodeDecodeError:
        problem = "it is no text"
    except json.JSONDecodeError as error:
        problem = f"it is cut short, or no JSON (line {error.lineno}: {error.msg})"
    except (ValueError, InvalidOperation):
        problem = "a number in it has too many digits"
    else:
        if isinstance(document, dict):
            return document
        problem = "it is no object"
    raise PartyError(f"{problem}.")


def head(document: dict[str, Any], form: str, version: int) -> None:
    """Refuse another kind of file, and versions that this program does not know."""
    if document.get("format") != form:
        raise PartyError(f'this is no "{form}" file.')
    known = document.get("version")
    if known != version or isinstance(known, bool):
        raise PartyError(
            f"this file has format version {known!r:.40}; this program reads version {version}."
        )


def write(path: Path, content: bytes, *, mode: int | None = None, replace: bool = True) -> None:
    """Write a file: all of it or nothing, also if the machine stops in between."""
    if not replace and path.exists():
        raise PartyError(f"{path} exists already. Choose another name.")
    try:
        write_whole(path, content, mode)
    except OSError as error:
        raise PartyError(f"{path} cannot be written: {error.strerror}.") from None


@contextmanager
def about(what: object) -> Iterator[None]:
    """Name what a refusal is about."""
    try:
        yield
    except BocageError as error:
        raise PartyError(f"{what}: {error}") from None


def _refuse_constant(name: str) -> Any:
    raise PartyError(f"it contains {name}.")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise PartyError("a key stands twice in one object.")
    return result
