"""The lower levels of a readable tree drawn at once, in floating point: seeded, for research only.

One draw from all trees of some levels, with labels, below levels that are chosen one by one::

    python -m experiments.frontier.drawn_simulation --keel PATH --out FILE [--only STUDY] [--table NAME]

The numbers that the rule was settled by are in ``drawn_development.csv``, where rows of the study "before" are
the readable tree without a draw; ``results/development.md`` has what they say. Draws are not those of
then, their law is. There, the first three studies made every empty node a leaf, which shows in nodes only.
"""

# ruff: noqa: C901, PLR0917 - compiled loops take all by position

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import exp, inf, log
from pathlib import Path

import numba
import numpy as np
from experiments.frontier.auto_curves import drawn, splits, tables_of
from experiments.frontier.simulation import Data, _branch

EPSILONS = (0.1, 0.5, 1.0, 2.0)
COUNT = 0.05  # share of epsilon for the number of rows, or for the labels' counts; sizes are taken as known
WORK, DEEPEST, HIGHEST = 6e7, 6, 8  # visits of a row; levels drawn at once; levels above them
RECORDED = Path(__file__).with_name("drawn_development.csv")
SETTINGS = ("levels", "support", "share", "alpha", "beta", "label prior", "cells", "room")
NUMBERS = tuple(f"{what} {e:g}" for what in ("accuracy", "difference") for e in EPSILONS)
FIELDS = ("study", "table", "rows", "attributes", "labels", *SETTINGS, *NUMBERS, "nodes")
Tree = int | tuple[int, int, list["Tree"]]  # a label, or column, threshold (or -1), children


@dataclass(frozen=True)
class Way:
    """The constants of one way to draw."""

    levels: int = 0  # drawn at once, with none above; 0: as many as the work allows
    support: int = 20  # records times epsilon for a leaf
    share: float = 0.2  # of epsilon for the levels above
    alpha: float = 0.5  # prior probability of a leaf where a split is possible
    beta: float = 0.0  # prior weight of the label that a node hands down to its children
    label_prior: bool = False  # from noisy counts of the labels
    cells: int = 16  # of a numeric attribute
    room: bool = False  # splits get less likely below more branches than there is support for


STUDIES = {
    "levels": [
        *(Way(levels, alpha=0.5, cells=8) for levels in (1, 2, 3, 4, 5)),
        *(Way(levels, alpha=0.2, cells=8) for levels in (2, 3, 4)),
    ],
    "support": [Way(0, *of, cells=8) for of in ((30, 0.3), (10, 0.3), (10, 0.5))],
    "share": [Way(0, 20, *of) for of in ((0.3, 0.5), (0.2, 0.5), (0.3, 0.25))],
    "label prior": [Way(), *(Way(alpha=alpha, label_prior=True) for alpha in (0.5, 0.7, 0.3))],
    "default label": [Way(beta=beta) for beta in (0.0, 0.5, 0.8)],
    "room": [Way(), Way(room=True)],
}


@numba.njit(cache=True)
def _leaf(counts, rate, prior, beta, width):  # type: ignore[no-untyped-def]
    """Logarithms of the sums over the labels of a leaf, for each label that may be handed down."""
    most = counts.max()
    weights = np.exp(rate * (counts - most))
    total = (prior * weights).sum()
    return rate * most + np.log(beta * weights[:width] + (1 - beta) * total)


@numba.njit(cache=True)
def _ways(column, low, high, numeric):  # type: ignore[no-untyped-def]
    """How many splits a column offers: of a used one only a single code is left."""
    left = high[column] - low[column]
    return 0 if left < 2 else left - 1 if numeric[column] else 1


@numba.njit  # two that call each other: stored on disk, they would crash
def _forks(codes, labels, rows, depth, low, high, numeric, rate, alpha, beta, prior, branches, room, found):  # type: ignore[no-untyped-def]  # fmt: skip
    """For each split of a node the sum over all that may be below, without the prior of a split."""
    able, place = 0, 0
    for column in range(len(low)):
        able += _ways(column, low, high, numeric) > 0
    for column in range(len(low)):
        ways, first, last = _ways(column, low, high, numeric), low[column], high[column]
        if ways == 0:
            continue
        counts, starts = np.zeros((last + 1, len(prior))), np.zeros(last + 1, np.int64)
        for i in rows:
            counts[codes[i, column] + 1, labels[i]] += 1
            starts[codes[i, column] + 1] += 1
        for code in range(last):
            counts[code + 1] += counts[code]
            starts[code + 1] += starts[code]
        order, ends = np.empty(len(rows) if depth > 1 else 0, rows.dtype), starts.copy()
        for i in rows[: len(order)]:
            order[ends[codes[i, column]]] = i
            ends[codes[i, column]] += 1
        parts = 2 if numeric[column] else last
        for way in range(ways):
            found[place] = -np.log(able * ways)
            for part in range(parts):
                begin, end = part, part + 1
                if numeric[column]:
                    cut = first + 1 + way
                    begin, end = (first, cut) if part == 0 else (cut, last)
                low[column], high[column] = (begin, end) if numeric[column] else (0, 1)
                if starts[end] > starts[begin]:
                    inside = order[starts[begin] : starts[end]] if depth > 1 else order
                    found[place] += _tree(
                        codes, labels, inside, counts[end] - counts[begin], depth - 1, low, high, numeric,
                        rate, alpha, beta, prior, branches * parts, room, len(found),
                    )  # fmt: skip
            low[column], high[column] = first, last
            place += 1
    return place


