"""What `auto` has to choose among, and its trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from bocage.epsilon import Epsilon
from bocage.learners.additive.learner import Additive
from bocage.learners.base import Learner, label_of
from bocage.learners.bayes.learner import Bayes
from bocage.learners.readable.learner import ReadableTree
from bocage.model import AdditiveModel, Certificate, Released, Tree, TreeBuilder
from bocage.private import BestModel, IntArray, OpenCells, PrivateTable
from bocage.private.capabilities import Capability
from bocage.schema import Schema

TREE, TABLES, COUNTS = "readable", "additive", "bayes"
CLEAR = 0.3  # of the errors that the commonest label makes: with so few a tried tree is taken
DOUBT = (3, 2, 95)  # per cent: that tree, what it is compared with, the model
RIVALS = (5, 5, 2, 88)  # per cent: a tree, the tables that are due, their comparison, the model
FORGIVEN = (0, 30)  # of a hundred errors of each: tables still improve when a tree does not
FEWER = (5, 15, 2, 78)  # ... with less data, of which tables need more to show what they can do
FORGIVEN_FEWER = (10, 0)  # then: that tree is due
TRIAL, CHOICE = 5, 2  # per cent: each of the trials, their comparison
LEAVES = 64  # of a tree that is tried where tables are due


@dataclass(frozen=True)
class Known:
    """What every learner starts from."""

    attributes: tuple[str, ...] | None
    cells: OpenCells
    counts: IntArray
    deviation: float
    certificate: Certificate

    @property
    def label(self) -> str:
        return label_of(self.cells.schema).name

    def learn(self, name: str, epsilon: Epsilon) -> Released:
        """One of the learners, for a share of what is reserved."""
        cells, counts, certificate = self.cells, self.counts, self.certificate
        if name == TREE:
            return self.grow(epsilon, others=True)
        if name == TABLES:
            fit = Additive(attributes=self.attributes).tables
            return fit(cells, counts, epsilon, certificate, deviation=self.deviation)
        bayes = Bayes(attributes=self.attributes)
        return bayes.tables(cells, counts, self.deviation**2, epsilon, certificate)

    def grow(
        self, epsilon: Epsilon, leaves: int = ReadableTree.leaves, *, others: bool = False
    ) -> Tree | AdditiveModel:
        """A tree, or also a score if one may take its place."""
        share = cast("PrivateTable", _Share(self.cells))
        rows = max(int(self.counts.sum()), 10)
        learner = ReadableTree(rows, leaves, self.attributes, scorecards=others, ordinal_scores=others)
        model = learner.fit(share, epsilon)
        notes = dict.fromkeys((*self.certificate.notes, *model.certificate.notes))
        return replace(model, certificate=replace(self.certificate, notes=tuple(notes)))

    def choose(self, names: Sequence[str], epsilon: Epsilon) -> tuple[tuple[str], Epsilon]:
        """The learner whose trial is right most often, and what is left for it."""
        spent = TRIAL * len(names) + CHOICE
        *trials, choice, rest = epsilon.split([TRIAL] * len(names) + [CHOICE, 100 - spent])
        tried = [self.learn(*pair) for pair in zip(names, trials, strict=True)]
        best = self.cells.fit(BestModel(tuple(tried), self.label, choice))
        return (names[best],), rest

    def compare(self, names: Sequence[str], epsilon: Epsilon) -> tuple[tuple[str], Epsilon]:
        """The first, a tree, if its trial has less than 0.7 of the errors of the other's; and what is left."""
        return self._compare(names, epsilon.split(RIVALS), FORGIVEN)

    def ask(self, names: Sequence[str], epsilon: Epsilon) -> tuple[tuple[str], Epsilon]:
        """The second, tables, if their trial has less than 0.9 of the errors of the tree's; and what is left."""
        return self._compare(names, epsilon.split(FEWER), FORGIVEN_FEWER)

    def _compare(
        self, names: Sequence[str], shares: Sequence[Epsilon], forgiven: tuple[int, int]
    ) -> tuple[tuple[str], Epsilon]:
        first, second, choice, rest = shares
        tried = (self.grow(first, LEAVES), self.learn(names[1], second))
        best = self.cells.fit(BestModel(tried, self.label, choice, forgiven=forgiven))
        return (names[best],), rest

    def doubt(self, names: Sequence[str], epsilon: Epsilon) -> tuple[tuple[str], Epsilon]:
        """The first, a tree, if it has few errors already, else the second; and what is left.

        Tables need records before they show what they can do. So the tree stands against the commonest
        label, which is given as many rows as it would need to have few errors too.
        """
        trial, choice, rest = epsilon.split(DOUBT)
        tree = self.grow(trial, LEAVES)
        common = TreeBuilder(self.cells.schema)
        common.label(common.root, int(self.counts.argmax()))
        errors = max(int(self.counts.sum() - self.counts.max()), 0)
        models = (tree, common.freeze(self.certificate))
        given = (0, -round((1 - CLEAR) * errors))
        best = self.cells.fit(BestModel(models, self.label, choice, given))
        return (names[best],), rest


Trial = Callable[[Known, Sequence[str], Epsilon], tuple[tuple[str], Epsilon]]


@dataclass(frozen=True)
class _Share:
    """What is left of a reservation, as the table that a learner charges."""

    cells: OpenCells

    @property
    def schema(self) -> Schema:
        return self.cells.schema

    def reserve(self, epsilon: Epsilon, memo: str, _: Sequence[Capability]) -> OpenCells:
        return self.cells.share(memo, epsilon)

    def learn(self, _: Learner, fit: Callable[..., Any], *arguments: Any) -> Any:
        """Learn here: the reservation is this table's own."""
        return fit(self, *arguments)
