"""Speed of random trees: counting, one pass over a file, and prediction.

Run as ``python benchmarks/rdt.py [rows]``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bocage.accounting import MemoryAccount
from bocage.engine.base import Engine
from bocage.engine.codes.counting import workers
from bocage.engine.duckdb import DuckDBEngine
from bocage.engine.memory import MemoryEngine
from bocage.engine.versions import Pinned
from bocage.epsilon import LARGEST, Epsilon
from bocage.learners import RandomTrees
from bocage.learners.papers.structure import Structure, random_structure
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.model import Forest
from bocage.plan import Question
from bocage.private import PrivateTable
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE
from bocage.schema import Categorical, Schema

ROWS = 10_000_000
PREDICTED = 1_000_000
SPARK_ROWS = 1_000_000
COLUMNS, VALUES, TREES, HEIGHT = 20, 4, 10, 6
REPEATS = 3
PREDICTION_LIMIT = 2.0  # seconds


def run(rows: int = ROWS) -> list[dict[str, Any]]:
    """Rows of name, ours, peer (seconds, or scans), ratio and target."""
    schema = _schema()
    codes = np.random.default_rng(7).integers(0, VALUES, (COLUMNS, rows), dtype=np.uint8)
    label = (codes[0] + codes[1] > VALUES).astype(np.uint8)
    table = _table(codes, label, schema)
    learner = _Fixed(trees=TREES, height=HEIGHT)
    memory = MemoryEngine(table, schema)
    ours, forest = _best(lambda: learner.fit(_private(memory, schema), 1))
    trees = [_flat(structure) for structure in learner.structures(schema, rows, Epsilon.of(1))]
    bare, counts = _best(lambda: _bare(codes, label, trees))
    assert abs(int(counts.sum()) - TREES * rows) == 0
    million = f"{rows / 1e6:g} million rows"
    return [
        _row(f"fit {TREES} trees on {million} x {COLUMNS} columns / bare loop", ours, bare, ">= 0.3333"),
        *_from_parquet(table, schema, learner, million),
        *_through_spark(table.slice(0, SPARK_ROWS), schema, learner),
        *_predicted(forest, codes[:, :PREDICTED]),
    ]  # fmt: skip


class _Fixed(RandomTrees):
    """The same structures every time, so that both sides count the same."""

    def structures(self, schema: Schema, rows: int | None, epsilon: Epsilon) -> list[Structure]:  # noqa: ARG002
        random = Random(3)  # noqa: S311 - not noise
        names = tuple(a.name for a in schema.attributes)
        return [random_structure(schema, names, HEIGHT, random, 10**6) for _ in range(TREES)]


def _schema() -> Schema:
    values = tuple(f"value {i}" for i in range(VALUES))
    columns = tuple(Categorical(f"c{i}", values) for i in range(COLUMNS))
    return Schema("bench", columns, Categorical("y", ("no", "yes")), row_cap=2**40)


def _table(codes: np.ndarray, label: np.ndarray, schema: Schema) -> pa.Table:
    columns = {}
    for attribute, code in zip((*schema.attributes, schema.label), (*codes, label), strict=True):
        assert isinstance(attribute, Categorical)
        words = pa.array(attribute.values)
        columns[attribute.name] = pa.DictionaryArray.from_arrays(pa.array(code), words)
    return pa.table(columns)


def _private(engine: Engine, schema: Schema) -> PrivateTable:
    executor = LiveExecutor(Terms(schema, Adjacency.ADD_REMOVE), engine, SystemNoise(), has_ledger=False)
    return PrivateTable(executor, MemoryAccount.of(Epsilon(LARGEST)), WHOLE)


def _flat(structure: Structure) -> np.ndarray:
    """Column and first child of every node; a leaf has column -1 and its number."""
    nodes = np.full((len(structure.splits), 2), -1, np.int32)
    following, leaf = 1, 0
    for at, split in enumerate(structure.splits):
        if split is None:
            nodes[at, 1] = leaf
            leaf += 1
        else:
            nodes[at] = int(split[0][1:]), following
            following += VALUES
    return nodes


@numba.njit(parallel=True)
def _loop(codes: Any, label: Any, nodes: Any, counts: Any) -> None:
    """What anyone would write: every thread walks its rows and counts on its own."""
    threads, rows = counts.shape[0], codes.shape[1]
    for thread in numba.prange(threads):
        own = counts[thread]
        for row in range(rows * thread // threads, rows * (thread + 1) // threads):
            at = 0
            while nodes[at, 0] >= 0:
                at = nodes[at, 1] + codes[nodes[at, 0], row]
            own[nodes[at, 1], label[row]] += 1


def _bare(codes: np.ndarray, label: np.ndarray, trees: list[np.ndarray]) -> np.ndarray:
    found = []
    for nodes in trees:
        counts = np.zeros((workers(), int((nodes[:, 0] < 0).sum()), 2), np.int64)
        _loop(codes, label, nodes, counts)
        found.append(counts.sum(axis=0))
    return np.concatenate(found)


def _from_parquet(table: pa.Table, schema: Schema, learner: RandomTrees, million: str) -> list[dict[str, Any]]:
    """One scan for the whole ensemble; and its time beside that of one scan per tree."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "rows.parquet")
        pq.write_table(table, path, row_group_size=2**19)
        engine = _Counting(DuckDBEngine(path, schema, keep_bytes=0))
        private = _private(engine, schema)
        learner.fit(private, 1)
        scans = engine.scans
        trees = learner.structures(schema, None, Epsilon.of(1))
        asked = [Question(tree.cells(schema), label="y") for tree in trees]
        ours, _ = _best(lambda: engine.answer(asked))
        single, _ = _best(lambda: [engine.answer([question]) for question in asked])
        engine.close()
    return [
        _row(f"scans of a Parquet file of {million}, DuckDB", scans, 1, ">= 1"),
        _row("... seconds for ten trees at once / one by one", ours, single, ">= 1"),
    ]


