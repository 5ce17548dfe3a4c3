"""What the time of an answer tells: a table of a few rows against one of millions, over HTTP.

An observer sees how long one fresh count took and guesses which of the two tables answered. Their
advantage is 0 % if time tells nothing and 100 % if it tells everything: the largest distance between
the two distributions of times (Kolmogorov-Smirnov). With n times from each table it is seen to be up to
about 1.36 sqrt(2 / n) even where there is none (95 %); each row says how much that is.

As a program it prints its rows. Run it on a machine that does nothing else: what is busy beside it adds
to every time, and hides what an observer in a quiet moment would see.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.append(str(Path(__file__).parent.parent / "tests" / "service"))

from running import ROWS, SCHEMA, Made, count, running

TIMES = 150
QUANTA = (50, 250)  # milliseconds: the default, and one above what the larger table needs


def run(rows: int = 4_000_000) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as directory:
        made = _made(Path(directory), rows)
        key = made.analyst("ann", "100")
        with made.owner() as owner:
            owner.grant("ann", "large", "100")
        bare = _advantage(made, key, 0)
        return [_row(quantum, _advantage(made, key, quantum), bare, rows) for quantum in QUANTA]


def _row(quantum: int, padded: float, bare: float, rows: int) -> dict[str, Any]:
    return {
        "name": f"advantage by time, 16 vs {rows:,} rows, padded to {quantum} ms vs not, "
        f"{TIMES} times each (up to {136 * (2 / TIMES) ** 0.5:.0f} % where there is none)",
        "ours": f"{100 * padded:.0f} %",
        "peer": f"{100 * bare:.0f} %",
        "ratio": padded / max(bare, 1e-9),
        "target": "<= 0.5",
    }


def _made(directory: Path, rows: int) -> Made:
    made = Made(directory)
    random = np.random.default_rng(1)
    columns = {
        name: pa.array(np.array(sorted(set(values)))[random.integers(0, len(set(values)), rows)])
        for name, values in ROWS.items()
    }
    pq.write_table(pa.table(columns), directory / "large.parquet")
    schema = SCHEMA.replace('"people"', '"large"').replace("row_cap = 1000", f"row_cap = {rows}")
    (directory / "large.toml").write_text(schema, encoding="utf-8")
    with made.owner() as owner:
        owner.add_table("large", str(directory / "large.parquet"), directory / "large.toml", "100")
    return made


def _advantage(made: Made, key: str, quantum: int) -> float:
    times: dict[str, list[float]] = {"people": [], "large": []}
    with (
        running(made, padding_milliseconds=quantum, warm_up="true") as service,
        service.client(key) as client,
    ):
        for number in range(-5, TIMES):  # in turns, so that a busy machine is busy for both
            for table, seen in times.items():
                began = time.perf_counter()
                reply = client.post(f"/v1/tables/{table}/query", json=count("0.01", fresh=True))
                took = time.perf_counter() - began
                reply.raise_for_status()
                if number >= 0:
                    seen.append(took)
    both = np.sort(np.concatenate([*times.values()]))
    few, many = (np.searchsorted(np.sort(seen), both, "right") for seen in times.values())
    return float(np.abs(few - many).max()) / TIMES


if __name__ == "__main__":
    for row in run():
        print(row)
