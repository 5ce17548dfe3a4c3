"""All point systems of a table: their weights, and a walk to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.mechanisms import Walked
from bocage.private.joint.score import kernels
from bocage.private.joint.score.family import WIDTH, Family, Sheet

if TYPE_CHECKING:
    from bocage.mechanisms import Steps

FloatArray = NDArray[np.float64]
_LEAST = 1e-300  # what a weight is taken for if it is too small for a float
_TURNS = 16  # parts of the work for each thread


@dataclass
class Visited:
    """The rows, and at each rate the weights of all sets of columns, whose systems were all visited."""

    family: Family
    cells: NDArray[np.uint8]
    labels: NDArray[np.integer]
    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        own, classes = self.family.patterns, self.family.labels
        self._most = self.family.systems.most
        self._facts = np.array([(len(p), len(p[0]) if p else 1) for p in own], np.int64)
        self._points = np.zeros((len(own), *self._facts.max(axis=0).tolist()), np.uint8)
        for place, patterns in zip(self._points, own, strict=True):
            for line, one in zip(place, patterns, strict=False):
                line[: len(one)] = one
        self._tops = self._points.max(axis=(1, 2)).astype(np.int64)
        counts, two = np.bincount(self.labels, minlength=classes), classes == 2
        self._lines = 1 if two else classes
        self._marks = np.zeros(len(self.labels), np.int64) if two else self.labels.astype(np.int64)
        self._signs = np.where(two & (self.labels == 1), -1, 1).astype(np.int32)
        lines = [(0, -1) if two else pair for pair in self.family.pairs]
        above = [counts[b] for _, b in self.family.pairs]
        self._pairs = np.array([(*pair, c) for pair, c in zip(lines, above, strict=True)], np.int64)
        self._sets, self._sizes = list[tuple[int, ...]](), [classes]  # systems of so many columns
        self._best: list[int] = []  # rows that the best system of each set predicts right
        self._parts: dict[tuple[int, int], FloatArray] = {}
        weights = [np.outer(self.rates, counts) - log(classes)]
        order = sorted((i for i, p in enumerate(own) if p), key=lambda i: len(own[i]))
        for size in range(1, self._most + 1):
            sets = list(combinations(order, size))
            numbers = [prod(self._facts[list(one), 0].tolist()) * self._span(one) for one in sets]
            self._sizes.append(len(lines) * sum(numbers))
            weights.append(self._weigh(sets) - log(self._sizes[-1]))
            self._sets += sets
        self.weights = np.concatenate(weights, axis=1) - log(self._most + 1)  # for each rate

    def _span(self, columns: Sequence[int]) -> int:
        """The highest threshold."""
        return int(self._tops[list(columns)].sum())

    def _first(self, columns: Sequence[int]) -> int:
        """How many columns add points to rows: the others have few combinations of cells."""
        most, first = min(max(8 * len(self.labels), 2**10), 2**18), len(columns) - 1
        size = self._lines * WIDTH * int(self._facts[columns[first], 1])
        while first and size * self._facts[columns[first - 1], 1] <= most:
            first -= 1
            size *= int(self._facts[columns[first], 1])
        return first

    def _weigh(self, sets: list[tuple[int, ...]]) -> FloatArray:
        every, firsts = np.array(sets, np.int64), np.array([self._first(one) for one in sets])
        spans = np.array([self._span(one) for one in sets])
        rates = np.array(self.rates)
        found, best = np.empty((len(rates), len(sets))), np.empty(len(sets), np.int64)

        def work(turn: slice) -> None:
            kernels.weigh(
                self.cells, self._marks, self._signs, every[turn], firsts[turn], self._points,
                self._facts, self._lines, self._pairs, spans[turn], rates, found[:, turn], best[turn],
            )  # fmt: skip

        length = -(-len(sets) // (_TURNS * workers()))
        with ThreadPoolExecutor(workers()) as pool:  # its threads end here: no fork meets one
            list(pool.map(work, [slice(i, i + length) for i in range(0, len(sets), length)]))
        self._best += best.tolist()
        return found

    def walk(self, rate: int, steps: Steps) -> Walked[Sheet]:
        """At one of the rates: which columns, which points of all but the last, and all the rest."""
        classes, place = self.family.labels, steps.choose(self.weights[rate])
        if place < classes:
            right = int((self.labels == place).sum())
            return Walked(Sheet((), 0, (place, place)), right, (1, (self._most + 1) * classes))
        chosen = place - classes
        columns, own = self._sets[chosen], self.family.patterns
        part, digits = steps.choose(np.log(self._parts_of(chosen, rate))), list[int]()
        for column in columns[-2::-1]:
            part, digit = divmod(part, len(own[column]))
            digits.insert(0, digit)
        found = self._rights(columns, digits)
        last = steps.choose(self.rates[rate] * found)
        at, threshold = divmod(last, self._span(columns))
        digit, pair = divmod(at, len(self._pairs))
        chosen_patterns = dict(zip(columns, [*digits, digit], strict=True))
        blocks = self.family.systems.blocks
        points = tuple((blocks[c], own[c][d]) for c, d in sorted(chosen_patterns.items()))
        outcome = Sheet(points, threshold + 1, self.family.pairs[pair])
        odds = (1, (self._most + 1) * self._sizes[len(columns)])
        return Walked(outcome, int(found[last]), odds)

    def _parts_of(self, chosen: int, rate: int) -> FloatArray:
        """The weights of all choices of patterns of all columns but the last, in one set of columns."""
        if (chosen, rate) not in self._parts:
            columns = self._sets[chosen]
            parts = np.empty(prod(self._facts[list(columns[:-1]), 0].tolist()))
            lost = np.exp(-self.rates[rate] * np.arange(len(self.labels) + 1))
            kernels.visit(
                self.cells, self._marks, self._signs, np.array(columns), self._first(columns),
                self._points, self._facts, self._lines, self._pairs, self._span(columns), lost,
                self._best[chosen], np.empty(0, np.int64), parts,
            )  # fmt: skip
            self._parts[chosen, rate] = np.maximum(parts, _LEAST)
        return self._parts[chosen, rate]

    def _rights(self, columns: tuple[int, ...], digits: list[int]) -> FloatArray:
        """The rows that each system with these patterns predicts right: by pattern of the last column, pair
        of labels and threshold."""
        *ahead, last = columns
        sums, span = np.zeros(len(self.labels), np.int64), self._span(columns)
        for column, digit in zip(ahead, digits, strict=True):
            sums += self._points[column, digit][self.cells[column]]
        found = []
        for points in self._points[last, : self._facts[last, 0]]:
            counts = np.zeros((self.family.labels, span + 1))
            np.add.at(counts, (self.labels, sums + points[self.cells[last]]), 1)
            below = counts.cumsum(axis=1)[:, :-1]  # of each threshold
            above = counts.sum(axis=1, keepdims=True) - below
            found += [below[one] + above[other] for one, other in self.family.pairs]
        return np.concatenate(found)
