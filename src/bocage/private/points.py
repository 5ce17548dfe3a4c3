"""A point system, columns, points, threshold and labels at once, from one draw among all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb, log, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.engine.counting import workers
from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise, Walked
from bocage.plan import Question
from bocage.private import needs
from bocage.private.design import Block, Design
from bocage.private.patterns import Points, patterns_of, top_of
from bocage.private.query import Fit, Place, Terms
from bocage.private.tempered import rates_of, tempered
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.mechanisms import Steps, Walk

FloatArray = NDArray[np.float64]
MOST_SETS = 2**18
MOST_CELLS = 32  # of a column
WIDTH, MOST_SUM = 32, 30  # of points: see `bocage.private.sheets`, which has a compiler
_LEAST = 1e-300  # what a weight is taken for if it is too small for a float
_TURNS = 16  # parts of the work for each thread


@dataclass(frozen=True)
class Sheet:
    """A point system: `labels[1]` is predicted where the points reach the threshold, else `labels[0]`.

    Attributes
    ----------
    points
        For each column that gives any, the points of its cells.
    """

    points: tuple[tuple[Block, Points], ...]
    threshold: int
    labels: tuple[int, int]


@dataclass(frozen=True)
class Systems:
    """Which point systems there are. Public.

    Parameters
    ----------
    blocks
        The columns, with their cells.
    most
        How many of them may give points.
    rich
        Whether patterns are rich.
    """

    blocks: tuple[Block, ...]
    most: int
    rich: bool = False


@dataclass(frozen=True)
class DrawnPoints(Fit[Sheet]):
    """One of all point systems.

    The score of a system is the number of rows that it predicts right. Before any row is seen, all numbers of
    columns up to the most are equally likely, and all systems of so many columns. A system of no column
    predicts one label. One of some columns has one of their patterns each, see
    :func:`~bocage.private.patterns.patterns_of`, a threshold from 1 to the most points that one
    can have, and two labels in the order of the schema (patterns with points exchanged are there too).

    Privacy
    -------
    One more record raises the score of every system by 0 or 1, whatever the others are: monotone,
    range 1. So the exponential mechanism with rate epsilon is epsilon-DP without a factor 2, for columns,
    points, threshold and labels together. The set of systems and the prior depend on schema and parameters
    alone. The draw is exact: see :mod:`bocage.mechanisms.walk`. Systems are counted in integers; sums of
    their weights are rounded by less than 2**-50 (rate * rows + systems) altogether, and floats only
    propose. At a large epsilon the rate is drawn with the system, see
    :func:`~bocage.private.tempered.tempered`. `_LEAST` makes what is next to impossible likelier to be proposed, never less likely.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    systems: Systems
    label: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"points of up to {self.systems.most} columns for {self.label}"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in the order in which they are read."""
        return (*(block.columns[0] for block in self.systems.blocks), self.label)

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=self.names)

    def check(self, terms: Terms, place: Place) -> None:
        schema, blocks, most = terms.schema, self.systems.blocks, self.systems.most
        for block in blocks:
            block.check(schema)
        if any(len(block.columns) > 1 for block in blocks) or len({*self.names}) <= len(blocks):
            raise PlanError("single columns other than the label give points, each once.")
        if any(block.size > MOST_CELLS for block in blocks):
            raise PlanError(f"a column that gives points has {MOST_CELLS} cells at most.")
        tops = [top_of(own) for own in self.family(schema).patterns if own]
        if not 1 <= most <= len(tops):
            raise PlanError(f"1 to {len(tops)} columns give points, not {most}.")
        if sum(sorted(tops)[-most:]) > MOST_SUM:
            raise PlanError(f"the points of a system add up to {MOST_SUM} at most.")
        if sum(comb(len(tops), size) for size in range(most + 1)) > MOST_SETS:
            raise PlanError(f"one of {MOST_SETS} sets of columns gives points at most.")
        self.question(place).check(schema)

    def family(self, schema: Schema) -> Family:
        return Family.of(self.systems, schema, self.label)

    def rehearse(self, noise: Noise) -> None:
        needs.walks(noise)

    def run(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise
    ) -> Sheet:
        return noise.walk(*self.proposal(read, terms))

    def proposal(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> tuple[Walk[Sheet], Fraction, float]:
        """A walk, its rate, and about the logarithm of the sum over all systems."""
        from bocage.private.cells import CellRows  # noqa: PLC0415 - a compiler

        schema, rate = terms.schema, terms.rate(1, self.epsilon)
        family, blocks = self.family(schema), self.systems.blocks
        rows = list(CellRows(read, Design(blocks, family.labels), schema).chunks())
        none = np.zeros((len(blocks), 0), np.uint8), np.zeros(0, np.uint16)
        cells, labels = (np.concatenate(part, axis=-1) for part in zip(none, *rows, strict=True))
        rates = rates_of(rate)
        table = _Table(family, cells.astype(np.uint8), labels, tuple(map(float, rates)))

        def propose(one: Fraction) -> tuple[Walk[Sheet], Fraction, float]:
            at = rates.index(one)
            return partial(table.walk, at), one, float(np.logaddexp.reduce(table.weights[at]))

        return tempered(propose, len(labels), family.labels, rate)


@dataclass(frozen=True)
class Family:
    """All systems, as numbers."""

    systems: Systems
    patterns: tuple[tuple[Points, ...], ...]  # of each block
    labels: int

    @classmethod
    def of(cls, systems: Systems, schema: Schema, label: str) -> Family:
        columns = [(schema[block.columns[0]], block.size) for block in systems.blocks]
        every = tuple(patterns_of(*column, rich=systems.rich) for column in columns)
        return cls(systems, every, schema[label].cells)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The labels below a threshold and above it."""
        return list(combinations(range(self.labels), 2))


@dataclass
class _Table:
    """The rows, and the weights of all sets of columns."""

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
        from bocage.private import sheets  # noqa: PLC0415 - a compiler

        every, firsts = np.array(sets, np.int64), np.array([self._first(one) for one in sets])
        spans = np.array([self._span(one) for one in sets])
        rates = np.array(self.rates)
        found, best = np.empty((len(rates), len(sets))), np.empty(len(sets), np.int64)

        def work(turn: slice) -> None:
            sheets.weigh(
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
        from bocage.private import sheets  # noqa: PLC0415 - a compiler

        if (chosen, rate) not in self._parts:
            columns = self._sets[chosen]
            parts = np.empty(prod(self._facts[list(columns[:-1]), 0].tolist()))
            lost = np.exp(-self.rates[rate] * np.arange(len(self.labels) + 1))
            sheets.visit(
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
