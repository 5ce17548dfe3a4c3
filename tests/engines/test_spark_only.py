"""What only Spark can do wrong: readers, settings, names without case, workers that die."""

from __future__ import annotations

import os
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.engine import spark as module
from bocage.engine import spark_tasks
from bocage.engine.spark import SparkEngine
from bocage.errors import EngineError, SourceError
from bocage.plan import Question
from bocage.schema import Categorical, Numeric, Schema

pytestmark = pytest.mark.spark

COLOR = Categorical("color", ("red", "green"), missing="green", outside="green")
SCHEMA = Schema("t", (COLOR,))
SECRET = "s3cret-value"  # noqa: S105 - a datum that must never be seen
ASK = [Question(columns=("color",))]


def colors(engine: SparkEngine) -> list[int]:
    (tally,) = engine.answer(ASK)
    return [int(count) for count in tally.columns["color"].ravel()]


def write(path: Path, values: list[Any], name: str = "color") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({name: values}), path, row_group_size=2)


def test_opening_errors_name_the_thing_and_the_way_out(spark, tmp_path):
    (tmp_path / "text.parquet").write_text("no parquet")
    write(tmp_path / "numbers.parquet", [0.5])
    dated = spark.sql("SELECT DATE '2000-01-01' AS color")
    twins = spark.sql("SELECT 'red' AS color, 'green' AS color")
    for source, schema, message in [
        (tmp_path / "nothing.parquet", SCHEMA, "must exist"),
        (tmp_path / "text.parquet", SCHEMA, "hold Parquet"),
        (tmp_path / "numbers.parquet", SCHEMA, "'color' is categorical"),
        (dated, SCHEMA, "holds date"),
        (twins, SCHEMA, "two columns 'color'"),
        (dated, Schema("t", (Categorical("size", ("s",)),)), "no column 'size'"),
        (spark.sql("SELECT 'red' AS COLOR"), SCHEMA, "no column 'color'"),
        (
            spark.sql("SELECT 'red' AS color"),
            Schema("t", (Numeric("color", Fraction(0), Fraction(1)),)),
            "'color' is numeric",
        ),
    ]:
        with pytest.raises(SourceError, match=message) as caught:
            SparkEngine(source, schema, None if source in (dated, twins) else spark)
        assert caught.value.__context__ is None


def test_names_that_differ_only_in_case_are_two_columns(spark):
    frame = spark.createDataFrame(pa.table({"COLOR": ["red", "red"], "color": ["red", "green"]}))
    with closing(SparkEngine(frame, SCHEMA)) as engine:
        assert colors(engine) == [1, 1]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_the_settings_of_the_session_change_no_count_and_stay(spark, ansi):
    before = {name: spark.conf.get(name) for name in ("spark.sql.ansi.enabled", module._BATCH_SETTING)}
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    spark.conf.set(module._BATCH_SETTING, "1")
    try:
        number = Numeric("x", Fraction(0), Fraction(10), step=Fraction(1), missing=Fraction(0))
        values = [float("nan"), float("inf"), -1e308, 2.5, None, -0.0]
        frame = spark.createDataFrame(pa.table({"x": values}))
        with closing(SparkEngine(frame, Schema("t", (number,)))) as engine:
            (tally,) = engine.answer([Question(columns=("x",))])
        assert np.flatnonzero(tally.columns["x"]).tolist() == [0, 3, 10]
        assert spark.conf.get(module._BATCH_SETTING) == "1"
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_an_error_that_quotes_a_datum_stays_behind(spark, caplog):
    frame = spark.createDataFrame(pa.table({"color": ["red", SECRET]}))
    bad = frame.selectExpr("CAST(assert_true(color = 'red', color) AS string) AS color")
    with closing(SparkEngine(bad, SCHEMA)) as engine:
        with pytest.raises(EngineError) as caught:
            engine.answer(ASK)
        assert caught.value.__context__ is None
    assert SECRET not in caplog.text + str(caught.value)


def test_a_worker_that_dies_in_mid_query_is_an_opaque_error_and_the_next_call_works(spark, tmp_path):
    died = str(tmp_path / "died")

    def dies_once(batches):
        for batch in batches:
            if not os.path.exists(died):  # noqa: PTH110 - runs in a worker, kept plain
                open(died, "x").close()  # noqa: PTH123 - likewise
                os._exit(1)
            yield batch

    frame = spark.createDataFrame(pa.table({"color": ["red"]})).mapInArrow(dies_once, "color string")
    with closing(SparkEngine(frame, SCHEMA)) as engine:
        with pytest.raises(EngineError):
            engine.answer(ASK)
        assert colors(engine) == [1, 0]


def test_what_only_the_name_of_a_directory_holds_is_no_column(spark, tmp_path):
    write(tmp_path / "color=red" / "a.parquet", [1, 2], "other")
    with pytest.raises(SourceError, match="no column 'color'"):
        SparkEngine(tmp_path, SCHEMA, spark)


