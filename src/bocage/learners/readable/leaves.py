"""The ends of the paths as leaves: counted, and pulled towards what the tree says around them, or labeled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.frontier import OpenNode
from bocage.model import AdditiveModel, Certificate, Tree, TreeBuilder
from bocage.private import Counts, IntArray, Mode, OpenCells, Selection
from bocage.private.query import CellQuery

PULL = 4.0  # records of what its parent says that a node gets, for the noise of all its counts
TINY = 1e-9

FloatArray = NDArray[np.float64]
Size = tuple[int, Epsilon | None]  # all rows, and the epsilon that they were counted with, if they were


class Ends(Protocol):
    """What becomes of the ends of the paths."""

    @property
    def tree(self) -> TreeBuilder: ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the certificate says about it."""
        ...

    def release(self, ended: OpenCells, nodes: Sequence[OpenNode]) -> None:
        """Spend everything that these paths have left."""
        ...

    def model(self, parents: Sequence[int], start: OpenCells, certificate: Certificate) -> Tree | AdditiveModel:
        """The model, now that all paths have ended; for every node its parent."""
        ...


@dataclass
class Leaves:
    """Each end is a leaf: noisy counts, or a label alone where few records are.

    With little data, permute-and-flip finds the right label more often than the largest of noisy
    counts does, and the counts would drown in their noise.
    """

    tree: TreeBuilder
    size: Size
    counted: bool
    notes: tuple[str, ...] = ()
    answers: dict[int, IntArray] = field(default_factory=dict)
    paid: dict[int, Epsilon] = field(default_factory=dict)

    def release(self, ended: OpenCells, nodes: Sequence[OpenNode]) -> None:
        rest, label = tuple(ended.purses()), label_of(self.tree.schema).name
        query: CellQuery[IntArray] = (
            Counts((label,), max(rest), each=rest)
            if self.counted
            else Mode(label, Selection.PERMUTE_AND_FLIP, max(rest), each=rest)
        )
        numbers = [open_node.node for open_node in nodes]
        self.paid |= zip(numbers, rest, strict=True)
        answers = ended.ask(query)
        self.answers |= zip(numbers, answers, strict=True)

    def model(
        self,
        parents: Sequence[int],
        start: OpenCells,  # noqa: ARG002 - all was asked
        certificate: Certificate,
    ) -> Tree:
        if self.counted:
            smooth = smoothed(parents, self.answers, self.paid, rows=self.size)
            for node, (counts, label) in enumerate(smooth):
                self.tree.counts(node, counts)
                self.tree.label(node, label)
        else:
            for node, code in self.answers.items():
                self.tree.label(node, int(code))
        return joined(self.tree.freeze(certificate))


def joined(tree: Tree) -> Tree:
    """The same decisions with fewer rules: a node whose leaves all decide alike is a leaf."""
    alike = tree.is_leaf.copy()
    for node in range(len(tree) - 1, -1, -1):
        children = list(tree.children(node))
        if children:
            alike[node] = alike[children].all() and len(set(tree.label[children].tolist())) == 1
    return tree.pruned(~alike)


def smoothed(
    parents: Sequence[int],
    leaves: Mapping[int, IntArray],
    paid: Mapping[int, Epsilon],
    decided: NDArray[np.integer] | None = None,
    rows: Size | None = None,
) -> list[tuple[list[int], int]]:
    """Counts and label of every node: the leaves' noisy counts, pulled. Counts of children add up.

    Sums of the leaves' counts are noisy counts of the nodes above, less noisy compared with their
    size. From the root down, every node takes the shares of its parent for as many records as its
    own noise is worth: a node with many records keeps its own shares, one with none decides as its
    surroundings do. Sizes go down in the same way: children share the rows of their parent evenly as far as
    noise goes, and as their own sums say beyond. Counts go up again from the leaves.

    Privacy
    -------
    Post-processing of released counts: free.

    Parameters
    ----------
    parents
        For every node its parent, which comes first; -1 for the root.
    leaves
        The noisy label counts of every leaf.
    paid
        The epsilon that each leaf was counted with.
    decided
        The label of every node if it is known already: it gets the largest of a leaf's shares.
    rows
        A number of all rows, and the epsilon that it was counted with; None if it is exact.
    """
    labels = len(next(iter(leaves.values())))
    sums = np.zeros((len(parents), labels))
    variance = np.zeros(len(parents))
    for leaf, counts in leaves.items():
        sums[leaf], variance[leaf] = counts, 1 / float(paid[leaf]) ** 2
    for node in range(len(parents) - 1, 0, -1):
        sums[parents[node]] += sums[node]
        variance[parents[node]] += variance[node]
    shares = np.empty((len(parents), labels))
    for node, parent in enumerate(parents):
        above = shares[parent] if parent >= 0 else np.full(labels, 1 / labels)
        pulled = sums[node] + PULL * np.sqrt(labels * variance[node]) * above
        shares[node] = np.maximum(pulled, TINY) / np.maximum(pulled, TINY).sum()
    best = shares.argmax(axis=1)
    if decided is not None:
        nodes = np.arange(len(best))
        shares[nodes, best], shares[nodes, decided] = shares[nodes, decided], shares[nodes, best]
        best = decided.astype(np.intp)
    totals = sums.sum(axis=1)
    if rows is not None:
        totals[0] = _agreed(float(totals[0]), labels * float(variance[0]), *rows)
    sizes = _sizes(parents, totals, np.sqrt(2 * labels * variance))
    inner = np.array([node not in leaves for node in range(len(parents))])
    counts = _whole_counts(shares, best, sizes)
    counts[inner] = 0
    for node in range(len(parents) - 1, 0, -1):
        counts[parents[node]] += counts[node]
    some = inner & (sizes > 0)
    best[some] = counts[some].argmax(axis=1)
    return list(zip(counts.tolist(), best.tolist(), strict=True))


def _agreed(total: float, variance: float, rows: int, paid: Epsilon | None) -> float:
    """The mean of two noisy numbers of all rows, each with the weight of its precision."""
    own = 0.0 if paid is None else 1 / float(paid) ** 2
    return (total * own + rows * variance) / (own + variance)


def _sizes(parents: Sequence[int], totals: FloatArray, deviation: FloatArray) -> IntArray:
    """Whole numbers of rows, from the root down: those of children add up to their parent's."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents[1:], start=1):
        children.setdefault(parent, []).append(node)
    sizes = np.zeros(len(parents), np.int64)
    sizes[0] = max(round(float(totals[0])), 0)
    for node, below in children.items():  # parents come first
        pulled = np.maximum(totals[below] + PULL * deviation[below] / len(below), TINY)
        parts = sizes[node] * pulled / pulled.sum()
        whole = np.floor(parts).astype(np.int64)
        most = np.argsort(whole - parts, kind="stable")[: sizes[node] - whole.sum()]
        whole[most] += 1
        sizes[below] = whole
    return sizes


def _whole_counts(shares: FloatArray, best: NDArray[np.intp], sizes: IntArray) -> IntArray:
    """Whole counts of these sizes; the label with the largest share gets what rounding leaves."""
    counts: IntArray = np.floor(shares * sizes[:, None]).astype(np.int64)
    counts[np.arange(len(counts)), best] += sizes - counts.sum(axis=1)
    return counts
