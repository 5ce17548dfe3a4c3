"""A readable tree, an additive model or tables of counts: by a published rule, or by a paid trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, prod
from typing import Any, ClassVar, cast

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError, PlanError
from bocage.learners.additive import Additive
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.bayes import Bayes
from bocage.learners.plan import Plan, Step
from bocage.learners.readable import SUPPORT, ReadableTree
from bocage.model import Certificate, Released, Tree
from bocage.private import EpsilonLike, IntArray, Level, PrivateTable, needs
from bocage.private.needs import Need
from bocage.schema import Schema

CLASSES = "class counts"
MODEL = "tree or tables, with their trials if there are many records"
TREE, TABLES, COUNTS = "readable", "additive", "bayes"
PLENTY = 160  # records times epsilon for each parameter: enough to fit tables, or to try
FEW = 3  # labels for which tables are then fitted without a trial
TABULATED = 400  # what records, cells and labels must come to for tables where there is less
JOINT = 20  # records times epsilon for each parameter: enough to fit those of two labels
SHARES = (10, 10, 10, 3, 67)  # per cent: the trials, their comparison, the model


@dataclass(frozen=True)
class Auto(Learner):
    """The one of :class:`ReadableTree`, :class:`Additive` and :class:`Bayes` that is likely to be best.

    Let s be the number of records times epsilon for each number that tables of single attributes
    have, c the geometric mean of the attributes' cells (8 for a numeric one) and h the number of
    frequent labels (the exponential of the entropy of their shares). The first of these that holds:

    - There are 30 records times epsilon for each combination of cells: :class:`ReadableTree`.
    - s is 160 or more: :class:`Additive` for two or three labels. For more of them, each of the
      three learns from 10 % of epsilon, 3 % choose the one that predicts most rows right, and it
      learns again from the rest.
    - s c**3 / h**2 is less than 400: :class:`ReadableTree`.
    - There are two labels, and s is 20 or more: :class:`Additive`.
    - Otherwise: :class:`Bayes`.

    Parameters
    ----------
    attributes
        Those that the model may look at; None for all.

    Privacy
    -------
    3 % of epsilon pay for the class counts, which all three need: their sum is the number of rows.
    Whether there are trials, and which learner is taken without them, is post-processing of these
    counts. A trial is a fit with the proof of its learner. The choice among the released trial models
    is permute-and-flip over how many rows each predicts right: one more record raises each of these
    numbers by 0 or 1 (monotone, range 1). The rest pays for the learner chosen. Sequential
    composition of all of these.
    """

    name: ClassVar[str] = "auto"
    paper: ClassVar[str] = "Bocage: ReadableTree, Additive or Bayes"
    numeric: ClassVar[bool] = True
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        budget = budget_of(epsilon, 8000, self.name)
        self.tree(1).plan(schema, epsilon)
        self.bayes.plan(schema, epsilon)
        classes, rest = budget.split([3, 97])
        words = "permute and flip, discrete Laplace, K-norm objective perturbation"
        steps = (Step(0, CLASSES, "discrete Laplace", classes), Step(0, MODEL, words, rest))
        return Plan(self.name, budget, steps)

    @property
    def additive(self) -> Additive:
        return Additive(attributes=self.attributes)

    @property
    def bayes(self) -> Bayes:
        return Bayes(attributes=self.attributes)

    def tree(self, rows: int) -> ReadableTree:
        return ReadableTree(rows=rows, attributes=self.attributes)

    def candidates(self, schema: Schema, counts: IntArray, epsilon: float) -> tuple[str, ...]:
        """The rule: the learner that is taken, or all that are tried.

        Every number in it is declared or released.
        """
        sizes, labels = Bayes.sizes(schema, self.check(schema)), len(counts)
        support = max(int(counts.sum()), 0) * epsilon
        if prod(sizes) <= support / SUPPORT:
            return (TREE,)
        signal = support / (sum(size - 1 for size in sizes) * (labels - 1))
        if signal >= PLENTY and labels > FEW:
            return (TREE, TABLES, COUNTS) if self.fits(schema) else (TREE, COUNTS)
        shares = np.maximum(counts, 1) / np.maximum(counts, 1).sum()
        frequent = exp(-float((shares * np.log(shares)).sum()))
        cells = exp(sum(map(log, sizes)) / len(sizes))
        if signal < PLENTY and signal * cells**3 < TABULATED * frequent**2:
            return (TREE,)
        joint = signal >= PLENTY or (labels == 2 and signal >= JOINT)
        return (TABLES,) if joint and self.fits(schema) else (COUNTS,)

    def fits(self, schema: Schema) -> bool:
        """Whether an additive model is small enough to be fitted at once."""
        try:
            self.additive.plan(schema, "1")
        except (LearnerError, PlanError):
            return False
        return True

    def needs(self, schema: Schema) -> tuple[Need, ...]:
        return (needs.tables,) if self.fits(schema) else ()

    def fit(
        self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet
    ) -> Released:
        plan = self.plan(table.schema, epsilon)
        start = self.reserve(table, plan)
        progress(0, 2)
        share, rest = plan.share(0, CLASSES), plan.share(0, MODEL)
        label = label_of(table.schema).name
        counts = start.counts(label, share)[0]
        progress(1, 2)
        known = _Known(self, start, counts, start.deviation(share), self.certificate(start, plan))
        names = self.candidates(table.schema, counts, float(rest))
        if len(names) > 1:
            *trials, choice, rest = rest.split([*SHARES[: len(names)], *SHARES[3:]])
            tried = [known.learn(*pair) for pair in zip(names, trials, strict=True)]
            names = (names[start.best(tried, label, choice)],)
        model = known.learn(names[0], rest)
        progress(2, 2)
        return model


@dataclass(frozen=True)
class _Known:
    """What every learner starts from."""

    auto: Auto
    level: Level
    counts: IntArray
    deviation: float
    certificate: Certificate

    def learn(self, name: str, epsilon: Epsilon) -> Released:
        """One of the learners, for a share of what is reserved."""
        level, counts, certificate = self.level, self.counts, self.certificate
        if name == TREE:
            return self.grow(max(int(counts.sum()), 10), epsilon)
        if name == TABLES:
            fit = self.auto.additive.tables
            return fit(level, counts, epsilon, certificate, deviation=self.deviation)
        return self.auto.bayes.tables(level, counts, self.deviation**2, epsilon, certificate)

    def grow(self, rows: int, epsilon: Epsilon) -> Tree:
        share = cast("PrivateTable", _Share(self.level))
        tree = self.auto.tree(rows).fit(share, epsilon)
        return replace(tree, certificate=self.certificate)


@dataclass(frozen=True)
class _Share:
    """What is left of a reservation, as the table that a learner charges."""

    level: Level

    @property
    def schema(self) -> Schema:
        return self.level.schema

    def reserve(self, epsilon: Epsilon, memo: str, _: Sequence[Need]) -> Level:
        return self.level.share(memo, epsilon)

    def learn(self, _: Learner, fit: Callable[..., Any], *arguments: Any) -> Any:
        """Learn here: the reservation is this table's own."""
        return fit(self, *arguments)
