"""All scores of a family on one table: their weights, and a walk to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.mechanisms import Proposed
from bocage.private.joint.score import kernels
from bocage.private.joint.score.family import (
    STAY,
    DrawnOrdinalScore,
    DrawnScorecard,
    Family,
    Frame,
    Points,
    Score,
)

if TYPE_CHECKING:
    from bocage.mechanisms import Choices

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_TURNS = 16  # parts of the work for each thread


@dataclass
class Space:
    """The rows, and at each rate the weights of all frames, whose scores were all visited."""

    family: Family
    cells: NDArray[np.uint8]
    labels: NDArray[np.integer]
    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        kinds = self.family.kinds
        self._frames = [frame for frames in kinds for frame in frames]
        scores = [sum(map(self.family.scores, frames)) for frames in kinds]
        self._number = [
            own * len(kinds) for frames, own in zip(kinds, scores, strict=True) for _ in frames
        ]  # 1 / the prior of each score, or of its points, by frame
        self._table, rates = self._tabulated(), np.array(self.rates)
        self._lost = np.exp(np.outer(-rates, np.arange(len(self.labels) + 1)))
        self._best = np.zeros(len(self._frames), np.int64)  # rows that the best score has right
        self._every: dict[tuple[int, int], FloatArray] = {}
        self.weights = self._weigh() - np.array([log(number) for number in self._number])

    def _tabulated(self) -> kernels.Table:
        family, labels = self.family, self.labels.astype(np.int64)
        sizes = np.array([block.size for block in family.blocks], np.int64)
        most = max(map(len, family.alphabets))
        points = np.zeros((len(sizes), most, sizes.max()), np.int32)
        for column, alphabet in zip(points, family.alphabets, strict=True):
            if alphabet:
                column[: len(alphabet), : len(alphabet[0])] = alphabet
        counts = np.bincount(labels, minlength=family.labels)
        pairs = np.array([(*pair, counts[pair[1]]) for pair in family.pairs], np.int64)
        signs, step = np.ones(len(labels), np.int32), family.labels
        if len(pairs) == 1:  # one count for both labels
            pairs[0, :2], signs[labels == 1], labels, step = (0, -1), -1, np.zeros_like(labels), 1
        return kernels.Table(self.cells, labels, signs, step, points, sizes, family.labels, pairs.reshape(-1, 3))

    def _first(self, columns: Sequence[int]) -> int:
        """How many columns add points to rows: the others have few combinations of cells."""
        most, first = min(max(8 * len(self.labels), 2**10), 2**18), len(columns) - 1
        width = self._table.step * (1 + self.family.top(Frame(tuple(columns))))
        size = width * int(self._table.sizes[columns[first]])
        while first and size * self._table.sizes[columns[first - 1]] <= most:
            first -= 1
            size *= int(self._table.sizes[columns[first]])
        return first

    def _facts(self, frame: Frame) -> tuple[int, int, int, int]:
        """How many columns a frame has, its gate, how many columns add points to rows, and the highest rung."""
        few = self.family.mirrored or not frame.columns
        first = 0 if few else self._first(frame.columns)
        return len(frame.columns), frame.gate, first, self.family.top(frame)

    def _weigh(self) -> FloatArray:
        """By rate and frame."""
        frames, rates = self._frames, np.array(self.rates)
        widest = max(len(frame.columns) for frame in frames)
        columns, offered = np.zeros((2, len(frames), widest), np.int64)
        for i, frame in enumerate(frames):
            columns[i, : len(frame.columns)] = frame.columns
            offered[i, : len(frame.columns)] = self.family.sizes(frame)
        facts = np.array([self._facts(frame) for frame in frames], np.int64)
        weights = np.empty((len(frames), len(rates)))

        def work(turn: slice) -> None:
            kernels.weigh(
                self._table, columns[turn], offered[turn], facts[turn], rates, self._lost,
                weights[turn], self._best[turn],
            )  # fmt: skip

        length = -(-len(frames) // (_TURNS * workers()))
        with ThreadPoolExecutor(workers()) as pool:  # its threads end here: no fork meets one
            list(pool.map(work, [slice(i, i + length) for i in range(0, len(frames), length)]))
        for i, frame in enumerate(frames):
            if not frame.columns:
                weights[i] = np.logaddexp.reduce(np.outer(rates, self._labels()), axis=1)
        return weights.T

    def _labels(self) -> IntArray:
        """Rows by label."""
        return np.bincount(self.labels, minlength=self.family.labels)

    def propose(self, rate: int, choices: Choices) -> Proposed[Score]:
        """At one of the rates: which columns, which points, and the label of each rung."""
        place = choices.choose(self.weights[rate])
        if not self._frames[place].columns:
            return self._one_label(place, rate, choices)
        return (self._chain if self.family.mirrored else self._threshold)(place, rate, choices)

    def _one_label(self, place: int, rate: int, choices: Choices) -> Proposed[Score]:
        counts = self._labels()
        label = choices.choose(np.multiply(self.rates[rate], counts, dtype=np.float64))
        outcome = DrawnScorecard((), 0, (label, label))
        return Proposed(outcome, int(counts[label]), (1, self._number[place]))

    def _points(self, place: int, rate: int, choices: Choices) -> list[Points]:
        """Those of all columns that are visited one after another."""
        frame = self._frames[place]
        sizes = self.family.sizes(frame)
        sizes = sizes if self.family.mirrored else sizes[:-1]
        left, points = choices.choose(self._visited(place, rate, prod(sizes))), list[Points]()
        for column, size in reversed([*zip(frame.columns, sizes, strict=False)]):
            left, digit = divmod(left, size)
            points.append(self.family.alphabets[column][digit])
        return points[::-1]

    def _visited(self, place: int, rate: int, visits: int) -> FloatArray:
        """The weight of each choice of these points in one frame."""
        if (place, rate) not in self._every:
            frame, weights = self._frames[place], np.empty(visits)
            _, gate, first, top = self._facts(frame)
            kernels.visit(
                self._table, np.array(frame.columns), np.array(self.family.sizes(frame)), gate, first, top,
                np.array(self.rates[rate : rate + 1]), self._lost[rate : rate + 1], int(self._best[place]),
                np.empty(0), weights,
            )  # fmt: skip
            self._every[place, rate] = weights
        return self._every[place, rate]

    def _counts(self, frame: Frame, points: Sequence[Points]) -> IntArray:
        """Rows by cell of the gate, rung and label."""
        gates = 1 if frame.gate < 0 else self.family.blocks[frame.gate].size
        shape = gates, 1 + self.family.top(frame), self.family.labels
        rungs = np.zeros(len(self.labels), np.int64)
        for column, own in zip(frame.columns, points, strict=True):
            rungs += np.array(own)[self.cells[column]]
        if frame.gate >= 0:
            rungs += shape[1] * self.cells[frame.gate].astype(np.int64)
        return np.bincount(rungs * shape[2] + self.labels, minlength=prod(shape)).reshape(shape)

    def _chain(self, place: int, rate: int, choices: Choices) -> Proposed[Score]:
        """Points, and the label of one rung after another, in each cell of the gate."""
        frame, points = self._frames[place], self._points(place, rate, choices)
        counts = self._counts(frame, points)
        labels = [self._rungs(own, self.rates[rate], choices) for own in counts]
        score = sum(int(rungs[range(len(chosen)), chosen].sum()) for rungs, chosen in zip(counts, labels, strict=True))
        blocks, classes, (stay, of) = self.family.blocks, self.family.labels, STAY
        gate = None if frame.gate < 0 else blocks[frame.gate]
        given = tuple((blocks[i], own) for i, own in zip(frame.columns, points, strict=True))
        moves = sum(below != label for own in labels for below, label in pairwise(own))
        rises = sum(len(own) - 1 for own in labels)
        odds = stay ** (rises - moves) * (of - stay) ** moves
        out_of = of**rises * (classes - 1) ** moves * classes ** len(labels)
        outcome = DrawnOrdinalScore(gate, given, tuple(map(tuple, labels)))
        return Proposed(outcome, score, (odds, out_of * self._number[place]))

    def _rungs(self, counts: IntArray, rate: float, choices: Choices) -> list[int]:
        """From the lowest rung on: by the sum over all labels of the rungs above, in logarithms."""
        classes, stay = self.family.labels, STAY[0] / STAY[1]
        step = np.where(np.eye(classes, dtype=bool), log(stay), log((1 - stay) / (classes - 1)))
        above = [np.zeros(classes)]  # sums over what comes after each rung, the last one first
        for own in counts[:0:-1]:
            above.append(np.logaddexp.reduce(step + rate * own + above[-1], axis=1))
        chosen: list[int] = []
        for own, rest in zip(counts, reversed(above), strict=True):
            weights = rate * own + rest
            chosen.append(choices.choose(weights + step[chosen[-1]] if chosen else weights))
        return chosen

    def _threshold(self, place: int, rate: int, choices: Choices) -> Proposed[Score]:
        """Points of all columns but the last, then those of the last, threshold and labels at once."""
        frame, family = self._frames[place], self.family
        ahead, alphabet = self._points(place, rate, choices), family.alphabets[frame.columns[-1]]
        rights = []  # rows predicted right, by pattern of the last column, pair of labels and threshold
        for points in alphabet:
            upto = self._counts(frame, [*ahead, points])[0].cumsum(axis=0).T
            below, above = upto[:, :-1], upto[:, -1:] - upto[:, :-1]
            rights += [below[low] + above[high] for low, high in family.pairs]
        right = np.concatenate(rights)
        chosen = choices.choose(self.rates[rate] * right)
        at, threshold = divmod(chosen, family.top(frame))
        last, pair = divmod(at, len(family.pairs))
        given = zip(frame.columns, [*ahead, alphabet[last]], strict=True)
        points_of = tuple((family.blocks[i], own) for i, own in sorted(given))
        outcome = DrawnScorecard(points_of, threshold + 1, family.pairs[pair])
        return Proposed(outcome, int(right[chosen]), (1, self._number[place]))
