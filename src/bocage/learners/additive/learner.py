"""An additive model: one small table per attribute, fitted at once, and corrected by tables of a few.

Objective perturbation after Chaudhuri, Monteleoni & Sarwate (2011), with the noise of Hardt & Talwar (2010)
and an analysis in which the change of the curvature costs nothing; see
:class:`bocage.private.objective.fit.AdditiveFit` for the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log
from typing import ClassVar

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.additive.boosting_rule import MOST_CELLS, BoostingRule
from bocage.learners.attribute_selection import select
from bocage.learners.base import Learner, Progress, budget_of, check_word, label_of, quiet
from bocage.learners.discretization import Spreads, count_spreads
from bocage.learners.plan import Plan, Step
from bocage.model import AdditiveModel, Certificate, Term
from bocage.private import (
    GRID_BITS,
    AdditiveFit,
    Block,
    Boosting,
    Counts,
    EpsilonLike,
    IntArray,
    OpenCells,
    PrivateTable,
    capabilities,
    fit_columns,
)
from bocage.private.capabilities import Capability
from bocage.private.objective.boosting import MOST_LABELS
from bocage.private.terms import Design
from bocage.schema import Categorical, Numeric, Schema

CLASSES, FIT = (
    "class counts",
    "all tables at once, after attributes and cells are chosen, then corrections of what they get wrong",
)
MECHANISMS = "K-norm objective perturbation, discrete Laplace, permute and flip, exponential"
CELLS = ("auto", "few", "stacked")
SHARES = (3, 97)  # per cent of epsilon: class counts, tables
SHARES_MANY = (5, 95)  # the same for more than three labels, whose prior says more
FEW = 8  # cells of a numeric attribute
LITTLE = 10  # records times epsilon for each parameter, below which these are halved
ENOUGH = 50  # as many that finer cells need
FEEDS, COARSE = 20, 4  # ... without which attributes are chosen; cells of a numeric one then
STACK = (2, 4, 8, 16, 32)  # sizes of the tables that are added up for one
MOST_SCORES = 5000  # scores of all tables together
FEWEST = 40  # records times epsilon that are assumed at least: fewer teach nothing
RAREST = 0.005  # share of a label that the prior does not go below


@dataclass(frozen=True)
class Additive(Learner):
    """Scores of single attributes, and of several where data are plenty, that add up: accuracy first.

    Parameters
    ----------
    cells
        How numeric attributes are cut: ``"few"`` (8 cells of equal width), ``"stacked"`` (tables of
        2, 4, ... 32 cells of equal width that add up), or ``"auto"``: from 2 to 32 cells, the more the
        more data there are, and where the rows are if these are unevenly spread.
    attributes
        Those that have a table; None for all.

    Privacy
    -------
    3 % of epsilon (5 % with more than three labels) pay for the class counts (sensitivity 1, discrete
    Laplace). They give the number of rows, which sets penalties and how many cells numeric
    attributes have, and the prior odds, pulled towards equal ones by what the noise of the counts
    makes of them; all that is post-processing. With less than 20 records times epsilon for each number in
    the tables, 30 % of the rest choose which attributes have a table, see
    :func:`~bocage.learners.attribute_selection.select`. Where the number of rows allows it, 2 to 5 % of the
    rest pay for counts of the numeric attributes without labels, and 2 to 10 % each for one or
    two more rounds if there are uneven ones, which are cut by these; see
    :func:`~bocage.learners.discretization.count_spreads`. What is left pays for one release of all tables,
    whose proof is that of :class:`~bocage.private.objective.fit.AdditiveFit`: to it, cuts are public. Where
    the number of rows allows it, up to 60 % of that pay for tables of several attributes that
    correct what the others get wrong, each from one draw, see :class:`~bocage.private.objective.boosting.Boosting`; the
    others have what is left then. Sequential composition of all of these.
    """

    name: ClassVar[str] = "additive"
    paper: ClassVar[str] = "Bocage, after Chaudhuri, Monteleoni & Sarwate 2011 and Hardt & Talwar 2010"
    numeric: ClassVar[bool] = True
    cells: str = "auto"
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        names = self.check(schema)
        check_word(self.cells, "cells", CELLS, self.name)
        largest = self.blocks(schema, names, 2**40, 1.0)
        scores = sum(block.size for block in largest)
        if scores * label_of(schema).cells > MOST_SCORES:
            raise LearnerError(
                f"{self.name} would fit more than {MOST_SCORES} scores at once: "
                "name fewer attributes, or declare fewer values."
            )
        Design(tuple(largest), label_of(schema).cells).check(schema)  # before anything is charged
        budget = budget_of(epsilon, 400, self.name)
        few = label_of(schema).cells <= MOST_LABELS
        classes, fit = budget.split(SHARES if few else SHARES_MANY)
        return Plan(
            self.name,
            budget,
            (
                Step(0, CLASSES, "discrete Laplace", classes),
                Step(0, FIT, MECHANISMS, fit),
            ),
        )

    def requires(self, schema: Schema) -> tuple[Capability, ...]:  # noqa: ARG002 - whatever it declares
        return (capabilities.tables, capabilities.draws_by_rejection)

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> AdditiveModel:
        plan = self.plan(table.schema, epsilon)
        start = self.reserve(table, plan)
        progress(0, 2)
        share = plan.share(0, CLASSES)
        counts = start.ask(Counts((label_of(table.schema).name,), share))[0]
        progress(1, 2)
        model = self.tables(
            start,
            counts,
            plan.share(0, FIT),
            self.certificate(start),
            deviation=start.deviation(share),
        )
        progress(2, 2)
        return self.certified(model, start)

    def tables(
        self,
        start: OpenCells,
        counts: IntArray,
        epsilon: Epsilon,
        certificate: Certificate,
        *,
        deviation: float,
    ) -> AdditiveModel:
        """Fit all tables at once, given class counts with noise of that deviation."""
        schema, label = start.schema, label_of(start.schema)
        rows = max(int(counts.sum()), ceil(FEWEST / float(epsilon)))
        prior = self.prior(counts, rows, deviation)
        names, epsilon = self.selected(start, rows, epsilon)
        blocks = self.blocks(schema, names, rows, float(epsilon))
        spreads, epsilon = self.spreads(start, blocks, rows, epsilon)
        blocks = [_cut(block, spreads) for block in blocks]

        boosting = BoostingRule.of(schema, blocks, rows, float(epsilon), spreads)
        each: list[Epsilon] = []
        if boosting.shares:
            *each, epsilon = epsilon.split(boosting.shares)
        fit = AdditiveFit(tuple(blocks), label.name, tuple(prior.tolist()), rows, epsilon)
        intercept, tables = start.fit(fit)
        terms = [
            Term(block.columns, block.cells, _every_label(scores, label.cells), block.cuts)
            for block, scores in zip(blocks, tables, strict=True)
        ]
        intercept = _every_label(intercept, label.cells)
        model = AdditiveModel(schema, intercept, tuple(terms), certificate)
        if not each:
            return model
        boost = Boosting(model, boosting.blocks, boosting.columns, MOST_CELLS, tuple(each))
        return replace(model, terms=(*terms, *boosting.terms(start.fit(boost))))

    def selected(self, start: OpenCells, rows: int, epsilon: Epsilon) -> tuple[tuple[str, ...], Epsilon]:
        """The attributes that have a table, and what is left."""
        schema, names = start.schema, self.check(start.schema)
        if label_of(schema).cells > MOST_LABELS:  # not studied
            return names, epsilon
        numbers = {name: float(self.numbers(schema, (name,), COARSE)) for name in names}
        return select(start, numbers, rows * float(epsilon) / FEEDS, epsilon)

    def spreads(
        self, start: OpenCells, blocks: Sequence[Block], rows: int, epsilon: Epsilon
    ) -> tuple[Spreads, Epsilon]:
        """How numeric attributes with more codes than cells are spread, and what is left."""
        columns = [(start.schema[block.columns[0]], block.size) for block in blocks]
        coarse = [c for c, size in columns if isinstance(c, Numeric) and c.cells > size]
        if self.cells != "auto":
            coarse = []
        return count_spreads(start, coarse, rows, epsilon)

    def blocks(self, schema: Schema, names: tuple[str, ...], rows: int, epsilon: float) -> list[Block]:
        """The terms: every value of a categorical attribute, cells of a numeric one."""
        few, stacked = FEW, self.cells == "stacked"
        if self.cells == "auto":
            support = rows * epsilon
            while few > 2 and support < LITTLE * self.numbers(schema, names, few):
                few //= 2
            while few < STACK[-1] and support >= ENOUGH * self.numbers(schema, names, 2 * few):
                few *= 2
        blocks = []
        for name in names:
            column = schema[name]
            if isinstance(column, Categorical):
                levels: tuple[int, ...] = (column.cells,)
            elif stacked:
                levels = tuple(size for size in STACK if size <= column.cells)
            else:
                levels = (min(few, column.cells),)
            blocks.append(Block((name,), (levels[-1],), levels))
        return blocks

    @staticmethod
    def numbers(schema: Schema, names: tuple[str, ...], few: int) -> int:
        """How many numbers the tables have, if numeric attributes have so few cells."""
        columns = [schema[name] for name in names]
        sizes = [c.cells if isinstance(c, Categorical) else min(few, c.cells) for c in columns]
        return sum(size - 1 for size in sizes) * (label_of(schema).cells - 1)

    @staticmethod
    def prior(counts: IntArray, rows: int, deviation: float) -> IntArray:
        """The logarithms of the labels' odds before anything is known of a record, on the grid.

        With two or three labels their shares are pulled towards equal ones, by the variance of their
        noise against that of shares of which all are equally likely. Of many labels few are
        frequent, and the noise is left as it is.
        """
        labels = len(counts)
        noise = (deviation / rows) ** 2 * (labels + 1) * labels if labels <= MOST_LABELS else 0.0
        pulled = 1 / labels + (counts - counts.mean()) / rows / (1 + noise)
        shares = np.maximum(pulled, max(1 / rows, RAREST))
        scores = np.array([round(log(share / shares.sum()) * 2**GRID_BITS) for share in shares])
        used = scores[labels - fit_columns(labels) :]
        return used - (scores[0] if len(used) < labels else 0)


def _cut(block: Block, spreads: Spreads) -> Block:
    """The term of one attribute, cut where its rows are."""
    cuts = spreads.cuts(block.columns[0], block.size)
    return replace(block, cuts=(cuts,)) if cuts else block


def _every_label(scores: IntArray, labels: int) -> IntArray:
    """A column of zeros for the first label where it has none."""
    missing = labels - scores.shape[-1]
    return np.concatenate([np.zeros((*scores.shape[:-1], missing), np.int64), scores], axis=-1)
