"""Private random decision trees. Jagannathan, Pillaipakkamnatt & Wright (2012), Algorithms 4, 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import SystemRandom
from typing import ClassVar

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.base import Learner, Progress, budget_of, label_of, quiet
from bocage.learners.forest_size import room, shape
from bocage.learners.papers.batches import check_grown, check_update, is_parted_by, with_batch
from bocage.learners.papers.structure import Structure, one_per_value, random_structure
from bocage.learners.plan import Plan, Step
from bocage.model import Batch, Certificate, Forest
from bocage.plan import Cells
from bocage.private import Count, Ensemble, EpsilonLike, IntArray, OpenCells, PrivateTable
from bocage.schema import Categorical, Schema

SIZE = "number of rows"
LEAVES = "leaf counts of all trees"
MOST_TREES = 1000
MOST_HEIGHT = 40


@dataclass(frozen=True)
class RandomTrees(Learner):
    """An ensemble of trees whose structure is drawn before the data is looked at.

    Parameters
    ----------
    trees
        Number of trees; None for the rule of :func:`~bocage.learners.forest_size.shape`.
    height
        Levels of splits; None for the rule of :func:`~bocage.learners.forest_size.shape`.
    rows
        The public size of the table, if the owner declares one. Without it, and if a rule needs it,
        5 % of epsilon pays for a noisy count.
    parts
        A categorical column by which the owner has assigned every record to a part in advance, at
        random. Tree i then counts the records of part i alone. The column is not split by and not
        needed to predict.
    attributes
        Those that a tree may split by; None for all.

    Privacy
    -------
    The structure is independent of the data. A record is in one leaf of each tree, so that all leaf
    vectors together have sensitivity `trees`: one release with noise of scale trees / epsilon. With
    `parts` a record is in one leaf of one tree: sensitivity 1, noise of scale 1 / epsilon (parallel
    composition). The size of the table is not public: it is declared, or paid for inside the budget.
    """

    name: ClassVar[str] = "rdt"
    paper: ClassVar[str] = "Jagannathan, Pillaipakkamnatt & Wright 2012, Algorithms 4 and 5"
    numeric: ClassVar[bool] = True
    trees: int | None = None
    height: int | None = None
    rows: int | None = None
    parts: str | None = None
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        self.check(schema)
        if not self._counts_rows():
            return self.update_plan(epsilon)
        budget = budget_of(epsilon, 20, self.name)
        size, rest = budget.split([1, 19])
        steps = (
            Step(0, SIZE, "discrete Laplace", size),
            Step(0, LEAVES, "discrete Laplace", rest),
        )
        return Plan(self.name, budget, steps)

    def check(self, schema: Schema) -> tuple[str, ...]:
        for field, most in (("trees", MOST_TREES), ("height", MOST_HEIGHT), ("rows", 2**40)):
            value = getattr(self, field)
            if value is not None and not (type(value) is int and 1 <= value <= most):
                raise LearnerError(f"{self.name} needs {field} from 1 to {most}, not {value!r}.")
        names = super().check(schema)
        if self.parts is None:
            return names
        column = {a.name: a for a in schema.attributes}.get(self.parts)
        if not isinstance(column, Categorical) or column.cells > MOST_TREES:
            raise LearnerError(
                f"{self.name}: parts is a categorical attribute with at most {MOST_TREES} values "
                f"by which the owner parted the records, not {self.parts!r}."
            )
        if self.attributes is not None and self.parts in self.attributes:
            raise LearnerError(f"{self.name}: {self.parts!r} parts the records; no tree splits by it.")
        if self.trees not in {None, column.cells}:
            raise LearnerError(
                f"{self.name}: {self.parts!r} has {column.cells} parts, one for each tree, so that "
                f"there cannot be {self.trees} trees."
            )
        rest = tuple(name for name in names if name != self.parts)
        if not rest:
            raise LearnerError(f"{self.name} has nothing but {self.parts!r} to split by.")
        return rest

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Forest:
        schema = table.schema
        plan = self.plan(schema, epsilon)
        share = plan.share(0, LEAVES)
        # What can be refused is refused before the charge.
        drawn = None if self._counts_rows() else self.structures(schema, self.rows, share)
        start = self.reserve(table, plan)
        progress(0, 2)
        if drawn is None:
            rows = int(start.ask(Count(plan.share(0, SIZE)))[0])
            drawn = self.structures(schema, max(rows, 1), share)
        progress(1, 2)
        counts = self._count(start, [structure.cells(schema) for structure in drawn], share)
        certificate = self.certificate(start)
        if start.batch is not None:
            certificate = with_batch(certificate, self._batch(start, plan, len(drawn)))
        progress(2, 2)
        return _forest(schema, drawn, counts, certificate)

    def structures(self, schema: Schema, rows: int | None, epsilon: Epsilon) -> list[Structure]:
        """Draw the structures; public, and independent of the data."""
        attributes = self.check(schema)
        labels = label_of(schema).cells
        trees, height = self.trees, self.height
        if self.parts is not None:
            trees = schema[self.parts].cells
            rows = None if rows is None else max(rows // trees, 1)
        if trees is None or height is None:
            noisy = 1 if self.parts is not None else trees  # trees whose noise adds up
            by_rule = shape(schema, attributes, rows or 1, epsilon, noisy)
            trees, height = trees or by_rule[0], height or by_rule[1]
        random, most = SystemRandom(), room(labels, trees)
        return [random_structure(schema, attributes, height, random, most) for _ in range(trees)]

    @classmethod
    def of(cls, forest: Forest) -> RandomTrees:
        """A learner that updates a forest as it was grown: by the same parts, if there are any."""
        columns = [None, *(a.name for a in forest.schema.attributes)]
        grown = [cls(parts=name) for name in columns if is_parted_by(forest, name)]
        learner = grown[0] if grown else cls()
        check_grown(learner, forest)
        return learner

    def update_plan(self, epsilon: EpsilonLike) -> Plan:
        """What an update asks: one question, whatever the number of trees."""
        budget = budget_of(epsilon, 1, self.name)
        return Plan(self.name, budget, (Step(0, LEAVES, "discrete Laplace", budget),))

    def update(
        self,
        forest: Forest,
        table: PrivateTable,
        epsilon: EpsilonLike,
        progress: Progress = quiet,
    ) -> Forest:
        """Add the noisy counts of a new batch to a forest (Algorithm 5).

        Parameters
        ----------
        forest
            Grown by this learner on other batches of the same table.
        table
            The new batch, opened by its owner with ``protect(..., batch="2026-02")``.
        epsilon
            What the new batch costs; it may differ from what the others cost.

        Privacy
        -------
        The structures are public and the new counts are those of the new rows alone. As no person
        is in two batches, the forest costs everyone what their own batch cost: the maximum. The
        noise of the batches adds up; :func:`~bocage.learners.noise_after` says how much there is.
        """
        return table.learn(self, partial(self._update, forest), epsilon, progress, update=forest)

    def _update(self, forest: Forest, table: PrivateTable, epsilon: EpsilonLike, progress: Progress) -> Forest:
        schema = table.schema
        self.check(schema)
        plan = self.update_plan(epsilon)
        budget = plan.budget
        batch = check_update(self, forest, table)
        memo = plan.memo(**self.parameters(), update=[b.name for b in forest.certificate.batches])
        start = table.reserve(budget, memo)
        progress(0, 1)
        structures = [Structure.of(tree) for tree in forest.trees]
        added = self._count(start, [structure.cells(schema) for structure in structures], budget)
        counts = [tree.counts[tree.is_leaf] + new for tree, new in zip(forest.trees, added, strict=True)]
        own = self.certificate(start)
        fresh = replace(own, variant=forest.certificate.variant, settled=True)
        assert start.batch == batch  # noqa: S101 - checked above
        certificate = with_batch(fresh, self._batch(start, plan, len(forest)), forest.certificate)
        progress(1, 1)
        return _forest(schema, structures, counts, certificate)

    def _count(self, start: OpenCells, routers: Sequence[Cells], epsilon: Epsilon) -> list[IntArray]:
        """The noisy leaf vectors of all trees: one scan, one release."""
        label = label_of(start.schema).name
        if self.parts is None:
            return start.ask(Ensemble(tuple(routers), label, epsilon))
        (counts,) = start.ask(Ensemble((one_per_value(self.parts, routers),), label, epsilon))
        return np.split(counts, np.cumsum([router.count for router in routers])[:-1])

    def _batch(self, start: OpenCells, plan: Plan, trees: int) -> Batch:
        sensitivity = trees if self.parts is None else 1
        deviation = start.deviation(plan.share(0, LEAVES), sensitivity)
        return Batch(start.batch or "", str(plan.budget), deviation, start.entry)

    @property
    def settled(self) -> bool:
        """Without a noisy number of rows the number of trees is public."""
        return not self._counts_rows()

    def _counts_rows(self) -> bool:
        by_rule = self.height is None or (self.trees is None and self.parts is None)
        return self.rows is None and by_rule


def _forest(
    schema: Schema,
    structures: Sequence[Structure],
    counts: Sequence[IntArray],
    certificate: Certificate,
) -> Forest:
    trees = [
        structure.freeze(schema, vector, certificate) for structure, vector in zip(structures, counts, strict=True)
    ]
    return Forest(tuple(trees), "counts", certificate)
