"""Which point systems are drawn among, a public rule, and the additive model that one of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.discretization import Spreads
from bocage.learners.score.text import sheet_in_words
from bocage.model import AdditiveModel, Certificate, Term
from bocage.model.additive.model import UNIT
from bocage.private import Block, IntArray, OpenCells, ScoredCounts, Sheet, Systems
from bocage.private.joint.scorecard.family import MOST_SUM
from bocage.private.joint.scorecard.patterns import MOST, patterns_of, top_of
from bocage.private.joint.scorecard.sampler import MOST_CELLS, MOST_SETS
from bocage.schema import Attribute, Categorical, Schema

CELLS = 4  # of a numeric attribute
# About as many nanoseconds of one core, and where all attributes may give points.
WORK, WHOLE = 1e9, 8e9
# Records times epsilon for each unit of the logarithm of the number of systems, with rich patterns, and at
# least: their number is noisy.
WORTH, RICH, FEWEST = 0.5, 2, 10
SLOPES = [2 ** (i / 4) for i in range(-16, 9)]  # of the log-odds, for each point
SLOPE = 1.0  # ... where nothing is known
OTHERS = 4  # by how much the log-odds of labels that are never predicted are less than nothing


def systems_of(
    schema: Schema, names: Sequence[str], rows: int, epsilon: float, spreads: Spreads
) -> Systems | None:
    """Systems of as many attributes as work and data allow, with rich patterns where so many may
    have them; None if no attribute has few enough values."""
    blocks = tuple(block_of(schema[name], spreads) for name in names)
    blocks = tuple(block for block in blocks if 1 < block.size <= MOST_CELLS)
    if not blocks:
        return None
    rich, plain = (_Extent.of(schema, blocks, rows, epsilon, rich=rich) for rich in (True, False))
    most, fewer = plain.most(WORTH), rich.most(RICH)
    return Systems(blocks, most, rich=fewer >= most)


def block_of(column: Attribute, spreads: Spreads) -> Block:
    """A column with few cells: its values, or runs of its codes."""
    cells = column.cells if isinstance(column, Categorical) else min(CELLS, column.cells)
    cuts = spreads.cuts(column.name, cells)
    return Block((column.name,), (cells,), (cells,), (cuts,) if cuts else ())


@dataclass(frozen=True)
class _Extent:
    """How many attributes may give points: what is public about it."""

    rows: int
    support: float  # rows times epsilon
    lines: int
    pairs: int
    sizes: list[tuple[int, int]]  # patterns and cells of each attribute, fewest patterns first
    sums: list[int]  # most points of each, most first

    @classmethod
    def of(
        cls, schema: Schema, blocks: Sequence[Block], rows: int, epsilon: float, *, rich: bool
    ) -> _Extent:
        every = [patterns_of(schema[b.columns[0]], b.size, rich=rich) for b in blocks]
        labels = label_of(schema).cells
        return cls(
            rows,
            max(rows * epsilon, FEWEST),
            1 if labels == 2 else labels,
            labels * (labels - 1) // 2,
            sorted((len(own), len(own[0])) for own in every),
            sorted(map(top_of, every), reverse=True),
        )

    def most(self, worth: float) -> int:
        """As many as are of use and the work allows, one at least."""
        found, spent, sets = 1, 0.0, 0.0
        for size in range(1, len(self.sizes) + 1):
            work, systems, more = self._work(size)
            spent, sets = spent + work, sets + more
            fits = spent <= WHOLE and sets <= MOST_SETS and sum(self.sums[:size]) <= MOST_SUM
            if not fits or log(systems) * worth > self.support:
                break
            if spent <= WORK or size == len(self.sizes):
                found = size
        return found

    def _work(self, size: int) -> tuple[float, float, float]:
        """About the nanoseconds for all systems of so many attributes, their number, and that of sets."""
        chosen = [
            (1.0, 1.0),
            *[(0.0, 0.0)] * size,
        ]  # patterns and sets of so many attributes so far
        work, span = 0.0, min(MOST * size, MOST_SUM)
        for patterns, cells in self.sizes:
            groups, sets = chosen[size - 1]
            each = 11 * self.lines * cells**2 + 3 * patterns * self.pairs * span * cells
            work += groups * each + sets * self.rows * (size + 2)
            for i in range(size, 0, -1):
                more, other = chosen[i - 1]
                chosen[i] = (chosen[i][0] + more * patterns, chosen[i][1] + other)
        return work, chosen[size][0] * span * self.pairs, chosen[size][1]


def pointed(
    cells: OpenCells, sheet: Sheet, spare: Epsilon | None, certificate: Certificate
) -> AdditiveModel:
    """The model of a released system; what is spare counts the rows by its points."""
    label = label_of(cells.schema).name
    counts = None if spare is None else cells.fit(ScoredCounts(sheet, label, spare))
    return model_of(cells.schema, sheet, counts, certificate)


def model_of(
    schema: Schema, sheet: Sheet, counts: IntArray | None, certificate: Certificate
) -> AdditiveModel:
    """The system as an additive model: it predicts the same, with log-odds that its counts tell.

    Its certificate has the points in words.
    """
    low, high = sheet.labels
    labels = label_of(schema).cells
    slope = round(_slope(sheet, counts) * UNIT / 2) * 2  # even: half of it is a whole number
    intercept = np.full(labels, -OTHERS * UNIT)
    intercept[[low, high]] = 0
    terms = []
    for block, points in sheet.points:
        scores = np.zeros((block.size, labels), np.int64)
        scores[:, high] = slope * np.array(points)
        terms.append(Term(block.columns, block.cells, scores, block.cuts))
    if terms:
        intercept[high] = slope // 2 - slope * sheet.threshold
    else:  # one label for all
        first = schema.attributes[0]
        cells = first.cells if isinstance(first, Categorical) else 1
        terms = [Term((first.name,), (cells,), np.zeros((cells, labels), np.int64))]
    notes = (*certificate.notes, *sheet_in_words(sheet, schema))
    return AdditiveModel(schema, intercept, tuple(terms), replace(certificate, notes=notes))


def _slope(sheet: Sheet, counts: IntArray | None) -> float:
    """What a point adds to the log-odds: as the counts of rows by points are likeliest."""
    if counts is None or not sheet.points:
        return SLOPE
    low, high = (np.maximum(counts[:, label], 0) for label in sheet.labels)
    away = np.arange(len(counts)) - sheet.threshold + 0.5

    def likely(slope: float) -> float:
        odds = slope * away
        return -float(high @ np.logaddexp(0, -odds) + low @ np.logaddexp(0, odds))

    return max(SLOPES, key=likely)
