"""The readable tree in plain floating point, to try rules out: fast, seeded, for research only.

Every choice that the shipped learner makes is a field of `Rule` here. The noise is that of the real
mechanisms up to rounding: permute-and-flip is the largest of rate times score plus exponential noise.
Growth is compiled as a whole; one tree of ten thousand rows takes some milliseconds.
"""

# ruff: noqa: C901, PLR0912, PLR0915, PLR0917 - one compiled loop that takes all by position

from __future__ import annotations

from dataclasses import dataclass
from math import exp

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
    support_fall: float = 0.0  # it falls by (fall_from / signal) ** this
    fall_from: float = 2000.0  # records times epsilon
    support_least: float = 6.0
    structure: float = 0.65
    growth: float = 0.25  # level i has weight b ** (growth i)
    slack: float = 1.5
    impurity: float = 0.5  # weight of I/2 against E in the score
    impurity_last: float = -1.0  # the same on the last level; negative: as above it
    impurity_from: float = 0.0  # ... and where a node has fewer records times rate than this
    thresholds: int = 64  # of a numeric column that a node chooses from
    rest: int = 0  # one value against the rest: 0 late, 1 always, 2 never
    offset: float = 1.0  # times -ln(candidates)
    arity_cost: float = 0.0  # handicap per further branch, in units of 1/rate
    count: float = 0.05
    count_at: float = 0.0  # epsilon that is enough for the count, if positive
    leaves_most: float = 1024.0
    together: float = (
        0.0  # nodes with fewer records times rate choose one split with their siblings
    )
    root_twice: float = 2.0  # by this more at the root
    leaves: tuple[Leaf, ...] = (("select", 0.0),)


@dataclass(frozen=True)
class Grown:
    """The nodes of a tree, parents first, with what is known about them."""

    parent: np.ndarray
    leaf: np.ndarray
    counts: np.ndarray
    tests: np.ndarray
    left: np.ndarray
    signal: float  # noisy records times epsilon


def grow(
    data: Data, rule: Rule, epsilon: float, train: np.ndarray, test: np.ndarray, seed: int
) -> Grown:
    """One tree on the training rows, with the test rows sent along."""
    rng = np.random.default_rng(seed)
    share = rule.count
    if rule.count_at:
        share = min(max(rule.count_at / epsilon, 0.01), rule.count)
    noisy = max(len(train) + rng.laplace(0, 1 / (share * epsilon)), 1.0) if share else len(train)
    left = (1 - share) * epsilon
    support = rule.support * (data.classes / 2) ** rule.support_labels
    if rule.support_fall:
        support *= min(rule.fall_from / (noisy * left), 1.0) ** rule.support_fall
        support = max(support, rule.support_least)
    most = min(max(noisy * left / support, 1.0), rule.leaves_most)
    arities = [2 if num else a for a, num in zip(data.arity, data.numeric, strict=True)]
    branches = exp(float(np.mean(np.log([max(a, 2) for a in arities]))))
    first = np.concatenate([[0], np.cumsum(data.arity)])
    parent, leaf, counts, tests, rest = _grow(
        data.codes, data.labels, train, test, first, np.array(data.numeric), data.classes,
        noisy, left, most, branches, rule.structure, rule.growth, rule.slack, rule.impurity,
        rule.impurity if rule.impurity_last < 0 else rule.impurity_last, rule.impurity_from,
        rule.thresholds, rule.rest, rule.offset, rule.arity_cost, rule.together,
        rule.root_twice, int(rng.integers(2**31)),
    )  # fmt: skip
    return Grown(parent, leaf, counts, tests, rest, noisy * left)


@numba.njit(cache=True)
def _branch(counts, w):  # type: ignore[no-untyped-def]
    size, largest, squares = 0.0, 0.0, 0.0
    for x in counts:
        size += x
        squares += x * x
        largest = max(largest, x)
    return 0.0 if size == 0 else -((1 - w) * (size - largest) + w * (size - squares / size) / 2)


