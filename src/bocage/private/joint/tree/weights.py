"""Compiled sums over all trees that could grow from some rows: what a drawn tree is drawn by.

The weight of a tree is its public prior times exp(rate * rows that it predicts right). Children share no
rows, so that the sum over all trees is a sum over the splits of their root of a product over the
children, and so on down to the leaves, where it is a sum over labels. All sums are natural
logarithms in floating point: they propose a tree, and `bocage.mechanisms.selection.rejection_sampling` corrects them.

The prior: a node that can be split is split with probability 1/2, or room / (2 b) if the product b of the
numbers of children on the way to it exceeds a public `room`: a tree has about so many leaves at most
before it has seen a row. All columns that can split a node are equally likely then, and so are the thresholds
of one; so are the labels of a leaf. Without rows, every sum is 1.

What the loops know of the columns is a table `facts` of one line each: how many codes, 1 if numeric, and
the codes low .. high - 1 that are left in a node. A column can split a node where high - low > 1: a
categorical one into a child for each code, once on a path, a numeric one in two at a threshold.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from typing import Any

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
def fork(  # noqa: C901, PLR0912, PLR0915 - one that calls itself is stored, two that call each other not
    codes: Any, labels: Any, rows: Any, column: int, depth: int, facts: Any, rate: float, lost: Any,
    classes: int, branches: float, room: float, found: Any,
) -> None:  # fmt: skip
    """For each split of a node by one column the sum over all that may be below, into `found`.

    `rows` are those of the node, among all in `codes` (one line per column) and `labels`. Trees may have
    `depth` levels below the node, at least 1, and `branches` is the b of the node. `facts` is changed on the
    way and left as it was. All types must be those of the calls below: a stored function that calls itself
    with others crashes when it is loaded.
    """
    size, numeric = facts[column, SIZE], facts[column, NUMERIC]
    low, high = facts[column, LOW], facts[column, HIGH]
    counts = np.zeros((size, classes), np.int64)
    starts = np.zeros(size + 1, np.int64)
    for i in rows:
        code = codes[column, i]
        counts[code, labels[i]] += 1
        starts[code + 1] += 1
    for code in range(size):
        starts[code + 1] += starts[code]
    order, inner = rows[:0], np.empty(0)
    if depth > 1:  # rows of equal codes together: those of each child are neighbors
        order, ends = np.empty(len(rows), rows.dtype), starts.copy()
        for i in rows:
            code = codes[column, i]
            order[ends[code]] = i
            ends[code] += 1
        longest = 0
        for other in range(len(facts)):
            longest = max(longest, facts[other, SIZE])
        inner = np.empty(longest)
    both = np.zeros((2, classes), np.int64)  # below a threshold, and above
    for code in range(size if numeric else 0):
        for label in range(classes):
            both[1, label] += counts[code, label]
    below = branches * (2.0 if numeric else float(size))
    chance = split_chance(below, room)
    for split in range(splits_of(facts[column])):
        threshold, total = low + 1 + split, 0.0
        for label in range(classes if numeric else 0):
            both[0, label] += counts[threshold - 1, label]
            both[1, label] -= counts[threshold - 1, label]
        for child in range(2 if numeric else size):
            if numeric:
                start, stop = (
                    (0, starts[threshold]) if child == 0 else (starts[threshold], len(rows))
                )
            else:
                start, stop = starts[child], starts[child + 1]
            if start == stop:
                continue
            value = leaf_sum(both[child] if numeric else counts[child], rate, lost)
            if depth > 1:
                if not numeric:
                    facts[column, HIGH] = low + 1
                elif child == 0:
                    facts[column, HIGH] = threshold
                else:
                    facts[column, LOW], facts[column, HIGH] = threshold, high
                able = 0
                for other in range(len(facts)):
                    able += splits_of(facts[other]) > 0
                value += np.log1p(-chance) if able else 0.0
                for other in range(len(facts)):
                    splits = splits_of(facts[other])
                    if splits:
                        part = order[start:stop]
                        fork(
                            codes, labels, part, other, depth - 1, facts, rate, lost,
                            classes, below, room, inner,
                        )  # fmt: skip
                        prior = np.log(able * splits / chance)
                        for i in range(splits):
                            value = _added(value, inner[i] - prior)
                facts[column, LOW], facts[column, HIGH] = low, high
            total += value
        found[split] = total
