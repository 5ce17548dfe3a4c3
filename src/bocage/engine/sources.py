"""From what an owner names to the engine that reads it."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Any

from bocage.engine.base import Engine
from bocage.engine.versions import DeclaredVersion
from bocage.errors import SourceError
from bocage.schema import Schema

_TEXT = (".csv", ".csv.gz", ".data", ".txt")
_DATABASE = (".duckdb", ".ddb", ".db")
_KNOWN = (
    "Known sources: people.parquet or a pattern such as 'part-*.parquet'; .csv, .csv.gz, .data or "
    ".txt; file.duckdb#table; postgresql://...#table; spark:people.parquet; an Arrow table, a "
    "pandas, polars or Spark frame, or a mapping from column names to values."
)


def open_engine(source: Any, schema: Schema, *, snapshot: str | None = None) -> Engine:
    """Open a table with the engine that fits it.

    Parameters
    ----------
    source
        A path, an address or rows in memory; a source that is not known is refused with the list
        of those that are.
    schema
        What is public about the table. Columns that it does not declare are never read.
    snapshot
        The owner's declaration that the rows do not change as long as this name does not. It stands
        for the version of a source that has none of its own: a server, a view, a Spark frame.
    """
    engine = _opened(source, schema)
    return engine if snapshot is None else DeclaredVersion(engine, snapshot)


def _opened(source: Any, schema: Schema) -> Engine:
    if isinstance(source, Path):
        return _from_path(str(source), schema)
    if isinstance(source, str):
        return _from_text(source, schema)
    if type(source).__module__.startswith("pyspark."):
        return _spark(source, schema)
    from bocage.engine.memory import MemoryEngine  # noqa: PLC0415 - loads Arrow

    return MemoryEngine(source, schema)


def _from_text(source: str, schema: Schema) -> Engine:
    if source.startswith(("postgresql://", "postgres://")):
        url, _, table = source.partition("#")
        return _postgres(url, table or schema.name, schema)
    if source.startswith("spark:"):
        return _spark(source.removeprefix("spark:"), schema)
    return _from_path(source, schema)


def _from_path(source: str, schema: Schema) -> Engine:
    path, mark, table = source.rpartition("#")
    if not mark or not path.endswith(_DATABASE):
        path, table = source, ""
    if path.endswith(".parquet"):
        return _duckdb(_matching(path), schema)
    if path.endswith(_TEXT):
        return _duckdb([Path(path)], schema)
    if path.endswith(_DATABASE):
        return _duckdb([Path(path)], schema, table or schema.name)
    raise SourceError(f"{source!r} cannot be opened: its ending is not known. {_KNOWN}")


def _duckdb(paths: list[Path], schema: Schema, table: str | None = None) -> Engine:
    from bocage.engine.duckdb import DuckDBEngine  # noqa: PLC0415 - loads DuckDB

    return DuckDBEngine(paths, schema, table=table)


def _postgres(url: str, table: str, schema: Schema) -> Engine:
    try:
        from bocage.engine.postgres import PostgresEngine  # noqa: PLC0415 - an extra
    except ImportError:
        raise SourceError("PostgreSQL needs an extra: pip install 'bocage[postgres]'.") from None
    return PostgresEngine(url, table, schema)


def _spark(source: Any, schema: Schema) -> Engine:
    try:
        from bocage.engine.spark import SparkEngine  # noqa: PLC0415 - an extra
    except ImportError:
        raise SourceError("Spark needs an extra: pip install 'bocage[spark]'.") from None
    return SparkEngine(source, schema)


def _matching(path: str) -> list[Path]:
    if Path(path).exists():
        return [Path(path)]
    names = sorted(glob(path))  # noqa: PTH207 - Path.glob knows no absolute patterns
    if not names:
        raise SourceError(f"there is no file {path}. Check the path, or the pattern.")
    return [Path(name) for name in names]
