"""Tables of pairs in the additive model, on made-up tables whose labels follow from several attributes at once.

Layers of a network, positions on boards, disjunctions, sums of trees, and additive tables that need no pairs::

    python -m experiments.frontier.interactions --out FILE [--only CONFIGURATION] [--folds 3]

All numbers are in ``interactions.csv``, those of tables that mend in ``mending.csv``; ``additive_development.md`` has what
they say.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.additive_tables import made
from experiments.frontier.curves import rows_of, schema_of
from experiments.frontier.simulation import Data

from bocage.learners import Additive, mends
from bocage.private import study

EPSILONS = (0.5, 1.0, 2.0)
FIELDS = ("configuration", "table", "labels", "epsilon", "accuracy", "error", "pairs", "folds")
CONFIGURATIONS = {
    "single tables": {"MOST_ROUNDS": 0},
    "taken": {},
    "growth 1.3, half": {"GROWTH": 1.3, "MOST_SHARE": 0.5},
    "growth 1.5, half": {"MOST_SHARE": 0.5},
    "first 1500, half": {"FIRST": 1500, "MOST_SHARE": 0.5},
}


def finished(
    name: str, codes: np.ndarray, arity: list[int], labels: np.ndarray, count: int
) -> Data:
    labels = labels.astype(int)
    labels[:count] = np.arange(count)  # every label is there
    title = f"{name} {len(labels)} x {len(arity)}, {count} labels"
    return Data(title, codes, tuple(arity), (False,) * len(arity), labels, count)


def flipped(labels: np.ndarray, count: int, share: float, rng: np.random.Generator) -> np.ndarray:
    wrong = rng.random(len(labels)) < share
    return np.where(wrong, rng.integers(0, count, len(labels)), labels)


def network(seed: int, rows: int, arity: list[int], labels: int) -> Data:
    """Eight hidden units that look at five attributes each."""
    rng = np.random.default_rng([7, seed])
    shares = [rng.dirichlet(np.full(a, 2.0)) for a in arity]
    codes = np.stack([rng.choice(a, rows, p=p) for a, p in zip(arity, shares, strict=True)], 1)
    odds = np.zeros((rows, labels))
    for _ in range(8):
        seen = rng.choice(len(arity), min(5, len(arity)), replace=False)
        unit = sum(rng.normal(size=arity[j])[codes[:, j]] for j in seen)
        odds += np.tanh(1.5 * (unit - np.median(unit)))[:, None] * rng.normal(size=labels)
    found = (odds - np.median(odds, axis=0)).argmax(axis=1)
    return finished("network", codes, arity, flipped(found, labels, 0.05, rng), labels)


def dropped(seed: int, rows: int, height: int, width: int) -> Data:
    """Eight stones fall on a board by turns; neighbors of one color count."""
    rng = np.random.default_rng([11, seed])
    board, top = np.zeros((rows, height, width), int), np.zeros((rows, width), int)
    for turn in range(8):
        column = rng.integers(0, width, rows)
        level = top[np.arange(rows), column]
        fits = np.flatnonzero(level < height)
        board[fits, level[fits], column[fits]] = 1 + turn % 2
        top[fits, column[fits]] += 1
    score = 0.6 * rng.normal(size=rows) + 0.3 * ((board[:, 0] == 1) * 1.0 - (board[:, 0] == 2)).sum(1)  # fmt: skip
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1), (0, 2)):
        for i in range(height - down):
            for j in range(max(-right, 0), width - max(right, 0)):
                a, b = board[:, i, j], board[:, i + down, j + right]
                score += rng.uniform(0.3, 1.7) * ((a == 1) & (b == 1)) * 1.0
                score -= rng.uniform(0.3, 1.7) * ((a == 2) & (b == 2)) * 1.0
    labels = np.digitize(score, np.quantile(score, [0.25, 0.35]))
    return finished("board", board.reshape(rows, -1), [3] * height * width, labels, 3)


def disjunction(seed: int, rows: int, arity: list[int]) -> Data:
    """One of up to twelve rules of three conditions holds."""
    rng = np.random.default_rng([9, seed])
    codes = np.stack([rng.integers(0, a, rows) for a in arity], 1)
    found = np.zeros(rows, bool)
    for _ in range(12):
        rule = np.ones(rows, bool)
        for j in rng.choice(len(arity), 3, replace=False):
            rule &= np.isin(codes[:, j], rng.permutation(arity[j])[: max(1, arity[j] * 6 // 10)])
        if found.mean() < 0.5:
            found |= rule
    return finished("disjunction", codes, arity, flipped(found, 2, 0.16, rng), 2)


def forest(seed: int, rows: int, arity: list[int], labels: int) -> Data:
    """The sum of twelve trees of three levels."""
    rng = np.random.default_rng([10, seed])
    shares = [rng.dirichlet(np.full(a, 3.0)) for a in arity]
    codes = np.stack([rng.choice(a, rows, p=p) for a, p in zip(arity, shares, strict=True)], 1)
    often, odds = rng.dirichlet(np.full(len(arity), 0.7)), np.zeros((rows, labels))

    def grow(here: np.ndarray, depth: int) -> None:
        if depth == 0 or len(here) < 50:
            odds[here] += rng.normal(size=labels)
            return
        j = rng.choice(len(arity), p=often)
        left = np.isin(codes[here, j], rng.permutation(arity[j])[: max(1, arity[j] // 2)])
        grow(here[left], depth - 1)
        grow(here[~left], depth - 1)

    for _ in range(12):
        grow(np.arange(rows), 3)
    found = (odds - odds.mean(axis=0)).argmax(axis=1)
    return finished("forest", codes, arity, flipped(found, labels, 0.05, rng), labels)


def tables() -> Iterator[Data]:
    yield network(1, 30_000, [3] * 20, 2)
    yield network(2, 50_000, [3] * 30, 3)
    yield network(3, 12_000, [2, 3, 4, 5, 6, 2, 3, 4, 8, 10], 2)
    yield dropped(1, 60_000, 5, 7)
    yield dropped(2, 30_000, 4, 5)
    yield disjunction(1, 30_000, [3] * 15)
    yield disjunction(2, 10_000, [2] * 12)
    yield forest(1, 40_000, [2, 3, 4, 5, 6, 7, 8, 9, 4, 4, 4, 2, 2, 2], 2)
    yield forest(2, 20_000, [4] * 16, 3)
    yield made("add", 40_000, [4] * 12, 2, 3)
    yield made("add", 8_000, [3] * 8, 2, 5)
    yield made("add", 30_000, [3] * 25, 3, 21)
    yield made("pairs", 20_000, [3] * 20, 2, 12)
    yield made("pairs", 40_000, [3] * 20, 3, 14)


def all_sizes() -> Iterator[Data]:
    """These and a few more, each whole and a sixth of it: what the rule of `auto` is settled by, too."""
    more = (
        network(8, 3_000, [3] * 9, 2),
        network(5, 30_000, [2, 4, 6, 3, 5, 2, 8, 3, 3, 4], 3),
        disjunction(5, 2_000, [3] * 9),
        forest(9, 4_000, [3] * 10, 2),
        forest(7, 30_000, [3, 5, 2, 4, 6, 3, 3, 2, 8, 4], 3),
    )
    for data in (*tables(), *more):
        yield data
        some = np.random.default_rng(1).permutation(len(data.labels))[: len(data.labels) // 6]
        labels = data.labels[some]
        labels[: data.classes] = np.arange(data.classes)
        yield replace(data, name=f"a sixth of {data.name}", codes=data.codes[some], labels=labels)


def measure(data: Data, epsilon: float, count: int) -> tuple[float, float, float]:
    """Mean accuracy in per cent, its standard error, and how many pairs were chosen."""
    schema, right, chosen = schema_of(data), [], 0
    for train, test in list(folds(data.labels, 10, 0, 6))[:count]:
        with study(rows_of(data, train), schema) as table:
            model = Additive().fit(table, epsilon)
        found = np.asarray(model.predict(rows_of(data, test))).astype(int)
        right.append(100 * float(np.mean(found == data.labels[test])))
        chosen += sum(len(term.columns) > 1 for term in model.terms)
    return float(np.mean(right)), float(np.std(right, ddof=1)) / count**0.5, chosen / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="this configuration (repeatable)")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    kept = {name: getattr(mends, name) for one in CONFIGURATIONS.values() for name in one}
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        for name in given.only or CONFIGURATIONS:
            for constant, value in (kept | CONFIGURATIONS[name]).items():
                setattr(mends, constant, value)
            for data in tables():
                for epsilon in EPSILONS:
                    mean, error, pairs = measure(data, epsilon, given.folds)
                    facts = data.name, data.classes, epsilon
                    found = f"{mean:.2f}", f"{error:.2f}", f"{pairs:.1f}", given.folds
                    writer.writerow((name, *facts, *found))
                file.flush()


if __name__ == "__main__":
    main()
