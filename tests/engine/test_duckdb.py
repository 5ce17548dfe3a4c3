"""What is particular to files: layouts of text, several files, changes, failures that say nothing."""

from __future__ import annotations

import gzip
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.engine.duckdb import DuckDBEngine
from bocage.engine.memory import MemoryEngine
from bocage.engine.sources import open_engine
from bocage.errors import EngineError, SourceError
from bocage.plan import Branch, Cells, Question, bind, col
from bocage.schema import Categorical, Layout, Numeric, Schema

TREE = Categorical("tree", ("oak", "elm"), missing="elm")
AGE = Numeric("age", Fraction(0), Fraction(9), step=Fraction(1), missing=Fraction(9))
SCHEMA = Schema("trees", (TREE, AGE))


def counts(source, schema=SCHEMA):
    engine = open_engine(source, schema)
    try:
        [tally] = engine.answer([Question(columns=("tree", "age"))])
    finally:
        engine.close()
    return tally.columns["tree"][0, :, 0].tolist(), tally.columns["age"][0, :, 0].tolist()


def test_text_files_are_read_as_their_layout_says(tmp_path):
    path = tmp_path / "trees.data"
    path.write_text("1 ; oak;x\n  2;\telm ;y\n 3; ;z\n")
    layout = Layout(separator=";", header=False, columns=("age", "tree", "more"), strip=True)
    schema = Schema("trees", (TREE, AGE), layout=layout)
    assert counts(path, schema) == ([1, 2], [0, 1, 1, 1, *[0] * 6])


def test_compressed_text_with_a_byte_order_mark_is_read(tmp_path):
    path = tmp_path / "trees.csv.gz"
    path.write_bytes(gzip.compress('\ufefftree,age\noak,1\n"elm",2\n'.encode()))
    assert counts(path) == ([1, 1], [0, 1, 1, *[0] * 7])


def test_text_that_is_no_number_is_a_missing_number(tmp_path):
    path = tmp_path / "trees.csv"
    path.write_text("tree,age\noak,1\noak,one\noak,\noak,NaN\noak,inf\noak,1e400\noak,?\noak,-5\n")
    assert counts(path) == ([8, 0], [1, 1, *[0] * 7, 6])


def test_the_marker_of_a_number_in_text_is_missing(tmp_path):
    path = tmp_path / "trees.csv"
    path.write_text("tree,age\noak,1\noak,-1\n")
    marked = Numeric("age", Fraction(0), Fraction(9), step=Fraction(1), marker="-1")
    assert counts(path, Schema("trees", (TREE, marked))) == ([1, 0], [0, 1, *[0] * 8])


def test_several_parquet_files_are_one_table(tmp_path):
    for number, tree in ((1, "oak"), (2, "elm"), (10, "oak")):
        pq.write_table(pa.table({"tree": [tree], "age": [number % 10]}), tmp_path / f"p{number}.parquet")
    assert counts(str(tmp_path / "p*.parquet")) == ([2, 1], [1, 1, 1, *[0] * 7])
    assert counts(tmp_path / "p2.parquet") == ([0, 1], [0, 0, 1, *[0] * 7])


def test_a_name_with_pattern_characters_is_one_file(tmp_path):
    for name, tree in (("p[1]*.parquet", "oak"), ("p1x.parquet", "elm")):
        pq.write_table(pa.table({"tree": [tree], "age": [0]}), tmp_path / name)
    assert counts(tmp_path / "p[1]*.parquet") == ([1, 0], [1, *[0] * 9])


def test_tables_of_a_database_file_are_found_by_name(tmp_path):
    path = tmp_path / "forest.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE trees AS SELECT 'oak' AS tree, 1 AS age")
        connection.execute("CREATE SCHEMA north")
        connection.execute("CREATE VIEW north.firs AS SELECT 'elm' AS tree, 2::HUGEINT AS age")
    assert counts(path) == ([1, 0], [0, 1, *[0] * 8])
    assert counts(f"{path}#trees") == ([1, 0], [0, 1, *[0] * 8])
    assert counts(f"{path}#north.firs") == ([0, 1], [0, 0, 1, *[0] * 7])
    with pytest.raises(SourceError, match="no table 'oaks'"):
        counts(f"{path}#oaks")


def test_an_engine_does_not_write_to_a_database_file(tmp_path):
    path = tmp_path / "forest.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE trees AS SELECT 'oak' AS tree, 1 AS age")
    engine = DuckDBEngine(path, SCHEMA, table="trees")
    with pytest.raises(duckdb.Error):
        engine._opened._connection.execute("DELETE FROM source.main.trees")
    engine.close()


def test_long_lists_of_values_are_looked_up_outside_sql(tmp_path):
    path = tmp_path / "long.parquet"
    words = [f"word {i}" for i in range(5000)]
    pq.write_table(pa.table({"w": [*words, None, "other"] * 2}), path)
    schema = Schema("long", (Categorical("w", tuple(words), missing="word 0", outside="word 1"),))
    engine = DuckDBEngine(path, schema, keep_bytes=-1)
    [tally] = engine.answer([Question(columns=("w",))])
    engine.close()
    assert tally.columns["w"][0, :, 0].tolist() == [4, 4, *[2] * 4998]


