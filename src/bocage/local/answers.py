"""What people answered, and the interval that each record is counted in: Agrawal & Srikant (2000),
"Partitioning the Data".

The reconstruction says how many records of a class lie in each interval, not which. Numbers are
associated by sorting: the lowest answers belong to the first interval, and so on. Categories have no
order; there as many records as possible keep the value that they sent, and those of values that were
sent too often fill up the values that were sent too seldom. Neither says what a person has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bocage.local import tree_kernels
from bocage.local.discrete import ValueClass
from bocage.local.distortion import Distortion
from bocage.local.intervals import Intervals, number_of_intervals, partition, starts
from bocage.local.kernel import Edges
from bocage.local.reconstruct import reconstruct
from bocage.local.tree_parameters import TreeParameters
from bocage.schema import Attribute, Categorical

Ints = NDArray[np.int64]
Rows = NDArray[np.int32]
Floats = NDArray[np.float64]


class Answers:
    """Answers of people, and the interval that each is counted in.

    Parameters
    ----------
    columns
        The attributes, and how each was distorted.
    answers
        The codes that were sent: a row for each person, a column for each attribute.
    labels, classes
        The code of each person's label, and how many labels there are.
    """

    def __init__(
        self,
        columns: Sequence[tuple[Attribute, Distortion]],
        answers: Rows,
        labels: Ints,
        classes: int,
        growth: TreeParameters,
    ) -> None:
        self.attributes = [attribute for attribute, _ in columns]
        self.distortions = [distortion for _, distortion in columns]
        self.answers, self.labels, self.classes = answers, labels, classes
        self.growth = growth
        self.codes = np.empty(answers.shape, np.uint16)
        self.edges: list[Edges] = [np.arange(2)] * len(columns)
        self.multiway = np.array([isinstance(a, Categorical) for a in self.attributes])
        self.sent = [distortion.outputs(attribute) for attribute, distortion in columns]
        self._partition = lru_cache(maxsize=1024)(self._new_partition)

    def __len__(self) -> int:
        return len(self.labels)

    def everyone(self) -> Rows:
        return np.arange(len(self), dtype=np.int32)

    def take_as_sent(self, *, whole: bool) -> None:
        """Take every answer for the truth: by itself, or in intervals that reach as far as it."""
        for column, (attribute, sent) in enumerate(zip(self.attributes, self.sent, strict=True)):
            answers = self.answers[:, column].astype(np.int64)
            intervals = min(self._intervals(len(self)), attribute.cells)
            distortion = self.distortions[column]
            if isinstance(distortion, ValueClass):
                self.codes[:, column] = answers
                self.edges[column] = np.array(distortion.bounds(attribute))
                continue
            if whole or self.multiway[column] or len(sent) <= intervals:
                self.codes[:, column] = answers - sent.start
                self.edges[column] = np.arange(sent.start, sent.stop + 1)
                continue
            interval = np.arange(sent.start, sent.stop) * intervals // attribute.cells
            self.codes[:, column] = interval[answers - sent.start] - interval[0]
            self.edges[column] = starts(np.arange(interval[0], interval[-1] + 2), attribute.cells, intervals)

    def take_reconstructed(self, rows: Rows, columns: Sequence[int], *, by_class: bool) -> None:
        """Reconstruct some columns from some rows, and give these rows their intervals."""
        groups = self.labels if by_class else np.zeros_like(self.labels)
        for column in columns:
            parts = self._partition(column, self._intervals(len(rows)))
            sent = self.sent[column]
            counts = np.zeros((self.classes if by_class else 1, len(sent)), np.int64)
            tree_kernels.count_answers(self.answers, column, groups, rows, sent.start, counts)
            estimated = self._estimate(counts, parts)
            association = (by_value if self.multiway[column] else by_order)(counts, estimated)
            tree_kernels.associate(
                self.answers, column, groups, rows, sent.start,
                association.first, association.size, association.line, association.bounds,
                self.codes,
            )  # fmt: skip
            self.edges[column] = parts.edges

    def _estimate(self, counts: Ints, parts: Intervals) -> Floats:
        """How many records of each group lie in each interval."""
        coarse = np.zeros((len(counts), parts.answers), np.int64)
        for group, line in enumerate(counts):
            coarse[group] = np.bincount(parts.place, line, parts.answers)
        reconstruction = reconstruct(coarse, parts.kernel, self.growth.stop)
        return np.asarray(reconstruction.shares * counts.sum(axis=1, keepdims=True), np.float64)

    def _intervals(self, records: int) -> int:
        return self.growth.intervals or number_of_intervals(records)

    def _new_partition(self, column: int, intervals: int) -> Intervals:
        return partition(self.attributes[column], self.distortions[column], intervals)


@dataclass(frozen=True)
class Association:
    """Where the records of a group that sent an answer lie; see `tree_kernels.associate`.

    Parameters
    ----------
    first, size
        Groups x answers: the stretch of a line on which these records lie.
    line
        Groups x answers: which line of `bounds` it is.
    bounds
        The ends of the intervals on each line.
    """

    first: Floats
    size: Ints
    line: Ints
    bounds: Floats


def by_order(counts: Ints, estimated: Floats) -> Association:
    """Sort the records of every group by their answers; fill the intervals from the lowest on.

    Parameters
    ----------
    counts
        Groups x answers: how many records sent each answer.
    estimated
        Groups x intervals: how many records lie in each, as reconstructed.
    """
    first = (np.cumsum(counts, axis=1) - counts).astype(np.float64)
    line = np.broadcast_to(np.arange(len(counts))[:, None], counts.shape)
    return Association(first, counts, np.ascontiguousarray(line), np.cumsum(estimated, axis=1))


def by_value(counts: Ints, estimated: Floats) -> Association:
    """Let as many records as possible keep the category that they sent; move the others.

    Answers and intervals are the same categories here.
    """
    size = counts.astype(np.float64)
    groups, values = size.shape
    kept = np.minimum(size, estimated)
    short = estimated - kept
    missing = short.sum(axis=1, keepdims=True)
    shares = np.divide(short, missing, out=np.zeros_like(short), where=missing > 0)
    moved = (size - kept)[:, :, None] * shares[:, None, :]
    moved[:, np.arange(values), np.arange(values)] += kept
    bounds = np.cumsum(moved, axis=2).reshape(groups * values, values)
    line = np.arange(groups * values).reshape(groups, values)
    return Association(np.zeros_like(size), counts, line, bounds)
