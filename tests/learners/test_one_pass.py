"""A whole ensemble is counted in one pass over the rows, whatever the number of trees."""

from __future__ import annotations

import uuid
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.accounting import MemoryAccount
from bocage.engine.duckdb import DuckDBEngine
from bocage.engine.files.version import FileVersion
from bocage.engine.spark import SparkEngine
from bocage.epsilon import LARGEST, Epsilon
from bocage.learners import RandomTrees
from bocage.mechanisms import Adjacency
from bocage.private import PrivateTable
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE
from bocage.schema import Categorical, Schema
from private.noises import SilentNoise

ROWS = 3_000
SCHEMA = Schema(
    "t",
    tuple(Categorical(f"c{i}", ("a", "b", "c")) for i in range(6)),
    Categorical("y", ("0", "1")),
)


def behind(engine):
    """A table behind the layer, without noise: its counts can be checked."""
    executor = LiveExecutor(Terms(SCHEMA, Adjacency.ADD_REMOVE), engine, SilentNoise(), has_ledger=False)
    return PrivateTable(executor, MemoryAccount.of(Epsilon(LARGEST)), WHOLE)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    columns = {f"c{i}": rng.choice(list("abc"), ROWS) for i in range(6)}
    return pa.table({**columns, "y": rng.choice(list("01"), ROWS)})


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "t.parquet"
    pq.write_table(rows, path, row_group_size=1_000)
    return path


def counted(forest):
    return [int(tree.counts.sum()) for tree in forest.trees]


def test_duckdb_streams_the_file_once_for_ten_trees(path, monkeypatch):
    streamed = []
    with closing(DuckDBEngine(path, SCHEMA, keep_bytes=0)) as engine:
        stream = FileVersion._stream

        def watched(opened, questions):
            streamed.append(len(questions))
            return stream(opened, questions)

        monkeypatch.setattr(FileVersion, "_stream", watched)
        forest = RandomTrees(trees=10, height=3).fit(behind(engine), 1)
    assert streamed == [10]
    assert counted(forest) == [ROWS] * 10


@pytest.mark.spark
def test_spark_reads_every_row_once_for_ten_trees(spark, rows, tmp_path):
    record = tmp_path / "seen"
    seen = str(record)

    def watched(batches):
        for batch in batches:
            with open(seen, "a") as file:  # noqa: PTH123 - runs in a worker, kept plain
                file.write(f"{batch.num_rows}\n")
            yield batch

    kinds = ", ".join(f"{name} string" for name in rows.column_names)
    frame = spark.createDataFrame(rows).mapInArrow(watched, kinds)
    with closing(SparkEngine(frame, SCHEMA)) as engine:
        forest = RandomTrees(trees=10, height=3).fit(behind(engine), 1)
    assert counted(forest) == [ROWS] * 10
    assert sum(map(int, record.read_text().split())) == ROWS


@pytest.mark.spark
def test_spark_runs_as_many_jobs_on_a_file_for_ten_trees_as_for_one(spark, path):
    def jobs(trees):
        group = uuid.uuid4().hex
        with closing(SparkEngine(path, SCHEMA, spark)) as engine:
            table = behind(engine)
            spark.sparkContext.setJobGroup(group, "one ensemble")
            try:
                forest = RandomTrees(trees=trees, height=3).fit(table, 1)
            finally:
                spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
        assert counted(forest) == [ROWS] * trees
        status = spark.sparkContext.statusTracker()
        found = [status.getJobInfo(job) for job in status.getJobIdsForGroup(group)]
        stages = [status.getStageInfo(stage) for job in found for stage in job.stageIds]
        return sorted(stage.numTasks for stage in stages)

    # One to look up the columns of the file, and one that counts, a task for each core.
    assert jobs(10) == jobs(1) == [1, 2]
