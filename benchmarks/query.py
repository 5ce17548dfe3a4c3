"""What one small question costs from asking to answer, the durable charge excluded.

Both count 1,000 rows with Laplace noise for a fixed epsilon out of a budget kept in memory. Ours
counts a Parquet file through DuckDB, with its codes kept between questions as is the default, and
reading the file anew; the peer has the rows in memory and a context made before the clock starts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bocage.accounting import MemoryAccount
from bocage.engine.duckdb import DuckDBEngine
from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema

ROWS, TIMES, WARM = 1_000, 40, 5
PEER = "opendp"
SCHEMA = Schema("people", (Categorical("sex", ("F", "M")), Numeric("age", lower=0, upper=120, step=1)))


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "people.parquet"
        _write(path)
        kept, read = DuckDBEngine([path], SCHEMA), DuckDBEngine([path], SCHEMA, keep_bytes=0)
        table, anew = _table(kept), _table(read)
        women = table.where("age >= 18 and sex = 'F'")
        times = _milliseconds(
            {
                "noisy_count": lambda: table.noisy_count("0.1", fresh=True),
                "noisy_count with a filter": lambda: women.noisy_count("0.1", fresh=True),
                "noisy_count, file read anew": lambda: anew.noisy_count("0.1", fresh=True),
            }
        )
        kept.close()
        read.close()
    theirs = times.pop(PEER)
    limits = [(f"{name}, ms", ours, theirs, ">= 4") for name, ours in times.items()]
    limits.append(("noisy_count, ms of 5", times["noisy_count"], 5.0, ">= 1"))
    return [
        {"name": name, "ours": ours, "peer": other, "ratio": other / ours, "target": target}
        for name, ours, other, target in limits
    ]


def _table(engine: DuckDBEngine) -> PrivateTable:
    executor = LiveExecutor(Terms(SCHEMA, Adjacency.ADD_REMOVE), engine, SystemNoise())
    return PrivateTable(executor, MemoryAccount.of(Epsilon.of(10**6)), WHOLE)


def _milliseconds(questions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Medians, taken in turns, so that a machine that is busy for a while is busy for all."""
    times: dict[str, list[float]] = {name: [] for name in (*questions, PEER)}
    for _ in range(WARM + TIMES):
        for name, question in {**questions, PEER: _peer()}.items():
            start = time.perf_counter()
            question()
            times[name].append((time.perf_counter() - start) * 1000)
    return {name: median(taken[WARM:]) for name, taken in times.items()}


def _write(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rows = {"sex": ["F", "M"] * (ROWS // 2), "age": [i % 121 for i in range(ROWS)]}
    parquet.write_table(pa.table(rows), path)


def _peer() -> Callable[[], Any]:
    """A context of OpenDP with budget for one question: its time grows with their number."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=[i % 121 for i in range(ROWS)],
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=0.1),
        split_evenly_over=1,
        domain=dp.vector_domain(dp.atom_domain(T=int)),
    )
    return lambda: context.query().count().laplace().release()
