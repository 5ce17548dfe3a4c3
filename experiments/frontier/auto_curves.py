"""How accurate each learner is down to a share of epsilon: what the rule of `auto` is settled by.

A trial is a fit with a share of epsilon, so that one curve of each learner is enough to work out what any
rule would do (``auto_rules.py``). The development tables, and more of their kinds whose sizes are drawn::

    python -m experiments.frontier.auto_curves --keel PATH --out FILE [--table NAME] [--folds 4]
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.bayes_simulation import more_labels, tables_of
from experiments.frontier.curves import rows_of, schema_of
from experiments.frontier.development import column_of, labels_of
from experiments.frontier.interactions import all_sizes
from experiments.frontier.simulation import Data

from bocage.errors import LearnerError
from bocage.learners.additive import Additive
from bocage.learners.base import Learner
from bocage.learners.bayes import Bayes
from bocage.learners.readable import ReadableTree
from bocage.private import study

EPSILONS = (0.025, 0.05, 0.1, 0.5, 1.0, 2.0)
# A trial grows a tree alone; what is taken may be a ladder or points, and has most of epsilon.
LEARNERS: dict[str, tuple[Learner, float]] = {
    "tree": (ReadableTree(ladders=False), 0.025),
    "readable": (ReadableTree(points=True), 0.1),
    "additive": (Additive(), 0.025),
    "bayes": (Bayes(), 0.025),
}
PUBLIC = (
    "data", "rows", "labels", "parameters", "cells", "combinations", "frequent", "common", "learner",
)  # fmt: skip
MEASURED = ("accuracy", "error", "spread")
KINDS = ("scores", "tree", "one", "levels", "skewed", "add", "groups", "pairs", "mixed")
DRAWN = 7  # tables of each kind


def drawn() -> Iterator[Data]:
    """More tables of all kinds, whose sizes are drawn too: as unlike each other as real ones."""
    for seed in range(1000, 1000 + DRAWN * len(KINDS)):
        rng = np.random.default_rng(seed)
        kind = KINDS[seed % len(KINDS)]
        rows = int(np.exp(rng.uniform(np.log(800), np.log(40_000))))
        classes = int(rng.choice([2, 2, 2, 3, 4, 5, 7]))
        arity = rng.integers(2, 3 + rng.integers(1, 8), rng.integers(5, 25)).tolist()
        if kind in {"add", "groups", "pairs", "mixed"}:
            codes, labels = more_labels(kind, rows, arity, classes, rng)
        else:
            codes = np.stack([column_of(rng, kind, a, rows) for a in arity], axis=1)
            labels = labels_of(kind, codes, arity, classes, rng)
            wrong = rng.random(rows) < rng.choice([0, 0.05, 0.15])
            labels = np.where(wrong, rng.integers(0, classes, rows), labels)
        labels[:classes] = np.arange(classes)
        name = f"drawn {kind} {rows} x {len(arity)}, {classes} labels"
        yield Data(name, codes, tuple(arity), (False,) * len(arity), labels, classes)


def splits(data: Data) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Many folds of small tables, and few but larger ones of others."""
    sizes = ((1200, 16, 10), (3500, 8, 10), (9000, 4, 5), (np.inf, 2, 4))
    count, parts = next(size[1:] for size in sizes if len(data.labels) < size[0])
    for i in range(count):
        yield folds(data.labels, parts, i // parts, 7)[i % parts]


def facts(data: Data, rows: int) -> tuple[object, ...]:
    """What a rule may know, or pays for."""
    kinds = zip(data.arity, data.numeric, strict=True)
    sizes = np.array([min(8, arity) if numeric else arity for arity, numeric in kinds])
    shares = np.bincount(data.labels) / len(data.labels)
    some = shares[shares > 0]
    frequent, logs = np.exp(-(some * np.log(some)).sum()), np.log(sizes)
    known = np.exp(logs.mean()), logs.sum(), frequent
    parameters = (sizes - 1).sum() * (data.classes - 1)
    texts = (f"{number:.2f}" for number in known)
    return data.name, rows, data.classes, parameters, *texts, f"{shares.max():.3f}"


def measured(data: Data, most: int) -> Iterator[tuple[object, ...]]:
    """A row for each learner; none for one that the table is too large for."""
    schema, pairs = schema_of(data), list(islice(splits(data), most))
    public = facts(data, len(pairs[0][0]))
    for name, (learner, least) in LEARNERS.items():
        found: list[str] = []
        try:
            for epsilon in EPSILONS:
                if epsilon < least:
                    found += [""] * len(MEASURED)
                    continue
                right = []
                for train, test in pairs:
                    with study(rows_of(data, train), schema) as table:
                        model = learner.fit(table, epsilon)
                    guessed = np.asarray(model.predict(rows_of(data, test))).astype(int)
                    right.append(float(np.mean(guessed == data.labels[test])))
                found += summarized(np.array(right), len(pairs[0][1]))
        except LearnerError:
            continue
        yield *public, name, len(pairs), *found


def summarized(right: np.ndarray, tested: int) -> list[str]:
    """Mean, its error, and how fits differ beyond what so few test rows make; in per cent."""
    mean, variance = right.mean(), right.var(ddof=1)
    spread = np.sqrt(max(variance - mean * (1 - mean) / tested, 0.003**2))
    return [f"{100 * x:.2f}" for x in (mean, np.sqrt(variance / len(right)), spread)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--table", action="append", help="this table (repeatable)")
    parser.add_argument("--folds", type=int, default=99, help="at most")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            numbers = (f"{what} {epsilon:g}" for epsilon in EPSILONS for what in MEASURED)
            writer.writerow((*PUBLIC, "folds", *numbers))
        for data in (*tables_of(given.keel), *drawn(), *all_sizes()):
            if not given.table or data.name in given.table:
                writer.writerows(measured(data, given.folds))
                file.flush()


if __name__ == "__main__":
    main()
