"""Tables that mend what a released additive model gets wrong, each drawn whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise, Walked
from bocage.model import AdditiveModel
from bocage.model.additive import UNIT
from bocage.plan import Question
from bocage.plan.question import MOST_COUNTERS
from bocage.private import needs
from bocage.private.design import Block, Design
from bocage.private.query import Fit, IntArray, Place, Terms

if TYPE_CHECKING:
    from bocage.mechanisms import Steps, Walk

STEPS = (UNIT // 4, UNIT // 2, UNIT, 2 * UNIT, 4 * UNIT)  # by which a label may be raised
MOST_LABELS = 3
MOST_CELLS = 512  # of a column
_VERDICTS = 128  # more than three labels have, which is 126
Mend = tuple[int, IntArray]  # which block, and its scores: a line for each cell


@dataclass(frozen=True)
class Mending(Fit[list[Mend]]):
    """So many tables on top of a released model, one after another, each from one draw.

    Each cell of a table raises one label by a public step, or none. The score of a table is the number of
    rows that are predicted right with it, on top of all that was drawn before. Before any row is
    seen all blocks are equally likely, half of the cells change nothing, and all changes are equally
    likely in the others.

    Parameters
    ----------
    model
        A released additive model for two or three labels.
    blocks
        Which columns a table may have: one or two, with their cells. Public.
    each
        The epsilon of each table, one after another.

    Privacy
    -------
    The model and the tables before are released, so that whether a record is predicted right with a
    table depends on nothing but the record. One more record raises the score of every table by 0 or 1,
    whatever the others are: monotone, range 1. So the exponential mechanism with the rate of its epsilon
    costs that epsilon, for the choice of the block and all of its cells together; sequential
    composition of the tables. The set of tables and the prior depend on blocks and schema alone.

    The cells of a block share no rows. So the sum of prior * exp(rate * score) over all tables of a block is a
    product over its cells of a sum over the changes: exact up to floats, which only propose, see
    :mod:`bocage.mechanisms.walk`. With b cells in a block and s blocks, all sums are off by less than
    (b + s + 32) 2**-50 rate * rows: within the margin while (b + s + 32) rate * rows <= 2**39.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    model: AdditiveModel
    blocks: tuple[Block, ...]
    each: tuple[Epsilon, ...]

    @property
    def epsilon(self) -> Epsilon:  # type: ignore[override] # it follows from the others
        return sum(self.each, Epsilon(0))

    def words(self) -> str:
        return f"{len(self.each)} tables that mend an additive model, each of {len(self.blocks)}"

    def question(self, place: Place) -> Question:
        names = dict.fromkeys(name for block in self._design.blocks for name in block.columns)
        return Question(place.cells, place.where, columns=(*names, self._label))

    def check(self, terms: Terms, place: Place) -> None:
        if type(self.model) is not AdditiveModel:
            raise PlanError("tables are drawn on top of an additive model.")
        if self.model.schema.fingerprint != terms.schema.fingerprint:
            raise PlanError("a model is mended on a table of its own schema only.")
        if not 2 <= self._labels <= MOST_LABELS:
            raise PlanError(f"a model of two to {MOST_LABELS} labels is mended.")
        if not self.blocks or not self.each:
            raise PlanError("a model is mended in a round at least, by a block at least.")
        for block in self.blocks:
            block.check(terms.schema)
            if len(block.columns) > 2 or self._label in block.columns:
                raise PlanError("a model is mended by one or two columns other than the label.")
            if max(block.cells) > MOST_CELLS:
                raise PlanError(f"a model is mended by columns of at most {MOST_CELLS} cells.")
        if sum(block.size for block in self.blocks) * _VERDICTS > MOST_COUNTERS:
            raise PlanError(f"mending a model needs more than {MOST_COUNTERS} counters.")
        self.question(place).check(terms.schema)

    def rehearse(self, noise: Noise) -> None:
        needs.walks(noise)

    def run(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise
    ) -> list[Mend]:
        from bocage.private.cells import CellRows  # noqa: PLC0415 - a compiler

        rows, drawn = CellRows(read, self._design, terms.schema), list[Mend]()
        for epsilon in self.each:
            counts = rows.verdicts(*self._terms(drawn), self._places, np.array(STEPS))
            drawn.append(noise.walk(*self.proposal(counts, terms.rate(1, epsilon))))
        return drawn

    def proposal(self, counts: IntArray, rate: Fraction) -> tuple[Walk[Mend], Fraction, float]:
        """A walk, its rate, and about the logarithm of the sum over all tables.

        `counts` has a line for each cell of the blocks, end to end, and a column for each verdict.
        """
        from bocage.private.verdicts import mended  # noqa: PLC0415 - a compiler

        right = counts.astype(np.float64) @ mended(self._labels, len(STEPS))
        changes = right.shape[1] - 1
        weights = float(rate) * right
        weights[:, 0] -= log(2)
        weights[:, 1:] -= log(2 * changes)
        starts = self._places[:, 3]
        cells = np.logaddexp.reduce(weights, axis=1)
        blocks = np.add.reduceat(cells, starts) - log(len(self.blocks))

        def walk(steps: Steps) -> Walked[Mend]:
            place = steps.choose(blocks)
            lines = slice(starts[place], starts[place] + self.blocks[place].size)
            chosen = steps.choose_each(weights[lines])
            score = int(right[lines][np.arange(len(chosen)), chosen].sum())
            less = 2 ** len(chosen) * changes ** int(np.count_nonzero(chosen))
            return Walked((place, self.scores(chosen)), score, (1, len(self.blocks) * less))

        return walk, rate, float(np.logaddexp.reduce(blocks))

    def scores(self, chosen: IntArray) -> IntArray:
        """The table of a change for each of its cells."""
        every = np.zeros((1 + self._labels * len(STEPS), self._labels), np.int64)
        for label in range(self._labels):
            start = 1 + label * len(STEPS)
            every[start : start + len(STEPS), label] = STEPS
        return every[chosen]

    def _terms(self, drawn: list[Mend]) -> tuple[IntArray, IntArray, IntArray]:
        """Where the scores of each term are looked up, all scores end to end, and the intercept."""
        tables = [*(term.scores for term in self.model.terms), *(table for _, table in drawn)]
        lines = [(i, -1, 1) for i in range(len(self.model.terms))]
        lines += [tuple(self._places[place, :3].tolist()) for place, _ in drawn]
        starts = accumulate((len(table) for table in tables[:-1]), initial=0)
        terms = [(*line, start) for line, start in zip(lines, starts, strict=True)]
        lines_of_labels = np.ascontiguousarray(np.concatenate(tables).T)
        return np.array(terms, np.int64), lines_of_labels, self.model.intercept

    @property
    def _label(self) -> str:
        label = self.model.schema.label
        if label is None:
            raise PlanError("a model without a label has nothing to mend.")
        return label.name

    @property
    def _labels(self) -> int:
        return self.model.schema[self._label].cells

    @cached_property
    def _singles(self) -> list[Block]:
        """Each column with the cells that it has in a block."""
        found: dict[Block, None] = {}
        for block in self.blocks:
            found |= dict.fromkeys(_parts(block))
        return list(found)

    @cached_property
    def _design(self) -> Design:
        whole = [Block(t.columns, t.cells, (len(t.scores),), t.cuts) for t in self.model.terms]
        return Design((*whole, *self._singles), self._labels)

    @cached_property
    def _places(self) -> IntArray:
        """For each block the lines of its columns, cells of the second, and where its cells begin."""
        line = {one: i for i, one in enumerate(self._singles, len(self.model.terms))}
        starts = accumulate((block.size for block in self.blocks[:-1]), initial=0)
        found = []
        for block, start in zip(self.blocks, starts, strict=True):
            first, *second = (line[part] for part in _parts(block))
            found.append((first, *(second or [-1]), block.cells[-1], start))
        return np.array(found, np.int64)


def _parts(block: Block) -> list[Block]:
    cuts = block.cuts or ((),) * len(block.columns)
    return [
        Block((name,), (cells,), (cells,), (own,) if own else ())
        for name, cells, own in zip(block.columns, block.cells, cuts, strict=True)
    ]
