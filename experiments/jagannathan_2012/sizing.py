"""The rule for the number of random trees and their height, against the best in hindsight.

Generated tables only: points drawn uniformly, labeled by a random tree of depth 4, a tenth of the
labels drawn anew. Not a figure of the paper; run as ``python -m experiments.jagannathan_2012.sizing``.
Counts and noise are drawn here in NumPy, so that a hundred shapes can be tried on a table.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from experiments.friedman_schuster_2010.synthetic import Domain, classify, random_tree
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bocage import Epsilon, Schema
from bocage.learners.sizing import paper_height, shape
from bocage.schema import Categorical

DOMAINS = {  # numbers of values, and of labels
    "8 attributes of 3": ([3] * 8, 3),
    "8 attributes of 2 to 5": ([2, 2, 3, 3, 4, 4, 5, 5], 5),
    "16 attributes of 2": ([2] * 16, 2),
    "16 attributes of 3": ([3] * 16, 2),
    "10 attributes of 4": ([4] * 10, 10),
}
SIZES = (400, 2_000, 10_000, 40_000)
EPSILONS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
TREES = (3, 5, 10, 20, 40)
TESTED, NOISE, DEPTH = 2_000, 0.1, 4
Shape = tuple[int, int]


def routed(rng: np.random.Generator, points: np.ndarray, height: int) -> tuple[np.ndarray, int]:
    """The leaf of every point in a random tree, of which only nodes that are reached are drawn."""
    rows, k = points.shape
    node, used = np.zeros(rows, int), np.zeros((1, k), bool)
    for _ in range(height):
        luck = np.where(used, 2.0, rng.random(used.shape))
        attribute = luck.argmin(axis=1)
        key = node * 64 + points[np.arange(rows), attribute[node]]
        found, node = np.unique(key, return_inverse=True)
        used = used[found // 64]
        used[np.arange(len(found)), attribute[found // 64]] = True
    return node, len(used)


def accuracies(
    rng: np.random.Generator, values: list[int], labels: int, rows: int
) -> dict[tuple[float, int, int], float]:
    """Accuracy for every epsilon, number of trees and height, in percent."""
    domain = Domain(len(values), 0, max(values), labels)
    points = np.stack([rng.integers(0, n, rows + TESTED) for n in values], axis=1)
    label = classify(random_tree(rng, domain, DEPTH, 0.1), domain, points)
    again = rng.random(len(label)) < NOISE
    label = np.where(again, rng.integers(0, labels, len(label)), label)
    highest = min(len(values) // 2, int(np.log(rows) / np.log(np.mean(values))) + 1)
    found = {}
    for height in range(1, highest + 1):
        trees = [routed(rng, points, height) for _ in range(max(TREES))]
        counts = [np.zeros((leaves, labels)) for _, leaves in trees]
        for (leaf, _), vector in zip(trees, counts, strict=True):
            np.add.at(vector, (leaf[:rows], label[:rows]), 1)
        for epsilon in EPSILONS:
            for count in TREES:
                votes = sum(
                    (vector + rng.laplace(0, count / epsilon, vector.shape))[leaf[rows:]]
                    for (leaf, _), vector in zip(trees[:count], counts, strict=False)
                )
                right = np.asarray(votes).argmax(axis=1) == label[rows:]
                found[epsilon, count, height] = 100 * float(right.mean())
    return found


def chosen(values: list[int], labels: int, rows: int, epsilon: float) -> dict[str, Shape]:
    """What the rule and the paper choose; numbers of trees are rounded to one that was run."""
    attributes = tuple(
        Categorical(f"a{i}", tuple(map(str, range(n)))) for i, n in enumerate(values)
    )
    target = Categorical("y", tuple(map(str, range(labels))))
    schema, names = Schema("made", attributes, label=target), tuple(a.name for a in attributes)
    trees, height = shape(schema, names, rows, Epsilon.of(str(epsilon)))
    near = min(TREES, key=lambda n: abs(np.log(n / trees)))
    return {
        "our rule": (near, height),
        "10 trees of the paper's height": (10, paper_height(schema, names, rows)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2)
    repetitions = parser.parse_args().repetitions
    rng = np.random.default_rng(2012)
    lost: dict[str, dict[float, list[float]]] = {}
    cases: list[Any] = [(d, n) for _ in range(repetitions) for d in DOMAINS.values() for n in SIZES]
    for (values, labels), rows in track(cases, "tables"):
        found = accuracies(rng, values, labels, rows)
        for epsilon in EPSILONS:
            best = max(v for (e, _, _), v in found.items() if e == epsilon)
            for name, at in chosen(values, labels, rows, epsilon).items():
                by = lost.setdefault(name, {}).setdefault(epsilon, [])
                by.append(best - found[epsilon, *at])
    table = Table(title="points below the best shape in hindsight, mean over tables")
    table.add_column("epsilon")
    for epsilon in EPSILONS:
        table.add_column(f"{epsilon:g}", justify="right")
    for name, by_epsilon in lost.items():
        table.add_row(name, *(f"{np.mean(by_epsilon[e]):.1f}" for e in EPSILONS))
    Console().print(table)


if __name__ == "__main__":
    main()
