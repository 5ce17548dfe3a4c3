"""Disjoint cells of a table: the leaves of a tree of public tests on codes.

A partition by values, by numeric ranges, by the leaves of a released tree, and a nested partition are
all of this kind. Every row lands in at most one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import PlanError
from bocage.schema import Schema

OUTSIDE = -(2**31)  # a target: the row belongs to no cell


@dataclass(frozen=True)
class Branch:
    """Goes to ``targets[code]``."""

    column: str
    targets: tuple[int, ...]


@dataclass(frozen=True)
class Cut:
    """Goes to `below` if the code is smaller than `threshold`, else to `above`."""

    column: str
    threshold: int
    below: int
    above: int


Node = Branch | Cut


@dataclass(frozen=True)
class Cells:
    """A router from rows to cells ``0 .. count - 1``.

    A target is the index of a node if it is not negative, ``~cell`` for a cell, or OUTSIDE. Nodes
    point forward only, so that routing ends. Without nodes all rows are in cell 0.
    """

    nodes: tuple[Node, ...] = ()
    count: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.count < -OUTSIDE:
            raise PlanError(f"a partition has at least one cell, not {self.count}.")
        for at, node in enumerate(self.nodes):
            numbers = targets_of(node) if isinstance(node, Branch) else (*targets_of(node), node.threshold)
            if type(numbers) is not tuple or any(type(number) is not int for number in numbers):
                raise PlanError(f"node {at} of a partition has a tuple of whole numbers, not {_shown(node)}.")
            for target in targets_of(node):
                forward = at < target < len(self.nodes)
                if target != OUTSIDE and not forward and not 0 <= ~target < self.count:
                    raise PlanError(f"node {at} of a partition points to {target}.")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node.column for node in self.nodes))

    def to_json(self) -> list[list[Any]]:
        """The nodes as plain data: a ledger knows cells by them."""
        return [[type(node).__name__, *vars(node).values()] for node in self.nodes]

    def check(self, schema: Schema) -> None:
        """Refuse a router that does not fit the schema."""
        for node in self.nodes:
            cells = schema[node.column].cells
            if isinstance(node, Branch):
                if len(node.targets) != cells:
                    raise PlanError(f"a branch on {node.column!r} needs {cells} targets.")
            elif not 0 < node.threshold < cells:
                raise PlanError(f"a cut of {node.column!r} must lie in 1..{cells - 1}, not {node.threshold}.")

    def refine(self, splits: Mapping[int, Branch | Cut]) -> Cells:
        """Replace some cells by a split of them; targets of a split count from 0 as new children.

        Cells that are not split keep their order and come first; then come the children of the
        split cells, in the order of `splits`.
        """
        for cell, split in splits.items():
            children = [child for child in targets_of(split) if child != OUTSIDE]
            if not 0 <= cell < self.count or not children or min(children) < 0:
                raise PlanError(
                    f"cell {cell} of {self.count} cannot be split: a split is of one of the cells "
                    "and sends codes to children 0, 1, … or outside."
                )
        kept = [cell for cell in range(self.count) if cell not in splits]
        renumber = {cell: i for i, cell in enumerate(kept)}
        node_of = {cell: len(self.nodes) + i for i, cell in enumerate(splits)}
        target_of = {**{cell: ~i for cell, i in renumber.items()}, **node_of}

        def moved(target: int) -> int:
            return target_of[~target] if target < 0 and target != OUTSIDE else target

        nodes = [map_targets(node, moved) for node in self.nodes]
        first = len(kept)
        for split in splits.values():
            nodes.append(map_targets(split, _child_of(first)))
            first += 1 + max(targets_of(split))
        return Cells(tuple(nodes), first)

    def only(self, cells: Sequence[int]) -> Cells:
        """Keep some cells, numbered anew in the order given; rows of the others are outside."""
        if not cells or len(set(cells)) < len(cells) or not set(cells) <= set(range(self.count)):
            raise PlanError(f"some of the {self.count} cells can be kept, each once.")
        renumber = {cell: i for i, cell in enumerate(cells)}

        def moved(target: int) -> int:
            if target >= 0 or target == OUTSIDE:
                return target
            return ~renumber[~target] if ~target in renumber else OUTSIDE

        return Cells(tuple(map_targets(node, moved) for node in self.nodes), len(cells))

    def route(self, codes: Mapping[str, NDArray[np.integer]], rows: int) -> NDArray[np.int32]:
        """The cell of every row, or -1: the reference that every kernel must equal."""
        cell = np.full(rows, -1, dtype=np.int32)
        if not self.nodes:
            cell[:] = 0
            return cell
        waiting: dict[int, list[NDArray[np.intp]]] = {0: [np.arange(rows)]}
        for index, node in enumerate(self.nodes):
            if index not in waiting:
                continue
            chosen = np.concatenate(waiting.pop(index))
            code = np.asarray(codes[node.column])[chosen]
            if isinstance(node, Cut):
                target = np.where(code < node.threshold, node.below, node.above)
            else:
                target = np.asarray(node.targets)[code]
            for value in np.unique(target).tolist():
                picked = chosen[target == value]
                if value >= 0:
                    waiting.setdefault(value, []).append(picked)
                elif value != OUTSIDE:
                    cell[picked] = ~value
        return cell


def _shown(node: Node) -> str:
    text = repr(node)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _child_of(first: int) -> Callable[[int], int]:
    return lambda child: OUTSIDE if child == OUTSIDE else ~(first + child)


def targets_of(node: Node) -> Iterable[int]:
    return node.targets if isinstance(node, Branch) else (node.below, node.above)


def map_targets(node: Node, change: Callable[[int], int]) -> Node:
    """The same test that leads elsewhere."""
    if isinstance(node, Branch):
        return Branch(node.column, tuple(map(change, node.targets)))
    return Cut(node.column, node.threshold, change(node.below), change(node.above))