@numba.njit(cache=True)
def _grow(  # type: ignore[no-untyped-def]
    codes, labels, train, test, first, numeric, classes, noisy, epsilon, most, branches, structure,
    growth, slack, impurity, impurity_last, impurity_from, thresholds, rest, offset,
    arity_cost, together, root_twice, seed,
):  # fmt: skip
    """Groups of nodes that choose one split together; mostly a group is a single node."""
    np.random.seed(seed)  # noqa: NPY002 - the generator that compiled code has
    columns, width = codes.shape[1], first[-1]
    widest = 2
    for c in range(columns):
        widest = max(widest, first[c + 1] - first[c])
    room = 1024
    parent, leaf = np.empty(room, np.int64), np.zeros(room, np.bool_)
    counts, tests = np.zeros((room, classes)), np.zeros((room, classes))
    left, spans = np.zeros(room), np.zeros((room, 4), np.int64)
    rows, checks = train.copy(), test.copy()
    parent[0] = -1
    spans[0] = (0, len(rows), 0, len(checks))
    nodes = 1
    deep = 64 * widest
    live = np.ones((deep, width), np.bool_)
    members = np.zeros((deep, 2), np.int64)  # nodes of a group: from, to (children are in a row)
    state = np.zeros((deep, 2))  # product, spent
    members[0] = (0, 1)
    state[0, 0] = 1.0
    table = np.zeros((width, classes))
    below, above = np.zeros(classes), np.zeros(classes)
    mine = np.zeros(width, np.bool_)
    branch_of = np.zeros(widest, np.int64)
    single, multiway = np.zeros(width), np.zeros(columns)
    top = 1
    while top > 0:
        top -= 1
        start, stop = members[top, 0], members[top, 1]
        product, spent = state[top, 0], state[top, 1]
        mine[:] = live[top]
        for node in range(start, stop):
            for i in range(spans[node, 0], spans[node, 1]):
                counts[node, labels[rows[i]]] += 1
            for i in range(spans[node, 2], spans[node, 3]):
                tests[node, labels[checks[i]]] += 1
        root = start == 0
        limit = most * slack * (root_twice if root else 1.0)
        budget = structure * epsilon - spent
        best, column, at = -1e300, -1, -2
        pays = 0.0
        if budget > 1e-9 * epsilon and product * 2 <= limit:
            levels = max(
                int(np.ceil(np.log(max(most / product, 1.0)) / np.log(branches) - 1e-9)), 1
            )
            weights = 0.0
            for i in range(levels):
                weights += branches ** (growth * i)
            pays = budget / weights
            w = impurity
            if levels == 1 or noisy / product * pays < impurity_from:
                w = impurity_last
            single[:] = 0
            multiway[:] = 0
            for node in range(start, stop):
                table[:] = 0
                for i in range(spans[node, 0], spans[node, 1]):
                    for c in range(columns):
                        table[first[c] + codes[rows[i], c], labels[rows[i]]] += 1
                for c in range(columns):
                    below[:] = 0
                    for code in range(first[c], first[c + 1]):
                        if numeric[c]:
                            below += table[code]
                        else:
                            below[:] = table[code]
                            multiway[c] += _branch(below, w)
                        above[:] = counts[node] - below
                        single[code] += _branch(below, w) + _branch(above, w)
            for c in range(columns):
                low, high, open_ = -1, -1, 0
                for code in range(first[c], first[c + 1]):
                    if mine[code]:
                        low = code if low < 0 else low
                        high = code
                        open_ += 1
                if open_ < 2:
                    continue
                if numeric[c]:
                    step = 1
                    while (high - low) > thresholds * step:
                        step *= 2
                    many = 0
                    for code in range(low, high):
                        if (code + 1 - first[c]) % step == 0:
                            many += 1
                    if many == 0:
                        continue
                    handicap = offset * np.log(many)
                    for code in range(low, high):
                        if (code + 1 - first[c]) % step:
                            continue
                        score = pays * single[code] + np.random.exponential() - handicap  # noqa: NPY002
                        if score > best:
                            best, column, at = score, c, code + 1 - first[c]
                    continue
                fits = open_ == first[c + 1] - first[c] and product * open_ <= limit
                if fits:
                    score = pays * multiway[c] - arity_cost * (open_ - 2)
                    score += np.random.exponential()  # noqa: NPY002
                    if score > best:
                        best, column, at = score, c, -1
                if (rest == 0 and not fits) or (rest == 1 and (not fits or open_ > 2)):
                    handicap = offset * np.log(open_) if open_ > 2 else 0.0
                    for code in range(first[c], first[c + 1]):
                        if not mine[code] or (open_ == 2 and code == high):
                            continue
                        score = pays * single[code] + np.random.exponential() - handicap  # noqa: NPY002
                        if score > best:
                            best, column, at = score, c, code - first[c]
        if column < 0:
            for node in range(start, stop):
                leaf[node] = True
                left[node] = epsilon - spent
            continue
        arity = first[column + 1] - first[column]
        parts = 2
        if numeric[column]:
            for code in range(arity):
                branch_of[code] = 0 if code < at else 1
        elif at >= 0:
            for code in range(arity):
                branch_of[code] = 0 if code == at else 1
        else:
            parts = arity
            for code in range(arity):
                branch_of[code] = code
        many = stop - start
        while nodes + parts * many > room:
            parent = np.append(parent, np.empty(room, np.int64))
            leaf = np.append(leaf, np.zeros(room, np.bool_))
            left = np.append(left, np.zeros(room))
            counts = np.append(counts, np.zeros((room, classes)), 0)
            tests = np.append(tests, np.zeros((room, classes)), 0)
            spans = np.append(spans, np.zeros((room, 4), np.int64), 0)
            room *= 2
        uniform = parts == arity  # every child has the same splits left
        for member in range(many):
            node = start + member
            done, tdone = spans[node, 0], spans[node, 2]
            for part in range(parts):
                # siblings in a row if they have the same splits left, else the same part of all nodes
                child = nodes + (member * parts + part if uniform else part * many + member)
                from_, tfrom = done, tdone
                for i in range(done, spans[node, 1]):
                    if branch_of[codes[rows[i], column]] == part:
                        rows[done], rows[i] = rows[i], rows[done]
                        done += 1
                for i in range(tdone, spans[node, 3]):
                    if branch_of[codes[checks[i], column]] == part:
                        checks[tdone], checks[i] = checks[i], checks[tdone]
                        tdone += 1
                parent[child] = node
                spans[child] = (from_, done, tfrom, tdone)
        each = noisy / (product * parts)  # records of a child
        levels = max(
            int(np.ceil(np.log(max(most / (product * parts), 1.0)) / np.log(branches) - 1e-9)), 1
        )
        weights = 0.0
        for i in range(levels):
            weights += branches ** (growth * i)
        later = max(structure * epsilon - spent - pays, 0.0) / weights
        if each * later >= together:
            size = 1
        elif uniform:
            size = parts if each * parts * later >= together else parts * many
        else:
            size = many
        for begin in range(nodes, nodes + parts * many, size):
            if top >= len(live):
                live = np.append(live, np.ones((len(live), width), np.bool_), 0)
                members = np.append(members, np.zeros((len(members), 2), np.int64), 0)
                state = np.append(state, np.zeros((len(state), 2)), 0)
            members[top] = (begin, begin + size)
            state[top, 0], state[top, 1] = product * parts, spent + pays
            live[top] = mine
            if uniform:
                for code in range(first[column], first[column + 1]):
                    live[top, code] = False
            else:
                part = (begin - nodes) // many
                for code in range(arity):
                    live[top, first[column] + code] &= branch_of[code] == part
            top += 1
        nodes += parts * many
    return parent[:nodes], leaf[:nodes], counts[:nodes], tests[:nodes], left[:nodes]


