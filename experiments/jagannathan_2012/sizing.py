"""The rule for the number of random trees and their height, against the best in hindsight.

Generated tables, and with ``--tables`` files of one's own (comma-separated, the label last); never
the paper's data. Not a figure of the paper: ``python -m experiments.jagannathan_2012.sizing``.
Counts and noise are drawn here in NumPy, so that a hundred shapes can be tried on a table.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from experiments.jagannathan_2012.forests import first_shape
from rich.console import Console
from rich.progress import track
from rich.table import Table as Shown

from bocage import Epsilon, Schema
from bocage.learners.forest_size import paper_height, shape
from bocage.schema import Categorical, Numeric

DOMAINS = {  # numbers of values, and of labels
    "8 of 3": ([3] * 8, 3),
    "8 of 2 to 5": ([2, 2, 3, 3, 4, 4, 5, 5], 5),
    "16 of 2": ([2] * 16, 2),
    "16 of 3": ([3] * 16, 2),
    "10 of 4": ([4] * 10, 10),
    "20 of 2 to 10": ([2, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 7, 8, 9, 9, 10, 10, 10], 2),
    "30 of 4": ([4] * 30, 3),
    "6 of 6": ([6] * 6, 4),
}
SIZES = (400, 2_000, 10_000, 30_000)
SKEWS, DEPTHS = (0.5, 5.0), (2, 4)  # of the values' shares (Dirichlet), of the labeling tree
EPSILONS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
TREES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40)
TESTED, GROUPS, NOISE, GRID = 2_000, 6, 0.1, 1024
HIGHEST = {True: 12, False: 8}  # where there are numeric attributes, and where there are none


@dataclass(frozen=True)
class Rows:
    """Codes of all columns; `numeric` columns have GRID cells."""

    points: np.ndarray
    values: tuple[int, ...]
    numeric: tuple[bool, ...]
    label: np.ndarray
    labels: int

    def schema(self) -> Schema:
        columns = tuple(
            Numeric(f"a{i}", 0, GRID, step=1) if number else Categorical(f"a{i}", tuple(map(str, range(n))))
            for i, (n, number) in enumerate(zip(self.values, self.numeric, strict=True))
        )
        return Schema("made", columns, label=Categorical("y", tuple(map(str, range(self.labels)))))


def grown(rng: np.random.Generator, rows: Rows, height: int) -> list[tuple[np.ndarray, int]]:
    """For each height the leaf of every row in one random tree, and the number of leaves reached."""
    count, k = rows.points.shape
    numeric = np.array(rows.numeric)
    node, used = np.zeros(count, int), np.zeros((1, k), bool)
    low, high = np.zeros((1, k), int), np.array([rows.values]) - 1
    found = []
    for _ in range(height):
        free = np.where(numeric, high > low, ~used)
        here = np.arange(len(free))
        by = np.where(free, rng.random(free.shape), 2.0).argmin(axis=1)
        ends = ~free.any(axis=1)
        room = np.maximum(high[here, by] - low[here, by], 1)
        cut = low[here, by] + 1 + (rng.random(len(by)) * room).astype(int)
        value = rows.points[np.arange(count), by[node]]
        branch = np.where(numeric[by[node]], value >= cut[node], value)
        key = node * 64 + np.where(ends[node], 0, branch)
        reached, node = np.unique(key, return_inverse=True)
        above, branch = reached // 64, reached % 64
        used, low, high = used[above], low[above], high[above]
        here, by, cut = np.arange(len(above)), by[above], cut[above]
        used[here, by] |= ~ends[above]
        for bound, side, moved in ((high, 0, cut - 1), (low, 1, cut)):
            at = numeric[by] & ~ends[above] & (branch == side)
            bound[here[at], by[at]] = moved[at]
        found.append((node, len(reached)))
    return found


def accuracies(rng: np.random.Generator, rows: Rows, learned: int) -> np.ndarray:
    """In percent, by epsilon, number of trees and height. All shapes share trees and noise."""
    order = rng.permutation(len(rows.label))[: learned + TESTED]
    label = rows.label[order]
    chosen = Rows(rows.points[order], rows.values, rows.numeric, label, rows.labels)
    height = HIGHEST[any(rows.numeric)]
    tested = len(order) - learned
    counts, noise = np.zeros((2, height, tested, rows.labels))
    found = np.zeros((len(EPSILONS), len(TREES), height))
    for trees in range(1, max(TREES) + 1):
        for h, (leaf, leaves) in enumerate(grown(rng, chosen, height)):
            own = leaf[:learned] * rows.labels + label[:learned]
            vector = np.bincount(own, minlength=leaves * rows.labels).reshape(leaves, -1)
            counts[h] += vector[leaf[learned:]]
            noise[h] += rng.laplace(0, 1, vector.shape)[leaf[learned:]]
        if trees in TREES:
            for e, epsilon in enumerate(EPSILONS):
                guess = (counts + trees / epsilon * noise).argmax(axis=2)
                right = (guess == label[learned:]).mean(axis=1)
                found[e, TREES.index(trees)] = 100 * right
    return found


def made(rng: np.random.Generator, values: list[int], labels: int, rows: int, *, skew: float, depth: int) -> Rows:
    """Skewed columns that hang together through groups, labeled by a random tree and some chance."""
    group = rng.integers(0, GROUPS, rows)
    columns = []
    for n in values:
        alike, own = rng.dirichlet([skew] * n), rng.dirichlet([skew] * n, GROUPS)
        shares = np.where((rng.random(rows) < 0.5)[:, None], own[group], alike)
        columns.append((rng.random(rows)[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1))
    points = np.stack(columns, axis=1)
    plain = Rows(points, tuple(values), (False,) * len(values), group, labels)
    leaf, leaves = grown(rng, plain, depth)[-1]
    label = rng.integers(0, labels, leaves)[leaf]
    label = np.where(rng.random(rows) < NOISE, rng.integers(0, labels, rows), label)
    return Rows(points, plain.values, plain.numeric, label, labels)


def read(path: Path) -> Rows:
    """A text file without a header. Numbers of more than 12 values are put on a grid."""
    lines = [line.split(",") for line in path.read_text("latin1").splitlines() if line.strip()]
    columns, values, numeric = [], [], []
    for column in zip(*lines, strict=True):
        cells = np.array([cell.strip() for cell in column])
        try:
            numbers = cells.astype(float)
        except ValueError:
            numbers = None
        last = len(columns) == len(lines[0]) - 1
        known, codes = np.unique(cells, return_inverse=True)
        is_numeric = numbers is not None and len(known) > 12 and not last
        if is_numeric and numbers is not None:
            share = (numbers - numbers.min()) / np.ptp(numbers)
            codes = np.minimum(share * GRID, GRID - 1).astype(int)
        columns.append(codes)
        values.append(GRID if is_numeric else len(known))
        numeric.append(is_numeric)
    label, labels = columns.pop(), values.pop()
    keep = [i for i, n in enumerate(values) if n > 1 and (numeric[i] or n <= 60)]
    points = np.stack([columns[i] for i in keep], axis=1)
    of = tuple(values[i] for i in keep), tuple(numeric[i] for i in keep)
    return Rows(points, *of, label, labels)


def chosen(rows: Rows, learned: int, epsilon: float) -> dict[str, tuple[int, int]]:
    """What each rule takes."""
    schema = rows.schema()
    names = tuple(a.name for a in schema.attributes)
    return {
        "the rule": shape(schema, names, learned, Epsilon.of(str(epsilon))),
        "the first rule": first_shape(schema, names, learned, epsilon),
        "10 trees of the paper's height": (10, paper_height(schema, names, learned)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--tables", type=Path, nargs="*", default=[], help="files; the label last")
    parser.add_argument("--skip-made", action="store_true", help="only --tables")
    arguments = parser.parse_args()
    rng = np.random.default_rng(2012)
    cases = [(read(path), "files") for path in arguments.tables]
    if not arguments.skip_made:
        cases += [
            (made(rng, values, labels, size + TESTED, skew=skew, depth=depth), "generated")
            for values, labels in DOMAINS.values()
            for size in SIZES
            for skew in SKEWS
            for depth in DEPTHS
        ]
    lost: dict[tuple[str, str], list[list[float]]] = {}
    for rows, kind in track(cases * arguments.repetitions, "tables"):
        learned = min(len(rows.label) - TESTED, 30_000)
        learned = learned if learned > TESTED or kind == "generated" else len(rows.label) * 4 // 5
        found = accuracies(rng, rows, learned)
        shapes = [chosen(rows, learned, epsilon) for epsilon in EPSILONS]
        for name in shapes[0]:
            points = []
            for e, by in enumerate(shapes):
                trees, height = by[name]
                near = int(np.abs(np.log(trees / np.array(TREES))).argmin())
                points.append(found[e].max() - found[e, near, min(height, found.shape[2]) - 1])
            lost.setdefault((name, kind), []).append(points)
    table = Shown(title="points below the best shape in hindsight, mean over tables")
    for heading in ("", "tables", *(f"{epsilon:g}" for epsilon in EPSILONS), "mean"):
        table.add_column(heading, justify="left" if heading in {"", "tables"} else "right")
    for (name, kind), points in lost.items():
        means = np.mean(points, axis=0)
        cells = (f"{mean:.1f}" for mean in (*means, means.mean()))
        table.add_row(name, f"{len(points)} {kind}", *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
