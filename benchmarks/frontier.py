"""The learners of the frontier against the clock and the rivals that can be installed, in one run.

::

    python benchmarks/frontier.py [tree] [additive] [adult] [parquet] [--rows N]

Ten categorical columns of four values, ten numeric ones, a binary label. Our time includes the encoding of raw
text and numbers; the rivals' begins with a matrix that is ready. They need other versions than we do: name the
Python of an environment that has them in BOCAGE_RIVALS, or let ``make reproduce-frontier`` make the ones in
``out/rivals``. Without one their rows are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import bocage
from bocage.learners import Additive, Auto, Learner, ReadableTree
from bocage.schema import Categorical, Numeric, Schema

ROOT = Path(__file__).parents[1]
ROWS, EPSILON, LEAVES, LEVELS = 1_000_000, 1.0, 32, 5
STORED = 10  # times as many rows in the Parquet file
SECOND, MINUTE = 1.0, 60.0  # what may be taken
COLORS = ("red", "green", "blue", "gray")
SCHEMA = Schema(
    "people",
    (
        *(Categorical(f"c{i}", COLORS) for i in range(10)),
        *(Numeric(f"x{i}", lower=0, upper=100) for i in range(10)),  # 1024 grid cells each
    ),
    label=Categorical("bought", ("no", "yes")),
)
# What runs in another environment: one line of JSON with the best seconds of each rival that it has.
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
try:
    from interpret.privacy import DPExplainableBoostingClassifier
    jobs["DP-EBM"] = lambda: DPExplainableBoostingClassifier(
        epsilon=epsilon, delta=1e-6, feature_types=["nominal"] * 10 + ["continuous"] * 10,
        privacy_bounds={i: (0.0, 100.0) for i in range(10, 20)},
    ).fit(x, y)
except ImportError:
    pass
best = {}
for name in set(jobs) & set(sys.argv[4].split(";")):
    for _ in range(2):
        start = time.perf_counter()
        jobs[name]()
        best[name] = min(best.get(name, 1e9), time.perf_counter() - start)
print(json.dumps(best))
"""
# What runs in a process of its own, so that its peak of memory is that of a fit and of nothing else.
STORED_FIT = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[1])
import frontier
from bocage.learners import LEARNERS
learner = LEARNERS[sys.argv[3]]()
frontier.fit(learner, sys.argv[4])  # compile what is compiled at first use
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
work = time.process_time()
seconds = frontier.fit(learner, sys.argv[2])
work = time.process_time() - work
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
growth = max((peak - before) / 1024, 1)  # none at all would be no number to divide by
print(json.dumps({"seconds": seconds, "work": work, "growth": growth}))
"""


def run(rows: int = ROWS) -> list[dict[str, Any]]:
    """Rows of name, ours, peer (seconds or megabytes), ratio and target."""
    return [line for part in PARTS.values() for line in part(rows)]


def tree(rows: int) -> list[dict[str, Any]]:
    """One tree of about 32 leaves, as the rivals have with five levels; then one by its own rule."""
    table, x, y = made(rows)
    small = ReadableTree(leaves=LEAVES)
    fit(small, table.slice(0, 20_000))  # compile what is compiled at first use
    ours = min(fit(small, table) for _ in range(3))
    name = f"readable tree, about {LEAVES} leaves, {rows:,} rows / "
    found = [
        _row(f"{name}{rival}, {LEVELS} levels", ours, seconds, ">= 2")
        for rival, seconds in _rivals(x, y, "diffprivlib, one tree;PrivaTree").items()
    ]
    large = min(fit(ReadableTree(), table) for _ in range(2))
    return [*found, _row(f"... by its own rule / {LEAVES} leaves", large, ours, ">= 0.05")]


def additive(rows: int) -> list[dict[str, Any]]:
    table, x, y = made(rows)
    fit(Additive(), table.slice(0, 20_000))
    ours = min(fit(Additive(), table) for _ in range(2))
    return [
        _row(f"additive model, {rows:,} rows x 20 / {rival}", ours, seconds, ">= 5")
        for rival, seconds in _rivals(x, y, "DP-EBM").items()
    ]


def adult(_rows: int = ROWS) -> list[dict[str, Any]]:
    """All of Adult, at four epsilons; the first fit compiles."""
    sys.path.insert(0, str(ROOT))
    from experiments.common.data import load

    try:
        data = load("adult")
    except OSError as error:
        print(
            f"Adult is left out: {error}. Name a folder that has it in BOCAGE_DATA.",
            file=sys.stderr,
        )
        return []
    first = fit(Auto(), data.table, schema=data.schema)
    found = []
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        ours = min(fit(Auto(), data.table, epsilon, data.schema) for _ in range(3))
        found.append(_row(f"auto on Adult, epsilon {epsilon:g} / a second", ours, SECOND, ">= 1"))
    name = "... the first fit of a process, which may compile / half a minute"
    return [*found, _row(name, first, MINUTE / 2, ">= 1")]


def parquet(rows: int) -> Iterator[dict[str, Any]]:
    """Ten times the rows from a file: seconds, and what memory grows by beside 8 bytes for every field."""
    with tempfile.TemporaryDirectory() as folder:
        path, few = Path(folder, "rows.parquet"), Path(folder, "few.parquet")
        pq.write_table(made(20_000)[0], few)
        with pq.ParquetWriter(path, made(1)[0].schema) as writer:
            for part in range(STORED):
                writer.write_table(made(rows, seed=part)[0], row_group_size=2**19)
        for learner in ("readable", "auto"):
            command = [sys.executable, "-c", STORED_FIT, str(Path(__file__).parent)]
            answer = subprocess.run(
                [*command, str(path), learner, str(few)], capture_output=True, text=True, check=True
            )
            figures = json.loads(answer.stdout.splitlines()[-1])
            name = f"{learner}, {STORED * rows / 1e6:g} million rows x 20 from Parquet"
            timed = _row(f"{name} / a minute", figures["seconds"], MINUTE, ">= 1")
            yield {**timed, "CPU seconds": figures["work"]}  # what a busy machine does not change
            fields = STORED * rows * 21 * 8 / 2**20
            yield _row("... growth of memory, MB / all fields", figures["growth"], fields, ">= 1")


PARTS: dict[str, Callable[[int], Iterable[dict[str, Any]]]] = {
    "tree": tree, "additive": additive, "adult": adult, "parquet": parquet,
}  # fmt: skip


def made(rows: int, seed: int = 6) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """The table, and the matrix and labels that rivals get."""
    rng = np.random.default_rng(seed)
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
    return table, np.hstack([colors, numbers]), labels


def fit(learner: Learner, source: Any, epsilon: float = EPSILON, schema: Schema = SCHEMA) -> float:
    start = time.perf_counter()
    with bocage.study(source, schema) as table:
        learner.fit(table, epsilon)
    return time.perf_counter() - start


def pythons() -> list[str]:
    """Those of the environments that rivals live in."""
    if named := os.environ.get("BOCAGE_RIVALS"):
        return [named]
    return [str(path) for path in sorted((ROOT / "out" / "rivals").glob("*/bin/python"))]


def _rivals(x: np.ndarray, y: np.ndarray, names: str) -> dict[str, float]:
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, x=x, y=y)
        for python in pythons():
            command = [python, "-W", "ignore", "-c", RIVALS, str(path), str(EPSILON), str(LEVELS)]
            answer = subprocess.run([*command, names], capture_output=True, text=True, check=True)
            found |= json.loads(answer.stdout.splitlines()[-1])
    if not found:
        print(f"No environment has {names.replace(';', ' or ')}.", file=sys.stderr)
    return found


def _row(name: str, ours: float, peer: float, target: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": peer / ours, "target": target}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--rows", type=int, default=ROWS)
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}: {', '.join(PARTS)}.")
    for name in given.parts or PARTS:
        for line in PARTS[name](given.rows):
            print(line, flush=True)


if __name__ == "__main__":
    main()
