"""A readable tree or a scorecard, an additive model or tables of counts: by a published rule, and paid trials."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, prod
from typing import ClassVar

import numpy as np

from bocage.errors import LearnerError, PlanError
from bocage.learners.additive.learner import Additive
from bocage.learners.auto.trials import COUNTS, TABLES, TREE, Known, Trial
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.bayes.learner import Bayes
from bocage.learners.plan import Plan, Step
from bocage.learners.readable.learner import SUPPORT, ReadableTree
from bocage.model import Released
from bocage.private import Counts, EpsilonLike, IntArray, PrivateTable, capabilities
from bocage.private.capabilities import Capability
from bocage.schema import Schema

CLASSES = "class counts"
MODEL = "tree or tables, with their trials if there are many records"
TWO = 2400  # s times squared cells from which on tables are taken for two labels
THREE = 8  # s for each frequent label from which on they are taken for three
FEW, ALL = 3, 1000  # of more labels than that: s from which on all three are tried
JOINT = 50  # s from which on tables of two labels are fitted at once
PLENTY = 160  # ... of three labels
TRIED = 5000  # records times epsilon from which on a tree and tables of two labels are tried
ASKED = 2000  # ... from which on tables are asked where a tree is due,
WIDE = 1000  # if s times squared cells is as much
DOUBTED = 3000  # records times epsilon from which on a tree is tried where tables are due


@dataclass(frozen=True)
class Auto(Learner):
    """The one of :class:`ReadableTree`, :class:`Additive` and :class:`Bayes` that is likely to be best.

    Let s be the number of records times epsilon for each number that tables of single attributes
    have, c the geometric mean of the attributes' cells (8 for a numeric one) and h the number of
    frequent labels (the exponential of the entropy of their shares). The first of these that holds:

    - There are 30 records times epsilon for each combination of cells: :class:`ReadableTree`, here and
      below with an ordinal score or a scorecard in its place if that predicts more rows right.
    - There are four labels or more: :class:`ReadableTree`. But if s is 1000 or more, each of the three learns
      from 5 % of epsilon, 2 % choose the one that predicts most rows right, and it learns again from the rest.
    - There are two labels and 5000 records times epsilon or more: a tree learns from 5 % of epsilon, and so does
      :class:`Additive`, or :class:`Bayes` if s is less than 50. 2 % choose, where the tables are forgiven three
      tenths of their errors; the one that is chosen learns again from the rest.
    - There are two labels, s c**2 is between 1000 and 2400, and there are 2000 records times epsilon or more: as
      before,
      but tables learn from 15 %, and the tree is forgiven a tenth of its errors.
    - There are two labels and s c**2 is less than 2400, or three and s is less than 8 h:
      :class:`ReadableTree`.
    - There are two labels and s is 50 or more, or s is 160 or more: :class:`Additive`.
    - Otherwise: :class:`Bayes`.

    Where the last two find 3000 records times epsilon or more, a tree learns from 3 % of epsilon
    first. If it makes less than 0.3 of the errors that the commonest label makes, as 2 % of
    epsilon decide, the rest is for :class:`ReadableTree` instead.

    Parameters
    ----------
    attributes
        Those that the model may look at; None for all.

    Privacy
    -------
    3 % of epsilon pay for the class counts, which all three need: their sum is the number of rows.
    Whether there are trials, and which learner is taken without them, is post-processing of these counts. A trial is a
    fit with the proof of its learner. The choice among the released trial models is permute-and-flip over how many rows
    each predicts right, and a public part of those that it predicts wrong: one more record raises each of these numbers
    by 0 to 1 (monotone, range 1). A tree that is tried alone is compared in this way with the commonest of the noisy
    labels, a model that follows from the counts; so does the number of rows that this model is given in advance. The
    rest pays for the learner chosen. Sequential composition of all of these.
    """

    name: ClassVar[str] = "auto"
    paper: ClassVar[str] = "Bocage: ReadableTree, Additive or Bayes"
    numeric: ClassVar[bool] = True
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        budget = budget_of(epsilon, 16_000, self.name)
        ReadableTree(rows=1, attributes=self.attributes).plan(schema, epsilon)
        Bayes(attributes=self.attributes).plan(schema, epsilon)
        classes, rest = budget.split([3, 97])
        words = "permute and flip, exponential, discrete Laplace, K-norm objective perturbation"
        steps = (Step(0, CLASSES, "discrete Laplace", classes), Step(0, MODEL, words, rest))
        return Plan(self.name, budget, steps)

    def rule(self, schema: Schema, counts: IntArray, epsilon: float) -> tuple[tuple[str, ...], Trial | None]:
        """The learner that is taken, or those that are and how they are tried.

        Every number in it is declared or released.
        """
        sizes, labels = Bayes.sizes(schema, self.check(schema)), len(counts)
        support = max(int(counts.sum()), 0) * epsilon
        signal = support / (sum(size - 1 for size in sizes) * (labels - 1))
        if prod(sizes) <= support / SUPPORT or (labels > FEW and signal < ALL):
            return (TREE,), None
        if labels > FEW:
            every = self.fits(schema)
            return ((TREE, TABLES, COUNTS), Known.choose) if every else ((TREE,), None)
        joint = signal >= (JOINT if labels == 2 else PLENTY) and self.fits(schema)
        due = TABLES if joint else COUNTS
        if labels == 2 and support >= TRIED:
            return (TREE, due), Known.compare
        wide = signal * exp(2 * sum(map(log, sizes)) / len(sizes))
        if labels == 2 and WIDE <= wide < TWO and support >= ASKED:
            return (TREE, due), Known.ask
        shares = np.maximum(counts, 1) / np.maximum(counts, 1).sum()
        frequent = exp(-float((shares * np.log(shares)).sum()))
        if wide < TWO if labels == 2 else signal < THREE * frequent:
            return (TREE,), None
        return ((TREE, due), Known.doubt) if support >= DOUBTED else ((due,), None)

    def fits(self, schema: Schema) -> bool:
        """Whether an additive model is small enough to be fitted at once."""
        try:
            Additive(attributes=self.attributes).plan(schema, "1")
        except (LearnerError, PlanError):
            return False
        return True

    def requires(self, schema: Schema) -> tuple[Capability, ...]:  # noqa: ARG002 - whatever it says
        return (capabilities.tables, capabilities.draws_by_rejection)

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Released:
        plan = self.plan(table.schema, epsilon)
        start = self.reserve(table, plan)
        progress(0, 2)
        share, rest = plan.share(0, CLASSES), plan.share(0, MODEL)
        counts = start.ask(Counts((label_of(table.schema).name,), share))[0]
        progress(1, 2)
        certificate = self.certificate(start)
        known = Known(self.attributes, start, counts, start.deviation(share), certificate)
        names, trial = self.rule(table.schema, counts, float(rest))
        if trial is not None:
            names, rest = trial(known, names, rest)
        model = known.learn(names[0], rest)
        progress(2, 2)
        return self.certified(model, start)
