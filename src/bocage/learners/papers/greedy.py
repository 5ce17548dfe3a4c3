"""The procedure that SuLQ-based ID3, DiffPID3 and DiffPC4.5 have in common.

Friedman & Schuster (2010), Algorithms 1 and 2, grown level by level instead of recursively: the nodes
of a level are disjoint, so one question to all of them costs what one question to one of them does.
"""

from __future__ import annotations

from abc import abstractmethod

from bocage.epsilon import Epsilon
from bocage.learners.base import Learner, Progress, check_depth, label_of, quiet
from bocage.learners.frontier import Frontier
from bocage.learners.plan import Plan
from bocage.model import Tree, TreeBuilder
from bocage.private import Count, Counts, EpsilonLike, IntArray, PrivateTable, Split
from bocage.schema import Numeric, Schema

COUNT = "node count"
CLASSES = "class counts"


class GreedyTree(Learner):
    """Count, stop or choose a split, descend."""

    depth: int
    printed: bool

    def levels(self, schema: Schema) -> int:
        """Levels of splits: a categorical attribute is used once on a path."""
        check_depth(self.depth, self.name)
        names = self.check(schema)
        if any(isinstance(schema[name], Numeric) for name in names):
            return self.depth
        return min(self.depth, len(names))

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Tree:
        plan = self.plan(table.schema, epsilon)
        schema, label, levels = table.schema, label_of(table.schema), self.levels(table.schema)
        tree = TreeBuilder(schema)
        start = self.reserve(table, plan)
        frontier: Frontier | None = Frontier.start(start, tree.root, self.check(schema))
        nodes = 1
        for depth in range(levels + 1):
            if frontier is None:
                break
            progress(depth, levels + 1)
            share = plan.share(depth, COUNT)
            totals = frontier.cells.ask(Count(share))
            frontier.record_totals(tree, totals)
            full = depth == levels or not frontier.fits(nodes)
            stops = [full] * len(totals) if full else _too_small(frontier, totals, share)
            leaves, inner = frontier.part(stops)
            if leaves is not None:
                # What the path has left goes to the leaf, which the paper leaves unspent.
                rest = leaves.cells.remaining()
                paid = min(plan.steps[-1].epsilon, rest) if self.printed else rest
                leaves.record_counts(tree, leaves.cells.ask(Counts((label.name,), paid)))
            frontier = None
            if inner is not None:
                frontier = inner.grow(tree, self.choose(inner, depth, plan))
                nodes += len(frontier.open)
        progress(levels + 1, levels + 1)
        return self.finish(tree.freeze(self.certificate(start)))

    @abstractmethod
    def choose(self, inner: Frontier, depth: int, plan: Plan) -> list[Split]:
        """A split for each inner node, for what the plan gives to this level."""

    def finish(self, tree: Tree) -> Tree:
        """Post-processing of released values; none by default."""
        return tree


def _too_small(frontier: Frontier, totals: IntArray, share: Epsilon) -> list[bool]:
    """Lines 7 and 9: no attribute left, or less than the noise on average in each count below."""
    schema, labels = frontier.cells.schema, label_of(frontier.cells.schema).cells
    noise = frontier.cells.deviation(share)
    return [
        not node.attributes or total < noise * node.arity(schema) * labels
        for node, total in zip(frontier.open, totals.tolist(), strict=True)
    ]
