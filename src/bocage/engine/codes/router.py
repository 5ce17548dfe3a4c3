"""Filter and router of a question as flat arrays for the kernels.

A filter becomes part of the router: a test is a node whose targets are "go on" and "outside", and
AND and OR are short circuits. The router runs in one of two ways. With few paths from the root to
a cell, every column gets a table "code -> bits of the paths that allow it", and the one bit left
names the cell: no jumps at all. Otherwise rows walk from node to node.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bocage.plan import OUTSIDE, Bound, Branch, Question
from bocage.plan.predicate import Every, Test
from bocage.schema import Schema

MOST_PATHS = 63  # bit 0 stays free: no path left means no cell
MOST_STEPS = 1000  # of the search for paths
LARGE_TABLE = 1024  # a test on more codes is a search among thresholds, not a table
# Times a power of two, this number has six highest bits that tell which power it was.
DE_BRUIJN = 0x03F79D71B4CB0A89

IntArray = NDArray[np.int64]
Table = NDArray[np.int32]
Path = tuple[int, dict[int, NDArray[np.bool_]]]  # a cell, and the codes allowed on the way to it


class Walk:
    """The nodes of filter and router. A target is a node, ``~cell`` or OUTSIDE, as in `Cells`."""

    def __init__(self, question: Question, schema: Schema, index: Mapping[str, int]) -> None:
        self.index, self.schema = index, schema
        self._cells = question.cells.count
        self._nodes: list[tuple[int, int, int, int]] = []
        self._tables: dict[int, Table] = {}  # by node
        self._filled = 0
        self._sizes = {number: schema[name].cells for name, number in index.items()}
        for node in question.cells.nodes:
            if isinstance(node, Branch):
                self._branch(node.column, np.array(node.targets, np.int32))
            else:
                self._node(index[node.column], node.threshold, node.below, node.above)
        self.root = self._filter(question.where, 0 if self._nodes else ~0, OUTSIDE)

    def array(self) -> Table:
        return np.array(self._nodes, np.int32).reshape(-1, 4)

    def tables(self) -> Table:
        return np.concatenate([*self._tables.values(), np.zeros(0, np.int32)])

    def _node(self, column: int, threshold: int, below: int, above: int) -> int:
        self._nodes.append((column, threshold, below, above))
        return len(self._nodes) - 1

    def _branch(self, column: str, targets: Table) -> int:
        self._tables[len(self._nodes)] = targets
        self._filled += len(targets)
        return self._node(self.index[column], 0, self._filled - len(targets), 0)

    def _filter(self, bound: Bound, yes: int, no: int) -> int:
        """The target where rows enter that should go to `yes` if they pass, else to `no`."""
        if isinstance(bound, Test):
            return self._test(bound, yes, no)
        if isinstance(bound, Every):
            for part in reversed(bound.parts):
                yes = self._filter(part, yes, no)
            return yes
        for part in reversed(bound.parts):
            no = self._filter(part, yes, no)
        return no

    def _test(self, test: Test, yes: int, no: int) -> int:
        cells = self.schema[test.column].cells
        if cells <= LARGE_TABLE:
            targets = np.full(cells, no, np.int32)
            for low, high in test.ranges:
                targets[low : high + 1] = yes
            return self._branch(test.column, targets)
        starts, goes = [0], [no]
        for low, high in test.ranges:
            starts += [low, high + 1]
            goes += [yes, no]
        return self._search(self.index[test.column], starts, goes)

    def _search(self, column: int, starts: list[int], goes: list[int]) -> int:
        """The target of the last start that is not above the code."""
        if len(starts) == 1:
            return goes[0]
        half = len(starts) // 2
        below = self._search(column, starts[:half], goes[:half])
        above = self._search(column, starts[half:], goes[half:])
        # A range that begins at code 0 has no codes below it, and 0 would mean a table.
        return above if starts[half] == 0 else self._node(column, starts[half], below, above)

    def paths(self) -> list[Path] | None:
        """All paths to cells, or None where walking is the better way."""
        if self._cells > MOST_PATHS:
            return None
        found: list[Path] = []
        depth = 0
        open_ends: list[tuple[int, int, dict[int, NDArray[np.bool_]]]] = [(self.root, 0, {})]
        columns: set[int] = set()
        for _ in range(MOST_STEPS):
            if not open_ends or len(found) > MOST_PATHS:
                break
            target, steps, allowed = open_ends.pop()
            depth = max(depth, steps)
            if target == OUTSIDE:
                continue
            if target < 0:
                found.append((~target, allowed))
                continue
            column = self._nodes[target][0]
            columns.add(column)
            for onward, codes in self._onward(target):
                both = codes & allowed[column] if column in allowed else codes
                if both.any():
                    open_ends.append((onward, steps + 1, {**allowed, column: both}))
        # A step of a walk costs about twice as much as a look into a table of masks.
        worth_it = len(columns) <= 2 * depth + 2
        return found if not open_ends and len(found) <= MOST_PATHS and worth_it else None

    def _onward(self, node: int) -> list[tuple[int, NDArray[np.bool_]]]:
        column, threshold, below, above = self._nodes[node]
        if threshold:
            codes = np.arange(self._sizes[column])
            return [(below, codes < threshold), (above, codes >= threshold)]
        targets = self._tables[node]
        return [(int(target), targets == target) for target in np.unique(targets)]


def masks_of(
    paths: list[Path], schema: Schema, index: Mapping[str, int], cells: int
) -> tuple[IntArray, IntArray, NDArray[np.uint64], NDArray[np.uint32]]:
    """Tables from codes to the paths they allow; path k has bit k, counted from 1."""
    sizes = {number: schema[name].cells for name, number in index.items()}
    columns = sorted({column for _, allowed in paths for column in allowed})
    every = sum(1 << bit for bit in range(1, len(paths) + 1))
    masks = [np.array([every], np.uint64)]
    for column in columns:
        mask = np.full(sizes[column], every, np.uint64)
        for bit, (_, allowed) in enumerate(paths, start=1):
            if column in allowed:
                mask[~allowed[column]] &= np.uint64(every & ~(1 << bit))
        masks.append(mask)
    cell_of = np.full(64, cells, np.uint32)
    for bit, (cell, _) in enumerate(paths, start=1):
        cell_of[((1 << bit) * DE_BRUIJN & 0xFFFF_FFFF_FFFF_FFFF) >> 58] = cell
    offsets = np.cumsum([len(mask) for mask in masks])
    return np.array(columns, np.int64), offsets, np.concatenate(masks), cell_of
