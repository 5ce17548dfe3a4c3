"""The lower levels of a readable tree, drawn at once with their labels: how many, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, log, sqrt
from typing import Any

import numpy as np

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.forest_size import largest, room
from bocage.learners.frontier import OpenNode
from bocage.learners.readable.leaves import Size, joined, smoothed
from bocage.learners.score.models import counted_additive_of, tree_of
from bocage.learners.score.text import ordinal_score_in_words
from bocage.model import AdditiveModel, Certificate, Tree, TreeBuilder
from bocage.model.bins import Cuts
from bocage.model.tree.shape import MOST_ENTRIES, MOST_NODES
from bocage.private import (
    MOST_DEPTH,
    Drawn,
    DrawnOrdinalScore,
    DrawnScorecard,
    DrawnScores,
    DrawnTrees,
    Ensemble,
    OneOf,
    OpenCells,
)
from bocage.schema import Attribute, Categorical, Numeric, Schema

WORK = 2**28  # visits of a row or of a leaf that a draw may take: less than a second
GRIDS = (64, 16, 8)  # thresholds of a numeric attribute that a draw chooses from
BEYOND = 2  # levels more than a tree of even branches needs for its leaves
DEEP = 3  # levels that the finest of these must leave
EXACT = 2**38  # a quarter of what the sums of `DrawnTrees` bear: the number of rows is noisy
UNSURE = 200  # rows times epsilon that there may be beyond a noisy number of them, for one label


@dataclass(frozen=True)
class Reach:
    """How many levels are drawn at once, and among how many thresholds."""

    depth: int
    thresholds: int


@dataclass(frozen=True)
class Extent:
    """What is public about a table and the tree that grows on it: how deep it can be drawn."""

    schema: Schema
    names: tuple[str, ...]
    rows: int
    support: float  # rows times epsilon
    most: float  # leaves
    average: float  # branches of a split

    def reach(self) -> Reach | None:
        """As deep as is of use and the work allows; None if that is one level."""
        useful = max(ceil(log(self.most) / log(self.average)), 0) + BEYOND
        deepest = min(MOST_DEPTH, useful, MOST_DEPTH if self._cells(Numeric) else len(self.names))
        for grid in GRIDS:
            depth = 1
            while depth < deepest and self._fits(Reach(depth + 1, grid)):
                depth += 1
            if depth >= min(DEEP if grid == GRIDS[0] else 2, deepest):
                return Reach(depth, grid)
        return None

    def _fits(self, reach: Reach) -> bool:
        above = max(4 * self.most / self.average**reach.depth, 1)  # trees that are drawn, at most
        leaves = largest(self.schema, self.names, reach.depth) * above
        numbers = sum(self._cells(Categorical)) + sum(self._cuts(reach))
        exact = (reach.depth + 1) * (numbers + 8) * self.support <= EXACT
        small = leaves <= room(label_of(self.schema).cells, 1)
        return small and exact and self._work(reach) <= WORK

    def _work(self, reach: Reach) -> float:
        """About how often a row or a leaf is visited: once for each sequence of splits.

        A categorical attribute is used once on a path, a numeric one may be used again.
        """
        wide, cuts = self._cells(Categorical), sum(self._cuts(reach))
        labels = label_of(self.schema).cells
        # A noisy number of rows that is far too low must not cost hours.
        unsure = UNSURE * sqrt(labels) * self.rows / self.support
        visits, leaves = (self.rows + unsure) * len(self.names), 1.0
        for level in range(reach.depth):
            left = max(len(wide) - level, 0)
            leaves *= 2 * cuts + (sum(wide) * left / len(wide) if wide else 0)
            visits *= cuts + left if level < reach.depth - 1 else 1
        return visits + min(leaves, visits) * (labels + 10)

    def _cuts(self, reach: Reach) -> list[int]:
        return [min(reach.thresholds, cells) - 1 for cells in self._cells(Numeric)]

    def _cells(self, kind: type[Attribute]) -> list[int]:
        columns = [self.schema[name] for name in self.names]
        return [column.cells for column in columns if isinstance(column, kind)]


@dataclass
class DrawnLevels:
    """What was drawn below the last chosen splits, as part of a growing tree."""

    tree: TreeBuilder
    size: Size
    reach: Reach
    cuts: dict[str, Cuts]
    most: float  # leaves of the whole tree
    spare: Epsilon | None  # for counts of the leaves
    others: Sequence[DrawnScores[Any]] = ()  # beside the trees that the root may grow
    favor: int = 0  # 2 to this power is by how much trees are likelier beforehand
    card: DrawnScorecard | None = None  # what was drawn instead of a tree
    notes: tuple[str, ...] = ()  # about an ordinal score
    left: int = field(init=False)  # nodes that fit into the model

    def __post_init__(self) -> None:
        self.left = min(MOST_NODES, MOST_ENTRIES // label_of(self.tree.schema).cells) // 2

    def release(self, ended: OpenCells, nodes: Sequence[OpenNode]) -> None:
        schema = self.tree.schema
        trees = DrawnTrees(
            ended.cells,
            tuple(node.wide_candidates(schema, self.reach.thresholds, self.cuts) for node in nodes),
            label_of(schema).name,
            self.reach.depth,
            tuple(max(int(self.most / node.branches), 1) for node in nodes),
            tuple(ended.purses()),
        )
        drawn = self._one_of(ended, trees) if self.others else ended.fit(trees)
        depth = self.reach.depth
        while sum(map(_nodes, drawn)) > self.left:  # next to impossible: a model has its limits
            depth -= 1
            drawn = [_shallow(tree, depth) for tree in drawn]
        self.left -= sum(map(_nodes, drawn))
        for node, tree in zip(nodes, drawn, strict=False):  # a scorecard is no tree
            self._build(node.node, tree)

    def _one_of(self, ended: OpenCells, trees: DrawnTrees) -> list[Drawn]:
        """The tree of the root, if what was drawn is one."""
        outcome = ended.fit(OneOf(trees, tuple(self.others), self.favor))
        if isinstance(outcome, DrawnScorecard):
            self.card = outcome
            return []
        if isinstance(outcome, DrawnOrdinalScore):
            self.notes = tuple(ordinal_score_in_words(outcome, self.tree.schema))
            outcome = tree_of(outcome, self.tree.schema)
        return [outcome]

    def _build(self, node: int, drawn: Drawn) -> None:
        if drawn.split is None:
            self.tree.label(node, drawn.label)
            return
        for child, below in zip(self.tree.split(node, *drawn.split), drawn.below, strict=True):
            self._build(child, below)

    def model(
        self,
        parents: Sequence[int],  # noqa: ARG002 - the tree knows
        start: OpenCells,
        certificate: Certificate,
    ) -> Tree | AdditiveModel:
        if self.card is not None:
            return counted_additive_of(start, self.card, self.spare, certificate)
        return self._counted(joined(self.tree.freeze(certificate)), start)

    def _counted(self, tree: Tree, start: OpenCells) -> Tree:
        """The tree with noisy counts of its leaves and what follows from them; it decides as before."""
        if self.spare is None:
            return tree
        label = label_of(tree.schema)
        (counts,) = start.ask(Ensemble((tree.cells,), label.name, self.spare))
        by_leaf = dict(zip(tree.leaves, counts, strict=True))
        paid = dict.fromkeys(by_leaf, self.spare)
        nodes = smoothed(tree.parent.tolist(), by_leaf, paid, tree.label, self.size)
        every = np.array([shares for shares, _ in nodes], np.int64).reshape(len(tree), label.cells)
        labels = np.array([label for _, label in nodes], np.int32)
        return replace(tree, label=labels, counts=every, has_counts=np.ones(len(tree), bool))


def _nodes(drawn: Drawn) -> int:
    return 1 + sum(map(_nodes, drawn.below))


def _labels(drawn: Drawn) -> list[int]:
    below = [label for child in drawn.below for label in _labels(child)]
    return below if drawn.below else [drawn.label]


def _shallow(drawn: Drawn, depth: int) -> Drawn:
    """The tree without the levels below: what was there decides as most of its leaves did."""
    if not depth:
        labels = _labels(drawn)
        return Drawn(max(labels, key=labels.count))
    return replace(drawn, below=tuple(_shallow(child, depth - 1) for child in drawn.below))
