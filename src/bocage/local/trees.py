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
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bocage.local import mdl, tree_kernels
from bocage.local.answers import Answers, Ints, Rows
from bocage.local.kernel import Edges
from bocage.model import Certificate, Tree, TreeBuilder
from bocage.schema import Schema


@dataclass(frozen=True)
class OpenLeaf:
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


@dataclass
class GrowingTree:
    """A tree in codes of the schema, pruned and frozen at the end. Parents come before their children.

    Parameters
    ----------
    column, threshold
        What a node tests: the position of the attribute, -1 for a leaf; and the first code of the
        second child, None for a child for each code. A threshold may lie outside the domain.
    bits
        What it takes to name the split.
    first_child, arity
        Where the children are.
    counts
        How many records of each label the node has.
    """

    column: list[int] = field(default_factory=list)
    threshold: list[int | None] = field(default_factory=list)
    bits: list[float] = field(default_factory=list)
    first_child: list[int] = field(default_factory=list)
    arity: list[int] = field(default_factory=list)
    counts: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, counts: NDArray[np.int64]) -> int:
        """A new leaf."""
        self.column.append(-1)
        self.threshold.append(None)
        self.bits.append(0.0)
        self.first_child.append(-1)
        self.arity.append(0)
        self.counts.append(counts)
        return len(self.column) - 1

    def split(self, node: int, column: int, threshold: int | None, bits: float, parts: NDArray[np.int64]) -> range:
        """Split a leaf; `parts` are the counts of its children."""
        first = len(self.column)
        self.column[node], self.threshold[node] = column, threshold
        self.bits[node], self.first_child[node], self.arity[node] = bits, first, len(parts)
        for counts in parts:
            self.add(counts)
        return range(first, first + len(parts))

    def prune(self) -> None:
        """Turn splits that are not worth their bits into leaves."""
        kept = mdl.kept_splits(
            np.array(self.first_child),
            np.array(self.arity),
            np.array(self.counts),
            np.array(self.bits),
        )
        for node in np.flatnonzero(~kept).tolist():
            self.column[node] = -1

    def freeze(self, schema: Schema, certificate: Certificate) -> Tree:
        """The model. What no value of the domain can reach is left out."""
        builder = TreeBuilder(schema)
        waiting = [(0, builder.root, 0)]
        while waiting:
            node, new, decision = waiting.pop()
            old = self._reached(node, schema)
            counts = self.counts[old]
            if counts.any():  # a branch without records decides as its parent does
                decision = int(counts.argmax())
            builder.counts(new, counts.tolist())
            builder.label(new, decision)
            if self.column[old] < 0:
                continue
            name = schema.attributes[self.column[old]].name
            children = builder.split(new, name, self.threshold[old])
            first = self.first_child[old]
            waiting += [(first + at, child, decision) for at, child in enumerate(children)]
        return builder.freeze(certificate)

    def _reached(self, node: int, schema: Schema) -> int:
        """The node itself, or what lies below it if all values of the domain go there."""
        while self.column[node] >= 0:
            threshold = self.threshold[node]
            cells = schema.attributes[self.column[node]].cells
            if threshold is None or 0 < threshold < cells:
                return node
            node = self.first_child[node] + (threshold <= 0)
        return node


def grow(answers: Answers) -> GrowingTree:
    """Grow a tree by the algorithm that `answers.growth` names, and prune it."""
    growth, rows = answers.growth, answers.everyone()
    tree = GrowingTree()
    tree.add(np.bincount(answers.labels, minlength=answers.classes))
    root = OpenLeaf(0, rows, answers.edges)
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


def _grow_locally(tree: GrowingTree, answers: Answers, root: OpenLeaf) -> None:
    """Reconstruct at every node that is large enough, before it is split.

    An attribute that was split on keeps its association. The records of a node were chosen by their
    answers to it, not by their values, and there is nothing to reconstruct from such a choice.
    """
    growth, waiting = answers.growth, [root]
    while waiting:
        leaf = waiting.pop()
        if leaf.node and (len(leaf.rows) < growth.small or leaf.depth >= growth.most_depth):
            _grow_below(tree, answers, leaf)
            continue
        answers.edges = leaf.edges
        left = [c for c in range(len(answers.attributes)) if c not in leaf.used]
        answers.take_reconstructed(leaf.rows, left, by_class=True)
        waiting += _split(tree, answers, leaf)


def _split(tree: GrowingTree, answers: Answers, leaf: OpenLeaf) -> list[OpenLeaf]:
    """Split one node, if a split is better than none."""
    rows, edges = leaf.rows, leaf.edges
    offset = _offset(edges)
    table = np.zeros((offset[-1], answers.classes), np.int64)
    tree_kernels.count_codes(answers.codes, answers.labels, rows, 0, len(rows), offset, table)
    sums = np.zeros(answers.classes, np.int64)
    counts = tree.counts[leaf.node]
    column, cut = tree_kernels.best_split(table, offset, answers.multiway, counts, sums)
    if column < 0:
        return []
    lines = table[offset[column] : offset[column + 1]]
    parts = lines if cut < 0 else np.array([lines[:cut].sum(axis=0), lines[cut:].sum(axis=0)])
    ends = np.zeros(len(parts), np.int64)
    tree_kernels.part(answers.codes, rows, 0, len(rows), column, cut, ends, np.empty_like(rows))
    threshold = None if cut < 0 else int(edges[column][cut])
    children = tree.split(leaf.node, column, threshold, _bits(edges, column, cut), parts)
    return [
        OpenLeaf(child, members, list(edges), leaf.used | {column}, leaf.depth + 1)
        for child, members in zip(children, np.split(rows, ends[:-1]), strict=True)
    ]


def _grow_below(tree: GrowingTree, answers: Answers, leaf: OpenLeaf) -> None:
    """Grow the rest of the tree below a leaf, with the intervals that its records have."""
    growth, edges, offset = answers.growth, leaf.edges, _offset(leaf.edges)
    floor = floor_bits(edges, answers) if growth.prune else -np.inf
    column, cut, first, counts = tree_kernels.grow(
        answers.codes, answers.labels, leaf.rows, offset, answers.multiway, answers.classes,
        growth.fewest, growth.most_depth - leaf.depth, floor, mdl.label_bits(answers.classes),
    )  # fmt: skip
    number = {0: leaf.node}
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
    cheapest = min(_bits(edges, column, -1 if multiway else 1) for column, multiway in enumerate(answers.multiway))
    least = mdl.leaf_bits(np.eye(1, answers.classes))[0]
    return float(cheapest + 2 * (1 + least))


def _bits(edges: Sequence[Edges], column: int, cut: int) -> float:
    cuts = 1 if cut < 0 else len(edges[column]) - 2
    return mdl.split_bits(len(edges), cuts)


def _offset(edges: Sequence[Edges]) -> Ints:
    return np.concatenate([[0], np.cumsum([len(e) - 1 for e in edges])])
