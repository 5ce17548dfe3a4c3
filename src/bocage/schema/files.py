"""Schemas as JSON and TOML documents.

A document has a `name`, a list of `attributes`, and possibly a `target` (the label), a `row_cap` with
`over_cap`, and, for delimited text, how it is laid out. Numbers are read as exact decimals.
"""

from __future__ import annotations

import json
import re
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from bocage.errors import SchemaError
from bocage.schema.attribute import DEFAULT_CELLS, Attribute, Categorical, Numeric
from bocage.schema.layout import Layout
from bocage.schema.schema import Schema

_ABOUT = {  # what a document may say about its origin; it changes nothing
    *("title", "file", "rows", "test_file", "rows_file", "rows_test_file", "test_file_skip_lines"),
    *("test_file_label_suffix", "rows_with_missing", "class_counts", "sha256", "sha256_content"),
    *("test_file_sha256", "test_file_sha256_content", "source", "licence", "license", "notes"),
}
_LAYOUT = {"separator", "strip_whitespace", "header", "columns"}
_TABLE = {"name", "attributes", "target", "row_cap", "over_cap", "missing", "missing_in"}
_COMMON = {"name", "type", "missing", "outside", "marker", "title"}
_ALLOWED = {
    "categorical": _COMMON | {"values"},
    "numeric": _COMMON | {"lower", "upper", "cells", "step"},
}


def read(path: Path) -> Schema:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"schema file {path} cannot be read: {error}.") from None
    try:
        if path.suffix == ".toml":
            document = tomllib.loads(text, parse_float=Decimal)
        else:
            document = json.loads(text, parse_float=Decimal, object_pairs_hook=_no_twins)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        raise SchemaError(f"{path}: {error}") from None
    except RecursionError:
        raise SchemaError(f"{path}: nested too deeply for a schema.") from None
    try:
        return from_dict(document)
    except SchemaError as error:
        line = _line(text, str(error))
        raise SchemaError(f"{path}{f', line {line}' if line else ''}: {error}") from None


def from_dict(document: Any) -> Schema:
    if not isinstance(document, dict):
        raise SchemaError('a schema is an object with "name" and "attributes".')
    _refuse_unknown(document, _TABLE | _ABOUT | _LAYOUT, "the schema")
    name = _text(document, "name", "the schema")
    entries = document.get("attributes")
    if not isinstance(entries, list):
        raise SchemaError(f'schema {name!r} needs a list "attributes".')
    marker = document.get("missing")
    marked = document.get("missing_in", [])
    if marker is not None and not isinstance(marker, str):
        raise SchemaError('"missing" is the text that marks a missing entry, such as "?".')
    attributes = [_attribute(entry, marker, marked) for entry in entries]
    target = document.get("target")
    label = None
    if target is not None:
        column = _attribute({"type": "categorical", **_object(target)}, marker, marked)
        if not isinstance(column, Categorical):
            raise SchemaError(f"the target {column.name!r} must be categorical.")
        label = column
    unknown = sorted(set(marked) - {a.name for a in attributes} - {label.name if label else ""})
    if unknown:
        raise SchemaError(f'"missing_in" names {unknown[0]!r}, which is not an attribute.')
    cap = document.get("row_cap")
    if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int)):
        raise SchemaError(f'"row_cap" must be a whole number, not {cap!r}.')
    over = document.get("over_cap", "refuse")
    if over not in {"refuse", "cut"}:
        raise SchemaError(f'"over_cap" must be "refuse" or "cut", not {over!r}.')
    return Schema(
        name=name,
        attributes=tuple(attributes),
        label=label,
        row_cap=cap,
        over_cap=over,
        title=str(document.get("title", "")),
        layout=Layout.from_dict(document),
    )


def to_dict(schema: Schema) -> dict[str, Any]:
    """The document that reads back as the same schema."""
    document: dict[str, Any] = {
        "name": schema.name,
        "attributes": [_to_dict(attribute) for attribute in schema.attributes],
    }
    if schema.title:
        document["title"] = schema.title
    if schema.label:
        document["target"] = _to_dict(schema.label)
    if schema.row_cap is not None:
        document |= {"row_cap": schema.row_cap, "over_cap": schema.over_cap}
    return document | schema.layout.to_dict()


