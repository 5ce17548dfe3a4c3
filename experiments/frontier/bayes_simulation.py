"""Tables of noisy counts in plain floating point, to try rules out: fast, seeded, for research only.

One release counts every attribute by label. What is made of the counts is post-processing::

    python -m experiments.frontier.bayes_simulation --keel PATH --out FILE [--only NAME] [--table NAME]

The numbers that the rule was settled by are in ``bayes_development.csv``, with what they say in
``bayes_development.md``.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.development import KEEL, generated, read_keel
from experiments.frontier.simulation import Data

EPSILONS = (0.1, 0.5, 1.0, 2.0)
FOLDS, SMALL = 2, 3500  # folds; tables with fewer rows are repeated four times
MORE_KEEL = [
    "banana", "bands", "breast", "bupa", "heart", "ionosphere", "optdigits", "pima", "ring",
    "saheart", "twonorm", "vehicle", "vowel", "wdbc", "wisconsin",
]  # fmt: skip


@dataclass(frozen=True)
class Way:
    """The constants of one way to use the counts. The defaults are those of the shipped learner.

    The noise is not: it is Laplace noise here, and there that of tables that agree on their sums.
    """

    cells: int = 8  # of a numeric attribute
    shrink: str = "added"  # added counts, or bayes: posterior means of log ratios
    added: float = 0.5  # counts, in standard deviations of the noise
    trust: float = 1.0  # power of the share of a table that is not noise
    temper: float = 1.0  # factor of the sum of all log ratios of single attributes
    classes: float = 0.05  # share of epsilon for the counts of the labels
    pairs: float = 0.35  # share of the rest for pairs
    triples: float = 0.0  # share of that for triples
    signal: float = 5.0  # records times epsilon for each cell of the pairs and frequent label
    choose: float = 0.04  # share of the rest to choose the weight of the pairs with
    weights: tuple[float, ...] = (1.0, 0.5, 0.25, 0.0)


CONFIGURATIONS = {
    "shipped": Way(),
    "single": Way(pairs=0, classes=0),
    "single, bayes": Way(pairs=0, classes=0, shrink="bayes"),
    "single, no trust": Way(pairs=0, classes=0, trust=0),
    "single, trust 2": Way(pairs=0, classes=0, trust=2),
    "single, added 0.1": Way(pairs=0, classes=0, added=0.1),
    "single, added 1": Way(pairs=0, classes=0, added=1),
    "single, 4 cells": Way(pairs=0, classes=0, cells=4),
    "single, 16 cells": Way(pairs=0, classes=0, cells=16),
    "single, 32 cells": Way(pairs=0, classes=0, cells=32),
    "single, temper 0.7": Way(pairs=0, classes=0, temper=0.7),
    "pairs 0.5": Way(pairs=0.5),
    "signal 1": Way(signal=1),
    "signal 3": Way(signal=3),
    "signal 8": Way(signal=8),
    "pairs with weight 1": Way(weights=(1.0,), choose=0),
    "pairs with weight 0.5": Way(weights=(0.5,), choose=0),
    "triples": Way(pairs=0.5, triples=0.5),
}

STRENGTHS = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0])
GRID = np.sinh(np.linspace(-2.6, 2.6, 53)) / np.sinh(2.6) * 6


def _strength_weights() -> np.ndarray:
    weights = np.exp(-0.5 * (GRID / np.maximum(STRENGTHS, 1e-9)[:, None]) ** 2) * np.gradient(GRID)
    return weights / weights.sum(axis=1, keepdims=True)


STRENGTH_WEIGHTS = _strength_weights()


def log_ratios(
    counts: np.ndarray, shares: np.ndarray, variance: float, freedom: int, way: Way
) -> np.ndarray:
    """By how much the log-odds of each label differ from what `shares` says."""
    expected = counts.sum(axis=-1, keepdims=True) * shares
    if way.shrink == "bayes":
        return _posterior(counts, np.maximum(expected, 0), variance)
    added = way.added * np.sqrt(variance) * shares * counts.shape[-1] + 1e-9
    ratios = np.log((np.maximum(counts, 0) + added) / (np.maximum(expected, 0) + added))
    total = ((counts - expected) ** 2).sum() / variance
    return ratios * max(0.0, 1 - freedom / max(total, 1e-9)) ** way.trust


def _posterior(counts: np.ndarray, expected: np.ndarray, variance: float) -> np.ndarray:
    """Means over what is likely for Laplace noise, normal log ratios, and an unknown strength."""
    gap = counts[..., None] - np.maximum(expected, 1e-3)[..., None] * np.exp(GRID)
    like = -np.abs(gap) * np.sqrt(2 / (variance + expected))[..., None]
    like = np.exp(like - like.max(axis=-1, keepdims=True))
    marginal = like @ STRENGTH_WEIGHTS.T + 1e-300
    evidence = np.log(marginal).reshape(-1, len(STRENGTHS)).sum(axis=0)
    chance = np.exp(evidence - evidence.max())
    return (like * GRID) @ STRENGTH_WEIGHTS.T / marginal @ (chance / chance.sum())


@dataclass
class Fold:
    """Training and test rows on coarse cells."""

    data: Data
    cells: int
    train: np.ndarray
    test: np.ndarray
    sizes: list[int] = field(init=False)

    def __post_init__(self) -> None:
        kinds = zip(self.data.arity, self.data.numeric, strict=True)
        self.sizes = [min(self.cells, a) if numeric else a for a, numeric in kinds]
        codes = [
            self.data.codes[:, i].astype(np.int64) * size // self.data.arity[i]
            for i, size in enumerate(self.sizes)
        ]
        self.seen, self.new = np.stack(codes)[:, self.train], np.stack(codes)[:, self.test]
        self.labels, self.truth = self.data.labels[self.train], self.data.labels[self.test]

    def counts(
        self, columns: tuple[int, ...], scale: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Noisy counts by label of all combinations of cells."""
        shape = (*(self.sizes[i] for i in columns), self.data.classes)
        index = np.ravel_multi_index((*self.seen[list(columns)], self.labels), shape)
        exact = np.bincount(index, minlength=int(np.prod(shape))).reshape(shape)
        chance = 1 - np.exp(-1 / scale)
        return exact + rng.geometric(chance, shape) - rng.geometric(chance, shape)


