"""DiffPID3. Friedman & Schuster (2010), Algorithm 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bocage.learners.base import budget_of, label_of, selection_named
from bocage.learners.frontier import Frontier
from bocage.learners.papers.greedy import CLASSES, COUNT, GreedyTree
from bocage.learners.plan import Plan, equal_shares
from bocage.private import Choose, Doubled, EpsilonLike, Split, criterion_named
from bocage.schema import Schema

SPLIT = "best split"


@dataclass(frozen=True)
class DiffPID3(GreedyTree):
    """ID3 that chooses each attribute with one private selection.

    Parameters
    ----------
    depth
        Levels of splits; never more than there are attributes.
    criterion
        ``"max"``, ``"gini"`` or ``"information_gain"`` (which needs a row cap in the schema).
    selection
        ``"permute_and_flip"``, or ``"exponential"`` as in the paper.
    printed
        As the paper prints it: the selection at half the rate that a monotone score allows, and
        what a path that ends early has left stays unspent. Sound, and less accurate.
    attributes
        Those that the tree may split by; None for all.

    Privacy
    -------
    With d levels of splits, B = 2(d+1) equal shares: on every level a node count, and a selection
    for inner nodes or class counts for leaves. The nodes of a level are disjoint, the partition is
    by public values of released choices, and the stopping rule reads released counts.
    """

    name: ClassVar[str] = "diffpid3"
    paper: ClassVar[str] = "Friedman & Schuster 2010, Algorithm 2"
    depth: int = 5
    criterion: str = "max"
    selection: str = "permute_and_flip"
    printed: bool = False
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        levels = self.levels(schema)
        criterion_named(self.criterion).range(schema)
        words = selection_named(self.selection, self.name).words
        steps = []
        for level in range(levels):
            steps.append((level, COUNT, "discrete Laplace"))
            steps.append((level, SPLIT, words))
        steps.append((levels, COUNT, "discrete Laplace"))
        steps.append((levels, CLASSES, "discrete Laplace"))
        budget = budget_of(epsilon, len(steps), self.name)
        return Plan(self.name, budget, equal_shares(budget, steps))

    def choose(self, inner: Frontier, depth: int, plan: Plan) -> list[Split]:
        """Line 14."""
        schema = inner.cells.schema
        criterion = criterion_named(self.criterion)
        query = Choose(
            tuple(node.candidates(schema) for node in inner.open),
            label_of(schema).name,
            Doubled(criterion) if self.printed else criterion,
            selection_named(self.selection, self.name),
            plan.share(depth, SPLIT),
        )
        return inner.cells.ask(query)
