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
from bocage.private import Candidate, Counts, IntArray, OpenCells, Split
from bocage.schema import Categorical, Schema


@dataclass(frozen=True)
class OpenNode:
    """A node of the tree that may still be split."""

    node: int
    attributes: tuple[str, ...]
    box: dict[str, tuple[int, int]] = field(default_factory=dict)  # live codes of numeric columns
    # Of categorical columns that some values were parted from: the values that are left.
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)
    branches: int = 1  # the product of the branches of the splits above it

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
        candidates: list[Candidate] = []
        for name in self.attributes:
            column = schema[name]
            if isinstance(column, Categorical):
                left = self.values.get(name, tuple(range(column.cells)))
                by_all = len(left) == column.cells <= branches
                values = () if by_all else left if len(left) > 2 else left[:1]
                candidates.append(Candidate(name, values=values))
            else:
                candidates += self._thresholds(schema, name, thresholds, cuts)
        return tuple(candidates)

    def wide_candidates(self, schema: Schema, thresholds: int, cuts: Mapping[str, Cuts]) -> tuple[Candidate, ...]:
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

    def _thresholds(self, schema: Schema, name: str, most: int, cuts: Mapping[str, Cuts]) -> Iterator[Candidate]:
        """The splits by a numeric column; none where no given cut is inside."""
        low, high = self._live(schema, name)
        if name not in cuts:
            step = 2 ** max(ceil(log2((high - low) / most)), 0)
            yield Candidate(name, low + 1, high, step=step)
        elif inside := [cut for cut in cuts[name] if low < cut <= high]:
            every = -(-len(inside) // most)  # of more than that some, evenly spread
            yield Candidate(name, low + 1, high, cuts=tuple(inside[every // 2 :: every]))

    def children(self, schema: Schema, split: Split, first: int) -> list[OpenNode]:
        """The open nodes below a split, whose numbers begin with `first`."""
        column, at = split
        rest = tuple(name for name in self.attributes if name != column)
        if (code := code_alone(at)) is not None:
            every = tuple(range(schema[column].cells))
            left = tuple(value for value in self.values.get(column, every) if value != code)
            others = self.attributes if len(left) > 1 else rest
            parts = [
                (rest, self.box, self.values),
                (others, self.box, {**self.values, column: left}),
            ]
        elif at is None:
            parts = [(rest, self.box, self.values)] * schema[column].cells
        else:
            low, high = self._live(schema, column)
            parts = [
                (
                    self.attributes if start < end else rest,
                    {**self.box, column: (start, end)},
                    self.values,
                )
                for start, end in ((low, at - 1), (at, high))
            ]
        branches = self.branches * len(parts)
        return [OpenNode(first + i, *part, branches) for i, part in enumerate(parts)]

    def grow(self, tree: TreeBuilder, split: Split) -> list[OpenNode]:
        """Split the node of a tree: its children."""
        first, *_ = tree.split(self.node, *split)
        return self.children(tree.schema, split, first)

    def arity(self, schema: Schema) -> int:
        """The largest number of branches that a split may have."""
        columns = [schema[name] for name in self.attributes]
        return max((c.cells if isinstance(c, Categorical) else 2 for c in columns), default=0)

    def _live(self, schema: Schema, name: str) -> tuple[int, int]:
        return self.box.get(name, (0, schema[name].cells - 1))


@dataclass(frozen=True)
class Frontier:
    """One level: the cells that are asked about, and the node of each."""

    cells: OpenCells
    open: tuple[OpenNode, ...]

    @classmethod
    def start(cls, cells: OpenCells, root: int, attributes: tuple[str, ...]) -> Frontier:
        return cls(cells, (OpenNode(root, attributes),))

    def fits(self, nodes: int) -> bool:
        """Whether a model of so many nodes has room for the children of all open ones."""
        schema = self.cells.schema
        assert schema.label is not None  # noqa: S101 - checked by every plan
        below = sum(node.arity(schema) for node in self.open)
        return nodes + below <= min(MOST_NODES, MOST_ENTRIES // schema.label.cells)

    def part(self, stops: Sequence[bool]) -> tuple[Frontier | None, Frontier | None]:
        """The nodes that become leaves, and those that go on; each spends on its own."""
        chosen = {
            "leaves": [i for i, stop in enumerate(stops) if stop],
            "inner": [i for i, stop in enumerate(stops) if not stop],
        }
        groups = self.cells.group(chosen)
        leaves, inner = (
            Frontier(groups[key], tuple(self.open[i] for i in cells)) if cells else None
            for key, cells in chosen.items()
        )
        return leaves, inner

    def grow(self, tree: TreeBuilder, splits: Sequence[Split]) -> Frontier:
        """Split every open node; the children are the next level."""
        below = [child for node, split in zip(self.open, splits, strict=True) for child in node.grow(tree, split)]
        return Frontier(self.cells.split(splits), tuple(below))

    def record_totals(self, tree: TreeBuilder, totals: IntArray) -> None:
        for node, total in zip(self.open, totals.tolist(), strict=True):
            tree.total(node.node, total)

    def record_counts(self, tree: TreeBuilder, counts: IntArray) -> None:
        for node, row in zip(self.open, counts.tolist(), strict=True):
            tree.counts(node.node, row)

    def count_again(self, tree: TreeBuilder, label: str, first: IntArray, asked: Epsilon) -> None:
        """Count the classes once more with all that the paths have left, and record the mean."""
        rest = self.cells.remaining()
        if rest.nano:
            again = self.cells.ask(Counts((label,), rest))
            self.record_counts(tree, pooled(first, asked, again, rest))


def pooled(first: IntArray, asked: Epsilon, again: IntArray, rest: Epsilon) -> IntArray:
    """Two noisy counts of the same cells, weighted by the inverse of their variances, rounded."""
    a, b = asked.nano**2, rest.nano**2
    mean = (first.astype(object) * a + again.astype(object) * b) * 2 + (a + b)
    return np.asarray(mean // (2 * (a + b)), dtype=np.int64)