def test_a_stream_of_many_batches_equals_the_table_in_memory(tmp_path):
    random = np.random.default_rng(5)
    rows = 500_000
    table = pa.table(
        {
            "tree": pa.array(np.array(["oak", "elm", "ash", "fir"])[random.integers(0, 4, rows)]),
            "age": pa.array(random.normal(5, 4, rows)),
            "kind": pa.array(random.integers(0, 300, rows)),
        }
    )
    path = tmp_path / "trees.parquet"
    pq.write_table(table, path, row_group_size=50_000)
    kinds = Categorical("kind", tuple(map(str, range(290))))
    schema = Schema("trees", (AGE, kinds), TREE, row_cap=400_001, over_cap="cut")
    cells = Cells((Branch("age", tuple(~(c % 3) for c in range(10))),), 3)
    questions = [
        Question(),
        Question(cells, bind(col("age") > 2, schema), "tree", ("age", "kind"), ("age",)),
    ]
    engine, memory = DuckDBEngine(path, schema, keep_bytes=0), MemoryEngine(table, schema)
    for mine, theirs in zip(engine.answer(questions), memory.answer(questions), strict=True):
        np.testing.assert_array_equal(mine.totals, theirs.totals)
        for name, array in theirs.columns.items():
            np.testing.assert_array_equal(mine.columns[name], array)
        for name, array in theirs.sums.items():
            np.testing.assert_array_equal(mine.sums[name], array)
    engine.close()


@pytest.mark.parametrize("keep_bytes", [-1, 2**20])
def test_a_file_that_changed_is_read_anew(tmp_path, keep_bytes):
    path = tmp_path / "trees.parquet"
    pq.write_table(pa.table({"tree": ["oak"], "age": [1]}), path)
    engine = DuckDBEngine(path, SCHEMA, keep_bytes=keep_bytes)
    assert engine.answer([Question()])[0].totals.tolist() == [[1]]
    assert engine.answer([Question()])[0].totals.tolist() == [[1]]
    pq.write_table(pa.table({"tree": ["oak", "elm", "elm"], "age": [1.0, 2.0, 3.0]}), path)
    assert engine.answer([Question()])[0].totals.tolist() == [[3]]
    engine.close()


def test_several_threads_may_ask_at_once(tmp_path):
    path = tmp_path / "trees.parquet"
    pq.write_table(pa.table({"tree": ["oak", "elm"] * 5000, "age": [1, 2] * 5000}), path)
    engine = DuckDBEngine(path, SCHEMA, keep_bytes=-1)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: engine.answer([Question(columns=("tree",))]), range(8)))
    engine.close()
    assert {tuple(a[0].columns["tree"].ravel().tolist()) for a in answers} == {(5000, 5000)}


def test_a_failure_in_mid_query_says_nothing_of_the_rows(tmp_path, caplog):
    path = tmp_path / "trees.parquet"
    pq.write_table(pa.table({"tree": ["secret"] * 1000, "age": [1] * 1000}), path)
    engine = DuckDBEngine(path, SCHEMA, keep_bytes=-1)
    pinned = engine.pin()
    whole = path.read_bytes()
    stamp = path.stat().st_mtime_ns
    path.write_bytes(b"PAR1" + os.urandom(len(whole) - 8) + b"PAR1")
    os.utime(path, ns=(stamp, stamp))
    with caplog.at_level(logging.ERROR, "bocage.engine"), pytest.raises(EngineError) as caught:
        pinned.answer([Question(columns=("tree",))])
    assert "could not be read" in str(caught.value)
    assert str(path) not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert [r.exc_info for r in caplog.records] == [None]
    assert "secret" not in caplog.text
    for _ in range(2):
        with pytest.raises(SourceError, match="cannot be opened"):
            engine.pin()
        path.unlink(missing_ok=True)
    engine.close()


def test_what_is_not_there_or_not_what_it_says_is_refused_by_name(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"tree,age\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bad.duckdb").write_bytes(b"not a database" * 1000)
    for name, match in [
        ("none.csv", "none.csv cannot be opened"),
        ("none.parquet", "no file"),
        ("none-*.parquet", "no file"),
        ("none.duckdb", "none.duckdb cannot be opened as the table 'trees'"),
        ("bad.parquet", "bad.parquet cannot be opened"),
        ("bad.duckdb", "bad.duckdb cannot be opened"),
        ("empty.csv", "no column 'tree'"),
        ("trees.xlsx", "Known sources"),
        ("", "Known sources"),
    ]:
        with pytest.raises(SourceError, match=match):
            open_engine(str(tmp_path / name) if name else name, SCHEMA)
    (tmp_path / "twice.csv").write_text("tree,age,age\n")
    with pytest.raises(SourceError, match="two columns 'age'"):
        open_engine(tmp_path / "twice.csv", SCHEMA)
