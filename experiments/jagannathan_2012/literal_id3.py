"""Private ID3 as section 4 writes it, with the leaf "Failure" of Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocage.learners import PrivateID3, Progress
from bocage.learners.base import label_of, quiet
from bocage.learners.frontier import Frontier
from bocage.learners.greedy import CLASSES, COUNT
from bocage.learners.private_id3 import TABLES, _most_gain
from bocage.model import Tree, TreeBuilder
from bocage.private import EpsilonLike, PrivateTable
from bocage.schema import Schema


@dataclass(frozen=True)
class LiteralID3(PrivateID3):
    """The learner of the package without its improvements.

    Nothing is asked again at a leaf that a path reaches early, and `threshold` says what "empty" and
    "one class only" mean on noisy counts: up to so many standard deviations of the noise. The paper
    does not say; 0 is the literal reading.

    Privacy
    -------
    As PrivateID3; a path that ends early spends less.
    """

    name: ClassVar[str] = "literal_id3"
    threshold: float = 0.0

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Tree:
        plan = self.plan(table.schema, epsilon)
        schema, label = table.schema, label_of(table.schema).name
        tree = TreeBuilder(schema)
        start = self.reserve(table, plan)
        frontier: Frontier | None = Frontier.start(start, tree.root, self.check(schema))
        depth, nodes = plan.steps[-1].level, 1
        for level in range(depth + 1):
            if frontier is None:
                break
            progress(level, depth + 1)
            totals = frontier.level.totals(plan.share(level, COUNT))  # 1(a)
            counts = frontier.level.counts(label, plan.share(level, CLASSES))  # 1(b)
            frontier.record_totals(tree, totals)
            frontier.record_counts(tree, counts)
            least = self.threshold * frontier.level.deviation(plan.share(level, COUNT))
            others = np.sort(counts, axis=1)[:, -2]
            full = level == depth or nodes >= self.most_nodes or not frontier.fits(nodes)
            stops = (totals <= least) | (others <= least) | full
            _, inner = frontier.part(f"level {level}", stops.tolist())
            frontier = None
            if inner is not None:
                columns = [here.attributes for here in inner.open]
                tables = inner.level.histograms(columns, label, plan.share(level, TABLES))
                frontier = inner.grow(tree, [(_most_gain(cell), None) for cell in tables])
                nodes += len(frontier.open)
        return tree.freeze(self.certificate(start, plan))

    def failures(self, tree: Tree) -> np.ndarray:
        """Which nodes are leaves with the value Failure."""
        least = self.threshold * np.sqrt(2) / _per_query(tree)
        failed: np.ndarray = tree.is_leaf & (tree.total <= least)
        return failed


def _per_query(tree: Tree) -> float:
    return float(tree.certificate.plan[-1].epsilon)


def asked(schema: Schema) -> int:
    """Queries along a path: what is really asked."""
    return sum(step.queries for step in PrivateID3().plan(schema, 1).steps)


def counted(schema: Schema) -> int:
    """Queries along a path as Table 1 counts them: one per attribute that is left, per level."""
    k = len(schema.attributes)
    return k * (k + 1) // 2


def true_epsilon(schema: Schema, stated: float) -> str:
    """What it costs to answer every query with the share that the paper gives it."""
    return f"{stated * asked(schema) / counted(schema):.9f}"