@numba.njit
def _tree(codes, labels, rows, counts, depth, low, high, numeric, rate, alpha, beta, prior, branches, room, most):  # type: ignore[no-untyped-def]  # fmt: skip
    """The sum over all trees of a node, for each label that may be handed down to it."""
    width = len(prior) if beta > 0 else 1
    leaf = _leaf(counts, rate, prior, beta, width)
    if depth == 0:
        return leaf
    found = np.empty((most, width))
    ways = _forks(codes, labels, rows, depth, low, high, numeric, rate, alpha, beta, prior, branches, room, found)  # fmt: skip
    if ways == 0:
        return leaf
    largest = found[:ways].max()
    below = np.exp(found[:ways] - largest).sum(axis=0)
    if beta > 0:
        below = beta * below + (1 - beta) * (prior * below).sum()
    chance = (1 - alpha) * min(room / branches, 1.0)
    return np.logaddexp(leaf + np.log1p(-chance), largest + np.log(below + 1e-300) + np.log(chance))


@dataclass
class Grower:
    """One tree on some rows; `low` and `high` bound the codes that are left on the way to a node."""

    codes: np.ndarray
    labels: np.ndarray
    low: np.ndarray
    high: np.ndarray
    numeric: np.ndarray
    way: Way
    prior: np.ndarray
    depth: int
    rng: np.random.Generator

    def options(self) -> list[tuple[int, int]]:
        able = [(c, _ways(c, self.low, self.high, self.numeric)) for c in range(len(self.low))]
        return [(c, self.low[c] + 1 + i if self.numeric[c] else -1) for c, n in able for i in range(n)]  # fmt: skip

    def below(self, rows: np.ndarray, column: int, cut: int) -> Iterator[np.ndarray]:
        """The rows of each child, with the bounds set for it."""
        codes, first, last = self.codes[rows, column], self.low[column], self.high[column]
        parts = [(first, cut), (cut, last)] if cut >= 0 else [(i, i + 1) for i in range(last)]
        for begin, end in parts:
            self.low[column], self.high[column] = (begin, end) if cut >= 0 else (0, 1)
            yield rows[(codes >= begin) & (codes < end)]
        self.low[column], self.high[column] = first, last

    def grow(self, rows: np.ndarray, above: int, pays: float, rate: float, room: float) -> Tree:
        """Levels that are chosen one by one, then a draw with all that is left."""
        options = self.options()
        if not above or not options:
            return self.draw(rows, self.depth, rate, room)
        tables = [self.counts(rows, column) for column in range(len(self.low))]
        scores = np.array([self.score(tables[column], cut) for column, cut in options])
        best = np.argmax(scores + self.rng.exponential(1 / pays, len(options)))
        column, cut = options[best]
        room /= 2 if cut >= 0 else self.high[column]
        children = self.below(rows, column, cut)
        return column, cut, [self.grow(c, above - 1, pays, rate - pays, room) for c in children]

    def counts(self, rows: np.ndarray, column: int) -> np.ndarray:
        shape = self.codes[:, column].max() + 1, len(self.prior)
        cells = np.ravel_multi_index((self.codes[rows, column], self.labels[rows]), shape)
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)

    @staticmethod
    def score(counts: np.ndarray, cut: int) -> float:
        """Few records outside the majority of their branch, and branches that are pure."""
        sides = counts if cut < 0 else [counts[:cut].sum(axis=0), counts[cut:].sum(axis=0)]
        return sum(_branch(one, 0.5) for one in sides)

    def draw(self, rows: np.ndarray, depth: int, rate: float, room: float, branches: int = 1, default: int = -1) -> Tree:  # fmt: skip
        """From the root down: a label, or a split and the label that it hands down."""
        way, options = self.way, self.options() if depth else []
        beta = way.beta if default >= 0 else 0.0
        prior = np.log((1 - beta) * self.prior + beta * (np.arange(len(self.prior)) == default))
        leaf = prior + rate * np.bincount(self.labels[rows], minlength=len(prior))
        width = len(prior) if way.beta else 1
        found, chance = np.empty((len(options), width)), 0.0
        if options:
            chance = (1 - way.alpha) * min(room / branches, 1.0)
            _forks(
                self.codes, self.labels, rows, depth, self.low, self.high, self.numeric, rate,
                way.alpha, way.beta, self.prior, float(branches), room, found,
            )  # fmt: skip
            found += log(chance) + (prior if way.beta else 0)
        every = np.concatenate([leaf + log(1 - chance), found.ravel()])
        chosen = int(np.argmax(every + self.rng.gumbel(size=len(every))))
        if chosen < len(leaf):
            return chosen
        place, label = divmod(chosen - len(leaf), width)
        (column, cut), label = options[place], label if way.beta else -1
        branches *= 2 if cut >= 0 else self.high[column]
        children = self.below(rows, column, cut)
        return column, cut, [self.draw(c, depth - 1, rate, room, branches, label) for c in children]


