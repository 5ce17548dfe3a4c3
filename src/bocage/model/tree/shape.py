"""Which arrays make a tree: their limits, and what follows from them.

Nodes are numbered level by level and the children of a node one after the other, so the number of
children of every node says where they are. There is no pointer that could point to a wrong place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import ModelError
from bocage.schema import Categorical, Schema

if TYPE_CHECKING:
    from bocage.model.tree.tree import Tree

MOST_NODES = 2**20
MOST_DEPTH = 128
MOST_LABELS = 2**10
MOST_ENTRIES = 2**25  # of the table of counts
# More than a table can hold (2**40 rows) and any noise; sums over a forest stay exact as doubles.
MOST_COUNT = 2**42

DTYPES: dict[str, Any] = {
    "column": np.int32,
    "threshold": np.int32,
    "label": np.int32,
    "counts": np.int64,
    "has_counts": np.bool_,
    "total": np.int64,
    "has_total": np.bool_,
}


def labels(schema: Schema) -> int:
    """The number of labels, if a model can have so many."""
    count = 0 if schema.label is None else schema.label.cells
    if not 1 <= count <= MOST_LABELS:
        raise ModelError(f"a model predicts one of 1 to {MOST_LABELS} labels, not of {count}.")
    return count


def arity(tree: Tree, node: int) -> int:
    """The number of children of a node."""
    if tree.column[node] < 0:
        return 0
    return 2 if tree.threshold[node] != -1 else tree.schema.attributes[tree.column[node]].cells


def derive(tree: Tree) -> dict[str, NDArray[np.int32]]:
    """The children's and parents' numbers and the depths; refuse arrays that make no tree."""
    nodes = len(tree.column)
    if not 1 <= nodes <= MOST_NODES:
        raise ModelError(f"a tree has 1 to {MOST_NODES} nodes, not {nodes}.")
    if tree.column.shape != (nodes,) or tree.threshold.shape != (nodes,):
        raise ModelError("the arrays of the tree differ in length.")
    cells = np.array([attribute.cells for attribute in tree.schema.attributes], np.int64)
    if tree.column.min() < -1 or tree.column.max() >= len(cells):
        raise ModelError("a node tests a column that the schema does not have.")
    inner = tree.column >= 0
    sizes = np.zeros(nodes, np.int64)
    sizes[inner] = cells[tree.column[inner]]
    cut = tree.threshold != -1
    if np.any((tree.threshold >= 0) & ((tree.threshold < 1) | (tree.threshold >= sizes))):
        raise ModelError("a threshold lies between 1 and the last code of the column that it cuts.")
    alone = tree.threshold < -1
    values = np.array([isinstance(a, Categorical) for a in tree.schema.attributes], bool)
    if np.any(alone & ~inner) or np.any(
        ~values[tree.column[alone]] | (-2 - tree.threshold[alone].astype(np.int64) >= sizes[alone])
    ):
        raise ModelError("a value that is split from the rest is one of a categorical column.")
    sizes[cut] = 2
    first = 1 + np.cumsum(sizes) - sizes
    if first[-1] + sizes[-1] != nodes or np.any(first[inner] <= np.flatnonzero(inner)):
        raise ModelError("the nodes make no tree: they do not match the numbers of their children.")
    parent = np.concatenate([[-1], np.repeat(np.arange(nodes), sizes)])
    depth = np.zeros(nodes, np.int32)
    start, end = 0, 1  # one level
    while end < nodes:
        start, end = end, int(first[end - 1] + sizes[end - 1])
        depth[start:end] = depth[start - 1] + 1
    if depth[-1] > MOST_DEPTH:
        raise ModelError(f"a tree is at most {MOST_DEPTH} levels deep.")
    return {
        "first_child": np.where(inner, first, -1).astype(np.int32),
        "parent": parent.astype(np.int32),
        "depth": depth,
    }


def check(tree: Tree) -> None:
    """Refuse decisions and counts that are out of range."""
    nodes, count = len(tree.column), labels(tree.schema)
    if nodes * count > MOST_ENTRIES:
        raise ModelError(f"the tree has more than {MOST_ENTRIES} counts.")
    if tree.counts.shape != (nodes, count):
        raise ModelError("the tree needs a count for every node and label.")
    for name in ("label", "has_counts", "total", "has_total"):
        if getattr(tree, name).shape != (nodes,):
            raise ModelError("the arrays of the tree differ in length.")
    if tree.label.min() < 0 or tree.label.max() >= count:
        raise ModelError("a node decides for a label that the schema does not have.")
    for values in (tree.counts, tree.total):
        if values.min() < -MOST_COUNT or values.max() > MOST_COUNT:
            raise ModelError(f"a released count lies within {MOST_COUNT} of 0.")
    for values, has in ((tree.counts, tree.has_counts[:, None]), (tree.total, tree.has_total)):
        if np.any(values[np.broadcast_to(~has, values.shape)] != 0):
            raise ModelError("a node has a count that was not released.")
