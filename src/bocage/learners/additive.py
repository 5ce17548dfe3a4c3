"""An additive model: one small table per attribute, all of them fitted at once.

Objective perturbation after Chaudhuri, Monteleoni & Sarwate (2011), with the noise of Hardt & Talwar (2010)
and an analysis in which the change of the curvature costs nothing; see
:class:`bocage.private.additive.AdditiveFit` for the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.base import Learner, Progress, budget_of, check_word, label_of, quiet
from bocage.learners.plan import Plan, Step
from bocage.model import AdditiveModel, Certificate, Term
from bocage.private import (
    GRID_BITS,
    Block,
    EpsilonLike,
    IntArray,
    Level,
    PrivateTable,
    fit_columns,
)
from bocage.private.design import Design
from bocage.schema import Categorical, Schema

CLASSES, FIT = "class counts", "all tables at once"
CELLS = ("auto", "few", "stacked")
FEW = 8  # cells of a numeric attribute
STACK = (2, 4, 8, 16, 32)  # sizes of the tables that are added up for one
ENOUGH = 300  # records times epsilon for each parameter, from which on numeric cells are stacked
MOST_SCORES = 5000  # scores of all tables together
RAREST = 0.005  # share of a label that the prior does not go below


@dataclass(frozen=True)
class Additive(Learner):
    """Scores of single attributes that add up, for those who want accuracy first.

    Parameters
    ----------
    cells
        How numeric attributes are cut: ``"few"`` (8 cells of equal width), ``"stacked"`` (tables of
        2, 4, ... 32 cells that add up), or ``"auto"``: stacked where there is enough data.
    attributes
        Those that have a table; None for all.

    Privacy
    -------
    5 % of epsilon pay for the class counts (sensitivity 1, discrete Laplace). They give the number
    of rows, which sets penalties and the cells of numeric attributes, and the prior odds; both are
    post-processing. The rest pays for one release of all tables, whose proof is that of
    :class:`~bocage.private.additive.AdditiveFit`. Sequential composition of the two.
    """

    name: ClassVar[str] = "additive"
    paper: ClassVar[str] = (
        "Bocage, after Chaudhuri, Monteleoni & Sarwate 2011 and Hardt & Talwar 2010"
    )
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
        classes, fit = budget.split([1, 19])
        return Plan(
            self.name,
            budget,
            (
                Step(0, CLASSES, "discrete Laplace", classes),
                Step(0, FIT, "K-norm objective perturbation", fit),
            ),
        )

    def fit(
        self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet
    ) -> AdditiveModel:
        plan = self.plan(table.schema, epsilon)
        start = self.reserve(table, plan)
        progress(0, 2)
        counts = start.counts(label_of(table.schema).name, plan.share(0, CLASSES))[0]
        progress(1, 2)
        model = self.tables(start, counts, plan.share(0, FIT), self.certificate(start, plan))
        progress(2, 2)
        return model

    def tables(
        self, level: Level, counts: IntArray, epsilon: Epsilon, certificate: Certificate
    ) -> AdditiveModel:
        """Fit all tables at once, given noisy class counts."""
        schema, label = level.schema, label_of(level.schema)
        rows = max(int(counts.sum()), 10)
        prior = self.prior(counts, rows)
        blocks = self.blocks(schema, self.check(schema), rows, float(epsilon))
        intercept, tables = level.additive(blocks, label.name, prior, rows, epsilon)
        return AdditiveModel(
            schema,
            _every_label(intercept + prior, label.cells),
            tuple(
                Term(block.columns, block.cells, _every_label(scores, label.cells))
                for block, scores in zip(blocks, tables, strict=True)
            ),
            certificate,
        )

    def blocks(
        self, schema: Schema, names: tuple[str, ...], rows: int, epsilon: float
    ) -> list[Block]:
        """The terms: every value of a categorical attribute, cells of a numeric one."""
        stacked = self.cells == "stacked"
        if self.cells == "auto":
            sizes = [
                column.cells if isinstance(column, Categorical) else min(FEW, column.cells)
                for column in (schema[name] for name in names)
            ]
            parameters = sum(size - 1 for size in sizes) * (label_of(schema).cells - 1)
            stacked = rows * epsilon >= ENOUGH * parameters
        found = []
        for name in names:
            column = schema[name]
            if isinstance(column, Categorical):
                levels: tuple[int, ...] = (column.cells,)
            elif stacked:
                levels = tuple(size for size in STACK if size <= column.cells)
            else:
                levels = (min(FEW, column.cells),)
            found.append(Block((name,), (levels[-1],), levels))
        return found

    @staticmethod
    def prior(counts: IntArray, rows: int) -> IntArray:
        """The logarithms of the labels' odds before anything is known of a record, on the grid."""
        shares = np.maximum(counts, max(1.0, RAREST * rows))
        scores = np.array([round(log(share / shares.sum()) * 2**GRID_BITS) for share in shares])
        used = scores[len(scores) - fit_columns(len(scores)) :]
        return used - (scores[0] if len(used) < len(scores) else 0)


def _every_label(scores: IntArray, labels: int) -> IntArray:
    """A column of zeros for the first label where it has none."""
    missing = labels - scores.shape[-1]
    return np.concatenate([np.zeros((*scores.shape[:-1], missing), np.int64), scores], axis=-1)
