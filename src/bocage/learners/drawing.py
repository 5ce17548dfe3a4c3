"""The lower levels of a readable tree, drawn at once with their labels: how many, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from typing import Protocol

import numpy as np

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.frontier import OpenNode
from bocage.learners.sizing import largest, room
from bocage.learners.smoothing import smoothed
from bocage.model import Tree, TreeBuilder
from bocage.model.runs import Cuts
from bocage.private import MOST_DEPTH, Drawn, Level, Paths
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
        wide, cuts, labels = (
            self._cells(Categorical),
            sum(self._cuts(reach)),
            label_of(self.schema).cells,
        )
        unsure = (
            UNSURE * sqrt(labels) * self.rows / self.support
        )  # or a number far too low costs hours
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


class Place(Protocol):
    """A node of the growing tree, and the product of the branches of the splits above it."""

    @property
    def here(self) -> OpenNode: ...
    @property
    def branches(self) -> int: ...


@dataclass
class Crowns:
    """What was drawn below the last chosen splits, as part of a growing tree."""

    tree: TreeBuilder
    reach: Reach
    cuts: dict[str, Cuts]
    most: float  # leaves of the whole tree
    spare: Epsilon | None  # for counts of the leaves

    def release(self, ended: Paths, nodes: Sequence[Place]) -> None:
        """Spend everything that the paths have left."""
        schema, reach = self.tree.schema, self.reach
        among = [one.here.wide_candidates(schema, reach.thresholds, self.cuts) for one in nodes]
        room = [max(int(self.most / one.branches), 1) for one in nodes]
        left = ended.remaining()
        drawn = ended.trees(among, label_of(schema).name, reach.depth, room, left)
        for place, one in zip(nodes, drawn, strict=True):
            self._build(place.here.node, one)

    def _build(self, node: int, drawn: Drawn) -> None:
        if drawn.split is None:
            self.tree.label(node, drawn.label)
            return
        for child, one in zip(self.tree.split(node, *drawn.split), drawn.below, strict=True):
            self._build(child, one)

    def record(self, tree: TreeBuilder, parents: Sequence[int]) -> None:
        """All is in the tree."""

    def counted(self, tree: Tree, level: Level) -> Tree:
        """The tree with noisy counts of its leaves and what follows from them; it decides as before."""
        if self.spare is None:
            return tree
        label = label_of(tree.schema)
        (counts,) = level.ensemble([tree.cells], label.name, self.spare)
        found = dict(zip(tree.leaves, counts, strict=True))
        nodes = smoothed(tree.parent.tolist(), found, dict.fromkeys(found, self.spare), tree.label)
        every = np.array([shares for shares, _ in nodes], np.int64).reshape(len(tree), label.cells)
        return replace(tree, counts=every, has_counts=np.ones(len(tree), bool))
