"""Schemas as JSON and TOML files; a refusal names the file and the line to fix."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from bocage.errors import SchemaError
from bocage.schema.document import from_dict
from bocage.schema.lines import line_of, line_of_twin
from bocage.schema.schema import Schema

LARGEST_FILE = 2**26  # characters: 300 columns of 65,536 short values fit


def read(path: Path) -> Schema:
    """Read a schema from a file whose name ends in .toml, or else from JSON."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"schema file {path} cannot be read: {error}.") from None
    if len(text) > LARGEST_FILE:
        raise SchemaError(f"schema file {path} is too large for a schema.")
    try:
        return from_dict(_parse(text, toml=path.suffix.lower() == ".toml"))
    except _Twin as error:
        raise _placed(path, line_of_twin(text), error) from None
    except SchemaError as error:
        raise _placed(path, line_of(text, error.at), error) from None
    except json.JSONDecodeError as error:
        raise SchemaError(f"{path}, line {error.lineno}: this is not JSON: {error.msg}.") from None
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{path}: this is not TOML: {error}.") from None
    except RecursionError:
        raise SchemaError(f"{path}: nested too deeply for a schema.") from None
    except (ValueError, InvalidOperation):  # Python's limits on the digits of a number
        raise SchemaError(f"{path}: a number in it has too many digits.") from None


class _Twin(SchemaError):
    """A key stands twice in one object."""


def _parse(text: str, *, toml: bool) -> Any:
    if toml:
        return tomllib.loads(text, parse_float=Decimal)
    return json.loads(text, parse_float=Decimal, object_pairs_hook=_no_twins)


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise _Twin(f"the key {key!r} stands twice in one object.")
        result[key] = value
    return result


def _placed(path: Path, line: int | None, error: SchemaError) -> SchemaError:
    where = f"{path}, line {line}" if line else str(path)
    return SchemaError(f"{where}: {error}", at=error.at)