@numba.njit(cache=True)
def _sums(parent, leaf, noisy, left):  # type: ignore[no-untyped-def]
    """Sums of the leaves' noisy counts, and the variance of each in units of a half."""
    sums, variance = noisy.copy(), np.zeros(len(leaf))
    for node in range(len(leaf) - 1, -1, -1):
        if leaf[node]:
            variance[node] = 1 / left[node] ** 2
        if parent[node] >= 0:
            sums[parent[node]] += sums[node]
            variance[parent[node]] += variance[node]
    return sums, variance


@numba.njit(cache=True)
def _pull(parent, sums, variance, constant, kind):  # type: ignore[no-untyped-def]
    """Shares of every node, pulled towards those of its parent."""
    shares = np.empty_like(sums)
    labels = sums.shape[1]
    deviation = np.empty(labels)
    for node in range(len(parent)):
        above = shares[parent[node]] if parent[node] >= 0 else np.full(labels, 1 / labels)
        if kind == 0:  # as many records of the parent's shares as the noise is worth
            value = sums[node] + constant * np.sqrt(variance[node]) * above
        else:  # positive-part James-Stein around the parent's shares
            size = max(sums[node].sum(), 0.0)
            deviation[:] = sums[node] - size * above
            spread = (deviation**2).sum()
            noise = 2 * labels * variance[node]
            keep = max(1 - constant * noise / max(spread, 1e-9), 0.0)
            value = size * above + keep * deviation + 1e-6 * above
        positive = np.maximum(value, 1e-9)
        shares[node] = positive / positive.sum()
    return shares


