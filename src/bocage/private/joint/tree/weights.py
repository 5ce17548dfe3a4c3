"""Compiled sums over all trees that could grow from some rows: what a drawn tree is drawn by.

The weight of a tree is its public prior times exp(rate * rows that it predicts right). Children
share no rows, so that the sum over all trees is a sum over the splits of their root of a product
over the children, and so on down to the leaves, where it is a sum over labels. All sums are natural
logarithms in floating point: they propose a tree, and `bocage.mechanisms.selection.rejection_sampling`
corrects them.

The prior: a node that can be split is split with probability 1/2, or room / (2 b) if the product b
of the numbers of children on the way to it exceeds a public `room`: a tree has about so many leaves
at most before it has seen a row. All columns that can split a node are equally likely then, and so
are the thresholds of one; so are the labels of a leaf. Without rows, every sum is 1.

What the loops know of the columns is a table `facts` of one line each: how many codes, 1 if
numeric, and the codes low .. high - 1 that are left in a node. A column can split a node where high
- low > 1: a categorical one into a child for each code, once on a path, a numeric one in two at a
threshold.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bocage.engine.codes.kernels import compiled
from bocage.private.joint.tree.space import HIGH, LOW, NUMERIC, SIZE


@compiled
def splits_of(fact: Any) -> int:
    """How many splits of a node one column offers."""
    left = fact[HIGH] - fact[LOW]
    if left < 2:
        return 0
    return int(left - 1) if fact[NUMERIC] else 1


@compiled
def split_chance(branches: float, room: float) -> float:
    """The prior probability that a node is split, if it can be."""
    return 0.5 if branches <= room else room / (2.0 * branches)


@compiled
def _added(log_sum: float, term: float) -> float:
    """The logarithm of a sum with one more term."""
    larger, smaller = max(log_sum, term), min(log_sum, term)
    return float(larger + np.log1p(np.exp(smaller - larger)))


@compiled
def leaf_sum(counts: Any, rate: Any, lost: Any) -> float:
    """The sum over the labels of a leaf with these counts; `lost` has exp(-rate * i) for every i."""
    most, total = counts[0], 0.0
    for count in counts:
        most = max(most, count)
    for count in counts:
        total += lost[most - count]
    return float(rate * most + np.log(total / len(counts)))


@compiled
def count_codes(line: Any, labels: Any, rows: Any, size: int, classes: int) -> Any:
    """Rows by code and label, and where each code begins if rows are in order of their codes."""
    counts, starts = np.zeros((size, classes), np.int64), np.zeros(size + 1, np.int64)
    for i in rows:
        code = line[i]
        counts[code, labels[i]] += 1
        starts[code + 1] += 1
    for code in range(size):
        starts[code + 1] += starts[code]
    return counts, starts


@compiled
def in_order(line: Any, rows: Any, starts: Any) -> Any:
    """The rows in order of their codes, so that those of each child are neighbors."""
    order, ends = np.empty(len(rows), rows.dtype), starts.copy()
    for i in rows:
        code = line[i]
        order[ends[code]] = i
        ends[code] += 1
    return order


@compiled
def move_down(counts: Any, sides: Any) -> None:
    """Rows with one code go from above a threshold to below it."""
    for label in range(len(counts)):
        sides[0, label] += counts[label]
        sides[1, label] -= counts[label]


@compiled
def narrow(fact: Any, low: int, high: int, threshold: int, child: int) -> None:
    """What a child has left of the column by which its parent is split."""
    if not fact[NUMERIC]:
        high = low + 1
    elif child == 0:
        high = threshold
    else:
        low = threshold
    fact[LOW], fact[HIGH] = low, high


@compiled
def longest(facts: Any) -> int:
    """The most codes that a column has."""
    most = 0
    for column in range(len(facts)):
        most = max(most, facts[column, SIZE])
    return most


@compiled
def able(facts: Any) -> int:
    """How many columns can split a node."""
    columns = 0
    for column in range(len(facts)):
        columns += splits_of(facts[column]) > 0
    return columns


@compiled
def add_up(counts: Any, total: Any) -> None:
    """Rows of all codes by label."""
    for code in range(len(counts)):
        for label in range(len(total)):
            total[label] += counts[code, label]


@compiled
def with_splits(log_sum: float, log_sums: Any, splits: int, prior: float) -> float:
    """The logarithm of a sum with all trees below some splits, each with the prior exp(-prior), as well."""
    for i in range(splits):
        log_sum = _added(log_sum, log_sums[i] - prior)
    return log_sum


class Law(NamedTuple):
    """What is the same for all trees: `lost` has exp(-rate * i) for every i; see above for `room`."""

    rate: float
    lost: Any
    classes: int
    room: float


@compiled
def stumps(line: Any, labels: Any, law: Any, rows: Any, fact: Any, log_sums: Any) -> None:
    """What `fork` finds where no levels are left below: each child is a leaf."""
    # Taken out of the tuple once: a look into it is not free.
    rate, lost, classes = law.rate, law.lost, law.classes
    counts, sides = np.zeros((fact[SIZE], classes), np.int64), np.zeros((2, classes), np.int64)
    numeric, children = fact[NUMERIC], 2 if fact[NUMERIC] else fact[SIZE]
    for i in rows:
        counts[line[i], labels[i]] += 1
    if numeric:
        add_up(counts, sides[1])
    for split in range(splits_of(fact)):
        if numeric:
            move_down(counts[fact[LOW] + split], sides)
        total = 0.0
        for child in range(children):
            total += leaf_sum(sides[child] if numeric else counts[child], rate, lost)
        log_sums[split] = total


@compiled
def fork(
    codes: Any, labels: Any, law: Any, rows: Any, column: int, depth: int, facts: Any, branches: float,
    log_sums: Any,
) -> None:  # fmt: skip
    """For each split of a node by one column the sum over all that may be below, into `log_sums`.

    `rows` are those of the node, among all in `codes` (one line per column) and `labels`. Trees may
    have `depth` levels below the node, at least 1, and `branches` is the b of the node. `facts` is
    changed on the way and left as it was.

    The sum of a child is that of its leaf and those of all its splits by each column, for which
    `fork` calls itself. All types must be those of this call: a stored function that calls itself
    with others crashes when it is loaded, and two that call each other are not stored.
    """
    if depth == 1:
        stumps(codes[column], labels, law, rows, facts[column], log_sums)
        return
    rate, lost = law.rate, law.lost
    size, numeric = facts[column, SIZE], facts[column, NUMERIC] > 0
    low, high = facts[column, LOW], facts[column, HIGH]
    counts, starts = count_codes(codes[column], labels, rows, size, law.classes)
    order, inner = in_order(codes[column], rows, starts), np.empty(longest(facts))
    tallies, ends, children = counts, starts, size  # of the children: a child for each code, or ...
    if numeric:  # ... one below a threshold and one above
        tallies, ends, children = np.zeros((2, law.classes), np.int64), np.zeros(3, np.int64), 2
        ends[2] = len(rows)
        add_up(counts, tallies[1])
    below = branches * float(children)
    chance = split_chance(below, law.room)
    for split in range(splits_of(facts[column])):
        threshold, total = low + 1 + split, 0.0
        if numeric:
            move_down(counts[threshold - 1], tallies)
            ends[1] = starts[threshold]
        for child in range(children):
            part = order[ends[child] : ends[child + 1]]
            if not len(part):
                continue
            narrow(facts[column], low, high, threshold, child)
            columns = able(facts)
            value = leaf_sum(tallies[child], rate, lost)
            value += np.log1p(-chance) if columns else 0.0
            for other in range(len(facts)):
                splits = splits_of(facts[other])
                if splits:
                    fork(codes, labels, law, part, other, depth - 1, facts, below, inner)
                    value = with_splits(value, inner, splits, np.log(columns * splits / chance))
            total += value
        facts[column, LOW], facts[column, HIGH] = low, high
        log_sums[split] = total
