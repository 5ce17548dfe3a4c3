"""Random structures: the shape of a tree, drawn from the schema before any data is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from bocage.errors import LearnerError
from bocage.learners.frontier import OpenNode
from bocage.model import Certificate, Tree, TreeBuilder
from bocage.model.tree.shape import MOST_COUNT
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
                for column, threshold in zip(tree.column.tolist(), tree.threshold.tolist(), strict=True)
            )
        )

    def cells(self, schema: Schema) -> Cells:
        """The leaves as cells, in the order of their nodes."""
        return _shape(self, schema).cells

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
        shape = _shape(self, schema)
        column, threshold = shape.column, shape.threshold
        counts = np.zeros((len(column), leaves.shape[1]), np.int64)
        counts[column < 0] = np.clip(leaves, -MOST_COUNT, MOST_COUNT)
        below = counts.copy()
        for above, starts, first, end in shape.levels:
            below[above] = np.add.reduceat(below[first:end], starts, axis=0)
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


@dataclass(frozen=True, eq=False)
class _Shape:
    """What follows from a structure and its schema: the same for every batch, owner and epsilon."""

    cells: Cells
    column: NDArray[np.int32]
    threshold: NDArray[np.int32]
    # From the bottom: inner nodes, where their children begin in the level below, and that level.
    levels: tuple[tuple[IntArray, IntArray, int, int], ...]


@lru_cache(maxsize=256)
def _shape(structure: Structure, schema: Schema) -> _Shape:
    place = {attribute.name: i for i, attribute in enumerate(schema.attributes)}
    arity = {attribute.name: attribute.cells for attribute in schema.attributes}
    inner = [(i, split) for i, split in enumerate(structure.splits) if split is not None]
    leaves = [i for i, split in enumerate(structure.splits) if split is None]
    sizes = [arity[column] if threshold is None else 2 for _, (column, threshold) in inner]
    first = (1 + np.cumsum([0, *sizes])[:-1]).tolist()
    target = {node: at for at, (node, _) in enumerate(inner)}
    target |= {node: ~at for at, node in enumerate(leaves)}
    nodes: list[Branch | Cut] = []
    for (_, (column, threshold)), below, size in zip(inner, first, sizes, strict=True):
        children = tuple(target[below + i] for i in range(size))
        nodes.append(Branch(column, children) if threshold is None else Cut(column, threshold, *children))
    splits = structure.splits
    return _Shape(
        Cells(tuple(nodes), len(leaves)),
        np.array([-1 if s is None else place[s[0]] for s in splits], np.int32),
        np.array([-1 if s is None or s[1] is None else s[1] for s in splits], np.int32),
        tuple(_levels(np.array([node for node, _ in inner], np.int64), np.array(first), len(splits))),
    )


def _levels(inner: IntArray, first: IntArray, nodes: int) -> Iterator[tuple[IntArray, IntArray, int, int]]:
    """The levels below the root, the deepest first."""
    levels, start, end = [], 0, 1
    while end < nodes:
        inside = (inner >= start) & (inner < end)
        start, end = end, int(np.append(first, nodes)[np.flatnonzero(inside)[-1] + 1])
        levels.append((inner[inside], first[inside] - start, start, end))
    yield from reversed(levels)


def random_structure(schema: Schema, attributes: Sequence[str], height: int, random: Random, most: int) -> Structure:
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
        for node in level:
            if depth == height or not node.attributes:
                splits.append(None)
                continue
            split = _random_split(node, schema, random)
            splits.append(split)
            children = node.children(schema, split, created)
            below += children
            created += len(children)
        if len(below) > most:
            raise LearnerError(
                f"a random tree of height {height} on {schema.name!r} has more than {most} leaves. "
                "Choose a smaller height, or fewer trees. Nothing was charged."
            )
        level = below
    return Structure(tuple(splits))


def _random_split(node: OpenNode, schema: Schema, random: Random) -> Split:
    name = random.choice(node.attributes)
    if isinstance(schema[name], Categorical):
        return name, None
    first, last = node.box.get(name, (0, schema[name].cells - 1))
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
