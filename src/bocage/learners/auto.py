"""A readable tree or an additive model, by a published rule that reads nothing but released numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, cast

from bocage.epsilon import Epsilon
from bocage.learners.additive import CLASSES, FEW, Additive
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.plan import Plan, Step
from bocage.learners.readable import SUPPORT, ReadableTree
from bocage.model import Certificate, Released, Tree
from bocage.private import EpsilonLike, Level, PrivateTable
from bocage.schema import Categorical, Schema

MODEL = "tree or tables, with their trials if there are many records"
MOST_LABELS = 3  # beyond, noise on the scores of all labels costs more than it brings
SIGNAL = 20  # records times epsilon for each parameter that tables need
TRIAL = 100  # as many for which both are tried
SHARES = (8, 8, 3, 76)  # per cent of epsilon: trial tree, trial tables, their comparison, the model
MARGIN = 0.01  # of the rows that tables must be ahead: trees gain more from a larger epsilon


@dataclass(frozen=True)
class Auto(Learner):
    """The one of :class:`ReadableTree` and :class:`Additive` that is likely to be more accurate.

    Tables are taken if the label has two or three values, if there are at least 20 records times
    epsilon for each of their parameters, and if there is not data enough for a leaf of each
    combination of their cells. Else a tree is taken. With 100 records times epsilon or more for each
    parameter, both are first tried with 8 % of epsilon each, and 3 % pay for a noisy comparison:
    the tables must be right on 1 % more of the rows.

    Parameters
    ----------
    attributes
        Those that the model may look at; None for all.

    Privacy
    -------
    5 % of epsilon pay for the class counts, which both learners need: their sum is the number of
    rows. Whether there are trials is post-processing of it. A trial is a fit with the proof of its
    learner, and the comparison of two released models has sensitivity 1. The rest pays for the
    learner chosen. Sequential composition of all of these.
    """

    name: ClassVar[str] = "auto"
    paper: ClassVar[str] = "Bocage: ReadableTree or Additive"
    numeric: ClassVar[bool] = True
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        budget = budget_of(epsilon, 400, self.name)
        self.tree(1).plan(schema, epsilon)
        if label_of(schema).cells <= MOST_LABELS:
            self.additive.plan(schema, epsilon)
        classes, rest = budget.split([1, 19])
        return Plan(
            self.name,
            budget,
            (
                Step(0, CLASSES, "discrete Laplace", classes),
                Step(
                    0,
                    MODEL,
                    "permute and flip, discrete Laplace, K-norm objective perturbation",
                    rest,
                ),
            ),
        )

    @property
    def additive(self) -> Additive:
        return Additive(attributes=self.attributes)

    def tree(self, rows: int) -> ReadableTree:
        return ReadableTree(rows=rows, attributes=self.attributes)

    def takes_tables(self, schema: Schema, rows: int, epsilon: float) -> bool:
        """The rule. Public: every number in it is declared or released."""
        everything = prod(self.sizes(schema)) <= rows * epsilon / SUPPORT  # a leaf for each cell
        enough = rows * epsilon >= SIGNAL * self.parameters_of(schema)
        return label_of(schema).cells <= MOST_LABELS and enough and not everything

    def parameters_of(self, schema: Schema) -> int:
        """How many numbers the tables have."""
        return sum(size - 1 for size in self.sizes(schema)) * (label_of(schema).cells - 1)

    def sizes(self, schema: Schema) -> list[int]:
        """The cells of each attribute."""
        columns = [schema[name] for name in self.check(schema)]
        return [c.cells if isinstance(c, Categorical) else min(FEW, c.cells) for c in columns]

    def fit(
        self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet
    ) -> Released:
        plan = self.plan(table.schema, epsilon)
        schema, label = table.schema, label_of(table.schema)
        start = self.reserve(table, plan)
        progress(0, 2)
        counts = start.counts(label.name, plan.share(0, CLASSES))[0]
        noise = start.deviation(plan.share(0, CLASSES))
        rows, rest = max(int(counts.sum()), 10), plan.share(0, MODEL)
        progress(1, 2)
        certificate = self.certificate(start, plan)
        tables = self.takes_tables(schema, rows, float(rest))
        if tables and rows * float(rest) >= TRIAL * self.parameters_of(schema):
            first, second, compare, rest = rest.split(SHARES)
            tree = self.grow(start, rows, first, certificate)
            other = self.additive.tables(start, counts, second, certificate, deviation=noise)
            tables = start.compare(other, tree, label.name, compare) > MARGIN * rows
        model: Released = (
            self.additive.tables(start, counts, rest, certificate, deviation=noise)
            if tables
            else self.grow(start, rows, rest, certificate)
        )
        progress(2, 2)
        return model

    def grow(self, level: Level, rows: int, epsilon: Epsilon, certificate: Certificate) -> Tree:
        share = cast("PrivateTable", _Share(level))
        return replace(self.tree(rows).fit(share, epsilon), certificate=certificate)


@dataclass(frozen=True)
class _Share:
    """What is left of a reservation, as the table that a learner charges."""

    level: Level

    @property
    def schema(self) -> Schema:
        return self.level.schema

    def reserve(self, epsilon: Epsilon, memo: str) -> Level:
        return self.level.share(memo, epsilon)

    def learn(self, _: Learner, fit: Callable[..., Any], *arguments: Any) -> Any:
        """Learn here: the reservation is this table's own."""
        return fit(self, *arguments)
