"""Private ID3 from sum queries. Jagannathan, Pillaipakkamnatt & Wright (2012), section 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocage.errors import LearnerError
from bocage.learners.base import (
    MOST_DEPTH,
    Learner,
    Progress,
    budget_of,
    check_depth,
    label_of,
    quiet,
)
from bocage.learners.frontier import Frontier
from bocage.learners.papers.greedy import CLASSES, COUNT
from bocage.learners.plan import Plan, Step
from bocage.model import Tree, TreeBuilder
from bocage.private import Count, Counts, EpsilonLike, Histograms, IntArray, PrivateTable
from bocage.schema import Schema

TABLES = "class counts of the branches"


@dataclass(frozen=True)
class PrivateID3(Learner):
    """ID3 with every look at the records replaced by a noisy count.

    Parameters
    ----------
    depth
        Levels of splits; None for as many as there are attributes, as in the paper.
    most_nodes
        Public bound on the size of the tree: noise makes empty nodes look populated, and without a
        bound they are split until no attribute is left. No level is split once it is reached.
    attributes
        Those that the tree may split by; None for all.

    Privacy
    -------
    A level with m attributes left asks m + 2 queries: the size, the class counts, and one joint
    histogram of each attribute with the class; the leaves ask two. The paper's table counts the m
    only. Here all of them are paid for, with equal shares. The thresholds for "empty" and "one
    class only", which the paper leaves open, are one standard deviation of the noise.
    """

    name: ClassVar[str] = "private_id3"
    paper: ClassVar[str] = "Jagannathan, Pillaipakkamnatt & Wright 2012, section 4"
    spends_rest: ClassVar[bool] = True  # whether a path that ends early counts once more
    depth: int | None = None
    most_nodes: int = 20_000
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        attributes, depth = self.check(schema), self._depth(schema)
        parts = [len(attributes) - level for level in range(depth)]
        queries = sum(parts) + 2 * (depth + 1)
        budget = budget_of(epsilon, queries, self.name)
        shares = iter(budget.split([weight for m in parts for weight in (1, 1, m)] + [1, 1]))
        steps = []
        for level, m in enumerate(parts):
            steps.append(Step(level, COUNT, "discrete Laplace", next(shares)))
            steps.append(Step(level, CLASSES, "discrete Laplace", next(shares)))
            steps.append(Step(level, TABLES, "discrete Laplace", next(shares), m))
        steps.append(Step(depth, COUNT, "discrete Laplace", next(shares)))
        steps.append(Step(depth, CLASSES, "discrete Laplace", next(shares)))
        return Plan(self.name, budget, tuple(steps))

    def _depth(self, schema: Schema) -> int:
        depth = MOST_DEPTH if self.depth is None else self.depth
        check_depth(depth, self.name)
        if isinstance(self.most_nodes, bool) or not isinstance(self.most_nodes, int):
            raise LearnerError(f"{self.name}: most_nodes is a number, not {self.most_nodes!r}.")
        return min(depth, len(self.check(schema)))

    def fit(self, table: PrivateTable, epsilon: EpsilonLike, progress: Progress = quiet) -> Tree:
        plan = self.plan(table.schema, epsilon)
        schema, label = table.schema, label_of(table.schema).name
        depth = self._depth(schema)
        tree = TreeBuilder(schema)
        start = self.reserve(table, plan)
        frontier: Frontier | None = Frontier.start(start, tree.root, self.check(schema))
        nodes = 1
        for level in range(depth + 1):
            if frontier is None:
                break
            progress(level, depth + 1)
            totals = frontier.cells.ask(Count(plan.share(level, COUNT)))  # 1(a)
            classes = Counts((label,), plan.share(level, CLASSES))
            counts = frontier.cells.ask(classes)  # 1(b)
            frontier.record_totals(tree, totals)
            frontier.record_counts(tree, counts)
            noise = frontier.cells.deviation(plan.share(level, COUNT))
            full = level == depth or nodes >= self.most_nodes or not frontier.fits(nodes)
            stops = [full or self._settled(*pair, noise) for pair in zip(totals, counts, strict=True)]
            leaves, inner = frontier.part(stops)
            if leaves is not None and self.spends_rest:
                first = counts[np.array(stops)]
                leaves.count_again(tree, label, first, classes.epsilon)
            frontier = None
            if inner is not None:
                columns = tuple(node.attributes for node in inner.open)
                tables = inner.cells.ask(Histograms(columns, label, plan.share(level, TABLES)))
                splits = [(_most_gain(cell), None) for cell in tables]
                frontier = inner.grow(tree, splits)
                nodes += len(frontier.open)
        progress(depth + 1, depth + 1)
        return tree.freeze(self.certificate(start))

    def _settled(self, total: int, counts: IntArray, noise: float) -> bool:
        """Whether a node looks empty, or as if it held one class only."""
        return bool(total < noise or np.sort(counts)[-2] < noise)


def _most_gain(tables: dict[str, IntArray]) -> str:
    """The attribute with the least weighted entropy; sizes are sums of the class counts."""
    return min(tables, key=lambda name: _entropy_mass(tables[name]))


def _entropy_mass(counts: IntArray) -> float:
    n = np.maximum(counts, 0).astype(float)
    size = np.broadcast_to(n.sum(axis=1, keepdims=True), n.shape)
    some = n > 0
    return float(-(n[some] * np.log2(n[some] / size[some])).sum())
