"""Growing a tree: nodes in any order, then frozen. Growing and predicting are different objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bocage.errors import ModelError
from bocage.model.certificate.certificate import Certificate
from bocage.model.tree import shape
from bocage.model.tree.tree import Tree
from bocage.plan.splits import arity_of, code_alone
from bocage.schema import Categorical, Schema


@dataclass
class _Node:
    column: int = -1
    threshold: int = -1
    children: Sequence[int] = ()
    counts: list[int] | None = None
    total: int | None = None
    label: int | None = None


class TreeBuilder:
    """A tree that is being grown, from released values.

    Examples
    --------
    ::

        builder = TreeBuilder(schema)
        young, old = builder.split(builder.root, "age", 35)
        builder.counts(young, [120, 8])
        builder.counts(old, [14, 97])
        tree = builder.freeze(certificate)
    """

    root = 0

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._labels = shape.labels(schema)
        self._columns = {attribute.name: i for i, attribute in enumerate(schema.attributes)}
        self._nodes = [_Node()]

    def split(self, node: int, column: str, threshold: int | None = None) -> list[int]:
        """Give a leaf children: one for every code of the column, two around a threshold, or two
        for one value and the rest (`bocage.plan.splits.alone`).

        The numbers of the children follow each other, in the order of creation.
        """
        parent = self._node(node)
        if parent.children:
            raise ModelError(f"node {node} is already split.")
        if column not in self._columns:
            raise ModelError(f"column {column!r} is no attribute of {self.schema.name!r}.")
        cells = self.schema[column].cells
        code = code_alone(threshold)
        if code is not None:
            if code >= cells or not isinstance(self.schema[column], Categorical):
                raise ModelError(f"code {code} of {column!r} is no value to part from the rest.")
        elif threshold is not None and not 0 < threshold < cells:
            raise ModelError(f"a threshold on {column!r} lies in 1..{cells - 1}, not {threshold}.")
        first, size = len(self._nodes), arity_of(threshold, cells)
        parent.column = self._columns[column]
        parent.threshold = -1 if threshold is None else int(threshold)
        parent.children = range(first, first + size)
        self._nodes += [_Node() for _ in range(size)]
        return list(parent.children)

    def counts(self, node: int, label_counts: Sequence[int]) -> None:
        """Record the released noisy count of every label."""
        if len(label_counts) != self._labels:
            raise ModelError(f"a node has {self._labels} label counts, not {len(label_counts)}.")
        self._node(node).counts = [_limited(count) for count in label_counts]

    def total(self, node: int, noisy_total: int) -> None:
        """Record the released noisy number of rows."""
        self._node(node).total = _limited(noisy_total)

    def label(self, node: int, code: int) -> None:
        """Decide for a label, whatever the counts say."""
        if not 0 <= code < self._labels:
            raise ModelError(f"a label code lies in 0..{self._labels - 1}, not {code}.")
        self._node(node).label = int(code)

    def freeze(self, certificate: Certificate) -> Tree:
        """The tree, its nodes numbered level by level.

        A node that has no decision of its own decides for its largest released count (the first of
        several); if it has no counts, for the majority of the leaves below it: by the sum of their
        counts if all have some, else by one vote each.
        """
        order = [0]
        for node in order:  # grows while it is walked: level by level
            order += self._nodes[node].children
        nodes = [self._nodes[node] for node in order]
        empty = [0] * self._labels
        return Tree(
            self.schema,
            np.array([node.column for node in nodes]),
            np.array([node.threshold for node in nodes]),
            self._decisions()[order],
            np.array([node.counts or empty for node in nodes]),
            np.array([node.counts is not None for node in nodes]),
            np.array([node.total or 0 for node in nodes]),
            np.array([node.total is not None for node in nodes]),
            certificate,
        )

    def _decisions(self) -> NDArray[np.int32]:
        """The label of every node, in the order of creation."""
        nodes, empty = self._nodes, [0] * self._labels
        return decisions(
            {i: node.children for i, node in enumerate(nodes) if node.children},
            np.array([node.counts or empty for node in nodes], np.int64),
            np.array([node.counts is not None for node in nodes]),
            np.array([-1 if node.label is None else node.label for node in nodes]),
        )

    def _node(self, number: int) -> _Node:
        if not 0 <= number < len(self._nodes):
            raise ModelError(f"there is no node {number}.")
        return self._nodes[number]


def decisions(
    children: dict[int, Sequence[int]],
    counts: NDArray[np.int64],
    has_counts: NDArray[np.bool_],
    label: NDArray[np.integer],
) -> NDArray[np.int32]:
    """What every node decides for; see `TreeBuilder.freeze`.

    Parameters
    ----------
    children
        For every inner node its children, which follow each other, and follow it. Parents in order.
    counts, has_counts
        Label counts of the nodes, and which have some.
    label
        What is decided already, or -1.
    """
    leaf = np.ones(len(label), np.bool_)
    leaf[list(children)] = False
    unknown = np.flatnonzero(leaf & ~has_counts & (label < 0))
    if len(unknown):
        raise ModelError(f"leaf {unknown[0]} has neither counts nor a decision.")
    sums, counted = np.where(leaf[:, np.newaxis], counts, 0), has_counts & leaf
    votes = np.zeros_like(sums)
    ends = np.flatnonzero(leaf)
    votes[ends, np.where(label < 0, counts.argmax(axis=1), label)[ends]] = 1
    for node, below in reversed(children.items()):
        part = slice(below[0], below[-1] + 1)
        sums[node], votes[node] = sums[part].sum(axis=0), votes[part].sum(axis=0)
        counted[node] = counted[part].all()
    best = np.where(counted, sums.argmax(axis=1), votes.argmax(axis=1))
    best = np.where(has_counts, counts.argmax(axis=1), best)
    return np.where(label < 0, best, label).astype(np.int32)


def _limited(count: int) -> int:
    """Beyond the limit is only noise: cutting it is post-processing and fails no training run."""
    return max(-shape.MOST_COUNT, min(int(count), shape.MOST_COUNT))