class Fit:
    """One release and what is made of it."""

    def __init__(self, fold: Fold, way: Way, epsilon: float, rng: np.random.Generator) -> None:
        self.fold, self.way, self.rng = fold, way, rng
        columns = range(len(fold.sizes))
        rest = epsilon * (1 - way.classes)
        labels = None
        if way.classes:
            labels = fold.counts((), 1 / (way.classes * epsilon), rng)
        self.paired = way.pairs * rest if way.pairs and len(columns) > 1 else 0.0
        if self.paired and np.exp(2 * np.mean(np.log(fold.sizes))) > self.room(labels, self.paired):
            self.paired = 0.0
        select = way.choose * rest if self.paired else 0.0
        scale = len(columns) / (rest - self.paired - select)
        own = 2 * scale**2
        singles = [fold.counts((i,), scale, rng).astype(float) for i in columns]
        self.totals, singles = self.agreeing(singles, own, labels, way.classes * epsilon)
        least = np.maximum(self.totals, max(1.0, 0.005 * self.totals.sum()))
        self.prior = least / least.sum()
        self.terms: dict[tuple[int, ...], np.ndarray] = {}
        variances = [own] * len(singles)
        tables: dict[tuple[int, ...], np.ndarray] = {}
        if self.paired:
            order = self.order(singles, own)
            share = self.paired * (1 - way.triples)
            tables, noise = self.count(self.chosen(order, share, 2), share)
            singles, variances = self.with_pairs(singles, own, tables, noise)
        for i, (table, variance) in enumerate(zip(singles, variances, strict=True)):
            freedom = (len(table) - 1) * (len(self.prior) - 1)
            self.terms[(i,)] = log_ratios(table, self.prior, variance, freedom, way)
        known = {(i,): table for i, table in enumerate(singles)}
        if tables:
            known |= self.beyond(tables, known, noise)
            if way.triples:
                share = self.paired * way.triples
                order = [i for i in order if any(i in at for at in tables)]
                tables, noise = self.count(self.chosen(order, share, 3), share)
                self.beyond(tables, known, noise)
        self.weight = self.chosen_weight(select)

    def room(self, labels: np.ndarray, epsilon: float) -> float:
        share = np.maximum(labels, 1) / np.maximum(labels, 1).sum()
        frequent = np.exp(-(share * np.log(share)).sum())
        return max(float(labels.sum()), 0.0) * epsilon / (self.way.signal * frequent)

    def agreeing(
        self, tables: list[np.ndarray], own: float, labels: np.ndarray | None, paid: float
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        weights = [1 / (len(table) * own) for table in tables]
        sums = [table.sum(axis=0) for table in tables]
        if labels is not None:
            weights, sums = [*weights, paid**2 / 2], [*sums, labels]
        totals = np.array(weights) @ np.array(sums) / sum(weights)
        moved = [t + (totals - t.sum(axis=0)) / len(t) for t in tables]
        return totals, moved

    def order(self, singles: list[np.ndarray], own: float) -> list[int]:
        """The attributes that say most first."""
        power = []
        for table in singles:
            freedom = (len(table) - 1) * (len(self.prior) - 1)
            ratios = log_ratios(table, self.prior, own, freedom, self.way)
            rows = np.maximum(table.sum(axis=1), 0)
            power.append(float(rows @ (ratios**2 @ self.prior)) / max(rows.sum(), 1))
        return sorted(range(len(singles)), key=lambda i: -power[i])

    def chosen(self, order: list[int], epsilon: float, size: int) -> list[tuple[int, ...]]:
        room, taken = self.room(self.totals, epsilon), list[int]()
        for i in order:
            with_it = combinations(taken, size - 1)
            cells = sum(int(np.prod([self.fold.sizes[j] for j in (i, *one)])) for one in with_it)
            if cells <= room:
                taken, room = [*taken, i], room - cells
        return list(combinations(sorted(taken), size))

    def count(
        self, chosen: list[tuple[int, ...]], epsilon: float
    ) -> tuple[dict[tuple[int, ...], np.ndarray], float]:
        if not chosen:
            return {}, 0.0
        scale = len(chosen) / epsilon
        found = {at: self.fold.counts(at, scale, self.rng).astype(float) for at in chosen}
        return found, 2 * scale**2

    @staticmethod
    def with_pairs(
        singles: list[np.ndarray],
        own: float,
        pairs: dict[tuple[int, ...], np.ndarray],
        noise: float,
    ) -> tuple[list[np.ndarray], list[float]]:
        better, variances = [], []
        for i, table in enumerate(singles):
            weight, total = 1 / own, table / own
            for at, counts in pairs.items():
                if i in at:
                    axis = 1 - at.index(i)
                    precision = 1 / (noise * counts.shape[axis])
                    weight, total = weight + precision, total + counts.sum(axis=axis) * precision
            better.append(total / weight)
            variances.append(1 / weight)
        return better, variances

    def beyond(
        self,
        tables: dict[tuple[int, ...], np.ndarray],
        known: dict[tuple[int, ...], np.ndarray],
        noise: float,
    ) -> dict[tuple[int, ...], np.ndarray]:
        """What several attributes say together beyond what fewer of them say; moved to known sums."""
        out = {}
        for at, counts in tables.items():
            table = counts
            for axis in range(len(at)):
                lower = tuple(i for j, i in enumerate(at) if j != axis)
                gap = (known[lower] - table.sum(axis=axis)) / table.shape[axis]
                table = table + np.expand_dims(gap, axis)
            before = np.zeros((1,) * len(at) + (len(self.prior),))
            for order in range(1, len(at)):
                for lower in combinations(at, order):
                    shape = [self.fold.sizes[i] if i in lower else 1 for i in at]
                    before = before + self.terms[lower].reshape(*shape, -1)
            shares = self.prior * np.exp(before)
            shares /= shares.sum(axis=-1, keepdims=True)
            freedom = int(np.prod([n - 1 for n in table.shape]))
            self.terms[at] = log_ratios(table, shares, noise, freedom, self.way)
            out[at] = table
        return out

    def chosen_weight(self, select: float) -> float:
        if max(map(len, self.terms)) == 1 or len(self.way.weights) == 1:
            return self.way.weights[0]
        ones, more = self.parts(self.fold.seen)
        right = [((ones + w * more).argmax(1) == self.fold.labels).sum() for w in self.way.weights]
        return self.way.weights[
            int(np.argmax(select * np.array(right) + self.rng.exponential(size=len(right))))
        ]

    def parts(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ones = np.log(self.prior) + np.zeros((codes.shape[1], 1))
        more = np.zeros_like(ones)
        for at, table in self.terms.items():
            says = table[tuple(codes[list(at)])]
            if len(at) == 1:
                ones += self.way.temper * says
            else:
                more += says
        return ones, more

    def accuracy(self) -> float:
        ones, more = self.parts(self.fold.new)
        return float(((ones + self.weight * more).argmax(1) == self.fold.truth).mean())


def tables_of(keel: Path) -> Iterator[Data]:
    """All development tables, numeric columns on a grid of 64 cells."""
    for name in [*KEEL, *MORE_KEEL]:
        if name != "hayes-roth":  # another separator
            yield read_keel(keel / f"{name}.dat", 64)
    yield from generated()
    yield from more_generated()


def more_generated() -> Iterator[Data]:
    """Additive log-odds, hidden groups, pairs, and a mixture with three attributes together."""
    seed = 100
    for kind in ("add", "groups", "pairs", "mixed"):
        for rows, k, classes in ((1000, 8, 2), (5000, 10, 4), (30000, 10, 2), (20000, 8, 6)):
            seed += 1
            rng = np.random.default_rng(seed)
            arity = rng.integers(2, 7, k)
            x, y = more_labels(kind, rows, arity.tolist(), classes, rng)
            y[:classes] = np.arange(classes)
            name, sizes = f"{kind}{rows}K{classes}", tuple(map(int, arity))
            yield Data(name, x, sizes, (False,) * k, y, classes)


def more_labels(
    kind: str, rows: int, arity: list[int], classes: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and labels of one such table."""
    skew = [rng.dirichlet(np.full(a, 2.0)) for a in arity]
    if kind == "groups":
        who = rng.choice(6, size=rows, p=rng.dirichlet(np.full(6, 2.0)))
        habits = [rng.dirichlet(np.full(a, 0.7), size=6) for a in arity]
        x = np.stack([_pick(habit, who, rng) for habit in habits], axis=1)
        return x, _pick(rng.dirichlet(np.full(classes, 0.3), size=6), who, rng)
    x = np.stack([rng.choice(len(p), rows, p=p) for p in skew], axis=1)
    score = _scores(kind, x, np.array(arity), classes, rng)
    return x, (1.5 * score + rng.gumbel(size=score.shape)).argmax(axis=1)


def _pick(chances: np.ndarray, who: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random((len(who), 1)) > chances.cumsum(axis=1)[who][:, :-1]).sum(axis=1)


def _scores(
    kind: str, x: np.ndarray, arity: np.ndarray, classes: int, rng: np.random.Generator
) -> np.ndarray:
    score = sum(
        rng.normal(size=(a, classes))[x[:, i]] * rng.exponential() for i, a in enumerate(arity)
    )
    if kind == "add":
        return score
    score = 0.4 * score
    for _ in range(6 if kind == "pairs" else 2):
        a, b = rng.choice(len(arity), 2, replace=False)
        score = score + (rng.normal(size=(arity[a], arity[b], classes)) * 1.5)[x[:, a], x[:, b]]
    if kind == "mixed":
        a, b, c = rng.choice(len(arity), 3, replace=False)
        table = rng.normal(size=(arity[a], arity[b], arity[c], classes)) * 2
        score = score + table[x[:, a], x[:, b], x[:, c]]
    return score


def measure(data: Data, way: Way) -> list[float]:
    """Mean accuracy in per cent for each epsilon."""
    found = np.zeros(len(EPSILONS))
    repeats = 4 if len(data.labels) < SMALL else 1
    for i, (train, test) in enumerate(folds(data.labels, 10, 0, 6)[:FOLDS]):
        fold = Fold(data, way.cells, train, test)
        for j, epsilon in enumerate(EPSILONS):
            for repeat in range(repeats):
                seed = [zlib.crc32(data.name.encode()), i, repeat, j]
                found[j] += Fit(fold, way, epsilon, np.random.default_rng(seed)).accuracy()
    return (100 * found / FOLDS / repeats).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--only", action="append", help="this configuration (repeatable)")
    parser.add_argument("--table", action="append", help="this table (repeatable)")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(("configuration", "data", *EPSILONS))
        for data in tables_of(given.keel):
            if given.table and data.name not in given.table:
                continue
            for name, way in CONFIGURATIONS.items():
                if not given.only or name in given.only:
                    writer.writerow((name, data.name, *(f"{v:.2f}" for v in measure(data, way))))
            file.flush()


if __name__ == "__main__":
    main()
