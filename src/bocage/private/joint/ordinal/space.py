"""All ladders of a table: their weights, and a walk to one of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.mechanisms import Walked
from bocage.private.joint.ordinal import kernels
from bocage.private.joint.ordinal.family import STAY, Frame, Ladder, Ladders, moves

if TYPE_CHECKING:
    from bocage.mechanisms import Steps

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_TURNS = 16  # parts of the work for each thread


@dataclass
class Climbed:
    """The rows, and at each rate the weights of all frames, whose ladders were all visited."""

    ladders: Ladders
    cells: NDArray[np.uint8]
    labels: NDArray[np.integer]
    classes: int
    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        self._facts = np.array([block.size for block in self.ladders.blocks], np.int64)
        self._marks = self.labels.astype(np.int64)
        self._lost = np.exp(np.outer(-np.array(self.rates), np.arange(len(self.labels) + 1)))
        kinds = self.ladders.kinds
        self._frames = [frame for frames in kinds for frame in frames]
        self._number = [sum(map(self.ladders.systems, frames)) for frames in kinds]
        self._kind = [k for k, frames in enumerate(kinds) for _ in frames]
        self._every: dict[tuple[int, int], FloatArray] = {}
        prior = np.log([self._number[kind] * len(kinds) for kind in self._kind])
        self.weights = self._weigh() - prior  # for each rate

    def _weigh(self) -> FloatArray:
        found = np.empty((len(self._frames), len(self.rates)))

        def work(turn: range) -> None:
            for place in turn:
                self._visit(self._frames[place], slice(None), found[place], np.empty(0))

        if len(found) <= _TURNS:  # not worth a thread
            work(range(len(found)))
            return found.T
        turns = _TURNS * workers()
        with ThreadPoolExecutor(workers()) as pool:  # its threads end here: no fork meets one
            list(pool.map(work, [range(i, len(found), turns) for i in range(turns)]))
        return found.T

    def _visit(self, frame: Frame, rates: slice, found: FloatArray, every: FloatArray) -> None:
        own = self.ladders.patterns(frame)
        points = np.zeros((len(own), max(map(len, own)), int(self._facts.max())), np.int64)
        for line, patterns in zip(points, own, strict=True):
            line[: len(patterns), : len(patterns[0])] = patterns
        sizes = np.array([len(patterns) for patterns in own])
        kernels.visit(
            self.cells, self._marks, np.array(frame.columns), frame.gate, self._facts, points, sizes,
            self.ladders.top, self.classes, np.array(self.rates)[rates], self._lost[rates], found, every,
        )  # fmt: skip

    def walk(self, rate: int, steps: Steps) -> Walked[Ladder]:
        """At one of the rates: which columns, which points, and the label of one rung after another."""
        place = steps.choose(self.weights[rate])
        frame, own = self._frames[place], self.ladders.patterns(self._frames[place])
        left, points = steps.choose(self._each(place, rate)), []
        for patterns in reversed(own):
            left, digit = divmod(left, len(patterns))
            points.append(patterns[digit])
        points.reverse()
        counts = self._counts(frame, points)
        labels = [self._labels(own_counts, self.rates[rate], steps) for own_counts in counts]
        blocks = self.ladders.blocks
        given = tuple((blocks[i], own) for i, own in zip(frame.columns, points, strict=True))
        gate = None if frame.gate < 0 else blocks[frame.gate]
        score = sum(
            int(line[range(len(line)), chosen].sum())
            for line, chosen in zip(counts, labels, strict=True)
        )
        odds, out_of = self._odds(place, labels)
        return Walked(Ladder(gate, given, tuple(map(tuple, labels))), score, (odds, out_of))

    def _each(self, place: int, rate: int) -> FloatArray:
        """The weight of each choice of points in one frame."""
        if (place, rate) not in self._every:
            found = np.empty(self.ladders.systems(self._frames[place]))
            self._visit(self._frames[place], slice(rate, rate + 1), np.empty(1), found)
            self._every[place, rate] = found
        return self._every[place, rate]

    def _counts(self, frame: Frame, points: list[tuple[int, ...]]) -> IntArray:
        """Rows by cell of the gate, rung and label."""
        found = np.zeros(
            (self.ladders.gates(frame), self.ladders.rungs(frame), self.classes), np.int64
        )
        sums = np.zeros(len(self.labels), np.int64)
        for column, own in zip(frame.columns, points, strict=True):
            sums += np.array(own)[self.cells[column]]
        gate = np.zeros_like(sums) if frame.gate < 0 else self.cells[frame.gate]
        np.add.at(found, (gate, sums, self.labels), 1)
        return found

    def _labels(self, counts: IntArray, rate: float, steps: Steps) -> list[int]:
        """From the lowest rung on: by the sum over all labels of the rungs above, in logarithms."""
        stay, other = log(STAY[0] / STAY[1]), log((1 - STAY[0] / STAY[1]) / (self.classes - 1))
        step = np.where(np.eye(self.classes, dtype=bool), stay, other)
        above = [np.zeros(self.classes)]  # sums over what comes after each rung, the last one first
        for own in counts[:0:-1]:
            above.append(np.logaddexp.reduce(step + rate * own + above[-1], axis=1))
        chosen: list[int] = []
        for own, rest in zip(counts, reversed(above), strict=True):
            weights = rate * own + rest
            chosen.append(steps.choose(weights + step[chosen[-1]] if chosen else weights))
        return chosen

    def _odds(self, place: int, labels: list[list[int]]) -> tuple[int, int]:
        """The prior: all kinds of frames alike, all points of a kind, and the chains of labels."""
        number = self._number[self._kind[place]] * len(self._number)
        steps, changes = sum(len(own) - 1 for own in labels), sum(map(moves, labels))
        stay, of = STAY
        odds = stay ** (steps - changes) * (of - stay) ** changes
        out_of = of**steps * (self.classes - 1) ** changes * self.classes ** len(labels)
        return odds, out_of * number
