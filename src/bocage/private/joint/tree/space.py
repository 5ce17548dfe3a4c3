"""The rows of one cell, and a walk through all trees that could grow there."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.mechanisms import Proposed
from bocage.plan.splits import Split
from bocage.private.choose import Candidate
from bocage.private.query import IntArray
from bocage.schema import Categorical, Schema

if TYPE_CHECKING:
    from bocage.mechanisms import Choices, Proposal

FloatArray = NDArray[np.float64]
MANY = 2000  # rows that are worth more than one thread
SIZE, NUMERIC, LOW, HIGH = range(4)  # columns of the facts, see `bocage.private.joint.tree.weights`


@dataclass(frozen=True)
class Drawn:
    """A split and what is below each of its children, or a leaf with its label."""

    label: int  # -1 for a split
    split: Split | None = None
    below: tuple[Drawn, ...] = ()


@dataclass(frozen=True)
class _Node:
    """Where a walk is: the rows there, what is left of the columns, and levels below it."""

    rows: NDArray[np.int32]
    facts: IntArray
    depth: int
    branches: int = 1

    @property
    def splits(self) -> IntArray:
        """How many splits each column offers."""
        left = self.facts[:, HIGH] - self.facts[:, LOW]
        ways = np.where(self.facts[:, NUMERIC] > 0, left - 1, 1)
        return np.where((left > 1) & (self.depth > 0), ways, 0)


@dataclass(frozen=True)
class Ground:
    """The rows of one cell, with numeric codes that count the candidates' thresholds."""

    candidates: tuple[Candidate, ...]
    codes: NDArray[np.integer]  # one line per candidate
    labels: NDArray[np.uint16]
    classes: int
    facts: IntArray
    rate: float
    lost: FloatArray
    room: int

    @classmethod
    def of(
        cls,
        rows: dict[str, NDArray[np.uint16]],
        candidates: tuple[Candidate, ...],
        label: str,
        schema: Schema,
        *,
        rate: Fraction,
        room: int,
    ) -> Ground:
        facts = np.zeros((len(candidates), 4), np.int64)
        for fact, one in zip(facts, candidates, strict=True):
            numeric = not isinstance(schema[one.column], Categorical)
            size = one.size + 1 if numeric else schema[one.column].cells
            fact[:] = size, numeric, 0, size
        labels = rows[label]
        narrow = np.uint8 if facts[:, SIZE].max(initial=0) <= 256 else np.uint16
        codes = np.empty((len(candidates), len(labels)), narrow)
        for line, one in zip(codes, candidates, strict=True):
            own = rows[one.column]
            line[:] = np.searchsorted(one.thresholds, own, "right") if one.thresholds else own
        lost = np.exp(-float(rate) * np.arange(len(labels) + 1))
        return cls(candidates, codes, labels, schema[label].cells, facts, float(rate), lost, room)

    def proposal(self, depth: int, rate: Fraction) -> tuple[Proposal[Drawn], Fraction, float]:
        """A proposal, its rate, and about the logarithm of the sum over all trees."""
        root = _Node(np.arange(len(self.labels), dtype=np.int32), self.facts, depth)
        first = self.weights(root, workers() if len(self.labels) >= MANY else 1)
        total = float(np.logaddexp.reduce(first))
        return lambda choices: self.propose(choices, root, first), rate, total

    def propose(self, choices: Choices, root: _Node, first: FloatArray) -> Proposed[Drawn]:
        """One choice for each node, from the root down, and one for the label of each leaf."""
        nodes, odds, out_of = [root], [1], [1]
        chosen: list[tuple[int, int] | None] = []
        for node in nodes:
            weights = first if node is root else self.weights(node)
            place, splits = choices.choose(weights) if len(weights) > 1 else 0, node.splits
            if len(weights) > 1:
                split, whole = self.chance(node)
                odds.append(split if place else whole - split)
                out_of.append(whole)
            if not place:
                chosen.append(None)
                continue
            ends = np.cumsum(splits)
            column = int(np.searchsorted(ends, place))
            split = place - 1 - int(ends[column] - splits[column]) + int(node.facts[column, LOW])
            chosen.append((column, split))
            out_of.append(int(np.count_nonzero(splits) * splits[column]))
            nodes += self.children(node, column, split)
        leaves = [node.rows for node, one in zip(nodes, chosen, strict=True) if one is None]
        counts = np.array([self.counts(rows) for rows in leaves])
        labels = choices.choose_each(self.rate * counts)
        out_of.append(self.classes ** len(leaves))
        score = int(counts[np.arange(len(leaves)), labels].sum())
        return Proposed(self.tree(chosen, labels.tolist()), score, (prod(odds), prod(out_of)))

    def weights(self, node: _Node, threads: int = 1) -> FloatArray:
        """Logarithms of the sums over all trees: those that are a leaf, then those of each split."""
        from bocage.private.joint.tree import weights as kernels  # noqa: PLC0415 - a compiler

        splits = node.splits
        ends, able = np.cumsum([1, *splits]).tolist(), np.flatnonzero(splits).tolist()
        log_sums = np.empty(ends[-1])
        log_sums[0] = kernels.leaf_sum(self.counts(node.rows), self.rate, self.lost)
        if not able:
            return log_sums
        split, whole = self.chance(node)
        log_sums[0] += log((whole - split) / whole)

        law = kernels.Law(self.rate, self.lost, self.classes, float(self.room))

        def work(columns: Sequence[int]) -> None:
            rows, facts = node.rows, node.facts.copy()
            for column in columns:
                here = log_sums[ends[column] : ends[column + 1]]
                kernels.fork(
                    self.codes, self.labels, law, rows, column, node.depth, facts, float(node.branches), here
                )  # fmt: skip
                here += log(split / whole / (len(able) * len(here)))

        if threads == 1:
            work(able)
        else:
            with ThreadPoolExecutor(threads) as pool:  # its threads end here: no fork meets one
                list(pool.map(work, [[column] for column in able]))
        return log_sums

    def chance(self, node: _Node) -> tuple[int, int]:
        """The prior probability that a node is split, as a fraction; see `bocage.private.joint.tree.weights`."""
        return (1, 2) if node.branches <= self.room else (self.room, 2 * node.branches)

    def children(self, node: _Node, column: int, split: int) -> list[_Node]:
        """The nodes below one of all splits by a column."""
        codes, (size, numeric, low, high) = self.codes[column, node.rows], node.facts[column]
        cuts = (low, split + 1, high)
        ranges = list(pairwise(cuts)) if numeric else [(low, low + 1)] * size
        below = []
        for child, ends in enumerate(ranges):
            facts = node.facts.copy()
            facts[column, LOW:] = ends
            inside = (codes >= cuts[1]) == bool(child) if numeric else codes == child
            branches = node.branches * len(ranges)
            below.append(_Node(node.rows[inside], facts, node.depth - 1, branches))
        return below

    def counts(self, rows: NDArray[np.int32]) -> IntArray:
        return np.bincount(self.labels[rows], minlength=self.classes)

    def tree(self, chosen: Sequence[tuple[int, int] | None], labels: Sequence[int]) -> Drawn:
        """The tree of the choices, level by level, and of the labels of its leaves."""
        below: list[Drawn] = []  # of the nodes that come later, the last one first
        left = list(labels)
        for split in reversed(chosen):
            if split is None:
                below.insert(0, Drawn(left.pop()))
                continue
            column, place = split
            children = 2 if self.facts[column, NUMERIC] else int(self.facts[column, SIZE])
            at = len(below) - children
            own = tuple(below[at:])
            del below[at:]
            below.insert(0, Drawn(-1, self.candidates[column].split(place), own))
        return below[0]
