"""Other people's text on a terminal: as it is, and nothing that a terminal obeys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def printable(text: str) -> str:
    """Names and memos are other people's text: no escape sequence of theirs reaches a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of texts."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*heads)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