@numba.njit(cache=True)
def _pruned(parent, leaf, sums, variance, shares, constant):  # type: ignore[no-untyped-def]
    """The label of every leaf after subtrees went whose gain is within their noise."""
    n = len(leaf)
    value, noise = np.zeros(n), np.zeros(n)
    label = np.empty(n, np.int64)
    stop = leaf.copy()
    for node in range(n):
        label[node] = np.argmax(shares[node])
    for node in range(n - 1, -1, -1):
        # value: records of this subtree's decisions more than those of the parent's label
        if not leaf[node] and value[node] <= constant * np.sqrt(2 * noise[node]):
            stop[node], value[node], noise[node] = True, 0.0, 0.0
        up = parent[node]
        if up >= 0:
            gain = sums[node, label[node]] - sums[node, label[up]]
            if stop[node] and label[node] != label[up]:
                value[up] += gain
                noise[up] += 2 * variance[node]
            elif not stop[node]:
                value[up] += value[node] + gain
                noise[up] += noise[node]
    for node in range(n):
        up = parent[node]
        if up >= 0 and stop[up]:
            stop[node], label[node] = True, label[up]
    return label


def right(grown: Grown, ways: tuple[Leaf, ...], seed: int) -> list[float]:
    """The share of test rows that are labeled right, for each way to label the leaves."""
    rng = np.random.default_rng(seed)
    leaf = grown.leaf
    counts, left, tests = grown.counts[leaf], grown.left[leaf][:, None], grown.tests[leaf]
    select = rng.exponential(size=counts.shape)
    noisy = np.zeros_like(grown.counts)
    noisy[leaf] = counts + rng.laplace(0, 1 / left, counts.shape)
    sums, variance = _sums(grown.parent, leaf, noisy, grown.left)
    labels = counts.shape[1]
    found = []
    for kind, constant in ways:
        if kind == "select":
            chosen = np.argmax(left * counts + select, 1)
        elif kind == "exact":
            chosen = np.argmax(counts, 1)
        elif kind in {"shrink", "lean"}:
            pull = constant * (labels**0.5 if kind == "lean" else 1)
            chosen = _pull(grown.parent, sums, variance, pull, 0).argmax(axis=1)[leaf]
        elif kind == "stein":
            chosen = _pull(grown.parent, sums, variance, constant, 1).argmax(axis=1)[leaf]
        elif kind in {"prune", "prune-lean"}:
            pull = 0.0 if kind == "prune" else 2 * labels**0.5
            shares = _pull(grown.parent, sums, variance, pull, 0)
            chosen = _pruned(grown.parent, leaf, sums, variance, shares, constant)[leaf]
        else:
            raise ValueError(kind)
        found.append(float(tests[np.arange(len(tests)), chosen].sum() / max(tests.sum(), 1)))
    return found
