"""A tree while it grows, in codes of the schema; pruned and frozen at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bocage.local import mdl
from bocage.model import Certificate, Tree, TreeBuilder
from bocage.schema import Schema


@dataclass
class Grown:
    """Nodes with parents before their children, which are neighbors.

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

    def split(
        self, node: int, column: int, threshold: int | None, bits: float, parts: NDArray[np.int64]
    ) -> range:
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
        places = [(0, builder.root, 0)]
        while places:
            node, new, decision = places.pop()
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
            places += [(first + at, child, decision) for at, child in enumerate(children)]
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
