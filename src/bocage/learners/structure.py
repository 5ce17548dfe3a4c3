"""Random structures: the shape of a tree, drawn from the schema before any data is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from bocage.errors import LearnerError
from bocage.learners.frontier import OpenNode
from bocage.model import Certificate, Tree, TreeBuilder
from bocage.model.shape import MOST_COUNT
from bocage.plan import OUTSIDE, Branch, Cells, Cut
from bocage.private import IntArray, Split
from bocage.schema import Categorical, Schema


@dataclass(frozen=True)
class Structure:
    """The splits of a tree, level by level; ``splits[i]`` is None where node i is a leaf.

    Nodes are numbered as they are created: the root, then the children of each split in turn.
    """

    splits: tuple[Split | None, ...]

    @classmethod
    def of(cls, tree: Tree) -> Structure:
        """The structure of a released tree."""
        names = [attribute.name for attribute in tree.schema.attributes]
        return cls(
            tuple(
                None if column < 0 else (names[column], None if threshold == -1 else threshold)
                for column, threshold in zip(
                    tree.column.tolist(), tree.threshold.tolist(), strict=True
                )
            )
        )

    def cells(self, schema: Schema) -> Cells:
        """The leaves as cells, in the order of their nodes."""
        first = self._first_children(schema)
        inner = [i for i, split in enumerate(self.splits) if split is not None]
        leaves = [i for i, split in enumerate(self.splits) if split is None]
        target = {node: at for at, node in enumerate(inner)}
        target |= {node: ~at for at, node in enumerate(leaves)}
        nodes: list[Branch | Cut] = []
        for node in inner:
            column, threshold = self.splits[node] or ("", None)
            below = first[node]
            if threshold is None:
                arity = schema[column].cells
                nodes.append(Branch(column, tuple(target[below + i] for i in range(arity))))
            else:
                nodes.append(Cut(column, threshold, target[below], target[below + 1]))
        return Cells(tuple(nodes), len(leaves))

    def tree(self, schema: Schema, counts: IntArray) -> TreeBuilder:
        """The tree with the counts of its leaves."""
        built = TreeBuilder(schema)
        rows = iter(counts.tolist())
        for node, split in enumerate(self.splits):
            if split is None:
                built.counts(node, next(rows))
            else:
                built.split(node, *split)
        return built

    def freeze(self, schema: Schema, leaves: IntArray, certificate: Certificate) -> Tree:
        """What `tree` and a freeze give, without a step for every node."""
        place = {attribute.name: i for i, attribute in enumerate(schema.attributes)}
        column = np.array([-1 if s is None else place[s[0]] for s in self.splits])
        threshold = np.array([-1 if s is None or s[1] is None else s[1] for s in self.splits])
        counts = np.zeros((len(column), leaves.shape[1]), np.int64)
        counts[column < 0] = np.clip(leaves, -MOST_COUNT, MOST_COUNT)
        below = counts.copy()
        inner = list(self._first_children(schema).items())
        for (node, first), end in zip(
            reversed(inner), [len(column), *(first for _, first in reversed(inner))], strict=False
        ):
            below[node] = below[first:end].sum(axis=0)
        return Tree(
            schema,
            column,
            threshold,
            below.argmax(axis=1),
            counts,
            column < 0,
            np.zeros(len(column), np.int64),
            np.zeros(len(column), bool),
            certificate,
        )

    def _first_children(self, schema: Schema) -> dict[int, int]:
        first, following = {}, 1
        for node, split in enumerate(self.splits):
            if split is not None:
                first[node] = following
                following += schema[split[0]].cells if split[1] is None else 2
        return first


def random_structure(
    schema: Schema, attributes: Sequence[str], height: int, random: Random, most: int
) -> Structure:
    """BuildTreeStructure (Algorithm 2): an attribute at random at every node, down to `height`.

    A categorical attribute is used once on a path; a numeric one is cut at a random grid threshold
    inside the node and may be cut again. The splits are public and no noise is drawn here. More
    than `most` leaves are refused.
    """
    splits: list[Split | None] = []
    level = [OpenNode(0, tuple(attributes))]
    created = 1
    for depth in range(height + 1):
        below: list[OpenNode] = []
        for here in level:
            if depth == height or not here.attributes:
                splits.append(None)
                continue
            split = _split(here, schema, random)
            splits.append(split)
            parts = here.children(schema, split)
            below += [OpenNode(created + i, *part) for i, part in enumerate(parts)]
            created += len(parts)
        if len(below) > most:
            raise LearnerError(
                f"a random tree of height {height} on {schema.name!r} has more than {most} leaves. "
                "Choose a smaller height, or fewer trees. Nothing was charged."
            )
        level = below
    return Structure(tuple(splits))


def _split(here: OpenNode, schema: Schema, random: Random) -> Split:
    name = random.choice(here.attributes)
    if isinstance(schema[name], Categorical):
        return name, None
    first, last = here.box.get(name, (0, schema[name].cells - 1))
    return name, random.randint(first + 1, last)


def one_per_value(column: str, routers: Sequence[Cells]) -> Cells:
    """One router in which the value of a column decides which of the routers goes on."""
    nodes: list[Branch | Cut] = []
    roots: list[int] = []
    cells = 0
    first = 1  # node 0 is the branch on the column
    for router in routers:
        roots.append(first if router.nodes else ~cells)
        nodes += [_moved(node, first, cells) for node in router.nodes]
        first += len(router.nodes)
        cells += router.count
    return Cells((Branch(column, tuple(roots)), *nodes), cells)


def _moved(node: Branch | Cut, nodes: int, cells: int) -> Branch | Cut:
    def goal(target: int) -> int:
        if target == OUTSIDE:
            return target
        return target + nodes if target >= 0 else ~(~target + cells)

    if isinstance(node, Branch):
        return replace(node, targets=tuple(map(goal, node.targets)))
    return replace(node, below=goal(node.below), above=goal(node.above))
