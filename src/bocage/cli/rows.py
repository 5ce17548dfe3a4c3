"""Rows of the caller's own file, for prediction: every row comes back, in its order."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bocage.errors import SourceError
from bocage.schema import Numeric, Schema

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 2**16
_TEXT = (".csv", ".csv.gz", ".data", ".txt")


def batches(path: Path, schema: Schema, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of a Parquet file, or of a text file that is laid out as the schema says.

    Unlike an engine, which drops a line of text that is not a row, this refuses the file: a label
    must not end up beside another row.
    """
    import duckdb
    import pyarrow as pa

    if not path.is_file():
        raise SourceError(f"{path} is not a file.")
    if path.name.endswith(".parquet"):
        source, names = f"read_parquet({_literal(path)})", None
    elif path.name.endswith(_TEXT):
        names = list(schema.layout.columns) or _header(path, schema)
        source = _read_csv(path, schema, names)
    else:
        raise SourceError(f"{path}: rows to predict are Parquet, .csv, .csv.gz, .data or .txt.")
    with duckdb.connect() as connection:
        try:
            known = names or connection.sql(f"SELECT * FROM {source} LIMIT 0").columns
            absent = [name for name in columns if list(known).count(name) != 1]
            if absent:
                raise SourceError(f"{path} must have the column {absent[0]!r}, once.")
            selected = [
                f"{_identifier(name) if names is None else _value(schema, name, names)} AS {_identifier(name)}"
                for name in columns
            ]
            # A model without tests asks for no column and still answers once for every row.
            query = f"SELECT {', '.join(selected) or '1 AS none'} FROM {source}"
            yield from connection.sql(query).to_arrow_reader(BATCH)
        except (duckdb.Error, pa.ArrowException):
            raise SourceError(
                f"{path} cannot be read: it is not in the format that its name says, or a line "
                "has another number of fields than the columns declared."
            ) from None


def _read_csv(path: Path, schema: Schema, names: Sequence[str]) -> str:
    listed = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(names)))
    return (
        f"read_csv({_literal(path)}, auto_detect = false, columns = {{{listed}}}, "
        f"delim = {_text(schema.layout.separator)}, header = {str(schema.layout.header).lower()}, "
        "quote = '\"', escape = '\"', allow_quoted_nulls = false)"
    )


def _value(schema: Schema, name: str, names: Sequence[str]) -> str:
    """SQL of a column of text, as the engine reads it."""
    field, column = f"c{names.index(name)}", schema[name]
    if schema.layout.strip:
        field = f"nullif(trim({field}, ' ' || chr(9)), '')"
    if not isinstance(column, Numeric):
        return field
    # A bare TRY_CAST would become the type that the file is read with, and text an error.
    return f"TRY_CAST(nullif({field}, {_text(column.marker or '')}) AS DOUBLE)"


def _header(path: Path, schema: Schema) -> list[str]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
            names = next(csv.reader(lines, delimiter=schema.layout.separator), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        raise SourceError(f"{path} cannot be read as text with a header line.") from None
    return [name.strip(" \t") if schema.layout.strip else name for name in names]


def _literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern."""
    return _text("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
