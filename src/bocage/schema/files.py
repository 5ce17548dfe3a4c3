"""Schemas as JSON and TOML files; a refusal names the file and the line to fix."""

from __future__ import annotations

import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path

from bocage.documents import reading
from bocage.documents.files import read_bytes
from bocage.documents.reading import Limits, Twin, Unreadable
from bocage.errors import SchemaError
from bocage.schema.document import from_dict
from bocage.schema.lines import line_of, line_of_twin
from bocage.schema.schema import Schema

# What an owner signs: 300 columns of 65,536 short values fit.
LIMITS = Limits(bytes=2**26, memory=2**32)


def read(path: Path) -> Schema:
    """Read a schema from a file whose name ends in .toml, or else from JSON."""
    try:
        content = read_bytes(path, LIMITS)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"schema file {path} cannot be read: {error}.") from None
    except Unreadable as error:
        raise SchemaError(f"schema file {path} is too large for a schema: {error}.") from None
    try:
        if path.suffix.lower() == ".toml":
            return from_dict(tomllib.loads(text, parse_float=Decimal))
        return from_dict(reading.parse(content, LIMITS))
    except Unreadable as error:
        line = line_of_twin(text) if isinstance(error, Twin) else error.line
        raise _placed(path, line, SchemaError(f"{error.problem}.")) from None
    except SchemaError as error:
        raise _placed(path, line_of(text, error.at), error) from None
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{path}: this is not TOML: {error}.") from None
    except RecursionError:
        raise SchemaError(f"{path}: nested too deeply for a schema.") from None
    except (ValueError, InvalidOperation):  # Python's limits on the digits of a number
        raise SchemaError(f"{path}: a number in it has too many digits.") from None


def _placed(path: Path, line: int | None, error: SchemaError) -> SchemaError:
    where = f"{path}, line {line}" if line else str(path)
    return SchemaError(f"{where}: {error}", at=error.at)
