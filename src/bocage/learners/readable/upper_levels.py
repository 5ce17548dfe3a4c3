"""The upper levels of a readable tree: what a node chooses from, what it pays, and when a path ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.frontier import OpenNode
from bocage.learners.readable.leaves import Ends
from bocage.learners.readable.lower_levels import Reach
from bocage.model.bins import Cuts
from bocage.private import (
    Candidate,
    Choose,
    Criterion,
    OpenCells,
    Selection,
    Split,
    criterion_named,
)
from bocage.schema import Schema

SLACK = 2  # by how much the product of the branches of a path may exceed what the leaves allow
GROWTH = 0.25  # a level gets more than the one above it by the branches to this power
THRESHOLDS = 64  # of one numeric attribute that a node chooses from
STRONG = 100  # records of a node times what it pays, from which on purity counts beside errors


@dataclass(frozen=True)
class Rule:
    """What a node chooses from and what it pays. All of it is public."""

    schema: Schema
    rows: int
    most: float  # leaves of average size that the data can feed
    branches: float  # of an average split
    leaf: Epsilon  # what is kept for the leaf
    reach: Reach | None  # of the levels that are drawn at once
    cuts: dict[str, Cuts] = field(default_factory=dict)  # thresholds of uneven attributes

    def question(self, node: OpenNode, left: Epsilon) -> tuple[tuple[Candidate, ...], Epsilon] | None:
        """The candidates of a node and what it pays for the choice; None ends the path.

        The product of the branches of a path stays below `most`, with some slack and twice that at
        the root. What the path has left for splits is shared by the levels that are still to come.
        """
        room = SLACK * self.most / node.branches * (2 if node.branches == 1 else 1)
        candidates = node.small_candidates(self.schema, room, THRESHOLDS, self.cuts)
        levels = self.levels(node.branches)
        if levels < 1:
            return None
        weights = sum(self.branches ** (GROWTH * level) for level in range(levels))
        pays = int((left.nano - self.leaf.nano) / weights)
        return (candidates, Epsilon(pays)) if candidates and pays > 0 else None

    def levels(self, branches: int) -> int:
        """How many levels are chosen from a node on that has so many branches above it."""
        free = log(self.most / branches) / log(self.branches)
        return max(ceil(free - 1e-9), 1) if self.reach is None else round(free) - self.reach.depth

    def criterion(self, nodes: Sequence[OpenNode], pays: Sequence[Epsilon]) -> Criterion:
        """The score of a level.

        Above levels that are drawn at once purity looks ahead, and errors are their concern. Otherwise
        errors are what counts in the end, and no concave score of range 1 sets splits further apart.
        Where some node of the level has records enough to spare, purity counts too: it looks ahead.
        """
        strongest = max(self.rows / node.branches * float(paid) for node, paid in zip(nodes, pays, strict=True))
        blend = self.reach is not None or strongest >= STRONG
        return criterion_named("blend" if blend else "max")


def grow(paths: OpenCells, names: tuple[str, ...], rule: Rule, ends: Ends) -> list[int]:
    """Choose splits level by level, until every path has ended: for every node its parent."""
    tree = ends.tree
    parents, open_nodes = [-1], [OpenNode(tree.root, names)]
    while open_nodes:
        asked = [rule.question(*pair) for pair in zip(open_nodes, paths.purses(), strict=True)]
        groups = {
            "ended": [i for i, question in enumerate(asked) if question is None],
            "inner": [i for i, question in enumerate(asked) if question is not None],
        }
        parts = paths.group(groups)
        if ended := parts.get("ended"):
            ends.release(ended, [open_nodes[i] for i in groups["ended"]])
        if (inner := parts.get("inner")) is None:
            break
        nodes = [open_nodes[i] for i in groups["inner"]]
        splits = _chosen(inner, nodes, [question for question in asked if question], rule)
        paths, open_nodes = inner.split(splits), []
        for node, split in zip(nodes, splits, strict=True):
            children = node.grow(tree, split)
            parents += [node.node] * len(children)
            open_nodes += children
    return parents


def _chosen(
    inner: OpenCells,
    nodes: Sequence[OpenNode],
    asked: Sequence[tuple[tuple[Candidate, ...], Epsilon]],
    rule: Rule,
) -> list[Split]:
    """A split of each node, for what it pays."""
    candidates, pays = zip(*asked, strict=True)
    query = Choose(
        candidates,
        label_of(inner.schema).name,
        rule.criterion(nodes, pays),
        Selection.PERMUTE_AND_FLIP,
        max(pays),
        each=pays,
    )
    return inner.ask(query)
