"""How a delimited text file is laid out. Public, and of no influence on what a code means."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as short
from typing import Any, Self

from bocage.errors import SchemaError


@dataclass(frozen=True)
class Layout:
    """Separator, header line and column order of a delimited text file."""

    separator: str = ","
    header: bool = True
    columns: tuple[str, ...] = ()  # needed where there is no header line
    strip: bool = False  # whether blanks around a field belong to it

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        separator = document.get("separator", ",")
        if not isinstance(separator, str) or len(separator) != 1 or separator in "\n\r\0\"'":
            raise SchemaError(f'"separator" must be one character, not {short(separator)}.', at=("separator",))
        for key in ("header", "strip_whitespace"):
            if not isinstance(document.get(key, True), bool):
                raise SchemaError(f'"{key}" must be true or false, not {short(document[key])}.', at=(key,))
        columns = document.get("columns", [])
        if not isinstance(columns, list) or not all(isinstance(c, str) and c for c in columns):
            raise SchemaError('"columns" is a list of column names.', at=("columns",))
        for position, column in enumerate(columns):
            if columns.index(column) < position:
                raise SchemaError(f'"columns" names {column!r} twice.', at=("columns", position))
        header = document.get("header", True)
        if not header and not columns:
            raise SchemaError('a text file without header needs "columns": the names in order.', at=("header",))
        return cls(separator, header, tuple(columns), document.get("strip_whitespace", False))

    def to_dict(self) -> dict[str, Any]:
        document = {
            "separator": self.separator,
            "header": self.header,
            "columns": list(self.columns),
            "strip_whitespace": self.strip,
        }
        return {} if self == Layout() else document
