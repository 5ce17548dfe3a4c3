"""How a delimited text file is laid out. Public, and of no influence on what a code means."""

from __future__ import annotations

from dataclasses import dataclass
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
        layout = cls(
            separator=document.get("separator", ","),
            header=document.get("header", True),
            columns=tuple(document.get("columns", ())),
            strip=document.get("strip_whitespace", False),
        )
        if not isinstance(layout.separator, str) or len(layout.separator) != 1:
            raise SchemaError(f'"separator" must be one character, not {layout.separator!r}.')
        if not layout.header and not layout.columns:
            raise SchemaError('a text file without header needs "columns": the names in order.')
        return layout

    def to_dict(self) -> dict[str, Any]:
        document = {
            "separator": self.separator,
            "header": self.header,
            "columns": list(self.columns),
            "strip_whitespace": self.strip,
        }
        return {} if self == Layout() else document
