"""The readable tree in plain floating point, to try rules out: fast, seeded, for research only.

Every choice that the shipped learner makes is a field of `Rule` here. The noise is that of the real
mechanisms up to rounding: permute-and-flip is the largest of rate times score plus exponential noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, exp, log, sqrt

import numba
import numpy as np

Leaf = tuple[str, float]  # how a leaf is labeled, and its constant


@dataclass(frozen=True)
class Data:
    """A table of codes. Numeric columns hold cells of a grid of `arity` cells."""

    name: str
    codes: np.ndarray  # rows x columns
    arity: tuple[int, ...]
    numeric: tuple[bool, ...]
    labels: np.ndarray
    classes: int


@dataclass(frozen=True)
class Rule:
    """The constants of the rule."""

    support: float = 30.0  # P_max = n epsilon / support
    support_labels: float = 0.0  # support grows by (classes / 2) ** this
    structure: float = 0.65
    growth: float = 0.25  # level i has weight b ** (growth i)
    slack: float = 1.5
    impurity: float = 0.5  # weight of I/2 against E in the score
    cells: int = 64  # of the grid of a numeric column
    rest: str = "late"  # one value against the rest: late, always, never
    offset: float = 1.0  # times -ln(candidates)
    arity_cost: float = 0.0  # handicap per further branch, in units of 1/rate
    count: float = 0.05
    cap: float = 1.0  # most of the structure budget that one node may take
    leaves: tuple[Leaf, ...] = (("select", 0.0),)


@dataclass
class Grown:
    """The nodes of a tree with what is known about them."""

    parent: list[int] = field(default_factory=list)
    leaf: list[bool] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)
    tests: list[np.ndarray] = field(default_factory=list)
    left: list[float] = field(default_factory=list)

    def add(self, parent: int, counts: np.ndarray, tests: np.ndarray) -> int:
        self.parent.append(parent)
        self.leaf.append(False)
        self.counts.append(counts)
        self.tests.append(tests)
        self.left.append(0.0)
        return len(self.parent) - 1


class Grower:
    """Grows one tree on the training rows and sends the test rows along."""

    def __init__(
        self, data: Data, rule: Rule, epsilon: float, train: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.data, self.rule, self.rng = data, rule, rng
        noisy = len(train) + rng.laplace(0, 1 / (rule.count * epsilon))
        self.epsilon = (1 - rule.count) * epsilon
        support = rule.support * (data.classes / 2) ** rule.support_labels
        self.most = max(noisy * self.epsilon / support, 1.0)
        arities = [2 if num else a for a, num in zip(data.arity, data.numeric, strict=True)]
        self.b = exp(float(np.mean(np.log([max(a, 2) for a in arities]))))
        self.first = np.concatenate([[0], np.cumsum(data.arity)[:-1]])
        self.width = int(np.sum(data.arity))
        self.flat = data.codes + self.first
        self.grown = Grown()

    def grow(self, train: np.ndarray, test: np.ndarray) -> Grown:
        live = [np.ones(a, bool) for a in self.data.arity]
        stack = [(-1, train, test, live, 1.0, 0.0)]
        k = self.data.classes
        while stack:
            parent, rows, tests, live, product, spent = stack.pop()
            labels = self.data.labels
            counts = np.bincount(labels[rows], minlength=k).astype(float)
            node = self.grown.add(parent, counts, np.bincount(labels[tests], minlength=k))
            split = self._split(rows, counts, live, product, spent, root=parent < 0)
            if split is None:
                self.grown.leaf[node] = True
                self.grown.left[node] = self.epsilon - spent
                continue
            column, parts, paid = split
            r = len(parts)
            for part in parts:
                mine = part[self.data.codes[rows, column]]
                theirs = part[self.data.codes[tests, column]]
                below = list(live)
                below[column] = part & live[column]
                stack.append((node, rows[mine], tests[theirs], below, product * r, spent + paid))
        return self.grown

    def _split(self, rows, counts, live, product, spent, *, root):  # type: ignore[no-untyped-def]
        rule, data = self.rule, self.data
        limit = self.most * rule.slack * (2 if root else 1)
        left = rule.structure * self.epsilon - spent
        if left <= 1e-12 or product * 2 > limit:
            return None
        levels = max(ceil(log(max(self.most / product, 1.0000001)) / log(self.b)), 1)
        weights = sum(self.b ** (rule.growth * i) for i in range(levels))
        paid = min(left / weights, rule.cap * rule.structure * self.epsilon)
        multiway, single = _scores(
            self.flat, data.labels, rows, counts, self.first, np.array(data.numeric), self.width,
            rule.impurity,
        )  # fmt: skip
        scores, kinds, offsets = [], [], []
        for column, (arity, numeric) in enumerate(zip(data.arity, data.numeric, strict=True)):
            open_ = np.flatnonzero(live[column])
            if len(open_) < 2:
                continue
            mine = single[self.first[column] : self.first[column] + arity]
            if numeric:
                cuts = open_[1:]
                scores.append(mine[cuts - 1])
                kinds += [(column, int(cut), True) for cut in cuts]
                offsets += [rule.offset * log(len(cuts))] * len(cuts)
                continue
            fits = product * len(open_) <= limit
            if fits:
                scores.append(multiway[column : column + 1])
                kinds.append((column, -1, False))
                offsets.append(rule.arity_cost * (len(open_) - 2))
            if (rule.rest == "late" and not fits) or (rule.rest == "always" and len(open_) > 2):
                scores.append(mine[open_])
                kinds += [(column, int(v), False) for v in open_]
                offsets += [rule.offset * log(len(open_))] * len(open_)
        if not kinds:
            return None
        total = paid * np.concatenate(scores) - np.array(offsets)
        best = int(np.argmax(total + self.rng.exponential(size=len(total))))
        column, at, numeric = kinds[best]
        codes = np.arange(data.arity[column])
        if numeric:
            return column, [codes < at, codes >= at], paid
        if at >= 0:
            return column, [codes == at, codes != at], paid
        return column, [codes == v for v in np.flatnonzero(live[column])], paid


@numba.njit(cache=True)
def _scores(  # type: ignore[no-untyped-def] # noqa: PLR0917 - compiled loops take arrays by position
    flat, labels, rows, counts, first, numeric, width, w
):
    """Scores of the multiway split of each column, and of each code against the rest (or all up to it)."""
    classes = len(counts)
    table = np.zeros((width, classes))
    for i in rows:
        for column in range(flat.shape[1]):
            table[flat[i, column], labels[i]] += 1
    multiway, single = np.zeros(len(first)), np.zeros(width)
    below, above = np.zeros(classes), np.zeros(classes)
    for column in range(len(first)):
        end = first[column + 1] if column + 1 < len(first) else width
        below[:] = 0
        for code in range(first[column], end):
            for c in range(classes):
                below[c] = below[c] + table[code, c] if numeric[column] else table[code, c]
                above[c] = counts[c] - below[c]
            single[code] = _branch(below, w) + _branch(above, w)
            if not numeric[column]:
                multiway[column] += _branch(below, w)
    return multiway, single


@numba.njit(cache=True)
def _branch(counts, w):  # type: ignore[no-untyped-def]
    size, largest, squares = 0.0, 0.0, 0.0
    for x in counts:
        size += x
        squares += x * x
        largest = max(largest, x)
    return 0.0 if size == 0 else -((1 - w) * (size - largest) + w * (size - squares / size) / 2)


def label(grown: Grown, how: Leaf, rng: np.random.Generator) -> float:
    """The share of test rows that are labeled right."""
    kind, constant = how
    leaf = np.array(grown.leaf)
    counts = np.array(grown.counts)[leaf]
    left = np.array(grown.left)[leaf][:, None]
    tests = np.array(grown.tests)[leaf]
    if kind == "select":  # permute-and-flip with a share of what is left
        chosen = np.argmax((1 - constant) * left * counts + rng.exponential(size=counts.shape), 1)
    elif kind == "count":
        chosen = np.argmax(counts + rng.laplace(0, 1 / left, counts.shape), 1)
    elif kind == "shrink":
        chosen = _shrunk(grown, constant, rng).argmax(axis=1)[leaf]
    elif kind == "lean":  # as the shipped learner does: more with more labels
        chosen = _shrunk(grown, constant * sqrt(counts.shape[1]), rng).argmax(axis=1)[leaf]
    elif kind == "chain":
        chosen = _chain(grown, constant, 0.2, rng)[leaf]
    elif kind == "exact":
        chosen = np.argmax(counts, 1)
    else:
        raise ValueError(kind)
    return float(tests[np.arange(len(tests)), chosen].sum() / tests.sum())


def _shrunk(grown: Grown, constant: float, rng: np.random.Generator) -> np.ndarray:
    """Noisy counts of the leaves, each pulled towards the shares of its parent."""
    parent, leaf = np.array(grown.parent), np.array(grown.leaf)
    sums, variance = np.array(grown.counts), np.zeros(len(leaf))
    sums[~leaf] = 0
    left = np.array(grown.left)[leaf]
    sums[leaf] += rng.laplace(0, 1 / left[:, None], sums[leaf].shape)
    variance[leaf] = 1 / left**2
    for node in _children_first(parent):
        if parent[node] >= 0:
            sums[parent[node]] += sums[node]
            variance[parent[node]] += variance[node]
    values = sums.copy()
    shares = np.zeros_like(sums)
    for node in _children_first(parent)[::-1]:
        pull = constant * sqrt(variance[node])
        above = shares[parent[node]] if parent[node] >= 0 else 1 / sums.shape[1]
        values[node] = sums[node] + pull * above
        positive = np.maximum(values[node], 1e-9)
        shares[node] = positive / positive.sum()
    return values


def _children_first(parent: np.ndarray) -> np.ndarray:
    return np.arange(len(parent))[::-1]  # a node is added after its parent


def _chain(grown: Grown, bonus: float, share: float, rng: np.random.Generator) -> np.ndarray:
    """A label for every node on the way; each favors that of its parent by a public handicap."""
    parent, leaf = np.array(grown.parent), np.array(grown.leaf)
    counts = np.array(grown.counts)
    left, depth = np.zeros(len(leaf)), np.zeros(len(leaf), int)
    left[leaf] = np.array(grown.left)[leaf]
    for node in _children_first(parent):
        if parent[node] >= 0:
            previous = left[parent[node]]
            left[parent[node]] = left[node] if previous == 0 else min(previous, left[node])
    labels = np.zeros(len(leaf), int)
    used = np.zeros(len(leaf))
    for node in range(len(leaf)):
        above = parent[node]
        depth[node] = depth[above] + 1 if above >= 0 else 0
        before = used[above] if above >= 0 else 0.0
        mine = left[node] - before if leaf[node] else share * left[node] / 2 ** (depth[node] + 1)
        used[node] = before + mine
        score = mine * counts[node] + rng.exponential(size=counts.shape[1])
        if above >= 0:
            score[labels[above]] += bonus
        labels[node] = int(score.argmax())
    return labels
