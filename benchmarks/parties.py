"""What merging costs: 1,000 contributions of 100,000 counts, read, checked, verified and added up.

The limits are 10 seconds, and memory that does not grow with the number of contributions.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from bocage.parties import Contribution, PartyPlan, Signer, merge, plan_rows
from bocage.schema import Categorical, Schema

OWNERS, DIFFERENT = 1_000, 50  # so many are made; the others are signed copies of their counts
VALUES = tuple("0123456789")
SCHEMA = Schema(
    "people",
    tuple(Categorical(f"c{i}", VALUES) for i in range(8)),
    label=Categorical("ill", ("no", "yes")),
    row_cap=10**6,
)
SECONDS, MEGABYTES, PEAK = 10.0, 50.0, 500.0


def run() -> list[dict[str, Any]]:
    plan = plan_rows(SCHEMA, 1, trees=5, height=4)  # 5 trees x 10,000 leaves x 2 labels
    rows = []
    with tempfile.TemporaryDirectory(prefix="bocage-parties-") as directory:
        for ending in ("parquet", "json"):
            files = _write(plan, Path(directory), ending)
            _, few = _in_new_process(plan, files[:10])
            seconds, many = _in_new_process(plan, files)
            name = f"{OWNERS:,} contributions of 100,000 counts, {ending}"
            rows.append(_row(f"{name}, s of {SECONDS:.0f}", seconds, SECONDS, ">= 1"))
            grown = max(many - few, 1.0)
            rows.append(_row(f"memory more than for 10, MB of {MEGABYTES:.0f}", grown, MEGABYTES, ">= 1"))
            rows.append(_row(f"peak memory, MB of {PEAK:.0f}", many, PEAK, ">= 1"))
    return rows


def _in_new_process(plan: PartyPlan, files: list[Path]) -> tuple[float, float]:
    """Seconds and peak memory, which nothing that ran before has raised."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measured, plan.to_json(), files).result()


def _measured(plan: bytes, files: list[Path]) -> tuple[float, float]:
    import resource

    followed = PartyPlan.from_json(plan)
    merge(followed, files[:2])  # what is loaded at first use is loaded
    start = time.perf_counter()
    merge(followed, files)
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def _write(plan: PartyPlan, directory: Path, ending: str) -> list[Path]:
    rng = np.random.default_rng()
    different = [
        [rng.poisson(20, (leaves, 2)) + rng.integers(-40, 41, (leaves, 2)) for leaves in plan.shares[0].leaves]
        for _ in range(DIFFERENT)
    ]
    files = []
    for i in range(OWNERS):
        made = Contribution.signed(plan, f"owner {i}", different[i % DIFFERENT], Signer.new(), i)
        assert made.values.size == 100_000
        files.append(directory / f"{i}.{ending}")
        made.save(files[-1])
    return files


def _row(name: str, ours: float, peer: float, target: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": peer / ours, "target": target}
