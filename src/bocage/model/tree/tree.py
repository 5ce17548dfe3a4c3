"""A released decision tree: flat arrays that hold nothing but released values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import ModelError
from bocage.model.base import Codes, Model, label_of
from bocage.model.certificate.certificate import Certificate
from bocage.model.tree import shape
from bocage.model.tree.routing import Steps, route
from bocage.plan import Branch, Cells, Cut
from bocage.plan.cells import map_targets
from bocage.plan.splits import node_of
from bocage.schema import Schema

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Tree(Model):
    """A decision tree. Nodes are numbered level by level, so that node 0 is the root.

    Parameters
    ----------
    schema
        Gives codes their meaning; it has a label.
    column
        For every node the position in ``schema.attributes`` of the column that it tests, -1 for a
        leaf.
    threshold
        Codes below it go to the first child, others to the second; -1 for a node that has a child
        for every code, and for a leaf. From -2 down: code ``-2 - threshold`` of a categorical column
        goes to the first child, all others to the second.
    label
        For every node the code of its decision: what is predicted for rows that end there.
    counts, has_counts
        Released noisy counts of each label (nodes x labels), and which nodes have them.
    total, has_total
        Released noisy numbers of rows, and which nodes have them.
    certificate
        What was guaranteed.

    Attributes
    ----------
    first_child, parent, depth
        Follow from the above. The children of a node are neighbors in the numbering.
    """

    schema: Schema
    column: Ints
    threshold: Ints
    label: Ints
    counts: NDArray[np.int64]
    has_counts: NDArray[np.bool_]
    total: NDArray[np.int64]
    has_total: NDArray[np.bool_]
    certificate: Certificate
    first_child: Ints = field(init=False, repr=False)
    parent: Ints = field(init=False, repr=False)
    depth: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        label_of(self.schema)
        if self.certificate.schema != self.schema.fingerprint:
            raise ModelError("the certificate of the tree is about a table with another schema.")
        for name, dtype in shape.DTYPES.items():
            values = np.array(getattr(self, name), dtype=dtype)  # a copy: nobody else can change it
            object.__setattr__(self, name, values)
        derived = shape.derive(self)
        shape.check(self)
        for name, values in derived.items():
            object.__setattr__(self, name, values)
        for name in (*shape.DTYPES, *derived):
            getattr(self, name).setflags(write=False)

    def __reduce__(self) -> Any:  # copies and pickles are frozen and checked like the original
        return type(self), tuple(getattr(self, f.name) for f in fields(self) if f.init)

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.column)

    @property
    def depth_(self) -> int:
        """Number of tests on the longest way from the root to a leaf."""
        return int(self.depth[-1])

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.column < 0

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The leaves, in the order of their cells."""
        return tuple(np.flatnonzero(self.is_leaf).tolist())

    @cached_property
    def columns(self) -> tuple[str, ...]:
        used = np.unique(self.column[~self.is_leaf]).tolist()
        return tuple(self.schema.attributes[column].name for column in used)

    def children(self, node: int) -> range:
        """The children of a node; none for a leaf."""
        first = int(self.first_child[node])
        return range(first, first + shape.arity(self, node))

    # --- predicting ---------------------------------------------------------------------------

    def predict_codes(self, codes: Codes) -> Ints:
        return self.label[self.apply_codes(codes)]

    def predict_proba_codes(self, codes: Codes) -> NDArray[np.float64]:
        return self.shares[self.apply_codes(codes)]

    def apply_codes(self, codes: Codes) -> Ints:
        """The node that every row reaches: a leaf, or an inner node that tests a code of -1."""
        matrix, _ = self._matrix(codes)
        return route(self._steps, matrix)

    @cached_property
    def _steps(self) -> Steps:
        return self.steps(self.columns)

    def steps(self, columns: Sequence[str]) -> Steps:
        """The way through the tree, for a matrix of codes of these columns."""
        leaf = self.is_leaf
        order = {name: i for i, name in enumerate(columns)}
        row = np.array([order.get(column.name, 0) for column in self.schema.attributes], np.intp)
        threshold = np.where(self.threshold == -1, np.iinfo(np.int32).max, self.threshold)
        target = np.where(leaf, np.arange(len(self)), self.first_child)
        multiway = ~leaf & (self.threshold == -1)
        return Steps(self.depth_, row[self.column], threshold, target, multiway)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """For every node the share of each label.

        Released counts, negative ones taken as 0, of the node or else of its nearest ancestor that
        has any; without such an ancestor, all for the node's decision.
        """
        clamped = np.where(self.has_counts[:, None], np.maximum(self.counts, 0), 0)
        shares, counted = proportions(clamped)
        for node in range(len(self)):  # parents come first
            if not counted[node]:
                above = int(self.parent[node])
                if above >= 0 and counted[above]:
                    shares[node], counted[node] = shares[above], True
                else:
                    shares[node, self.label[node]] = 1.0
        shares.setflags(write=False)
        return shares

    # --- as a partition -------------------------------------------------------------------------

    @cached_property
    def cells(self) -> Cells:
        """A router from rows to leaves, in the order of `leaves`."""
        inner = np.flatnonzero(~self.is_leaf).tolist()
        target = {node: i for i, node in enumerate(inner)}
        target |= {leaf: ~i for i, leaf in enumerate(self.leaves)}
        nodes: list[Branch | Cut] = []
        for node in inner:
            column, at = self.schema.attributes[self.column[node]], int(self.threshold[node])
            split = node_of(column.name, None if at == -1 else at, column.cells)
            goes = [target[child] for child in self.children(node)]
            nodes.append(map_targets(split, goes.__getitem__))
        return Cells(tuple(nodes), len(self.leaves))

    @cached_property
    def leaf_names(self) -> tuple[str, ...]:
        """What each leaf is about, as a filter in text form; no two are the same."""
        from bocage.model.tree.paths import leaf_names  # noqa: PLC0415 - it builds on this class

        return leaf_names(self)

    # --- pruning --------------------------------------------------------------------------------

    def pruned(self, keep: Collection[int] | NDArray[np.bool_]) -> Tree:
        """The same tree, in which only the nodes of `keep` stay split.

        Parameters
        ----------
        keep
            The inner nodes that keep their children, as a set of numbers or a mask over all nodes.
            Every other inner node becomes a leaf, which decides as it did; what lay below is gone.
        """
        mask = np.zeros(len(self), bool)
        mask[np.asarray(keep) if isinstance(keep, np.ndarray) else np.array([*keep], int)] = True
        alive = np.zeros(len(self), bool)
        alive[0] = True
        split = mask & ~self.is_leaf
        for node in range(1, len(self)):
            above = int(self.parent[node])
            alive[node] = alive[above] and split[above]
        return Tree(
            self.schema,
            np.where(split, self.column, -1)[alive],
            np.where(split, self.threshold, -1)[alive],
            self.label[alive],
            self.counts[alive],
            self.has_counts[alive],
            self.total[alive],
            self.has_total[alive],
            self.certificate,
        )


def proportions(
    weights: NDArray[np.int64] | NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Each row divided by its sum, added up from left to right as in every export; which have one."""
    doubles = weights.astype(np.float64)
    sums = np.cumsum(doubles, axis=1)[:, -1]
    counted = sums > 0
    return np.where(counted[:, None], doubles / np.where(counted, sums, 1.0)[:, None], 0.0), counted
