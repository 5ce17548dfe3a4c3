"""Files of the local model: strict JSON, whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from reprlib import repr as short
from typing import Any

from bocage.documents import reading, writing
from bocage.documents.files import Files
from bocage.documents.reading import Limits, Unreadable
from bocage.errors import SurveyError

_FILES = Files(SurveyError)


def digest(document: Any) -> str:
    """SHA-256 of a document in its canonical form."""
    return writing.digest(writing.canonical(document))


def read(path: Path, what: str, limits: Limits = reading.USUAL) -> bytes:
    """All of a file, if it is no larger than a file of ours may be."""
    return _FILES.read(path, limits, what=what)


def write(path: Path, document: Any, what: str, *, private: bool = False) -> None:
    """Write a file: all of it or nothing, also if the machine stops in between.

    A private one is for its owner's eyes only, and need not be pretty.
    """
    shape: dict[str, Any] = {"separators": (",", ":")} if private else {"indent": 1}
    text = json.dumps(document, ensure_ascii=True, **shape) + "\n"
    mode = 0o600 if private else None
    _FILES.write(path, text.encode("ascii"), what=what, mode=mode)


def parse(content: bytes, form: str, version: int, keys: set[str], limits: Limits = reading.USUAL) -> dict[str, Any]:
    """An object in JSON with exactly these keys, of this format and version."""
    try:
        document = reading.parse(content, limits)
    except Unreadable as error:
        where = f"line {error.line}: " if error.line else ""
        raise SurveyError(f"{where}{error.problem}.") from None
    return checked(document, form, version, keys)


def checked(document: Any, form: str, version: int, keys: set[str]) -> dict[str, Any]:
    """The document, if it is an object of this format and version with exactly these keys."""
    if not isinstance(document, dict) or document.get("format") != form:
        raise SurveyError(f'it is no file of the format "{form}".')
    given = document.get("version")
    if given != version or isinstance(given, bool):
        raise SurveyError(f"it has format version {short(given)}; this program reads version {version}.")
    for key in sorted(keys - set(document)):
        raise SurveyError(f'"{key}" is missing.')
    for key in document:
        if key not in keys | {"format", "version"}:
            raise SurveyError(f"it has the unknown key {short(key)}.")
    return document