def predicted(tree: Tree, codes: np.ndarray) -> np.ndarray:
    if not isinstance(tree, tuple):
        return np.full(len(codes), tree)
    column, cut, children = tree
    branch = (codes[:, column] >= cut).astype(int) if cut >= 0 else codes[:, column]
    found = np.empty(len(codes), int)
    for i, child in enumerate(children):
        found[branch == i] = predicted(child, codes[branch == i])
    return found


def size(tree: Tree) -> int:
    return 1 + sum(map(size, tree[2])) if isinstance(tree, tuple) else 1


def measure(data: Data, way: Way) -> tuple[int, list[float], float] | None:
    """Levels drawn at once, mean accuracy in per cent for each epsilon, and nodes; None if too much work."""
    numeric, pairs = np.array(data.numeric), list(splits(data))
    arity = np.where(numeric, np.minimum(way.cells, data.arity), data.arity)
    codes = data.codes.astype(np.int64) * arity // data.arity
    work = float(len(pairs[0][0]) * len(arity))
    able, deepest, depth = np.where(numeric, arity - 1, 1).sum(), way.levels or DEEPEST, 1
    while depth < min(deepest, len(arity)) and work * able <= WORK:
        depth, work = depth + 1, work * able
    if depth < way.levels:
        return None
    branches = exp(float(np.mean(np.log(np.where(numeric, 2, arity)))))
    right, nodes = np.zeros(len(EPSILONS)), []
    for (j, epsilon), (i, (train, test)) in product(enumerate(EPSILONS), enumerate(pairs)):
        most = max(len(train) * epsilon / way.support, 1.0)
        above = 0 if way.levels else min(max(round(log(most) / log(branches)) - depth, 0), HIGHEST)
        rng, labels = np.random.default_rng(i), data.labels[train]
        prior, scale = np.ones(data.classes), 1 / (COUNT * epsilon)
        if way.label_prior:
            noisy = np.bincount(labels, minlength=data.classes) + rng.laplace(0, scale, len(prior))
            prior = np.maximum(noisy, 0) + 0.1 * len(train) / len(prior) + scale
        bounds, rate = (np.zeros_like(arity), arity.copy()), (1 - COUNT) * epsilon
        grower = Grower(codes[train], labels, *bounds, numeric, way, prior / prior.sum(), depth, rng)  # fmt: skip
        pays, room = rate * way.share / max(above, 1), most if way.room else inf
        tree = grower.grow(np.arange(len(train)), above, pays, rate, room)
        right[j] += 100 * np.mean(predicted(tree, codes[test]) == data.labels[test]) / len(pairs)
        nodes.append(size(tree))
    return depth, right.tolist(), float(np.mean(nodes))


def line(study: str, data: Data, way: Way, before: dict[str, str] | None) -> list[object]:
    """What the table of results has about one way; nothing if it is too much work."""
    found = measure(data, way)
    if found is None:
        return []
    levels, right, nodes = found
    gaps: list[object] = [""] * len(right)
    if before:
        old = [float(before[f"accuracy {epsilon:g}"]) for epsilon in EPSILONS]
        gaps = [round(x - y, 1) + 0.0 for x, y in zip(right, old, strict=True)]
    facts = study, data.name, len(data.labels), len(data.arity), data.classes
    settings = levels, way.support, way.share, way.alpha, way.beta, int(way.label_prior), way.cells
    return [*facts, *settings, int(way.room), *(round(x, 1) for x in right), *gaps, round(nodes)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--only", action="append", help="this study (repeatable)")
    parser.add_argument("--table", action="append", help="this table (repeatable)")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with RECORDED.open(newline="") as file:
        before = {row["table"]: row for row in csv.DictReader(file) if row["study"] == "before"}
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(FIELDS)
        tables = (*tables_of(given.keel), *drawn())
        for data in {data.name: data for data in tables}.values():  # some are there twice
            if given.table and data.name not in given.table:
                continue
            for study in given.only or STUDIES:
                rows = (line(study, data, way, before.get(data.name)) for way in STUDIES[study])
                writer.writerows(row for row in rows if row)
                file.flush()


if __name__ == "__main__":
    main()
