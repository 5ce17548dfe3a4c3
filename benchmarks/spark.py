"""The counts of one tree level in Spark, against Spark's own ``groupBy().count()``.

Ten million rows of 14 categorical columns and a binary label in Parquet, 32 cells, local[2], warm.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bocage.engine.spark import SparkEngine
from bocage.plan import Cells, Cut, Question
from bocage.schema import Categorical, Schema

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 5, 7)
TARGET = 3.0


def run(rows: int = 10_000_000, repeats: int = 2) -> list[dict[str, Any]]:
    """Rows {name, ours, peer, ratio, target}: seconds, and ours / peer must not exceed the target."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    directory = Path(tempfile.mkdtemp(prefix="bocage-bench-"))
    path = directory / "level.parquet"
    write(path, rows)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    try:
        return measure(session, path, rows, repeats)
    finally:
        session.stop()
        shutil.rmtree(directory, ignore_errors=True)


def measure(session: Any, path: Path, rows: int, repeats: int) -> list[dict[str, Any]]:
    schema = level_schema()
    question = level_question(schema)
    frame = session.read.parquet(str(path))
    ours = SparkEngine(path, schema, session)
    through_spark = SparkEngine(frame, schema)
    names = [column.name for column in schema.attributes]

    def group(name: str) -> None:
        assert sum(row["count"] for row in frame.groupBy(name).count().collect()) == rows

    def answer(engine: SparkEngine) -> None:
        assert engine.answer([question])[0].totals.sum() == rows

    # Taken in turns, so that a noisy machine is unfair to nobody.
    jobs: dict[str, Callable[[], None]] = {
        "files": lambda: answer(ours),
        "frame": lambda: answer(through_spark),
        "one": lambda: group(names[7]),
        "all": lambda: [group(name) for name in names] and None,
    }
    best = dict.fromkeys(jobs, float("inf"))
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            if turn:  # the first turn warms up
                best[name] = min(best[name], time.perf_counter() - start)
    return [
        row("Spark level, Parquet files: groupBy().count() of one column", best, "files", "one"),
        row("Spark level, Parquet files: groupBy().count() of every column", best, "files", "all"),
        row("Spark level, any frame: groupBy().count() of every column", best, "frame", "all"),
    ]


def row(name: str, best: dict[str, float], ours: str, peer: str) -> dict[str, Any]:
    ratio = best[ours] / best[peer]
    return {
        "name": name,
        "ours": best[ours],
        "peer": best[peer],
        "ratio": ratio,
        "target": f"<= {TARGET}",
    }


def level_schema() -> Schema:
    def column(name: str, size: int) -> Categorical:
        return Categorical(name, tuple(f"value {code}" for code in range(size)))

    attributes = tuple(column(f"a{i}", size) for i, size in enumerate(SIZES))
    return Schema("level", attributes, column("label", 2))


def level_question(schema: Schema) -> Question:
    """A full binary tree of depth five over the larger columns."""
    cells = Cells((Cut("a11", 8, ~0, ~1),), 2)
    for name in ("a10", "a9", "a8", "a7"):
        split = Cut(name, schema[name].cells // 2, 0, 1)
        cells = cells.refine(dict.fromkeys(range(cells.count), split))
    return Question(cells, label="label", columns=tuple(c.name for c in schema.attributes))


def write(path: Path, rows: int, group: int = 500_000) -> None:
    random = np.random.default_rng(1)
    schema = level_schema()
    arrow = pa.schema([(column.name, pa.string()) for column in schema])
    with pq.ParquetWriter(path, arrow) as writer:
        for start in range(0, rows, group):
            size = min(group, rows - start)
            columns = {
                c.name: pa.DictionaryArray.from_arrays(
                    random.integers(0, c.cells, size, np.int32), list(c.values)
                ).cast(pa.string())
                for c in schema
            }
            writer.write_table(pa.table(columns))


if __name__ == "__main__":
    for line in run():
        print("{name}: {ours:.2f} s, peer {peer:.2f} s, ratio {ratio:.2f}".format(**line))
