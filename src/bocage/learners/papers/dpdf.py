"""DPDF, a decision forest. Fletcher & Islam (2015), Algorithm 1, with a sound sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError, RefusedVariant
from bocage.learners.base import (
    Learner,
    Progress,
    budget_of,
    check_depth,
    check_word,
    label_of,
    quiet,
    selection_named,
)
from bocage.learners.frontier import Frontier
from bocage.learners.papers.diffp_id3 import SPLIT
from bocage.learners.papers.greedy import CLASSES
from bocage.learners.papers.pruning import prune_by_gini
from bocage.learners.plan import Plan, equal_shares
from bocage.model import Forest, TreeBuilder
from bocage.private import (
    Choose,
    Counts,
    EpsilonLike,
    IntArray,
    LocalGini,
    OpenCells,
    PrivateTable,
    Selection,
    Split,
    criterion_named,
)
from bocage.schema import Schema


@dataclass(frozen=True)
class DPDF(Learner):
    """Trees with distinct roots, class counts at every node, pruning, votes weighted by confidence.

    Parameters
    ----------
    trees
        Number of trees (tau), at most as many as there are attributes.
    depth
        Levels of nodes, the leaves included (delta): a tree has ``depth - 1`` levels of splits.
    support
        A node with fewer records, by its noisy counts, is a leaf.
    sensitivity
        ``"global"``: the Gini mass with its global sensitivity 2, monotone. ``"local"``: the
        paper's, which is not differentially private for any epsilon; for study only.
    selection
        ``"permute_and_flip"``, or ``"exponential"`` as in the paper and always with ``"local"``.
    attributes
        Those that the trees may split by; None for all.

    Privacy
    -------
    B = trees * (2 depth - 1) equal shares: class counts on levels 1 to depth, a selection on levels
    1 to depth - 1, for each tree. (The paper's test d <= delta asks two queries more than it pays
    for; here it is d < delta.) Roots of earlier trees are released, so excluding them is free.
    """

    name: ClassVar[str] = "dpdf"
    paper: ClassVar[str] = "Fletcher & Islam 2015, Algorithm 1"
    spends_rest: ClassVar[bool] = True  # whether a path that ends early counts once more
    trees: int = 4
    depth: int = 5
    support: int = 100
    sensitivity: Literal["global", "local"] = "global"
    selection: str = "permute_and_flip"
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        levels, words = self._levels(schema), self._selection().words
        steps = []
        for tree in range(self.trees):
            for level in range(levels):
                steps.append((level, _of(tree, CLASSES), "discrete Laplace"))
                if level < levels - 1:
                    steps.append((level, _of(tree, SPLIT), words))
        budget = budget_of(epsilon, len(steps), self.name)
        return Plan(self.name, budget, equal_shares(budget, steps))

    def _levels(self, schema: Schema) -> int:
        """Levels of nodes: an attribute is used once on a path."""
        check_depth(self.depth, self.name)
        attributes = self.check(schema)
        whole = isinstance(self.trees, int) and not isinstance(self.trees, bool)
        if not whole or not 1 <= self.trees <= len(attributes):
            raise LearnerError(
                f"{self.name} gives each tree a root of its own: it can grow 1 to "
                f"{len(attributes)} trees on {schema.name!r}, not {self.trees}."
            )
        check_word(self.sensitivity, "sensitivity", ("global", "local"), self.name)
        if not isinstance(self.support, int) or self.support < 0:
            raise LearnerError(f"{self.name}: support is 0 or more, not {self.support!r}.")
        return min(self.depth, len(attributes) + 1)

    def _selection(self) -> Selection:
        asked = selection_named(self.selection, self.name)
        return asked if self.sensitivity == "global" else Selection.EXPONENTIAL

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Forest:
        plan = self.plan(table.schema, epsilon)
        if self.sensitivity == "local" and table.has_ledger:
            raise RefusedVariant(
                "dpdf with the paper's local sensitivity is not differentially private and is "
                'refused on a table with a ledger. Take sensitivity="global".'
            )
        levels = self._levels(table.schema)
        start = self.reserve(table, plan)
        roots: list[str] = []
        grown: list[TreeBuilder] = []
        for number in range(self.trees):
            tree = TreeBuilder(table.schema)
            root = self._build(tree, start, number, roots=roots, plan=plan, progress=progress)
            roots += [root] if root is not None else []
            grown.append(tree)
        certificate = self.certificate(start, sound=self.sensitivity == "global")
        forest = tuple(prune_by_gini(tree.freeze(certificate)) for tree in grown)
        progress(self.trees * levels, self.trees * levels)
        return Forest(forest, "confidence", certificate)

    def _build(
        self,
        tree: TreeBuilder,
        start: OpenCells,
        number: int,
        *,
        roots: list[str],
        plan: Plan,
        progress: Progress,
    ) -> str | None:
        """BuildTree, level by level. Returns the attribute at the root."""
        label, levels = label_of(start.schema).name, self._levels(start.schema)
        share = start.share(_of(number, "tree"), self._budget(plan, number))
        frontier = Frontier.start(share, tree.root, self.check(start.schema))
        root: str | None = None
        nodes = 1
        for depth in range(levels):
            progress(number * levels + depth, self.trees * levels)
            asked = plan.share(depth, _of(number, CLASSES))
            counts = frontier.cells.ask(Counts((label,), asked))  # line 14
            frontier.record_counts(tree, counts)
            full = depth == levels - 1 or not frontier.fits(nodes)
            stops = [full or self._ends(row) for row in counts]  # line 16
            leaves, inner = frontier.part(stops)
            if leaves is not None and self.spends_rest:
                leaves.count_again(tree, label, counts[np.array(stops)], asked)
            if inner is None:
                break
            taken = roots if depth == 0 else []  # line 29
            splits = self._split(inner, taken, counts[~np.array(stops)], plan.share(depth, _of(number, SPLIT)))
            root = splits[0][0] if depth == 0 else root
            frontier = inner.grow(tree, splits)
            nodes += len(frontier.open)
        return root

    def _budget(self, plan: Plan, number: int) -> Epsilon:
        own = {_of(number, CLASSES), _of(number, SPLIT)}
        return Epsilon.total([step.epsilon for step in plan.steps if step.question in own])

    def _ends(self, counts: IntArray) -> bool:
        """Line 16: too few records, or one class that is as large as the whole node."""
        size = int(counts.sum())
        return size < self.support or bool((counts >= size).any())

    def _split(self, inner: Frontier, taken: list[str], counts: IntArray, epsilon: Epsilon) -> list[Split]:
        """SplittingAttribute, lines 27 to 36."""
        schema = inner.cells.schema
        candidates = tuple(
            tuple(split for split in node.candidates(schema) if split.column not in taken) for node in inner.open
        )
        label, selection = label_of(schema).name, self._selection()
        if self.sensitivity == "local":
            sizes = np.maximum(counts.sum(axis=1), 1).tolist()
            return inner.cells.ask(LocalGini.of(candidates, label, sizes, epsilon))
        gini = criterion_named("gini")
        return inner.cells.ask(Choose(candidates, label, gini, selection, epsilon))


def _of(tree: int, question: str) -> str:
    return f"{question} of tree {tree + 1}"