def _attribute(entry: Any, marker: str | None, marked: list[str]) -> Attribute:
    entry = _object(entry)
    name = _text(entry, "name", "an attribute")
    where = f"attribute {name!r}"
    kind = entry.get("type")
    if kind not in _ALLOWED:
        raise SchemaError(f'{where} needs "type": "categorical" or "numeric", not {kind!r}.')
    _refuse_unknown(entry, _ALLOWED[kind], where)
    own_marker = entry.get("marker", marker if name in marked else None)
    if kind == "numeric":
        return _numeric(entry, name, own_marker)
    values = entry.get("values")
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise SchemaError(f'{where} needs "values": the complete list of its values, as text.')
    # A marker that has no rule of its own is a value of its own: what is missing stays visible.
    if own_marker is not None and "missing" not in entry:
        values = [*values, own_marker] if own_marker not in values else values
        missing: str | None = own_marker
    else:
        missing = _value_rule(entry, "missing", values, where)
    return Categorical(
        name, tuple(values), missing, _value_rule(entry, "outside", values, where), own_marker
    )


def _numeric(entry: dict[str, Any], name: str, marker: str | None) -> Numeric:
    where = f"attribute {name!r}"
    for bound in ("lower", "upper"):
        if bound not in entry:
            raise SchemaError(
                f"{where} needs public bounds, and {bound!r} is missing. Take them from what the "
                "column means, never from the data."
            )
    if "cells" in entry and "step" in entry:
        raise SchemaError(f"{where} has both cells and step; one of them makes the grid.")
    cells = entry.get("cells", DEFAULT_CELLS)
    if isinstance(cells, bool) or not isinstance(cells, int):
        raise SchemaError(f"{where}: cells must be a whole number, not {cells!r}.")
    outside = entry.get("outside", "clamp")
    if outside not in {"clamp", "drop"}:
        raise SchemaError(f'{where}: "outside" must be "clamp" or "drop", not {outside!r}.')
    missing = entry.get("missing", "drop")
    return Numeric(
        name,
        _number(entry["lower"], f"{where}: lower"),
        _number(entry["upper"], f"{where}: upper"),
        cells,
        _number(entry["step"], f"{where}: step") if "step" in entry else None,
        None if missing == "drop" else _number(missing, f"{where}: missing"),
        outside == "clamp",
        marker,
    )


def _value_rule(entry: dict[str, Any], rule: str, values: list[str], where: str) -> str | None:
    choice = entry.get(rule)
    if isinstance(choice, dict) and set(choice) == {"value"}:
        return str(choice["value"])
    if choice == "drop" and "drop" in values:
        raise SchemaError(
            f'{where}: "{rule}": "drop" is ambiguous because "drop" is a value. Write '
            f'{{"value": "drop"}} for the value, or leave "{rule}" out to drop the row.'
        )
    if choice is None or choice == "drop":
        return None
    if not isinstance(choice, str):
        raise SchemaError(f'{where}: "{rule}" must be "drop" or one of the values.')
    return choice


def _to_dict(attribute: Attribute) -> dict[str, Any]:
    document: dict[str, Any] = {"name": attribute.name, "type": attribute.kind}
    if isinstance(attribute, Categorical):
        document["values"] = list(attribute.values)
        # Always written out, so that a marker does not become a value when the text is read again.
        document["missing"] = {"value": attribute.missing} if attribute.missing else None
        if attribute.outside is not None:
            document["outside"] = {"value": attribute.outside}
    else:
        document |= {"lower": plain(attribute.lower), "upper": plain(attribute.upper)}
        if attribute.step is not None:
            document["step"] = plain(attribute.step)
        else:
            document["cells"] = attribute.cells
        document["missing"] = "drop" if attribute.missing is None else plain(attribute.missing)
        document["outside"] = "clamp" if attribute.clamp else "drop"
    if attribute.marker is not None:
        document["marker"] = attribute.marker
    return document


def plain(value: Fraction) -> int | str:
    """A fraction as JSON that reads back exactly: a whole number, or text."""
    return value.numerator if value.denominator == 1 else str(value)


def _number(value: Any, where: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise SchemaError(f"{where} must be a number, not {value!r}.")
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise SchemaError(f"{where} must be a finite number, not {value!r}.") from None


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise SchemaError(f'{where} needs "{key}": a text that is not empty.')
    return value


def _object(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise SchemaError(f"an attribute is an object with name and type, not {entry!r}.")
    return entry


def _refuse_unknown(entry: dict[str, Any], allowed: set[str], where: str) -> None:
    unknown = sorted(set(entry) - allowed)
    if unknown:
        raise SchemaError(
            f"{where} has the unknown key {unknown[0]!r}. Known keys: {', '.join(sorted(allowed))}."
        )


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise SchemaError(f"the key {twice!r} stands twice in one object.")
    return result


def _line(text: str, message: str) -> int | None:
    """The line that the message speaks of: where its first quoted name stands."""
    for name in re.findall(r"'((?:[^'\\]|\\.)+)'", message):
        at = text.find(json.dumps(name, ensure_ascii=False))
        if at < 0:
            at = text.find(name)
        if at >= 0:
            return text.count("\n", 0, at) + 1
    return None
