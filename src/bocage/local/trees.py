"""Decision trees from distorted records: Agrawal & Srikant (2000), section 4.

All five algorithms grow a tree by the Gini index (figure 4), with the boundaries of intervals as
split points, and prune it by description length. They differ in what a record is counted as:

========== ==========================================================================================
original   what was sent, taken for the truth, on the whole grid: for records that nobody distorted
randomized what was sent, taken for the truth, in intervals
global     reconstructed once, for all records together
byclass    reconstructed once, for the records of each label
local      reconstructed at every node, for the records of each label, until the node is small
========== ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocage.local import mdl, tree_kernels
from bocage.local.answers import Answers, Ints, Rows
from bocage.local.grown import Grown
from bocage.local.kernel import Edges


@dataclass(frozen=True)
class Place:
    """A leaf that may still be split.

    Parameters
    ----------
    node, depth
        Which leaf it is.
    rows
        The records that belong to it.
    edges
        The intervals that they are counted in, for every attribute.
    used
        Attributes that were split on above it.
    """

    node: int
    rows: Rows
    edges: list[Edges]
    used: frozenset[int] = frozenset()
    depth: int = 0


def grow(answers: Answers) -> Grown:
    """Grow a tree by the algorithm that `answers.growth` names, and prune it."""
    growth, rows = answers.growth, answers.everyone()
    tree = Grown()
    tree.add(np.bincount(answers.labels, minlength=answers.classes))
    root = Place(0, rows, answers.edges)
    if growth.algorithm == "local":
        _grow_locally(tree, answers, root)
    else:
        if growth.algorithm in {"original", "randomized"}:
            answers.take_as_sent(whole=growth.algorithm == "original")
        else:
            every = range(len(answers.attributes))
            answers.take_reconstructed(rows, every, by_class=growth.algorithm == "byclass")
        _grow_below(tree, answers, root)
    if growth.prune:
        tree.prune()
    return tree


def _grow_locally(tree: Grown, answers: Answers, root: Place) -> None:
    """Reconstruct at every node that is large enough, before it is split.

    An attribute that was split on keeps its association. The records of a node were chosen by their
    answers to it, not by their values, and there is nothing to reconstruct from such a choice.
    """
    growth, waiting = answers.growth, [root]
    while waiting:
        place = waiting.pop()
        if place.node and (len(place.rows) < growth.small or place.depth >= growth.most_depth):
            _grow_below(tree, answers, place)
            continue
        answers.edges = place.edges
        left = [c for c in range(len(answers.attributes)) if c not in place.used]
        answers.take_reconstructed(place.rows, left, by_class=True)
        waiting += _split(tree, answers, place)


def _split(tree: Grown, answers: Answers, place: Place) -> list[Place]:
    """Split one node, if a split is better than none."""
    rows, edges = place.rows, place.edges
    offset = _offset(edges)
    table = np.zeros((offset[-1], answers.classes), np.int64)
    tree_kernels.count_codes(answers.codes, answers.labels, rows, 0, len(rows), offset, table)
    sums = np.zeros(answers.classes, np.int64)
    counts = tree.counts[place.node]
    column, cut = tree_kernels.best_split(table, offset, answers.multiway, counts, sums)
    if column < 0:
        return []
    lines = table[offset[column] : offset[column + 1]]
    parts = lines if cut < 0 else np.array([lines[:cut].sum(axis=0), lines[cut:].sum(axis=0)])
    ends = np.zeros(len(parts), np.int64)
    tree_kernels.part(answers.codes, rows, 0, len(rows), column, cut, ends, np.empty_like(rows))
    threshold = None if cut < 0 else int(edges[column][cut])
    children = tree.split(place.node, column, threshold, _bits(edges, column, cut), parts)
    return [
        Place(child, members, list(edges), place.used | {column}, place.depth + 1)
        for child, members in zip(children, np.split(rows, ends[:-1]), strict=True)
    ]


def _grow_below(tree: Grown, answers: Answers, place: Place) -> None:
    """Grow the rest of the tree below a leaf, with the intervals that its records have."""
    growth, edges, offset = answers.growth, place.edges, _offset(place.edges)
    floor = floor_bits(edges, answers) if growth.prune else -np.inf
    column, cut, first, counts = tree_kernels.grow(
        answers.codes, answers.labels, place.rows, offset, answers.multiway, answers.classes,
        growth.fewest, growth.most_depth - place.depth, floor, mdl.label_bits(answers.classes),
    )  # fmt: skip
    number = {0: place.node}
    for old in np.flatnonzero(column >= 0).tolist():
        at, where, begin = int(column[old]), int(cut[old]), int(first[old])
        children = 2 if where >= 0 else int(offset[at + 1] - offset[at])
        threshold = None if where < 0 else int(edges[at][where])
        bits, parts = _bits(edges, at, where), counts[begin : begin + children]
        new = tree.split(number[old], at, threshold, bits, parts)
        number.update(zip(range(begin, begin + children), new, strict=True))


def floor_bits(edges: Sequence[Edges], answers: Answers) -> float:
    """The classes of a leaf with so few bits are not worth a split, so pruning would undo it.

    A split adds two nodes at least and the name of a test, and its leaves have one record at least.
    (Rastogi & Shim 1998 stop growing in the same way; the pruned tree stays the same.)
    """
    cheapest = min(
        _bits(edges, column, -1 if multiway else 1)
        for column, multiway in enumerate(answers.multiway)
    )
    least = mdl.leaf_bits(np.eye(1, answers.classes))[0]
    return float(cheapest + 2 * (1 + least))


def _bits(edges: Sequence[Edges], column: int, cut: int) -> float:
    cuts = 1 if cut < 0 else len(edges[column]) - 2
    return mdl.split_bits(len(edges), cuts)


def _offset(edges: Sequence[Edges]) -> Ints:
    return np.concatenate([[0], np.cumsum([len(e) - 1 for e in edges])])
