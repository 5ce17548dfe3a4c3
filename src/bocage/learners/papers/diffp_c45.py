"""DiffPC4.5: numeric attributes and pruning. Friedman & Schuster (2010), sections 4.2 and 4.3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.learners.base import budget_of, check_word, label_of, selection_named
from bocage.learners.frontier import Frontier
from bocage.learners.papers.diffp_id3 import SPLIT
from bocage.learners.papers.greedy import CLASSES, COUNT, GreedyTree
from bocage.learners.papers.pruning import prune_with_noisy_counts
from bocage.learners.plan import Plan, equal_shares
from bocage.model import Tree
from bocage.private import Candidate, Choose, Doubled, EpsilonLike, Split, criterion_named
from bocage.schema import Numeric, Schema


@dataclass(frozen=True)
class DiffPC45(GreedyTree):
    """C4.5 with privately chosen split points and pruning by noisy counts.

    Parameters
    ----------
    depth, criterion, selection, printed, attributes
        As in DiffPID3.
    points
        ``"joint"``: one selection over all attributes and all their thresholds, which pays once.
        ``"separate"``: as in the paper, first a split point for each numeric attribute, each paid
        for, and then a selection among the attributes.
    prune
        Whether to prune (Algorithm 3); it reads released counts only and costs nothing.
    confidence
        C4.5's certainty factor CF.

    Privacy
    -------
    Joint: B = 2(d+1) shares as in DiffPID3; a threshold is a candidate like any other, and those
    of one attribute share its public base weight. Separate: B = (2+n)d + 2 shares with n numeric
    attributes; a node where a numeric attribute has one grid cell left does not ask for its split
    point and leaves that share unspent. Thresholds come from the public grid, never from records.
    """

    name: ClassVar[str] = "diffpc45"
    paper: ClassVar[str] = "Friedman & Schuster 2010, sections 4.2 and 4.3"
    numeric: ClassVar[bool] = True
    depth: int = 5
    criterion: str = "max"
    selection: str = "permute_and_flip"
    points: Literal["joint", "separate"] = "joint"
    prune: bool = True
    confidence: float = 0.25
    printed: bool = False
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        levels = self.levels(schema)
        criterion_named(self.criterion).range(schema)
        if not isinstance(self.confidence, int | float) or not 0 < self.confidence <= 0.5:
            raise LearnerError(f"{self.name} needs a confidence in (0, 0.5], not {self.confidence!r}.")
        check_word(self.points, "points", ("joint", "separate"), self.name)
        words = selection_named(self.selection, self.name).words
        steps = []
        for level in range(levels):
            steps.append((level, COUNT, "discrete Laplace"))
            steps += [(level, _point(name), words) for name in self._separate(schema)]
            steps.append((level, SPLIT, words))
        steps.append((levels, COUNT, "discrete Laplace"))
        steps.append((levels, CLASSES, "discrete Laplace"))
        budget = budget_of(epsilon, len(steps), self.name)
        return Plan(self.name, budget, equal_shares(budget, steps))

    def choose(self, inner: Frontier, depth: int, plan: Plan) -> list[Split]:
        schema = inner.cells.schema
        candidates = [list(node.candidates(schema)) for node in inner.open]
        for name in self._separate(schema):
            self._fix_point(inner, name, candidates, depth, plan)
        return inner.cells.ask(self._choice(schema, candidates, plan.share(depth, SPLIT)))

    def _choice(self, schema: Schema, candidates: Sequence[Sequence[Candidate]], epsilon: Epsilon) -> Choose:
        criterion = criterion_named(self.criterion)
        return Choose(
            tuple(map(tuple, candidates)),
            label_of(schema).name,
            Doubled(criterion) if self.printed else criterion,
            selection_named(self.selection, self.name),
            epsilon,
        )

    def _fix_point(
        self,
        inner: Frontier,
        name: str,
        candidates: list[list[Candidate]],
        depth: int,
        plan: Plan,
    ) -> None:
        """Section 4.3: choose the split point of one numeric attribute in every node that has it."""
        has = [i for i, node in enumerate(inner.open) if name in node.attributes]
        if not has:
            return
        live = inner.cells.group({"live": has})["live"]
        at = [[c.column for c in candidates[i]].index(name) for i in has]
        points = [[candidates[i][j]] for i, j in zip(has, at, strict=True)]
        share = plan.share(depth, _point(name))
        chosen = live.ask(self._choice(inner.cells.schema, points, share))
        for i, j, (_, threshold) in zip(has, at, chosen, strict=True):
            candidates[i][j] = Candidate(name, threshold, threshold)

    def _separate(self, schema: Schema) -> list[str]:
        """The numeric attributes whose split points are chosen apart."""
        if self.points == "joint":
            return []
        return [name for name in self.check(schema) if isinstance(schema[name], Numeric)]

    def finish(self, tree: Tree) -> Tree:
        return prune_with_noisy_counts(tree, self.confidence) if self.prune else tree


def _point(name: str) -> str:
    return f"split point of {name}"
