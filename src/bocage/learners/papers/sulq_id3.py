"""SuLQ-based ID3. Friedman & Schuster (2010), Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from random import SystemRandom
from typing import ClassVar, Literal

import numpy as np

from bocage.learners.base import budget_of, check_word, label_of
from bocage.learners.frontier import Frontier
from bocage.learners.papers.greedy import CLASSES, COUNT, GreedyTree
from bocage.learners.plan import Plan, Step
from bocage.private import EpsilonLike, Histograms, IntArray, Split
from bocage.schema import Schema

SIZES = "sizes of the branches"
TABLES = "class counts of the branches"


@dataclass(frozen=True)
class SulqID3(GreedyTree):
    """ID3 whose information gain is computed from noisy counts.

    Parameters
    ----------
    depth
        Levels of splits.
    sizes
        ``"asked"``: a second query gives the branch sizes N_j, as in the paper. ``"summed"``: they
        are the sums of the class counts, which then get the whole share.
    printed
        Leave unspent what a path that ends early has left, as the paper does.
    attributes
        Those that the tree may split by; None for all.

    Privacy
    -------
    With d levels of splits, B = 2(d+1) shares: a node count on every level, and on it either the
    histograms of the remaining attributes, which divide the share between them, or the class
    counts of a leaf. Nodes of a level are disjoint. Everything else is post-processing.
    """

    name: ClassVar[str] = "sulq_id3"
    paper: ClassVar[str] = "Friedman & Schuster 2010, Algorithm 1"
    depth: int = 5
    sizes: Literal["asked", "summed"] = "asked"
    printed: bool = False
    attributes: tuple[str, ...] | None = None

    def plan(self, schema: Schema, epsilon: EpsilonLike) -> Plan:
        check_word(self.sizes, "sizes", ("asked", "summed"), self.name)
        attributes, levels = len(self.check(schema)), self.levels(schema)
        questions = 2 * (levels + 1)
        budget = budget_of(epsilon, questions * 2 * attributes, self.name)
        shares = iter(budget.split([1] * questions))
        steps = []
        for level in range(levels):
            remaining = attributes - level
            steps.append(Step(level, COUNT, "discrete Laplace", next(shares)))
            share = next(shares)
            if self.sizes == "asked":
                half, other = share.split([1, 1])
                steps.append(Step(level, TABLES, "discrete Laplace", half, remaining))
                steps.append(Step(level, SIZES, "discrete Laplace", other, remaining))
            else:
                steps.append(Step(level, TABLES, "discrete Laplace", share, remaining))
        steps.append(Step(levels, COUNT, "discrete Laplace", next(shares)))
        steps.append(Step(levels, CLASSES, "discrete Laplace", next(shares)))
        return Plan(self.name, budget, tuple(steps))

    def choose(self, inner: Frontier, depth: int, plan: Plan) -> list[Split]:
        """Lines 14 to 21: the attribute with the largest noisy information gain."""
        label = label_of(inner.cells.schema).name
        columns = tuple(node.attributes for node in inner.open)
        tables = inner.cells.ask(Histograms(columns, label, plan.share(depth, TABLES)))
        if self.sizes == "asked":
            asked = inner.cells.ask(Histograms(columns, None, plan.share(depth, SIZES)))
        else:
            asked = [{n: t.sum(axis=1, keepdims=True) for n, t in cell.items()} for cell in tables]
        return [
            (_best({n: _gain(t, sizes[n][:, 0]) for n, t in cell.items()}), None)
            for cell, sizes in zip(tables, asked, strict=True)
        ]


def _gain(counts: IntArray, sizes: IntArray) -> float:
    """Line 19: sum of N_jc log2(N_jc / N_j). Counts that are not positive are skipped, and a class
    is never larger than its branch: noise must not turn a term into a reward."""
    n, size = counts.astype(float), np.broadcast_to(sizes[:, None], counts.shape).astype(float)
    fits = (n > 0) & (size > 0)
    return float((n[fits] * np.log2(np.minimum(n[fits] / size[fits], 1))).sum())


def _best(gains: dict[str, float]) -> str:
    """The best attribute; skipped terms make exact ties, which must not favor the first one."""
    best = max(gains.values())
    return SystemRandom().choice([name for name, gain in gains.items() if gain == best])
