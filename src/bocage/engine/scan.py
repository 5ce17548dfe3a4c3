"""A Parquet or CSV file as a relation of DuckDB, for the owner's own look at it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bocage.engine.files.text import Text, open_text
from bocage.errors import SourceError
from bocage.schema import Layout

INTEGERS = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
NUMBERS = INTEGERS | {"FLOAT", "DOUBLE", "DECIMAL"}


class Scan:
    """One open file: `source` is its SQL, `types` its columns.

    Without a layout that of a text file is guessed, and so are its types; with one, every column of
    a text file is text, and the file is read as strictly as by the engine.
    """

    def __init__(self, path: Path, layout: Layout | None = None) -> None:
        import duckdb  # noqa: PLC0415 - heavy, and needed by the owner's commands only

        if not path.is_file():
            raise SourceError(f"{path} is not a file.")
        self._error = duckdb.Error
        self._path = path
        self._duckdb = duckdb.connect()
        self._strip = layout is not None and layout.strip
        self.all_text = False
        self._text: Text | None = None
        # In brackets a character is itself: no part of a path is a pattern.
        name = literal("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))
        if path.name.lower().endswith((".parquet", ".pq")):
            self.layout = Layout()
            self.source = f"read_parquet({name})"
        elif layout is None:
            self.layout = self._guess(name)
            self.source = f"read_csv({name}, {_options(self.layout)}, sample_size = -1)"
        else:
            self.layout = layout
            self.all_text = True
            self.source = self._as_text(layout)
        described = self.all(f"DESCRIBE SELECT * FROM {self.source}")
        self.types = {str(row[0]): str(row[1]) for row in described}

    def _guess(self, name: str) -> Layout:
        row = self.one(f"SELECT Delimiter, HasHeader, Columns FROM sniff_csv({name})")
        names = tuple(str(column["name"]) for column in row[2])
        return Layout(str(row[0]), bool(row[1]), () if row[1] else names)

    def _as_text(self, layout: Layout) -> str:
        """A text file as the engine reads it."""
        self._text = open_text(str(self._path), self._path, layout)
        names = self._text.names
        if not names or len(set(names)) < len(names):
            raise SourceError(f"{self._path} needs a header line that names every column once.")
        listed = ", ".join(f"c{at} AS {quoted(name)}" for at, name in enumerate(names))
        return f"(SELECT {listed} FROM fed)"

    def text(self, column: str) -> str:
        """SQL of a column as text, as the schema's values are."""
        cast = f"CAST({quoted(column)} AS VARCHAR)"
        return f"nullif(trim({cast}, ' ' || chr(9)), '')" if self._strip else cast

    def all(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            if self._text is not None:  # a reader reads once
                self._duckdb.register("fed", self._text.reader(range(len(self._text.names))))
            return self._duckdb.execute(sql).fetchall()
        except self._error:
            # DuckDB's message may quote a row.
            raise SourceError(
                f"{self._path} cannot be read as a Parquet or CSV file of this layout."
            ) from None

    def one(self, sql: str) -> tuple[Any, ...]:
        return self.all(sql)[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._duckdb.close()


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _options(layout: Layout) -> str:
    return f"delim = {literal(layout.separator)}, header = {str(layout.header).lower()}"
