"""Rows made up from the schema alone, to try a program before it costs anything."""

from __future__ import annotations

from random import Random
from typing import Any

from bocage.engine.sources import open_engine
from bocage.mechanisms import Noise
from bocage.private.answer import Kind
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.schema import Attribute, Categorical, Schema


def made_up_rows(schema: Schema, rows: int) -> dict[str, list[Any]]:
    """Independent uniform values of each column's domain, the same for the same schema."""
    random = Random(schema.fingerprint)  # noqa: S311 - not noise: these rows protect nothing
    return {column.name: [_value(column, random) for _ in range(rows)] for column in schema}


def _value(column: Attribute, random: Random) -> str | float:
    code = random.randrange(column.cells)
    return column.values[code] if isinstance(column, Categorical) else float(column.value(code))


def dry_executor(terms: Terms, noise: Noise, rows: int) -> LiveExecutor:
    made_up = made_up_rows(terms.schema, min(rows, terms.schema.rows_bound))
    engine = open_engine(made_up, terms.schema)
    return LiveExecutor(terms, engine, noise, Kind.DRY_RUN, has_ledger=False, remember=False)
