"""The readable tree against the private trees that can be installed, on one table and in one run.

Ten categorical columns of four values, ten numeric ones, a binary label; about 32 leaves, as the rivals have
with five levels. Our time includes the encoding of raw text and numbers; the rivals' begins with a
matrix that is ready. They need other versions than we do: name the Python of an environment that has
them in BOCAGE_RIVALS. Without one their rows are left out. Run as ``python benchmarks/frontier.py [rows]``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import bocage
from bocage.learners import ReadableTree
from bocage.schema import Categorical, Numeric, Schema

ROWS, EPSILON, LEAVES, LEVELS = 1_000_000, 1.0, 32, 5
COLORS = ("red", "green", "blue", "gray")
SCHEMA = Schema(
    "people",
    (
        *(Categorical(f"c{i}", COLORS) for i in range(10)),
        *(Numeric(f"x{i}", lower=0, upper=100) for i in range(10)),  # 1024 grid cells each
    ),
    label=Categorical("bought", ("no", "yes")),
)
# What runs in the other environment: one line of JSON with the best seconds of each rival.
RIVALS = """
import json, sys, time
import numpy as np
file = np.load(sys.argv[1])
x, y, epsilon, levels = file["x"], file["y"], float(sys.argv[2]), int(sys.argv[3])
jobs = {}
try:
    from diffprivlib.models import RandomForestClassifier
    bounds = (np.zeros(20), np.r_[np.full(10, 3.0), np.full(10, 100.0)])
    jobs["diffprivlib, one tree"] = lambda: RandomForestClassifier(
        n_estimators=1, epsilon=epsilon, bounds=bounds, classes=[0, 1], max_depth=levels
    ).fit(x, y)
except ImportError:
    pass
try:
    from privatree import PrivaTreeClassifier
    jobs["PrivaTree"] = lambda: PrivaTreeClassifier(
        max_depth=levels, epsilon=epsilon, feature_range=[(0, 3)] * 10 + [(0, 100)] * 10,
        categorical_features=list(range(10)),
    ).fit(x, y)
except ImportError:
    pass
best = {}
for name, job in jobs.items():
    for _ in range(2):
        start = time.perf_counter()
        job()
        best[name] = min(best.get(name, 1e9), time.perf_counter() - start)
print(json.dumps(best))
"""


def run(rows: int = ROWS) -> list[dict[str, Any]]:
    """Rows of name, ours, peer (seconds), ratio and target."""
    rng = np.random.default_rng(6)
    colors, numbers = rng.integers(0, 4, (rows, 10)), rng.uniform(0, 100, (rows, 10))
    score = (colors[:, 0] == 1) + (numbers[:, 0] > 50) + (numbers[:, 1] > 30) * (colors[:, 1] == 2)
    labels = (score + rng.normal(0, 0.5, rows) > 1.2).astype(int)
    texts = np.array(COLORS)
    table = pa.table(
        {
            **{f"c{i}": texts[colors[:, i]] for i in range(10)},
            **{f"x{i}": numbers[:, i] for i in range(10)},
            "bought": np.array(("no", "yes"))[labels],
        }
    )
    small = ReadableTree(leaves=LEAVES)
    fit(small, table.slice(0, 20_000))  # compile what is compiled at first use
    ours = min(fit(small, table) for _ in range(3))
    found = [
        {
            "name": f"readable tree, about {LEAVES} leaves: {rival}, {LEVELS} levels, {rows:,} rows",
            "ours": ours,
            "peer": seconds,
            "ratio": seconds / ours,
            "target": ">= 2",
        }
        for rival, seconds in _rivals(np.hstack([colors, numbers]), labels).items()
    ]
    return [*found, *_largest(table, ours)]


def fit(learner: ReadableTree, source: pa.Table) -> float:
    start = time.perf_counter()
    with bocage.study(source, SCHEMA) as table:
        learner.fit(table, EPSILON)
    return time.perf_counter() - start


def _largest(table: pa.Table, small: float) -> list[dict[str, Any]]:
    """The tree that the rule grows by itself, with up to 1,024 leaves."""
    ours = min(fit(ReadableTree(), table) for _ in range(2))
    name = f"readable tree by its own rule, {table.num_rows:,} rows: {LEAVES} leaves"
    return [{"name": name, "ours": ours, "peer": small, "ratio": ours / small, "target": "<= 20"}]


def _rivals(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    python = os.environ.get("BOCAGE_RIVALS")
    if python is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, x=x, y=y)
        command = [python, "-W", "ignore", "-c", RIVALS, str(path), str(EPSILON), str(LEVELS)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    for line in run(*map(int, sys.argv[1:])):
        print(line)
