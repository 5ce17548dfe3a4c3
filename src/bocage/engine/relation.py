"""Files as DuckDB relations: what to select from, and how each column arrives as codes."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from bocage.engine.encode import ColumnEncoder, encoder, known_texts, places, refuse_absent
from bocage.errors import SourceError
from bocage.schema import Attribute, Categorical, Numeric, Schema

MOST_ENUM = 4096  # longer lists of values are looked up in Arrow, not in SQL
_HUGE = ("HUGEINT", "UHUGEINT")  # wider than any Arrow integer
Connection = duckdb.DuckDBPyConnection


@dataclass(frozen=True)
class Relation:
    """A table that DuckDB can read.

    Attributes
    ----------
    sql
        What stands after FROM.
    select
        For each column of the schema the expression to select.
    encoders
        For each column what turns the selected values into codes.
    """

    sql: str
    select: Mapping[str, str]
    encoders: Mapping[str, ColumnEncoder]


def from_parquet(paths: Sequence[Path], schema: Schema, connection: Connection) -> Relation:
    files = ", ".join(literal(_exactly(path)) for path in paths)
    return _typed(f"read_parquet([{files}])", schema, connection)


def from_table(table: str, schema: Schema, connection: Connection) -> Relation:
    """A table of the attached file ``source``, as ``name`` or ``schema.name``."""
    space, _, name = table.rpartition(".")
    listed = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' UNION "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'source'"
    ).fetchall()
    for where in (("main", table), (space, name)):
        if where in listed:
            sql = f'"source".{identifier(where[0])}.{identifier(where[1])}'
            return _typed(sql, schema, connection)
    raise SourceError(f"the database file has no table {table!r}. Name one with file.duckdb#table.")


def from_csv(path: Path, schema: Schema) -> Relation:
    """Delimited text. A field that is empty without quotes is missing; a line that does not have
    the declared number of fields belongs to no row."""
    layout = schema.layout
    names = list(layout.columns) or _header(path, schema)
    for name in (column.name for column in schema if names.count(column.name) > 1):
        raise SourceError(f"the source has two columns {name!r}. Rename or remove one.")
    refuse_absent(schema, names)
    listed = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    sql = (
        f"read_csv({literal(_exactly(path))}, auto_detect = false, columns = {{{listed}}}, "
        f"delim = {literal(layout.separator)}, header = {str(layout.header).lower()}, "
        "quote = '\"', escape = '\"', allow_quoted_nulls = false, ignore_errors = true)"
    )
    select, encode = {}, {}
    for column in schema:
        field = f"c{names.index(column.name)}"
        if layout.strip:
            field = f"nullif(trim({field}, ' ' || chr(9)), '')"
        select[column.name], encode[column.name] = _from_text(column, field)
    return Relation(sql, select, encode)


def _header(path: Path, schema: Schema) -> list[str]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    # Bytes that are no text may stand further down; they are no reason not to read the names.
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
        names = next(csv.reader(lines, delimiter=schema.layout.separator), [])
    return [name.strip(" \t") if schema.layout.strip else name for name in names]


def _typed(sql: str, schema: Schema, connection: Connection) -> Relation:
    described = connection.sql(f"SELECT * FROM {sql} LIMIT 0")
    types = dict(zip(described.columns, map(str, described.types), strict=True))
    arrow = described.to_arrow_table().schema
    kinds = {name: arrow.field(position).type for position, name in enumerate(types)}
    refuse_absent(schema, kinds)
    select, encode = {}, {}
    for column in schema:
        name, field = column.name, identifier(column.name)
        if types[name] in _HUGE:
            select[name], encode[name] = _from_text(column, f"CAST({field} AS VARCHAR)")
        elif isinstance(column, Categorical) and kinds[name] == pa.string():
            select[name], encode[name] = _from_text(column, field)
        else:
            select[name], encode[name] = field, encoder(column, kinds[name])
    return Relation(sql, select, encode)


def _from_text(column: Attribute, field: str) -> tuple[str, ColumnEncoder]:
    if isinstance(column, Numeric):
        if column.marker is not None:
            field = f"nullif({field}, {literal(column.marker)})"
        return f"TRY_CAST({field} AS DOUBLE)", encoder(column, pa.float64())
    texts = known_texts(column)
    if len(texts) > MOST_ENUM:
        return field, encoder(column, pa.string())
    listed = ", ".join(map(literal, texts))
    code = f"enum_code(TRY_CAST({field} AS ENUM({listed})))"
    if column.missing_code == column.outside_code:
        return code, places(column, texts, column.missing_code)
    # Two more places: NULL becomes the first, every other text the second.
    size = "USMALLINT" if len(texts) > 254 else "UTINYINT"
    missing, outside = (f"{len(texts) + more}::{size}" for more in (0, 1))
    sql = f"CASE WHEN {field} IS NULL THEN {missing} ELSE coalesce({code}, {outside}) END"
    return sql, places(column, texts, column.outside_code, (column.missing_code,))


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _exactly(path: Path) -> str:
    """A path in which DuckDB finds no pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
