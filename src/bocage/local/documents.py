"""Files of the local model: strict JSON, canonical bytes to hash, whole or not there."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal, InvalidOperation
from pathlib import Path
from reprlib import repr as short
from typing import Any

from bocage.errors import SurveyError
from bocage.model.writing import write_whole

LARGEST_FILE = 2**28  # bytes


def digest(document: Any) -> str:
    """SHA-256 of the one way to write a document: sorted keys, no blanks, ASCII."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read(path: Path, what: str) -> bytes:
    """All of a file, if it is no larger than a file of ours may be."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise SurveyError(f"{what} {path} cannot be read: {error.strerror}.") from None
    if len(content) > LARGEST_FILE:
        raise SurveyError(f"{what} {path} has more than {LARGEST_FILE} bytes.")
    return content


def write(path: Path, document: Any, what: str, *, private: bool = False) -> None:
    """Write a file: all of it or nothing, also if the machine stops in between.

    A private one is for its owner's eyes only, and need not be pretty.
    """
    shape: dict[str, Any] = {"separators": (",", ":")} if private else {"indent": 1}
    text = json.dumps(document, ensure_ascii=True, **shape) + "\n"
    mode = 0o600 if private else None
    try:
        write_whole(path, text.encode("ascii"), mode)
    except OSError as error:
        raise SurveyError(f"{what} {path} cannot be written: {error.strerror}.") from None


def parse(content: bytes, form: str, version: int, keys: set[str]) -> dict[str, Any]:
    """An object in JSON with exactly these keys, of this format and version."""
    try:
        document = json.loads(
            content.decode("utf-8"),
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_no_twins,
        )
    except RecursionError:
        raise SurveyError("it is nested too deeply.") from None
    except UnicodeDecodeError:
        raise SurveyError("it is no text.") from None
    except json.JSONDecodeError as error:
        raise SurveyError(f"line {error.lineno} is not JSON: {error.msg}.") from None
    except (ValueError, InvalidOperation):
        raise SurveyError("a number in it has too many digits.") from None
    return checked(document, form, version, keys)


def checked(document: Any, form: str, version: int, keys: set[str]) -> dict[str, Any]:
    """The document, if it is an object of this format and version with exactly these keys."""
    if not isinstance(document, dict) or document.get("format") != form:
        raise SurveyError(f'it is no file of the format "{form}".')
    known = document.get("version")
    if known != version or isinstance(known, bool):
        raise SurveyError(
            f"it has format version {short(known)}; this program reads version {version}."
        )
    for key in sorted(keys - set(document)):
        raise SurveyError(f'"{key}" is missing.')
    for key in document:
        if key not in keys | {"format", "version"}:
            raise SurveyError(f"it has the unknown key {short(key)}.")
    return document


def _refuse_constant(name: str) -> Any:
    raise SurveyError(f"it contains {name}.")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise SurveyError("a key stands twice in one object.")
    return result
