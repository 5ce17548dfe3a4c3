"""Parquet files of one table: none decides how the rows of another count, or they are refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.engine import open_engine
from bocage.engine.duckdb import DuckDBEngine
from bocage.errors import SourceError
from bocage.plan import Question
from bocage.schema import Categorical, Numeric, Schema

X = Numeric("x", Fraction(0), Fraction(100), step=Fraction(10), missing=Fraction(0))
NUMBER = Schema("t", (X,))
TEXT = Schema("t", (Categorical("x", ("a", "1", "true", "o"), missing="o", outside="o"),))
_BAD = pa.Array.from_buffers(
    pa.string(),
    3,
    [None, pa.py_buffer(np.array([0, 1, 2, 4], np.int32)), pa.py_buffer(b"ab\xff\xfe")],
)
KINDS = {
    "int32": pa.array([30, 40], pa.int32()),
    "int64": pa.array([30, 2**40]),
    "double": pa.array([30.6, 1e300]),
    "float": pa.array([30.6], pa.float32()),
    "text": pa.array(["a", "zzz"]),
    "bool": pa.array([True, False]),
    "decimal": pa.array([Decimal("1.5")]),
    "wide decimal": pa.array([Decimal("1.5")], pa.decimal256(60, 30)),
    "time": pa.array([dt.datetime(2020, 1, 1)]),  # noqa: DTZ001
    "list": pa.array([[1]]),
    "record": pa.array([{"x": 1}]),
    "null": pa.nulls(2),
    "bytes": pa.array([b"a"]),
    "broken text": _BAD,
}


def counts(source, schema):
    engine = DuckDBEngine(source, schema) if isinstance(source, list) else open_engine(source, schema)
    try:
        [tally] = engine.answer([Question(columns=("x",))])
        return tally.columns["x"].ravel()
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("schema", [NUMBER, TEXT], ids=["numeric", "categorical"])
def test_files_count_together_what_they_count_alone_or_are_refused(tmp_path, schema):
    alone, taken = {}, 0
    for kind, array in KINDS.items():
        (tmp_path / kind).mkdir()
        pq.write_table(pa.table({"x": array}), tmp_path / kind / "t.parquet")
        try:
            alone[kind] = counts(tmp_path / kind / "t.parquet", schema)
        except SourceError:
            continue
    for one, other in permutations(KINDS, 2):
        try:
            together = counts([tmp_path / kind / "t.parquet" for kind in (one, other)], schema)
        except SourceError:
            continue
        assert together.tolist() == (alone[one] + alone[other]).tolist()
        taken += 1
    twice = counts([tmp_path / "int32" / "t.parquet"] * 2, schema)
    assert twice.tolist() == (2 * alone["int32"]).tolist()
    assert taken <= 2  # different types are refused


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schema", [NUMBER, TEXT], ids=["numeric", "categorical"])
def test_a_type_counts_as_in_memory_or_is_refused(tmp_path, kind, schema):
    table = pa.table({"x": KINDS[kind]})
    pq.write_table(table, tmp_path / "t.parquet")
    try:
        found = counts(tmp_path / "t.parquet", schema)
    except SourceError:
        return
    assert found.tolist() == counts(table, schema).tolist()


@pytest.mark.parametrize("names", [("x", "x"), ("x", "X"), ("X", "x"), ("x_1", "X", "x"), ("a", "A", "x", "a_1")])
def test_names_that_differ_in_capitals_only_are_refused(tmp_path, names):
    arrays = [pa.array([10 * at]) for at in range(len(names))]
    pq.write_table(pa.Table.from_arrays(arrays, list(names)), tmp_path / "t.parquet")
    with pytest.raises(SourceError, match="two columns"):
        open_engine(tmp_path / "t.parquet", NUMBER)


def test_columns_are_found_by_name_in_every_file(tmp_path):
    pq.write_table(pa.table({"x": [10.0], "w": [1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"w": [1.0], "x": [30.0]}), tmp_path / "2.parquet")
    assert counts(f"{tmp_path}/*.parquet", NUMBER).tolist() == [0, 1, 0, 1, *[0] * 7]


def test_a_file_without_a_declared_column_is_refused_also_as_the_second(tmp_path):
    pq.write_table(pa.table({"x": [10.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"y": [30.0]}), tmp_path / "2.parquet")
    with pytest.raises(SourceError, match="no column 'x'"):
        open_engine(f"{tmp_path}/*.parquet", NUMBER)


def test_what_only_the_name_of_a_directory_holds_is_no_column(tmp_path):
    for name in ("x=01", "x=1"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"y": [30.0]}), tmp_path / name / "1.parquet")
    with pytest.raises(SourceError, match="no column 'x'"):
        open_engine(f"{tmp_path}/*/*.parquet", TEXT)
    for name, value in (("x=01", "a"), ("x=1", "1")):  # what the file holds counts
        pq.write_table(pa.table({"x": [value]}), tmp_path / name / "1.parquet")
    assert counts(f"{tmp_path}/*/*.parquet", TEXT).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("rows", [4, 3_000_000])
def test_text_that_is_no_utf8_is_refused_when_it_is_opened(tmp_path, rows):
    good = pa.array(["a"] * (rows - 3))
    pq.write_table(pa.table({"x": pa.chunked_array([good, _BAD])}), tmp_path / "t.parquet")
    with pytest.raises(SourceError, match="cannot be opened"):
        open_engine(tmp_path / "t.parquet", TEXT)
