"""The readable tree on the eight data sets, by the shipped learner: stratified ten folds, four epsilons.

::

    python -m experiments.frontier.readable [--out FILE]

The rule was settled on other data (``development.py``). Small tables are repeated with other folds, for
a standard error below one point.
"""

from __future__ import annotations

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from experiments.common.data import folds, load

from bocage.learners import ReadableTree
from bocage.private import study

REPETITIONS = {
    "votes": 8, "tic-tac-toe": 4, "car": 3, "mushroom": 1, "nursery": 1, "krkopt": 1, "adult": 1,
    "connect-4": 1,
}  # fmt: skip
EPSILONS = (0.1, 0.5, 1.0, 2.0)
SEED = 6


def measure(name: str) -> list[tuple[str, float, float, float, int]]:
    """Mean accuracy in per cent, its standard error and the number of folds, for each epsilon."""
    data = load(name)
    found = []
    for epsilon in EPSILONS:
        right = []
        for repetition in range(REPETITIONS[name]):
            for train, test in folds(data.labels, 10, repetition, SEED):
                with study(data.take(train), data.schema) as table:
                    tree = ReadableTree().fit(table, epsilon)
                rows = data.take(test)
                truth = np.array(rows[data.label].to_pylist())
                right.append(100 * float(np.mean(np.asarray(tree.predict(rows)) == truth)))
        error = float(np.std(right, ddof=1)) / len(right) ** 0.5
        found.append((name, epsilon, round(float(np.mean(right)), 2), round(error, 2), len(right)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results/readable.csv")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", choices=REPETITIONS)
    given = parser.parse_args()
    with given.out.open("w", newline="") as file, ProcessPoolExecutor(given.jobs) as pool:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("data", "epsilon", "mean", "se", "folds"))
        for rows in pool.map(measure, given.only or REPETITIONS):
            writer.writerows(rows)
            file.flush()


if __name__ == "__main__":
    main()
