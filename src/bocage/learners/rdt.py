"""Private random decision trees. Jagannathan, Pillaipakkamnatt & Wright (2012), Algorithm 4."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log, sqrt
from random import SystemRandom
from typing import ClassVar

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.plan import Plan, Step
from bocage.learners.structure import Structure, mean_arity, random_structure
from bocage.model import Forest
from bocage.private import EpsilonLike, PrivateTable
from bocage.schema import Schema

SIZE = "number of rows"
LEAVES = "leaf counts of all trees"
MOST_TREES = 1000


@dataclass(frozen=True)
class RandomTrees(Learner):
    """An ensemble of trees whose structure is drawn before the data is looked at.

    Parameters
    ----------
    trees
        Number of trees; None for the rule of :func:`shape`.
    height
        Levels of splits; None for the rule of :func:`shape`.
    rows
        The public size of the table, if the owner declares one. Without it, and if a rule needs it,
        5 % of epsilon pays for a noisy count.
    attributes
        Those that a tree may split by; None for all.

    Privacy
    -------
    The structure is independent of the data. A record is in one leaf of each tree, so that all leaf
    vectors together have sensitivity `trees`: one release with noise of scale trees / epsilon. The
    size of the table is not public: it is declared, or paid for inside the budget.
    """

    name: ClassVar[str] = "rdt"
    paper: ClassVar[str] = "Jagannathan, Pillaipakkamnatt & Wright 2012, Algorithm 4"
    numeric: ClassVar[bool] = True
    trees: int | None = None
    height: int | None = None
    rows: int | None = None
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        self.check(schema)
        for field, most in (("trees", MOST_TREES), ("height", 40), ("rows", 2**40)):
            value = getattr(self, field)
            if value is not None and (isinstance(value, bool) or not 1 <= value <= most):
                raise LearnerError(f"{self.name} needs {field} from 1 to {most}, not {value!r}.")
        if not self._counts_rows():
            budget = budget_of(epsilon, 1, self.name)
            return Plan(self.name, budget, (Step(0, LEAVES, "discrete Laplace", budget),))
        budget = budget_of(epsilon, 20, self.name)
        size, rest = budget.split([1, 19])
        return Plan(
            self.name,
            budget,
            (
                Step(0, SIZE, "discrete Laplace", size),
                Step(0, LEAVES, "discrete Laplace", rest),
            ),
        )

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Forest:
        plan = self.plan(table.schema, epsilon)
        schema = table.schema
        start = self.reserve(table, plan)
        progress(0, 2)
        rows = self.rows
        if self._counts_rows():
            rows = max(int(start.totals(plan.share(0, SIZE))[0]), 1)
        structures = self.structures(schema, rows, plan.share(0, LEAVES))
        progress(1, 2)
        cells = [structure.cells(schema) for structure in structures]
        counts = start.ensemble(cells, label_of(schema).name, plan.share(0, LEAVES))
        certificate = self.certificate(start, plan)
        trees = tuple(
            structure.tree(schema, vector).freeze(certificate)
            for structure, vector in zip(structures, counts, strict=True)
        )
        progress(2, 2)
        return Forest(trees, "counts", certificate)

    def structures(self, schema: Schema, rows: int | None, epsilon: Epsilon) -> list[Structure]:
        """Draw the structures; public, and independent of the data."""
        attributes = self.check(schema)
        trees, height = self.trees, self.height
        if trees is None or height is None:
            by_rule = shape(schema, attributes, rows or 1, epsilon, trees)
            trees, height = trees or by_rule[0], height or by_rule[1]
        random = SystemRandom()
        return [random_structure(schema, attributes, height, random) for _ in range(trees)]

    def _counts_rows(self) -> bool:
        return self.rows is None and (self.trees is None or self.height is None)


def shape(
    schema: Schema,
    attributes: tuple[str, ...],
    rows: int,
    epsilon: Epsilon,
    trees: int | None = None,
) -> tuple[int, int]:
    """Number of trees and height, from the schema, the public size and epsilon.

    More trees smooth the random structure, but every counter then carries noise of a scale that
    grows with their number: between 3 and 10, with the square root of rows * epsilon / 250. The
    height is the paper's, min(floor(k/2), floor(log_b rows) - 1), where it can be afforded: an
    average leaf must hold more records of a label than the deviation of its noise.
    """
    b, labels = mean_arity(schema, attributes), label_of(schema).cells
    count = trees or max(3, min(10, round(sqrt(rows * float(epsilon) / 250))))
    paper = min(len(attributes) // 2, floor(log(rows, b)) - 1 if rows > 1 else 1)
    affordable = rows * float(epsilon) / (sqrt(2) * count * labels)
    height = min(paper, floor(log(affordable, b)) if affordable > 1 else 0)
    return count, max(height, 1)
