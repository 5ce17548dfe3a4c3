"""Engines that run in the process: memory (each of its two ways to count) and DuckDB on files."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from makers import MAKERS, Columns

from bocage.engine import Engine, open_engine
from bocage.engine.duckdb import DuckDBEngine
from bocage.engine.memory import MemoryEngine
from bocage.engine.reference import ReferenceEngine
from bocage.schema import Categorical, Layout, Schema


@contextmanager
def numpy(columns: Columns, schema: Schema, request: Any) -> Iterator[ReferenceEngine]:
    with closing(ReferenceEngine(columns, schema)) as engine:
        yield engine


@contextmanager
def small(columns: Columns, schema: Schema, request: Any) -> Iterator[MemoryEngine]:
    with closing(MemoryEngine(columns, schema)) as engine:
        yield engine


@contextmanager
def memory(columns: Columns, schema: Schema, request: Any) -> Iterator[MemoryEngine]:
    with closing(MemoryEngine(columns, schema, small=-1)) as engine:
        yield engine


@contextmanager
def parquet(columns: Columns, schema: Schema, request: Any) -> Iterator[DuckDBEngine]:
    """Streamed: nothing is kept, and row groups are tiny."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "rows.parquet")
        pq.write_table(arrow_table(columns, schema), path, row_group_size=3)
        with closing(DuckDBEngine(path, schema, keep_bytes=-1)) as engine:
            yield engine


@contextmanager
def csv(columns: Columns, schema: Schema, request: Any) -> Iterator[DuckDBEngine]:
    """Kept as codes after the first scan. Text is quoted, so that '' is not a missing entry."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "rows.csv")
        lines = [",".join(map(_field, row)) for row in zip(*columns.values(), strict=True)]
        path.write_text("\n".join([",".join(map(_field, columns)), *lines, ""]), encoding="utf-8")
        schema = replace(schema, layout=Layout())
        with closing(DuckDBEngine(path, schema)) as engine:
            yield engine


@contextmanager
def duckdb_file(columns: Columns, schema: Schema, request: Any) -> Iterator[DuckDBEngine]:
    table = arrow_table(columns, schema)
    with TemporaryDirectory() as directory:
        path = Path(directory, "rows.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.register("given", table)
            connection.execute("""CREATE TABLE "the 'rows'; --" AS SELECT * FROM given""")
        engine = DuckDBEngine(path, schema, table="the 'rows'; --", keep_bytes=-1)
        with closing(engine):
            yield engine


def arrow_table(columns: Columns, schema: Schema) -> pa.Table:
    arrays = {}
    for name, values in columns.items():
        array = pa.array(values)
        if pa.types.is_null(array.type):
            text = isinstance(schema.by_name.get(name), Categorical)
            array = array.cast(pa.string() if text else pa.float64())
        arrays[name] = array
    return pa.table(arrays)


def _sparing(value: Any) -> str:
    plain = isinstance(value, str) and value and not set(value) & set(',"\n\r\ufeff')
    return value if plain else _field(value)


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | Decimal):
        return repr(value) if isinstance(value, float) else str(value)
    return '"' + value.replace('"', '""') + '"'


@contextmanager
def arrow(columns: Columns, schema: Schema, request: Any) -> Iterator[Engine]:
    with closing(open_engine(arrow_table(columns, schema), schema)) as engine:
        yield engine


@contextmanager
def pandas(columns: Columns, schema: Schema, request: Any) -> Iterator[Engine]:
    frame = arrow_table(columns, schema).to_pandas(types_mapper=pd.ArrowDtype)
    with closing(open_engine(frame, schema)) as engine:
        yield engine


@contextmanager
def polars(columns: Columns, schema: Schema, request: Any) -> Iterator[Engine]:
    with closing(open_engine(pl.from_arrow(arrow_table(columns, schema)), schema)) as engine:
        yield engine


@contextmanager
def several_parquet(columns: Columns, schema: Schema, request: Any) -> Iterator[Engine]:
    """A third of the rows in each of three files, in order: cutting to a row cap needs it."""
    table = arrow_table(columns, schema)
    with TemporaryDirectory() as directory:
        third = -(-table.num_rows // 3)
        for number in range(3):
            part = table.slice(number * third, third)
            pq.write_table(part, Path(directory, f"rows-{number}.parquet"))
        with closing(open_engine(f"{directory}/rows-*.parquet", schema)) as engine:
            yield engine


@contextmanager
def zipped_csv(columns: Columns, schema: Schema, request: Any) -> Iterator[Engine]:
    """CRLF, and quotes only where they are needed, as far as '' and a missing entry allow."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "rows.csv.gz")
        lines = [",".join(map(_sparing, row)) for row in zip(*columns.values(), strict=True)]
        content = "\r\n".join([",".join(map(_field, columns)), *lines, ""])
        path.write_bytes(gzip.compress(content.encode(), 1))
        with closing(open_engine(path, replace(schema, layout=Layout()))) as engine:
            yield engine


@contextmanager
def duckdb_view(columns: Columns, schema: Schema, request: Any) -> Iterator[Engine]:
    """A view of a Parquet file elsewhere."""
    with TemporaryDirectory() as directory:
        path, rows = Path(directory, "rows.duckdb"), Path(directory, "rows.parquet")
        pq.write_table(arrow_table(columns, schema), rows)
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE VIEW shown AS SELECT * FROM read_parquet('{rows}')")
        with closing(open_engine(f"{path}#shown", schema)) as engine:
            yield engine


MAKERS |= {
    "numpy": numpy,
    "small": small,
    "memory": memory,
    "parquet": parquet,
    "csv": csv,
    "duckdb": duckdb_file,
    "arrow": arrow,
    "pandas": pandas,
    "polars": polars,
    "several-parquet": several_parquet,
    "csv-gz": zipped_csv,
    "duckdb-view": duckdb_view,
}
