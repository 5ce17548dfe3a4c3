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
from bocage.model import Released
from bocage.private import EpsilonLike, Level, PrivateTable
from bocage.schema import Categorical, Schema

MODEL = "tree or tables"
MOST_LABELS = 3  # beyond, noise on the scores of all labels costs more than it brings
SIGNAL = 20  # records times epsilon for each parameter that tables need


@dataclass(frozen=True)
class Auto(Learner):
    """The one of :class:`ReadableTree` and :class:`Additive` that is likely to be more accurate.

    Tables are taken if the label has two or three values, if there are at least 20 records times
    epsilon for each of their parameters, and if there is not data enough for a leaf of each
    combination of their cells. Else a tree is taken. The rule knows the schema, epsilon and a noisy number of rows, not which
    of the two fits better: where one attribute decides almost everything a tree can be better
    although the rule takes tables.

    Parameters
    ----------
    attributes
        Those that the model may look at; None for all.

    Privacy
    -------
    5 % of epsilon pay for the class counts, which both learners need: their sum is the number of
    rows. The choice is post-processing of it. The rest pays for the one learner chosen, whose own
    proof holds. Sequential composition of the two.
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
                Step(0, MODEL, "permute and flip, or K-norm objective perturbation", rest),
            ),
        )

    @property
    def additive(self) -> Additive:
        return Additive(attributes=self.attributes)

    def tree(self, rows: int) -> ReadableTree:
        return ReadableTree(rows=rows, attributes=self.attributes)

    def takes_tables(self, schema: Schema, rows: int, epsilon: float) -> bool:
        """The rule. Public: every number in it is declared or released."""
        labels, names = label_of(schema).cells, self.check(schema)
        sizes = [
            column.cells if isinstance(column, Categorical) else min(FEW, column.cells)
            for column in (schema[name] for name in names)
        ]
        parameters = sum(size - 1 for size in sizes) * (labels - 1)
        everything = prod(sizes) <= rows * epsilon / SUPPORT  # a leaf for each combination
        return labels <= MOST_LABELS and rows * epsilon >= SIGNAL * parameters and not everything

    def fit(
        self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet
    ) -> Released:
        plan = self.plan(table.schema, epsilon)
        schema, label = table.schema, label_of(table.schema)
        start = self.reserve(table, plan)
        progress(0, 2)
        counts = start.counts(label.name, plan.share(0, CLASSES))[0]
        rows, rest = max(int(counts.sum()), 10), plan.share(0, MODEL)
        progress(1, 2)
        certificate = self.certificate(start, plan)
        model: Released
        if self.takes_tables(schema, rows, float(rest)):
            model = self.additive.tables(start, counts, rest, certificate)
        else:
            share = cast("PrivateTable", _Share(start))
            model = replace(self.tree(rows).fit(share, rest), certificate=certificate)
        progress(2, 2)
        return model


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
