"""The open nodes of a growing tree, in the order of the cells that are asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np

from bocage.epsilon import Epsilon
from bocage.model import TreeBuilder
from bocage.model.bins import Cuts
from bocage.model.tree.shape import MOST_ENTRIES, MOST_NODES
from bocage.plan.splits import code_alone
from bocage.private import Candidate, IntArray, Level, Split
from bocage.schema import Categorical, Schema


@dataclass(frozen=True)
class OpenNode:
    """A node of the tree that may still be split."""

    node: int
    attributes: tuple[str, ...]
    box: dict[str, tuple[int, int]] = field(default_factory=dict)  # live codes of numeric columns
    # Of categorical columns that some values were parted from: the values that are left.
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def candidates(self, schema: Schema) -> tuple[Candidate, ...]:
        """Every split that parts the node: all released facts above it are taken into account."""
        return tuple(
            Candidate(name)
            if isinstance(schema[name], Categorical)
            else Candidate(name, self._live(schema, name)[0] + 1, self._live(schema, name)[1])
            for name in self.attributes
        )

    def small_candidates(
        self, schema: Schema, branches: float, thresholds: int, cuts: Mapping[str, Cuts]
    ) -> tuple[Candidate, ...]:
        """The splits of two to `branches` branches, at most so many thresholds for each column.

        A categorical attribute with more values than that offers each of them against the rest, and
        so does one from which values were parted above. Thresholds are a public selection: the
        multiples of a power of two, finer the smaller the part of the grid that is left, or for some
        columns given `cuts`, released before.
        """
        if branches < 2:
            return ()
        found = []
        for name in self.attributes:
            column = schema[name]
            if isinstance(column, Categorical):
                left = self.values.get(name, tuple(range(column.cells)))
                whole = len(left) == column.cells <= branches
                values = () if whole else left if len(left) > 2 else left[:1]
                found.append(Candidate(name, values=values))
            else:
                found += self._thresholds(schema, name, thresholds, cuts)
        return tuple(found)

    def wide_candidates(
        self, schema: Schema, thresholds: int, cuts: Mapping[str, Cuts]
    ) -> tuple[Candidate, ...]:
        """Every column that is left: all its values, or at most so many thresholds."""
        return tuple(
            candidate
            for name in self.attributes
            for candidate in (
                [Candidate(name)]
                if isinstance(schema[name], Categorical)
                else self._thresholds(schema, name, thresholds, cuts)
            )
        )

    def _thresholds(
        self, schema: Schema, name: str, most: int, cuts: Mapping[str, Cuts]
    ) -> Iterator[Candidate]:
        """The splits by a numeric column; none where no given cut is inside."""
        low, high = self._live(schema, name)
        if name not in cuts:
            step = 2 ** max(ceil(log2((high - low) / most)), 0)
            yield Candidate(name, low + 1, high, step=step)
        elif inside := [cut for cut in cuts[name] if low < cut <= high]:
            every = -(-len(inside) // most)  # of more than that some, evenly spread
            yield Candidate(name, low + 1, high, cuts=tuple(inside[every // 2 :: every]))

    def children(
        self, schema: Schema, split: Split
    ) -> list[tuple[tuple[str, ...], dict[str, tuple[int, int]], dict[str, tuple[int, ...]]]]:
        """Attributes, boxes and values left of the children of a split."""
        column, threshold = split
        if (code := code_alone(threshold)) is not None:
            rest = tuple(name for name in self.attributes if name != column)
            every = tuple(range(schema[column].cells))
            left = tuple(v for v in self.values.get(column, every) if v != code)
            others = self.attributes if len(left) > 1 else rest
            return [
                (rest, self.box, self.values),
                (others, self.box, {**self.values, column: left}),
            ]
        if threshold is None:
            rest = tuple(name for name in self.attributes if name != column)
            return [(rest, self.box, self.values)] * schema[column].cells
        low, high = self._live(schema, column)
        ranges = [(low, threshold - 1), (threshold, high)]
        return [
            (
                tuple(n for n in self.attributes if n != column or first < last),
                {**self.box, column: (first, last)},
                self.values,
            )
            for first, last in ranges
        ]

    def arity(self, schema: Schema) -> int:
        """The largest number of branches that a split may have."""
        columns = [schema[name] for name in self.attributes]
        return max((c.cells if isinstance(c, Categorical) else 2 for c in columns), default=0)

    def _live(self, schema: Schema, name: str) -> tuple[int, int]:
        return self.box.get(name, (0, schema[name].cells - 1))


@dataclass(frozen=True)
class Frontier:
    """One level: the cells that are asked about, and the node of each."""

    level: Level
    open: tuple[OpenNode, ...]

    @classmethod
    def start(cls, level: Level, root: int, attributes: tuple[str, ...]) -> Frontier:
        return cls(level, (OpenNode(root, attributes),))

    def fits(self, nodes: int) -> bool:
        """Whether a model of so many nodes has room for the children of all open ones."""
        schema = self.level.schema
        assert schema.label is not None  # noqa: S101 - checked by every plan
        below = sum(here.arity(schema) for here in self.open)
        return nodes + below <= min(MOST_NODES, MOST_ENTRIES // schema.label.cells)

    def part(self, stops: Sequence[bool]) -> tuple[Frontier | None, Frontier | None]:
        """The nodes that become leaves, and those that go on; each spends on its own."""
        chosen = {
            "leaves": [i for i, stop in enumerate(stops) if stop],
            "inner": [i for i, stop in enumerate(stops) if not stop],
        }
        levels = self.level.group(chosen)
        leaves, inner = (
            Frontier(levels[key], tuple(self.open[i] for i in cells)) if cells else None
            for key, cells in chosen.items()
        )
        return leaves, inner

    def grow(self, tree: TreeBuilder, splits: Sequence[Split]) -> Frontier:
        """Split every open node; the children are the next level."""
        schema = self.level.schema
        below: list[OpenNode] = []
        for here, split in zip(self.open, splits, strict=True):
            ids = tree.split(here.node, *split)
            parts = here.children(schema, split)
            below += [OpenNode(i, *part) for i, part in zip(ids, parts, strict=True)]
        return Frontier(self.level.split(splits), tuple(below))

    def record_totals(self, tree: TreeBuilder, totals: IntArray) -> None:
        for here, total in zip(self.open, totals.tolist(), strict=True):
            tree.total(here.node, total)

    def record_counts(self, tree: TreeBuilder, counts: IntArray) -> None:
        for here, row in zip(self.open, counts.tolist(), strict=True):
            tree.counts(here.node, row)

    def count_again(self, tree: TreeBuilder, label: str, first: IntArray, asked: Epsilon) -> None:
        """Count the classes once more with all that the paths have left, and record the mean."""
        rest = self.level.remaining()
        if rest.nano:
            again = self.level.counts(label, rest)
            self.record_counts(tree, pooled(first, asked, again, rest))


def pooled(first: IntArray, asked: Epsilon, again: IntArray, rest: Epsilon) -> IntArray:
    """Two noisy counts of the same cells, weighted by the inverse of their variances, rounded."""
    a, b = asked.nano**2, rest.nano**2
    mean = (first.astype(object) * a + again.astype(object) * b) * 2 + (a + b)
    return np.asarray(mean // (2 * (a + b)), dtype=np.int64)