def _through_spark(table: pa.Table, schema: Schema, learner: RandomTrees) -> list[dict[str, Any]]:
    """Jobs that Spark ran for ten trees, beside those for one; and seconds beside one by one."""
    from bocage.engine.spark import SparkEngine
    from servers import spark_session

    trees = learner.structures(schema, None, Epsilon.of(1))
    asked = [Question(tree.cells(schema), label="y") for tree in trees]
    with tempfile.TemporaryDirectory() as directory, spark_session() as session:
        path = Path(directory, "rows.parquet")
        pq.write_table(table, path, row_group_size=2**17)
        engine = SparkEngine(path, schema, session)
        engine.answer(asked[:1])  # what is started at first use is started
        jobs, start = {}, time.perf_counter()
        for count in (1, TREES):
            session.sparkContext.setJobGroup(f"{count} trees", "")
            start = time.perf_counter()
            engine.answer(asked[:count])
            ours = time.perf_counter() - start
            status = session.sparkContext.statusTracker()
            jobs[count] = len(status.getJobIdsForGroup(f"{count} trees"))
        start = time.perf_counter()
        for question in asked:
            engine.answer([question])
        single = time.perf_counter() - start
    name = f"a Parquet file of {len(table) / 1e6:g} million rows, Spark"
    return [
        _row(f"jobs on {name}: ten trees / one tree", jobs[TREES], jobs[1], ">= 1"),
        _row("... seconds for ten trees at once / one by one", ours, single, ">= 1"),
    ]


class _Counting:
    """Passes on to an engine and counts how often it reads the rows."""

    def __init__(self, inner: Engine) -> None:
        self._inner, self.scans = inner, 0
        self.schema, self.name = inner.schema, inner.name

    def answer(self, questions: Any) -> Any:
        self.scans += 1
        return self._inner.answer(questions)

    def pin(self) -> Engine:
        return Pinned(self)

    @property
    def version(self) -> str | None:
        return self._inner.version

    def rows(self, question: Any) -> Any:
        return self._inner.rows(question)

    def close(self) -> None:
        self._inner.close()


def _predicted(forest: Forest, codes: np.ndarray) -> list[dict[str, Any]]:
    columns = {f"c{i}": code for i, code in enumerate(codes)}
    seconds, _ = _best(lambda: forest.predict_codes(columns))
    name = f"predict {codes.shape[1] / 1e6:g} million rows with {len(forest)} trees (s)"
    return [_row(name, seconds, PREDICTION_LIMIT, ">= 1")]


def _best(action: Callable[[], Any]) -> tuple[float, Any]:
    seconds, result = [], None
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def _row(name: str, ours: float, peer: float, target: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": peer / ours, "target": target}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # Spark starts as in the tests
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS):
        print(row)
