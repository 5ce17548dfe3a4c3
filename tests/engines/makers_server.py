"""PostgreSQL and Spark for the shared suite: the same Python values in a real table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pyarrow.parquet as pq
import pytest
from makers import MAKERS, Columns
from makers_local import arrow_table
from psycopg import sql

from bocage.engine.postgres import PostgresEngine
from bocage.engine.spark import SparkEngine
from bocage.schema import Categorical, Schema

_numbers = itertools.count()


@contextmanager
def postgres(columns: Columns, schema: Schema, request: Any) -> Iterator[PostgresEngine]:
    url = request.getfixturevalue("postgres_url")
    with (
        postgres_table(url, columns, schema) as table,
        closing(PostgresEngine(url, table, schema)) as engine,
    ):
        yield engine


@contextmanager
def postgres_table(url: str, columns: Columns, schema: Schema, table: str | None = None) -> Iterator[str]:
    """A table of these values, loaded with COPY."""
    table = table or f'it\'s "table" {next(_numbers)}'
    name = sql.Identifier(table)
    listed = [
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(_type(values, schema, column)))
        for column, values in columns.items()
    ]
    with psycopg.connect(url, autocommit=True) as connection:
        create = sql.SQL("CREATE UNLOGGED TABLE {} ({})")
        connection.execute(create.format(name, sql.SQL(", ").join(listed)))
        copying = sql.SQL("COPY {} FROM STDIN").format(name)
        with connection.cursor() as cursor, cursor.copy(copying) as copy:
            for row in zip(*columns.values(), strict=True):
                copy.write_row(row)
        try:
            yield table
        finally:
            connection.execute(sql.SQL("DROP TABLE {}").format(name))


def _type(values: Sequence[Any], schema: Schema, name: str) -> str:
    types = {bool: "boolean", float: "double precision", Decimal: "numeric", str: "text"}
    for value in values:
        if type(value) in types:
            return types[type(value)]
    if any(value is not None for value in values):
        return "bigint"
    return "text" if isinstance(schema.by_name.get(name), Categorical) else "double precision"


@contextmanager
def spark(columns: Columns, schema: Schema, request: Any) -> Iterator[SparkEngine]:
    """A frame: its rows come through Spark's own reader."""
    session = request.getfixturevalue("spark")
    frame = session.createDataFrame(arrow_table(columns, schema))
    with closing(SparkEngine(frame, schema)) as engine:
        yield engine


@contextmanager
def spark_parquet(columns: Columns, schema: Schema, request: Any) -> Iterator[SparkEngine]:
    """Several files of several row groups, read by the tasks themselves."""
    session = request.getfixturevalue("spark")
    table = arrow_table(columns, schema)
    half = (table.num_rows + 1) // 2
    with TemporaryDirectory() as directory:
        for number, part in enumerate((table.slice(0, half), table.slice(half))):
            pq.write_table(part, Path(directory, f"it's part {number}.parquet"), row_group_size=3)
        with closing(SparkEngine(directory, schema, session)) as engine:
            yield engine


postgres.marks = [pytest.mark.postgres]
spark.marks = spark_parquet.marks = [pytest.mark.spark]
spark.examples = spark_parquet.examples = 8
MAKERS |= {"postgres": postgres, "spark": spark, "spark-parquet": spark_parquet}