def test_files_of_different_types_are_refused_also_where_only_spark_reads_them(spark, tmp_path, monkeypatch):
    number = Schema("t", (Numeric("color", Fraction(0), Fraction(9)),))
    write(tmp_path / "a.parquet", pa.array([1, 2], pa.int32()))
    write(tmp_path / "b.parquet", [3.5])
    for local in (module._local, lambda _: None):
        monkeypatch.setattr(module, "_local", local)
        with pytest.raises(SourceError, match="hold column 'color' as int32 and as double"):
            SparkEngine(tmp_path, number, spark)
    write(tmp_path / "a.parquet", [1.0, 2.0])
    with closing(SparkEngine(tmp_path, number, spark)) as engine:
        assert engine.answer([Question()])[0].totals.tolist() == [[3]]


def test_files_that_came_since_the_last_answer_are_counted(spark, tmp_path):
    write(tmp_path / "a.parquet", ["red"])
    with closing(SparkEngine(tmp_path, SCHEMA, spark)) as engine:
        assert colors(engine) == [1, 0]
        write(tmp_path / "b.parquet", ["green"])
        assert colors(engine) == [1, 1]


def test_a_file_that_changes_while_it_is_read_spoils_the_answer(spark, tmp_path):
    path = tmp_path / "a.parquet"
    write(path, ["red", "red", "red"])
    with closing(SparkEngine(path, SCHEMA, spark)) as engine:
        pieces = engine.pin()._pieces
    batches = spark_tasks.read(pieces, ["color"], ["color"])
    next(batches)
    path.rename(tmp_path / "old")
    write(path, ["green"])
    with pytest.raises(OSError, match="changed"):
        list(batches)


def test_over_the_cap_files_are_cut_in_the_order_of_names_and_rows(spark, tmp_path):
    write(tmp_path / "b.parquet", ["green"] * 5)
    write(tmp_path / "a.parquet", ["red"] * 3)
    for cap, expected in [(1, [1, 0]), (3, [3, 0]), (4, [3, 1]), (6, [3, 3]), (9, [3, 5])]:
        schema = Schema("t", (COLOR,), row_cap=cap, over_cap="cut")
        with closing(SparkEngine(tmp_path, schema, spark)) as engine:
            assert colors(engine) == expected


def test_a_frame_is_cut_in_its_order_and_refused_when_it_grew(spark, tmp_path):
    frame = spark.createDataFrame(pa.table({"color": ["red"] * 3 + ["green"] * 5}))
    cuts = Schema("t", (COLOR,), row_cap=4, over_cap="cut")
    with closing(SparkEngine(frame, cuts)) as engine:
        assert colors(engine) == [3, 1]
    refuses = Schema("t", (COLOR,), row_cap=2)
    with pytest.raises(SourceError, match="row cap of 2"):
        SparkEngine(frame, refuses)
    write(tmp_path / "a.parquet", ["red"])
    with closing(SparkEngine(spark.read.parquet(str(tmp_path)), refuses)) as engine:
        assert colors(engine) == [1, 0]
        write(tmp_path / "a.parquet", ["red"] * 3)
        with pytest.raises(EngineError):
            engine.answer(ASK)


def test_a_closed_engine_says_so(spark, tmp_path):
    write(tmp_path / "a.parquet", ["red"])
    engine = SparkEngine(tmp_path, SCHEMA, spark)
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.answer(ASK)


def test_a_pinned_frame_is_not_computed_again(spark):
    frame = spark.range(1000).selectExpr("IF(rand() < 0.5, 'red', 'green') AS color")
    with closing(SparkEngine(frame, SCHEMA)) as engine, closing(engine.pin()) as pinned:
        first = colors(pinned)
        assert all(colors(pinned) == first for _ in range(3))
        assert pinned.version is None


def test_the_version_of_files_is_that_of_their_bytes(spark, tmp_path):
    write(tmp_path / "a.parquet", ["red"])
    with closing(SparkEngine(tmp_path, SCHEMA, spark)) as engine:
        was = engine.pin()
        assert was.version == engine.version
        assert was.version is not None
        write(tmp_path / "b.parquet", ["green"])
        now = engine.pin()
        assert now.version != was.version
        assert (colors(was), colors(now)) == ([1, 0], [1, 1])
        write(tmp_path / "a.parquet", ["green"])
        with pytest.raises(EngineError, match="could not be read"):
            colors(was)


def test_files_and_frames_that_grew_over_the_cap_are_refused_when_they_are_pinned(spark, tmp_path):
    capped = Schema("t", (COLOR,), row_cap=1)
    write(tmp_path / "a.parquet", ["red"])
    for source in (tmp_path, spark.read.parquet(str(tmp_path))):
        write(tmp_path / "a.parquet", ["red"])
        with closing(SparkEngine(source, capped, spark)) as engine:
            write(tmp_path / "a.parquet", ["red"] * 2)
            with pytest.raises(SourceError, match="row cap"):
                engine.pin()
