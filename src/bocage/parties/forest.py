"""Trees from structures and summed counts, as arrays: a node of a plan is a node of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from bocage.learners.base import label_of
from bocage.learners.structure import Structure
from bocage.model import Certificate, Tree
from bocage.model.shape import MOST_COUNT
from bocage.private import IntArray
from bocage.schema import Schema


def frozen(
    structures: Sequence[Structure], schema: Schema, values: IntArray, certificate: Certificate
) -> Iterator[Tree]:
    """The trees; the counts of their leaves stand one after the other in `values`."""
    labels, start = label_of(schema).cells, 0
    for structure in structures:
        end = start + structure.splits.count(None) * labels
        yield _tree(structure, schema, values[start:end].reshape(-1, labels), certificate)
        start = end


def _tree(structure: Structure, schema: Schema, leaves: IntArray, certificate: Certificate) -> Tree:
    """Leaves decide for their largest count, other nodes for the largest sum below them."""
    columns = {attribute.name: i for i, attribute in enumerate(schema.attributes)}
    splits = [split or ("", -1) for split in structure.splits]
    column = np.array([columns.get(name, -1) for name, _ in splits])
    threshold = np.array([-1 if cut is None else cut for _, cut in splits])
    leaf = column < 0
    counts = np.zeros((len(splits), leaves.shape[1]), np.int64)
    counts[leaf] = np.clip(leaves, -MOST_COUNT, MOST_COUNT)
    return Tree(
        schema,
        column,
        threshold,
        _sums(counts, column, threshold, schema).argmax(axis=1),
        counts,
        leaf,
        np.zeros(len(splits), np.int64),
        np.zeros(len(splits), bool),
        certificate,
    )


def _sums(counts: IntArray, column: IntArray, threshold: IntArray, schema: Schema) -> IntArray:
    """For every node the sum of the counts of the leaves below it."""
    cells = np.array([attribute.cells for attribute in schema.attributes])
    sizes = np.where(column < 0, 0, np.where(threshold >= 0, 2, cells[column]))
    parents = np.repeat(np.arange(len(column)), sizes)  # of the nodes 1, 2, 3, …
    following = 1 + np.cumsum(sizes)  # the first node after the children of each node
    levels = [0, 1]
    while levels[-1] < len(column):
        levels.append(int(following[levels[-1] - 1]))
    sums = counts.copy()
    for first, end in reversed([*pairwise(levels[1:])]):
        np.add.at(sums, parents[first - 1 : end - 1], sums[first:end])
    return sums
