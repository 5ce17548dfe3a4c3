"""A schema as plain data, as it stands in JSON and TOML.

A document has a `name`, a list of `attributes`, and possibly a `target` (the label), a `row_cap` with
`over_cap`, and, for delimited text, how it is laid out. Numbers are read as exact decimals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from reprlib import repr as short
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


def from_dict(document: Any) -> Schema:
    """Read a schema; refuse what is unknown, incomplete or contradictory."""
    if not isinstance(document, dict):
        raise SchemaError('a schema is an object with "name" and "attributes".')
    if document.get("draft", False) is not False:
        raise SchemaError(
            "this schema is a draft. Review the domains, then remove the line draft = true: "
            "signing declares them public.",
            at=("draft",),
        )
    _refuse_unknown(document, _TABLE | _ABOUT | _LAYOUT | {"draft"}, "the schema")
    name = _text(document, "name", "the schema")
    entries = document.get("attributes")
    if not isinstance(entries, list):
        raise SchemaError(f'schema {name!r} needs a list "attributes".', at=("attributes",))
    marker, marked = _missing(document)
    layout = Layout.from_dict(document)
    attributes: dict[str, Attribute] = {}
    for position, entry in enumerate(entries):
        with _inside("attributes", position):
            column = _attribute(entry, marker, marked)
            if column.name in attributes:
                raise SchemaError(f"schema {name!r} declares the column {column.name!r} twice.", at=("name",))
            attributes[column.name] = column
    label = None
    if document.get("target") is not None:
        with _inside("target"):
            label = _label(document["target"], set(attributes), marker, marked)
    _refuse_strangers(document, {*attributes, *([label.name] if label else [])})
    cap = document.get("row_cap")
    return Schema(
        name=name,
        attributes=tuple(attributes.values()),
        label=label,
        row_cap=None if cap is None else _integer(cap, "row_cap"),
        over_cap=_choice(document, "over_cap", "refuse", "cut"),
        title=str(document.get("title", "")),
        layout=layout,
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


@contextmanager
def _inside(*path: str | int) -> Iterator[None]:
    """Say where in the document a refusal happened."""
    try:
        yield
    except SchemaError as error:
        raise SchemaError(str(error), at=(*path, *error.at)) from None


def _missing(document: dict[str, Any]) -> tuple[str | None, list[str]]:
    """The text that marks a missing entry, and the columns in which it does."""
    marker = _marker(document, "missing")
    marked = document.get("missing_in", [])
    if not isinstance(marked, list) or not all(isinstance(column, str) for column in marked):
        raise SchemaError('"missing_in" is a list of column names.', at=("missing_in",))
    if marked and marker is None:
        raise SchemaError('"missing_in" needs "missing", the text that marks a missing entry.', at=("missing_in",))
    return marker, marked


def _refuse_strangers(document: dict[str, Any], declared: set[str]) -> None:
    """Refuse lists of columns that contradict the declared ones."""
    for position, column in enumerate(document.get("missing_in", [])):
        if column not in declared:
            raise SchemaError(
                f'"missing_in" names {column!r}, which is not an attribute.',
                at=("missing_in", position),
            )
    columns = document.get("columns", [])
    absent = sorted(declared - set(columns)) if columns else []
    if absent:
        raise SchemaError(f'"columns" does not name {absent[0]!r}, which is declared.', at=("columns",))


def _label(target: Any, names: set[str], marker: str | None, marked: list[str]) -> Categorical:
    column = _attribute({"type": "categorical", **_object(target)}, marker, marked)
    if not isinstance(column, Categorical):
        raise SchemaError(f"the target {column.name!r} must be categorical.", at=("type",))
    if column.name in names:
        raise SchemaError(f"the target {column.name!r} is also one of the attributes.", at=("name",))
    return column


def _attribute(entry: Any, marker: str | None, marked: list[str]) -> Attribute:
    entry = _object(entry)
    name = _text(entry, "name", "an attribute")
    where = f"attribute {name!r}"
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in _ALLOWED:
        raise SchemaError(f'{where} needs "type": "categorical" or "numeric", not {short(kind)}.', at=("type",))
    _refuse_unknown(entry, _ALLOWED[kind], where)
    own_marker = _marker(entry, "marker") if "marker" in entry else None
    if own_marker is None and name in marked:
        own_marker = marker
    if kind == "numeric":
        return _numeric(entry, name, own_marker)
    values = entry.get("values")
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise SchemaError(f'{where} needs "values": the complete list of its values, as text.', at=("values",))
    # A marker that has no rule of its own is a value of its own: what is missing stays visible.
    if own_marker is not None and "missing" not in entry:
        values = [*values, own_marker] if own_marker not in values else values
        missing: str | None = own_marker
    else:
        missing = _value_rule(entry, "missing", values, where)
    return Categorical(name, tuple(values), missing, _value_rule(entry, "outside", values, where), own_marker)


def _numeric(entry: dict[str, Any], name: str, marker: str | None) -> Numeric:
    where = f"attribute {name!r}"
    for bound in ("lower", "upper"):
        if bound not in entry:
            raise SchemaError(
                f"{where} needs public bounds, and {bound!r} is missing. Take them from what the "
                "column means, never from the data."
            )
    if "cells" in entry and "step" in entry:
        raise SchemaError(f"{where} has both cells and step; one of them makes the grid.", at=("cells",))
    missing = entry.get("missing", "drop")
    return Numeric(
        name,
        _fraction(entry, "lower", where),
        _fraction(entry, "upper", where),
        _integer(entry.get("cells", DEFAULT_CELLS), "cells"),
        _fraction(entry, "step", where) if "step" in entry else None,
        None if missing == "drop" else _fraction(entry, "missing", where),
        _choice(entry, "outside", "clamp", "drop") == "clamp",
        marker,
    )


def _value_rule(entry: dict[str, Any], rule: str, values: list[str], where: str) -> str | None:
    choice = entry.get(rule)
    if choice is None:
        return None
    if isinstance(choice, dict) and set(choice) == {"value"}:
        choice = choice["value"]
    elif choice == "drop" and "drop" in values:
        raise SchemaError(
            f'{where}: "{rule}": "drop" is ambiguous because "drop" is a value. Write '
            f'{{"value": "drop"}} for the value, or leave "{rule}" out to drop the row.',
            at=(rule,),
        )
    elif choice == "drop":
        return None
    if not isinstance(choice, str):
        raise SchemaError(f'{where}: "{rule}" must be "drop" or one of the values.', at=(rule,))
    return choice


def _to_dict(attribute: Attribute) -> dict[str, Any]:
    document: dict[str, Any] = {"name": attribute.name, "type": attribute.kind}
    if isinstance(attribute, Categorical):
        document["values"] = list(attribute.values)
        # Always written out, so that a marker does not become a value when the text is read again.
        missing = attribute.missing
        document["missing"] = None if missing is None else {"value": missing}
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


# A bounded number of digits, so that a short text cannot mean a number of gigabytes.
_NUMERAL = re.compile(r"[+-]?\d{1,400}(/(?P<under>\d{1,400})|\.?\d{0,400}([eE][+-]?\d{1,3})?)")


def _fraction(entry: dict[str, Any], key: str, where: str) -> Fraction:
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise SchemaError(f"{where}: {key} must be a number, not {short(value)}.", at=(key,))
    match = _NUMERAL.fullmatch(str(value))
    if not match or not int(match["under"] or 1):
        raise SchemaError(f"{where}: {key} must be a finite number, not {short(value)}.", at=(key,))
    return Fraction(match.group())


def _integer(value: Any, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SchemaError(f'"{key}" must be a whole number, not {short(value)}.', at=(key,))
    return value


def _choice(entry: dict[str, Any], key: str, default: str, other: str) -> Any:
    choice = entry.get(key, default)
    if choice not in (default, other):
        raise SchemaError(f'"{key}" must be "{default}" or "{other}", not {short(choice)}.', at=(key,))
    return choice


def _marker(entry: dict[str, Any], key: str) -> str | None:
    marker = entry.get(key)
    if marker is not None and not isinstance(marker, str):
        raise SchemaError(f'"{key}" is the text that marks a missing entry, such as "?".', at=(key,))
    return marker


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise SchemaError(f'{where} needs "{key}": a text that is not empty.', at=(key,))
    return value


def _object(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise SchemaError(f"an attribute is an object with name and type, not {short(entry)}.")
    return entry


def _refuse_unknown(entry: dict[str, Any], allowed: set[str], where: str) -> None:
    for key in entry:
        if key not in allowed:
            raise SchemaError(
                f"{where} has the unknown key {key!r}. Known keys: {', '.join(sorted(allowed))}.",
                at=(key,),
            )
