"""A question as flat arrays for the kernels: how rows find their cell, and where to count what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.router import IntArray, Table, Walk, masks_of
from bocage.plan import Question, Tally
from bocage.schema import Schema

PAIR_COUNTERS = 2**14  # the counters of a pair should stay in the second-level cache


@dataclass(frozen=True)
class Counters:
    """What one thread has counted for one question."""

    counts: IntArray
    sums: IntArray

    def add(self, other: Counters) -> None:
        self.counts[...] += other.counts
        self.sums[...] += other.sums


@dataclass(frozen=True)
class Program:
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

    def part(self, index: int, parts: int) -> Program:
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


def compile_question(question: Question, schema: Schema, index: Mapping[str, int]) -> Program:
    """Compile for codes whose column `name` has the number ``index[name]``; narrow ones first."""
    labels = question.labels(schema)
    slots = (question.cells.count + 1) * labels
    walk = Walk(question, schema, index)
    paths = walk.paths()
    rows = [] if question.columns else [-1]
    return Program(
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
