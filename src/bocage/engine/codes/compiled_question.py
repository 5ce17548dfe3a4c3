"""A question as flat arrays for the kernels: how rows find their cell, and where to count what.

A filter becomes part of the router: a test is a node whose targets are "go on" and "outside", and
AND and OR are short circuits. The router runs in one of two ways. With few paths from the root to
a cell, every column gets a table "code -> bits of the paths that allow it", and the one bit left
names the cell: no jumps at all. Otherwise rows walk from node to node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bocage.plan import OUTSIDE, Bound, Branch, Question, Tally
from bocage.plan.predicate import Every, Test
from bocage.schema import Schema

PAIR_COUNTERS = 2**14  # the counters of a pair should stay in the second-level cache
MOST_PATHS = 63  # bit 0 stays free: no path left means no cell
MOST_STEPS = 1000  # of the search for paths
LARGE_TABLE = 1024  # a test on more codes is a search among thresholds, not a table
# Times a power of two, this number has six highest bits that tell which power it was.
DE_BRUIJN = 0x03F79D71B4CB0A89

IntArray = NDArray[np.int64]
Table = NDArray[np.int32]
Path = tuple[int, dict[int, NDArray[np.bool_]]]  # a cell, and the codes allowed on the way to it


@dataclass(frozen=True)
class Counters:
    """What one thread has counted for one question."""

    counts: IntArray
    sums: IntArray

    def add(self, other: Counters) -> None:
        self.counts[...] += other.counts
        self.sums[...] += other.sums


@dataclass(frozen=True)
class CompiledQuestion:
    """The arguments of `kernels.count` for one question.

    Attributes
    ----------
    route
        Columns, offsets into the masks, masks (the first is the start), and cell by path.
    walk
        Root, nodes (column, threshold or 0, below or table, above), tables of targets, and the
        number of the outside cell, or -1 if the router runs by masks.
    packs
        Rows (first, second or -1, size, size, begin, end): one or two columns and their counters.
    summed
        Columns to sum by slot; -1 counts the rows.
    """

    question: Question
    schema: Schema
    index: Mapping[str, int]
    route: tuple[IntArray, IntArray, NDArray[np.uint64], NDArray[np.uint32]]
    walk: tuple[int, Table, Table, int]
    label: int
    labels: int
    packs: IntArray
    summed: IntArray

    @property
    def size(self) -> int:
        """How many counters the columns need."""
        return int(self.packs[-1, 5]) if len(self.packs) else 0

    def fresh(self) -> Counters:
        slots = (self.question.cells.count + 1) * self.labels
        sums = np.zeros((len(self.summed), slots), np.int64)
        return Counters(np.zeros(self.size, np.int64), sums)

    def part(self, index: int, parts: int) -> CompiledQuestion:
        """A share of the columns, for threads that share one set of counters."""
        mine = np.arange(len(self.packs)) % parts == index
        summed = self.summed if index == 0 else self.summed[:0]
        return replace(self, packs=np.ascontiguousarray(self.packs[mine]), summed=summed)

    def tally(self, counters: Counters) -> Tally:
        """The answer, once all threads are added up."""
        tally = Tally.zeros(self.question, self.schema)
        cells, labels = self.question.cells.count, self.labels
        sums = counters.sums.reshape(-1, cells + 1, labels)[:, :cells]
        names = {self.index[name]: name for name in tally.columns}
        for first, second, a, b, begin, end in self.packs.tolist():
            joint = counters.counts[begin:end].reshape(cells + 1, labels, a, b)[:cells]
            tally.columns[names[first]][...] = joint.sum(axis=3).transpose(0, 2, 1)
            if second >= 0:
                tally.columns[names[second]][...] = joint.sum(axis=2).transpose(0, 2, 1)
        for name, row in zip(tally.sums, sums[-len(tally.sums) :], strict=False):
            tally.sums[name][...] = row.sum(axis=1)
        counted = next(iter(tally.columns.values()), None)
        tally.totals[...] = sums[0] if counted is None else counted.sum(axis=1)
        return tally


def compile_question(question: Question, schema: Schema, index: Mapping[str, int]) -> CompiledQuestion:
    """Compile for codes whose column `name` has the number ``index[name]``; narrow ones first."""
    labels = question.labels(schema)
    slots = (question.cells.count + 1) * labels
    walk = Router(question, schema, index)
    paths = walk.paths()
    rows = [] if question.columns else [-1]
    return CompiledQuestion(
        question,
        schema,
        index,
        masks_of(paths or [], schema, index, question.cells.count),
        (walk.root, walk.array(), walk.tables(), -1 if paths is not None else question.cells.count),
        -1 if question.label is None else index[question.label],
        labels,
        _packs(question, schema, index, slots),
        np.array(rows + [index[name] for name in dict.fromkeys(question.sums)], np.int64),
    )


def _packs(question: Question, schema: Schema, index: Mapping[str, int], slots: int) -> IntArray:
    """Pair columns with few codes, the smallest with the largest."""
    waiting = sorted((schema[name].cells, name) for name in dict.fromkeys(question.columns))
    packs: list[list[int]] = []
    begin = 0
    while waiting:
        a, first = waiting.pop()
        b, second = 1, -1
        if waiting and a <= 256 and slots * a * waiting[0][0] <= PAIR_COUNTERS:
            b, other = waiting.pop(0)
            second = index[other]
        end = begin + slots * a * b
        packs.append([index[first], second, a, b, begin, end])
        begin = end
    return np.array(packs, np.int64).reshape(-1, 6)


class Router:
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
        complete: list[Path] = []
        depth = 0
        open_ends: list[tuple[int, int, dict[int, NDArray[np.bool_]]]] = [(self.root, 0, {})]
        columns: set[int] = set()
        for _ in range(MOST_STEPS):
            if not open_ends or len(complete) > MOST_PATHS:
                break
            target, steps, allowed = open_ends.pop()
            depth = max(depth, steps)
            if target == OUTSIDE:
                continue
            if target < 0:
                complete.append((~target, allowed))
                continue
            column = self._nodes[target][0]
            columns.add(column)
            for onward, codes in self._onward(target):
                both = codes & allowed[column] if column in allowed else codes
                if both.any():
                    open_ends.append((onward, steps + 1, {**allowed, column: both}))
        # A step of a walk costs about twice as much as a look into a table of masks.
        worth_it = len(columns) <= 2 * depth + 2
        return complete if not open_ends and len(complete) <= MOST_PATHS and worth_it else None

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
