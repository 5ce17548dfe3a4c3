"""Reconstruction and trees from distorted records, against scikit-learn on records in the clear.

The made-up people of Agrawal & Srikant, function 2, Gaussian noise of 100 % privacy. scikit-learn's
time begins with a matrix of true values. Run as ``python benchmarks/local.py [rows]``.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from bocage.local import Clear, Gaussian, Records, Survey, SurveyTree, generator, reconstruct
from bocage.local.intervals import partition
from bocage.schema import Numeric

ROWS, TIMES, VALUES = 100_000, 10, 1_000_000
FUNCTIONS = (1, 2, 5)  # three leaves, many cuts, a smooth border
SCHEMA = generator.schema()


def run(rows: int = ROWS) -> list[dict[str, Any]]:
    """Rows of name, ours, peer (seconds or bytes), ratio and target."""
    return [*_reconstruction(), *_against_sklearn(rows), *_large(TIMES * rows)]


def _reconstruction() -> Iterator[dict[str, Any]]:
    column = Numeric("x", 0, 1, 1000)  # type: ignore[arg-type] # it makes them exact
    noise = Gaussian.of_privacy(column, 100)
    true = np.random.default_rng(1).triangular(0, 300, 1000, VALUES).astype(int)
    sent = noise.distort(column, true)

    def once() -> None:
        parts = partition(column, noise, 100)
        place = parts.place[sent - noise.outputs(column).start]
        reconstruct(np.bincount(place, minlength=parts.answers), parts.kernel)

    ours = in_turns({"ours": once})["ours"]
    yield _row(f"reconstruction: {VALUES:,} values, 100 intervals, s", ours, 1.0, ours, "<= 1")


def _against_sklearn(rows: int) -> Iterator[dict[str, Any]]:
    from sklearn.tree import DecisionTreeClassifier

    for function in FUNCTIONS:
        people = generator.generate(rows, function, seed=1)
        names = [attribute.name for attribute in SCHEMA.attributes]
        matrix = np.stack([people[name] for name in names], axis=1).astype(np.float32)
        labels = (people["group"] == "B").astype(int)
        records = Records.distort(survey(), people)
        jobs: dict[str, Callable[[], object]] = {
            "tree": lambda x=matrix, y=labels: DecisionTreeClassifier().fit(x, y),
            "byclass": lambda r=records: SurveyTree("byclass").fit(r),
            "local": lambda r=records: SurveyTree("local").fit(r),
        }
        jobs["local"]()  # compiles
        seconds = in_turns(jobs)
        for name, title, target in (("byclass", "ByClass", 3), ("local", "Local", 20)):
            ratio = seconds[name] / seconds["tree"]
            words = f"{title}, function {function}: decision tree in the clear, {rows:,} rows"
            yield _row(words, seconds[name], seconds["tree"], ratio, f"<= {target}")


def _large(rows: int) -> Iterator[dict[str, Any]]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        seconds, peak = pool.submit(measure, rows).result()
    yield _row(f"ByClass: a minute, {rows:,} rows", seconds, 60.0, seconds / 60, "<= 1")
    yield _row(f"ByClass: 2 GB at the peak, {rows:,} rows, MB", peak, 2000.0, peak / 2000, "<= 1")


def measure(rows: int) -> tuple[float, float]:
    """The seconds of a fit, and the megabytes of the whole process at its peak."""
    small = Records.distort(survey(), generator.generate(5000, 2, seed=1))
    SurveyTree("byclass").fit(small)  # compiles
    records = Records.distort(survey(), generator.generate(rows, 2, seed=1))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    begin = time.perf_counter()
    SurveyTree("byclass").fit(records)
    seconds = time.perf_counter() - begin
    [kilobytes] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return seconds, int(kilobytes) * 1024 / 1e6


def survey() -> Survey:
    noise = {a.name: Gaussian.of_privacy(a, 100) for a in SCHEMA.attributes}
    return Survey(SCHEMA, {**noise, "group": Clear()})


def in_turns(jobs: dict[str, Callable[[], object]], repeats: int = 3) -> dict[str, float]:
    """The best time of each, taken in turns, so that a noisy machine is unfair to nobody."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def _row(name: str, ours: float, peer: float, ratio: float, target: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "target": target}


def main() -> None:
    for r in run(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS):
        print(f"{r['name']:74} {r['ours']:9.3f} {r['peer']:9.3f} {r['ratio']:7.2f}x  {r['target']}")


if __name__ == "__main__":
    main()
