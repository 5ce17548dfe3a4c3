"""Naive Bayes beside a joint fit of the same released tables: seeded, for research only.

The tables are those of `bayes`, with its noise in floating point and numeric attributes in cells of equal width. What is made of them
is the learner's own code. One line for each candidate: how many rows it predicts right, seen and new::

    python -m experiments.frontier.bayes_joint --keel PATH --out FILE [--table NAME] [--signal 5] [--pairs 33]
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import exp, log
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.bayes_simulation import more_generated
from experiments.frontier.development import (
    _level_labels,
    _tree_labels,
    generated,
    read_keel,
)
from experiments.frontier.simulation import Data

from bocage.learners.bayes import CELLS, SHARES, TOLD_APART, Bayes
from bocage.learners.joint import fitted
from bocage.learners.population import population
from bocage.learners.ratios import (
    Evidence,
    Law,
    agreeing,
    naive,
    prior_of,
    weighted,
    with_pairs,
)
from bocage.mechanisms.agreeing import products, squares, totals
from bocage.private.agreeing import bodies, spread
from bocage.private.shares import LARGEST

EPSILONS = (0.1, 0.5, 1.0, 2.0)
FOLDS, SMALL, REPEATS = 2, 3500, 3
KEEL = [
    "splice", "titanic", "monk-2", "german", "contraceptive", "mammographic", "led7digit", "magic", "letter",
    "penbased", "phoneme", "marketing", "australian", "segment", "banana", "twonorm", "pima", "vehicle",
    "vowel", "wisconsin", "saheart", "breast",
]  # fmt: skip
GRIDS = [  # kind, values of the attributes, labels
    ("levels", [4, 4, 4, 3, 3, 3], 4), ("levels", [3, 4, 3, 3, 4, 3, 3], 5),
    ("levels", [3, 5, 4, 4, 3, 2, 3, 3], 5), ("levels", [5, 4, 3, 4, 3, 4], 6), ("levels", [4] * 5, 3),
    ("levels", [3] * 8, 2), ("levels", [4, 3, 3, 3, 3, 2, 2, 3], 4), ("sums", [4, 4, 4, 3, 3, 3], 4),
    ("sums", [3] * 9, 5), ("sums", [5, 4, 3, 4, 3, 4], 8), ("sums", [6, 5, 4, 5, 6, 4], 12),
    ("sums", [4] * 6, 2), ("sums", [3] * 8, 3), ("distance", [5] * 6, 10), ("distance", [6] * 6, 15),
    ("board", [8] * 6, 18), ("board", [6] * 6, 12), ("board", [7] * 6, 6),
    ("tree", [4, 4, 3, 3, 4, 3, 3], 5), ("tree", [5] * 6, 8),
]  # fmt: skip


@cache
def chances_of(sizes: tuple[int, ...]) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """How many cells of tables that agree have positive noise, as floats."""
    rest = [np.array([float(Fraction(w, max(ways))) for w in ways]) for ways in products(sizes)]
    whole = totals(sizes)
    top = np.array([float(Fraction(w, max(whole))) for w in whole])
    return top / top.sum(), rest, [np.array(squares(size - 1), float) for size in sizes]


def noise_of(rate: float, sizes: tuple[int, ...], rng: np.random.Generator) -> list[np.ndarray]:
    """A draw of `bocage.mechanisms.agreeing`, which see."""
    top, rest, own = chances_of(sizes)
    left = rng.choice(len(top), p=top)
    a, b = rng.gamma(left + 1) / rate, rng.gamma(sum(sizes) - len(sizes) - left + 1) / rate
    found = []
    for size, after, square in zip(sizes, rest[1:], own, strict=True):
        others = left - np.arange(size)
        possible = (others >= 0) & (others < len(after))
        weights = np.where(possible, square * after[others.clip(0, len(after) - 1)], 0)
        up = rng.choice(size, p=weights / weights.sum())
        left -= up
        plus, minus = rng.exponential(size=up + 1), rng.exponential(size=size - up)
        cells = np.concatenate([a * plus[:-1] / plus.sum(), -b * minus[:-1] / minus.sum()])
        found.append(rng.permutation(np.append(cells, a - b - cells.sum())))
    return found


@dataclass
class Fold:
    """Training and test rows on coarse cells."""

    data: Data
    train: np.ndarray
    test: np.ndarray
    sizes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        data = self.data
        kinds = zip(data.arity, data.numeric, strict=True)
        self.sizes = [min(CELLS, a) if numeric else a for a, numeric in kinds]
        codes = data.codes.T.astype(np.int64) * np.array(self.sizes)[:, None]
        codes //= np.array(data.arity)[:, None]
        self.seen, self.new = codes[:, self.train], codes[:, self.test]
        self.labels, self.truth = data.labels[self.train], data.labels[self.test]

    def exact(self, at: tuple[int, ...]) -> np.ndarray:
        index = np.zeros(len(self.labels), np.int64)
        for i in at:
            index = index * self.sizes[i] + self.seen[i]
        shape = int(np.prod([self.sizes[i] for i in at])), self.data.classes
        found = np.bincount(index * shape[1] + self.labels, minlength=shape[0] * shape[1])
        return found.reshape(shape).astype(float)

    def count(
        self, columns: Sequence[tuple[int, ...]], epsilon: float, rng: np.random.Generator
    ) -> tuple[list[np.ndarray], list[float], list[tuple[np.ndarray, float]]]:
        """Noisy tables, variances, and what is said of totals: see `count_tables`."""
        tables = [self.exact(at) for at in columns]
        sizes, variances, said = [len(t) for t in tables], [0.0] * len(tables), []
        small = [i for i, size in enumerate(sizes) if size <= LARGEST]
        large = [i for i, size in enumerate(sizes) if size > LARGEST]
        if small:
            rate = Fraction(epsilon * len(small) / len(sizes)).limit_denominator(10**9)
            own = [sizes[i] for i in small]
            reach = spread(own, rate)
            for i, variance in zip(small, reach.cells, strict=True):
                variances[i] = variance
            for (group, variance), body in zip(reach.groups, bodies(own, rate), strict=True):
                for y in range(self.data.classes):
                    drawn = noise_of(float(body.rate), body.sizes, rng)
                    for at, noise in zip(group, drawn, strict=True):
                        tables[small[at]][:, y] += noise
                sums = [tables[small[at]].sum(axis=0) for at in group]
                said.append((np.mean(sums, axis=0), variance))
        for i in large:
            scale = len(sizes) / epsilon
            tables[i] += rng.laplace(0, scale, tables[i].shape)
            variances[i] = 2 * scale**2
            said.append((tables[i].sum(axis=0), variances[i] * sizes[i]))
        return [np.rint(table) for table in tables], variances, said


def release(
    fold: Fold, epsilon: float, rng: np.random.Generator, told: float, way: argparse.Namespace
) -> tuple[Evidence, float]:
    """As `Bayes.tables`: what is released, and the epsilon that is left to choose with."""
    sizes, labels = fold.sizes, fold.data.classes
    classes = epsilon * SHARES[0] / 100
    rest = epsilon - classes
    counts = np.bincount(fold.labels, minlength=labels) + np.rint(
        rng.laplace(0, 1 / classes, labels)
    )
    parts = (sum(SHARES[1:3]) - way.pairs, way.pairs, SHARES[3])
    shares = [rest * share / sum(parts) for share in parts]
    room = Bayes.room(counts.astype(int), shares[1]) * 5 / way.signal
    paired = len(sizes) > 1 and exp(2 * sum(map(log, sizes)) / len(sizes)) <= room
    if not paired:
        enough = counts.sum() * shares[2] >= told
        shares = [rest - shares[2], 0, shares[2]] if enough else [rest, 0, 0]
    tables, variances, said = fold.count([(i,) for i in range(len(sizes))], shares[0], rng)
    total, singles = agreeing(tables, [(counts, 2 / classes**2), *said])
    known = prior_of(total), max(float(total.sum()), 1.0)
    evidence = Evidence(*known, singles, variances, {}, {})
    if not paired:
        return evidence, shares[2]
    chosen = Bayes.chosen(evidence, room)
    two, noise, _ = fold.count(chosen, shares[1], rng)
    _, moved = agreeing(two, [(total, 1.0)])
    both = zip(chosen, moved, strict=True)
    pairs = {(a, b): table.reshape(sizes[a], sizes[b], labels) for (a, b), table in both}
    own = dict(zip(chosen, noise, strict=True))
    return Evidence(*known, *with_pairs(singles, variances, pairs, own), pairs, own), shares[2]


def candidates(evidence: Evidence) -> dict[str, Law]:
    law = naive(evidence)
    people = population(evidence, law)
    found = {"naive 0": weighted(law, 0), "fitted": fitted(evidence, people, weighted(law, 0))}
    if evidence.pairs:
        found |= {f"naive {w:g}": weighted(law, w) for w in (1, 0.5, 0.25)}
        found["fitted pairs"] = fitted(evidence, people, weighted(law, 0.25))
    return found


def right(law: Law, codes: np.ndarray, labels: np.ndarray) -> int:
    sums = np.tile(law[()], (codes.shape[1], 1))
    for at, table in law.items():
        if at:
            sums += table[tuple(codes[list(at)])]
    return int((sums.argmax(axis=1) == labels).sum())


def grids() -> Iterator[Data]:
    """Every combination once, up to 30,000 of them; on a board only those that are possible."""
    for seed, (kind, sizes, labels) in enumerate(GRIDS, 501):
        rng = np.random.default_rng(seed)
        codes = np.indices(sizes).reshape(len(sizes), -1).T
        if kind == "board":
            a, b, c, d, e, f = codes.T
            apart = ((a != c) | (b != d)) & ((a != e) | (b != f)) & ((c != e) | (d != f))
            codes = codes[(a < sizes[0] // 2) & (b <= a) & apart]
        y = _labels(kind, codes, sizes, labels, rng)
        if len(codes) > 30_000:
            kept = rng.permutation(len(codes))[:30_000]
            codes, y = codes[kept], y[kept]
        name = f"grid-{kind}-{len(codes)}-{labels}"
        yield Data(name, codes, tuple(sizes), (False,) * len(sizes), y, labels)


def _labels(
    kind: str, codes: np.ndarray, sizes: list[int], labels: int, rng: np.random.Generator
) -> np.ndarray:
    if kind == "tree":
        return _tree_labels(codes, sizes, labels, rng, 5)
    if kind == "levels":
        for _ in range(50):  # until every label occurs and none is too common
            y = _level_labels(codes, sizes, labels, rng)
            if len(np.unique(y)) == labels and np.bincount(y).max() < 0.75 * len(y):
                break
        return y
    if kind == "sums":
        each = [
            rng.exponential() * np.sort(rng.random(s))[codes[:, i]] for i, s in enumerate(sizes)
        ]
        total = np.sum(each, axis=0)
    else:
        a, b, c, d, e, f = codes.T
        if kind == "board":
            far = np.maximum(np.abs(a - e), np.abs(b - f))
            edge = np.minimum(np.minimum(e, sizes[4] - 1 - e), np.minimum(f, sizes[5] - 1 - f))
            near = (c == e) | (d == f) | (np.abs(c - e) + np.abs(d - f) < 3)
            side = np.minimum(np.abs(c - a), np.abs(d - b))
            total = far + 2.2 * edge - 1.5 * near + 0.3 * side
        else:
            far = np.maximum(np.abs(a - c), np.abs(b - d)) * 2.0 + np.abs(c - e) * rng.random()
            total = far + np.abs(d - f) + 0.3 * e
    cuts = rng.dirichlet(np.full(labels, 2.0)).cumsum()[:-1]
    return np.searchsorted(np.quantile(total, cuts), total)


def tables_of(keel: Path) -> Iterator[Data]:
    yield from grids()
    yield from generated()
    yield from more_generated()
    for name in KEEL:
        yield read_keel(keel / f"{name}.dat", 64)


def measure(data: Data, way: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    for i, (train, test) in enumerate(folds(data.labels, 10, 0, 6)[:FOLDS]):
        fold = Fold(data, train, test)
        for j, epsilon in enumerate(EPSILONS):
            for repeat in range(REPEATS if len(train) < SMALL else 1):
                seed = [zlib.crc32(data.name.encode()), i, repeat, j]
                rng = np.random.default_rng(seed)
                evidence, choose = release(fold, epsilon, rng, TOLD_APART, way)
                found = candidates(evidence)
                if not evidence.pairs:  # as it was: no choice
                    rng = np.random.default_rng(seed)
                    found["before"] = naive(release(fold, epsilon, rng, np.inf, way)[0])
                where = data.name, epsilon, i, repeat, len(evidence.pairs), f"{choose:.5f}"
                for name, law in found.items():
                    seen, new = right(law, fold.seen, fold.labels), right(law, fold.new, fold.truth)
                    yield (*where, name, seen, f"{new / len(test):.5f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--table", action="append", help="tables whose names begin so (repeatable)")
    parser.add_argument("--signal", type=float, default=5.0, help="records for each cell of pairs")
    parser.add_argument("--pairs", type=float, default=SHARES[2], help="per cent for pairs")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with given.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ("data", "epsilon", "fold", "repeat", "pairs", "choose", "candidate", "seen", "new")
        )
        for data in tables_of(given.keel):
            if not given.table or data.name.startswith(tuple(given.table)):
                writer.writerows(measure(data, given))
                file.flush()


if __name__ == "__main__":
    main()
