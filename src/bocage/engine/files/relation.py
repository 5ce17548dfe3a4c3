"""Files as DuckDB relations: what to select from, and how each column arrives as codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from bocage.engine.codes.encode import (
    ColumnEncoder,
    encoder,
    from_positions,
    known_texts,
    refuse_absent,
)
from bocage.engine.files.text import Text
from bocage.errors import SourceError
from bocage.schema import Attribute, Categorical, Numeric, Schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

MOST_ENUM = 4096  # longer lists of values are looked up in Arrow, not in SQL
_HUGE = ("HUGEINT", "UHUGEINT")  # wider than any Arrow integer
FED = "fed"  # the table that a scan is given


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
    feed
        What makes the table named by `sql` out of the columns that a scan needs; None where DuckDB
        knows the table.
    """

    sql: str
    select: Mapping[str, str]
    encoders: Mapping[str, ColumnEncoder]
    feed: Callable[[Collection[str]], pa.RecordBatchReader] | None = None


def from_parquet(names: Sequence[str], schema: Schema, connection: Connection) -> Relation:
    """Parquet files whose columns have the same types, so that no file decides about another."""
    for name in names:
        _refuse_twins(pq.read_schema(name).names)
    relations = [_typed(parquet([name]), schema, connection) for name in names]
    for column in schema:
        kinds = {types[column.name] for _, types in relations}
        if len(kinds) > 1:
            raise SourceError(
                f"the files hold column {column.name!r} as {' and as '.join(sorted(kinds))}. Write it "
                "with one type in all of them."
            )
    relation, _ = relations[0]
    return replace(relation, sql=parquet(names))


def _refuse_twins(names: Sequence[str]) -> None:
    """Refuse names that DuckDB, which does not tell capitals, would change."""
    lower = [name.lower() for name in names]
    for name in names:
        if lower.count(name.lower()) > 1:
            raise SourceError(
                f"a file has two columns {name!r}, or they differ in capitals only. Rename or remove one."
            )


def parquet(names: Sequence[str]) -> str:
    """SQL that reads Parquet files of these names."""
    files = ", ".join(literal(exactly(name)) for name in names)
    # A column of a directory's name is none: its type would depend on the other directories.
    return f"read_parquet([{files}], hive_partitioning = false, union_by_name = false)"


def from_table(table: str, schema: Schema, connection: Connection) -> tuple[Relation, bool]:
    """A table of the attached file ``source``, as ``name`` or ``schema.name``; is it a view?"""
    space, _, name = table.rpartition(".")
    listed = connection.execute(
        "SELECT schema_name, table_name, false FROM duckdb_tables() WHERE database_name = 'source' "
        "UNION "
        "SELECT schema_name, view_name, true FROM duckdb_views() WHERE database_name = 'source'"
    ).fetchall()
    views = {(listed_space, listed_name): view for listed_space, listed_name, view in listed}
    for where in (("main", table), (space, name)):
        if where in views:
            sql = f'"source".{identifier(where[0])}.{identifier(where[1])}'
            return _typed(sql, schema, connection)[0], views[where]
    raise SourceError(f"the database file has no table {table!r}. Name one with file.duckdb#table.")


def from_text(text: Text, schema: Schema) -> Relation:
    """Delimited text. A field that is empty without quotes is missing."""
    names = text.names
    for name in (column.name for column in schema if names.count(column.name) > 1):
        raise SourceError(f"the source has two columns {name!r}. Rename or remove one.")
    refuse_absent(schema, names)
    select, encode, at = {}, {}, {}
    for column in schema:
        at[column.name] = names.index(column.name)
        field = f"c{at[column.name]}"
        if schema.layout.strip:
            field = stripped(field)
        select[column.name], encode[column.name] = _from_text(column, field)

    def feed(columns: Collection[str]) -> pa.RecordBatchReader:
        # Without any column there are still rows to count.
        return text.reader(sorted(at[name] for name in columns) or [0])

    return Relation(FED, select, encode, feed)


def _typed(sql: str, schema: Schema, connection: Connection) -> tuple[Relation, dict[str, str]]:
    """A relation with types of its own, and these types."""
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
    return Relation(sql, select, encode), types


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
        return code, from_positions(column, texts, column.missing_code)
    # Two more places: NULL becomes the first, every other text the second.
    size = "USMALLINT" if len(texts) > 254 else "UTINYINT"
    missing, outside = (f"{len(texts) + more}::{size}" for more in (0, 1))
    sql = f"CASE WHEN {field} IS NULL THEN {missing} ELSE coalesce({code}, {outside}) END"
    return sql, from_positions(column, texts, column.outside_code, (column.missing_code,))


def stripped(field: str) -> str:
    """SQL of a text without the blanks around it; NULL if nothing is left."""
    return f"nullif(trim({field}, ' ' || chr(9)), '')"


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def exactly(path: str) -> str:
    """A path in which DuckDB finds no pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
