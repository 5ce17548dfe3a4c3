"""Corrections of what a released additive model gets wrong, each drawn whole: private boosting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import accumulate
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise, Proposed
from bocage.model import AdditiveModel
from bocage.model.additive.model import UNIT
from bocage.plan import Question
from bocage.private import capabilities
from bocage.private.objective.interactions import Columns, Interactions
from bocage.private.preconditions import PRIOR, check_off, check_whole, rows_at_most
from bocage.private.query import EXPONENTIAL, Fit, IntArray, Place, Terms
from bocage.private.terms import Block, Design
from bocage.private.transcript import Used

if TYPE_CHECKING:
    from bocage.mechanisms import Choices, Proposal
    from bocage.private.objective.margins import Group

    RightRows = Callable[[Sequence[Group]], Iterator[NDArray[np.float64]]]

STEPS = (UNIT // 4, UNIT // 2, UNIT, 2 * UNIT, 4 * UNIT)  # by which a label may be raised
CALM = 4  # one of so many cells changes something, before any row is seen
MOST_LABELS = 3
MOST_CHOICES = 2**18  # of columns, before those of too many cells are left out
MOST_CELLS = 512  # of a table: times 126 margins it fits the keys of `margins`
Correction = tuple[Columns, IntArray]  # which of the blocks; and scores, a line for each cell


@dataclass(frozen=True)
class Boosting(Fit[list[Correction]]):
    """Corrections of a released model: so many tables on top, one after another, each from one draw.

    Each cell of a table raises one label by a public step, or none. The score of a table is the number of
    rows that are predicted right with it, on top of all that was drawn before. Which columns it may have, and
    how likely they are before any row is seen, :class:`~bocage.private.objective.interactions.Interactions` says: a few
    that are any, or those of a table that was drawn before and one more. Three of four cells change nothing, and all
    changes are equally likely in the others.

    Parameters
    ----------
    model
        A released additive model for two or three labels.
    blocks
        The columns that tables may have, one in each block, with its cells. Public.
    columns
        How many columns a table may have that grows from no other.
    cells
        How many cells a table may have.
    each
        The epsilon of each table, one after another.

    Privacy
    -------
    The model and the tables before are released, so that whether a record is predicted right with a
    table depends on nothing but the record. One more record raises the score of every table by 0 or 1,
    whatever the others are: monotone, range 1. So the exponential mechanism with the rate of its epsilon
    costs that epsilon, for the choice of the columns and all cells together; sequential
    composition of the tables. The set of tables and the prior depend on what is public and on the tables that were
    released before.

    The cells of a table share no rows. So the sum of prior * exp(rate * score) over all tables of some columns is a
    product over the cells of a sum over the changes: exact up to floats, which only propose, see
    :mod:`bocage.mechanisms.selection.rejection_sampling`. With b cells and s choices of columns, all sums are off by
    less than (b + s + 32) 2**-50 rate * rows, which is added to the total that a proposal claims. Tables are counted in
    groups that fit into memory, and those of the columns that a walk has chosen again, for its cells.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    model: AdditiveModel
    blocks: tuple[Block, ...]
    columns: int
    cells: int
    each: tuple[Epsilon, ...]

    @property
    def epsilon(self) -> Epsilon:  # type: ignore[override] # it follows from the others
        return sum(self.each, Epsilon(0))

    def words(self) -> str:
        many = len(self.each)
        corrections = "corrections" if many > 1 else "correction"
        return f"{many} {corrections} of an additive model, by {len(self.blocks)} columns"

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(EXPONENTIAL, tuple(epsilon.fraction for epsilon in self.each), bounded=True)]

    def question(self, place: Place) -> Question:
        names = dict.fromkeys(name for block in self._design.blocks for name in block.columns)
        return Question(place.cells, place.where, columns=(*names, self._label))

    def check(self, terms: Terms, place: Place) -> None:
        if type(self.model) is not AdditiveModel:
            raise PlanError("corrections are drawn on top of an additive model.")
        if self.model.schema.fingerprint != terms.schema.fingerprint:
            raise PlanError("a model is corrected on a table of its own schema only.")
        if not 2 <= self._labels <= MOST_LABELS:
            raise PlanError(f"a model of two to {MOST_LABELS} labels can be corrected.")
        if not self.blocks or not self.each:
            raise PlanError("a model is corrected in a round at least, by a block at least.")
        check_whole(place, self.words())
        self._check_blocks(terms)
        self.question(place).check(terms.schema)
        sets = sum(comb(len(self.blocks), size) for size in range(1, self.columns + 1))
        if sets > MOST_CHOICES:
            raise PlanError(f"a correction has one of {MOST_CHOICES} choices of columns at most.")
        choices = sets + len(self.each) * len(self.blocks)
        largest = terms.rate(1, max(self.each))
        check_off(self._off(choices, largest * rows_at_most(terms.schema)), self.words())

    def _off(self, choices: int, most: Fraction | int) -> float:
        """How far sums over all tables are off at most, if rate * rows is this."""
        return (self.cells + choices + 32) * float(most + PRIOR) * 2.0**-50

    def _check_blocks(self, terms: Terms) -> None:
        names = [name for block in self.blocks for name in block.columns]
        if {len(block.columns) for block in self.blocks} != {1} or len({*names}) < len(names):
            raise PlanError("a model is corrected by blocks of one column each, each of another.")
        if self._label in names:
            raise PlanError("a model is corrected by columns other than the label.")
        for block in self.blocks:
            block.check(terms.schema)
            if not 1 < block.size <= self.cells:
                raise PlanError(f"a model is corrected by columns of 2 to {self.cells} cells.")
        if not 1 <= self.columns <= len(self.blocks):
            raise PlanError("a correction has a column at least, and no more than there are.")
        if self.cells > MOST_CELLS:
            raise PlanError(f"a correction has at most {MOST_CELLS} cells.")

    def rehearse(self, noise: Noise) -> None:
        capabilities.draws_by_rejection(noise)

    def run(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise) -> list[Correction]:
        from bocage.private.objective.margins import (  # noqa: PLC0415 - a compiler
            MarginRows,
            corrected,
        )

        rows, drawn = MarginRows(read, self._design, terms.schema), list[Correction]()
        right = corrected(self._labels, len(STEPS))
        for epsilon in self.each:
            margins = rows.margins(*self._terms(drawn), np.array(STEPS))
            right_rows = partial(rows.right, margins, corrected=right)
            among = self._interactions(drawn)
            proposal, rate, total = self.proposal(right_rows, among, terms.rate(1, epsilon))
            total += self._off(len(among.choices), rate * rows.rows)
            drawn.append(noise.draw_by_rejection(proposal, rate, total))
        return drawn

    def proposal(
        self, right_rows: RightRows, among: Interactions, rate: Fraction
    ) -> tuple[Proposal[Correction], Fraction, float]:
        """A proposal, its rate, and about the logarithm of the sum over all tables.

        `right_rows` counts the rows of each cell of groups of tables that are right under each change.
        """
        changes = self._labels * len(STEPS)
        prior = np.log([(CALM - 1) / CALM, *[1 / (CALM * changes)] * changes])

        def sums(group: Group, right: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = float(rate) * right + prior
            most = weights.max(axis=1)
            cells = most + np.log(np.exp(weights - most[:, np.newaxis]).sum(axis=1))
            tables: NDArray[np.float64] = np.add.reduceat(cells, group[0][:, -1])
            return tables

        groups = [self._group(choices) for choices in among.groups()]
        counted = zip(groups, right_rows(groups), strict=True)
        totals = np.concatenate([sums(*group) for group in counted]) - np.log(among.out_of)

        @cache
        def right_of(choice: int) -> NDArray[np.float64]:
            (right,) = right_rows([self._group(among.choices[choice : choice + 1])])
            return right

        def proposal(choices: Choices) -> Proposed[Correction]:
            choice = choices.choose(totals)
            right = right_of(choice)
            chosen = choices.choose_each(float(rate) * right + prior)
            score = int(right[np.arange(len(chosen)), chosen].sum())
            changed = int(np.count_nonzero(chosen))
            out_of = among.out_of[choice] * CALM ** len(chosen) * changes**changed
            odds = ((CALM - 1) ** (len(chosen) - changed), out_of)
            return Proposed((among.choices[choice], self.scores(chosen)), score, odds)

        return proposal, rate, float(np.logaddexp.reduce(totals))

    def scores(self, chosen: IntArray) -> IntArray:
        """The table of a change for each of its cells."""
        changes = np.zeros((1 + self._labels * len(STEPS), self._labels), np.int64)
        for label in range(self._labels):
            start = 1 + label * len(STEPS)
            changes[start : start + len(STEPS), label] = STEPS
        return changes[chosen]

    def _interactions(self, drawn: Sequence[Correction]) -> Interactions:
        sizes = tuple(block.size for block in self.blocks)
        return Interactions(sizes, self.columns, self.cells, tuple(columns for columns, _ in drawn))

    def _group(self, choices: Sequence[Columns]) -> Group:
        """Some choices of columns, and how many cells they have together."""
        sizes = [prod(self.blocks[i].size for i in columns) for columns in choices]
        return _lines(self._places(choices), sizes), sum(sizes)

    def _places(self, choices: Sequence[Columns]) -> list[Columns]:
        """Their places in the design, where the model's own terms come first."""
        first = len(self.model.terms)
        return [tuple(first + i for i in columns) for columns in choices]

    def _terms(self, drawn: Sequence[Correction]) -> tuple[IntArray, IntArray, IntArray]:
        """Where the scores of each term are looked up, all scores end to end, and the intercept."""
        tables = [*(term.scores for term in self.model.terms), *(table for _, table in drawn)]
        single = [(i,) for i in range(len(self.model.terms))]
        places = [*single, *self._places([columns for columns, _ in drawn])]
        by_label = np.ascontiguousarray(np.concatenate(tables).T)
        return _lines(places, [len(table) for table in tables]), by_label, self.model.intercept

    @property
    def _label(self) -> str:
        label = self.model.schema.label
        if label is None:
            raise PlanError("a model without a label has nothing to correct.")
        return label.name

    @property
    def _labels(self) -> int:
        return self.model.schema[self._label].cells

    @cached_property
    def _design(self) -> Design:
        whole = [Block(t.columns, t.cells, (len(t.scores),), t.cuts) for t in self.model.terms]
        return Design((*whole, *self.blocks), self._labels)


def _lines(places: Sequence[Columns], sizes: Sequence[int]) -> IntArray:
    """Terms or tables as :mod:`~bocage.private.objective.margins` has them, their cells end to end."""
    wide, starts = max(map(len, places)), accumulate(sizes[:-1], initial=0)
    lines = [(*[-1] * (wide - len(columns)), *columns, start) for columns, start in zip(places, starts, strict=True)]
    return np.array(lines, np.int64)
