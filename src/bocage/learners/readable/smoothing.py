"""Noisy counts of the leaves, each pulled towards what the tree says about its surroundings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.private import IntArray

PULL = 4.0  # records of what its parent says that a node gets, for the noise of all its counts
TINY = 1e-9

FloatArray = NDArray[np.float64]


def smoothed(
    parents: Sequence[int],
    leaves: Mapping[int, IntArray],
    paid: Mapping[int, Epsilon],
    decided: NDArray[np.integer] | None = None,
    rows: tuple[int, Epsilon | None] | None = None,
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
    counts = _whole(shares, best, sizes)
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


def _whole(shares: FloatArray, best: NDArray[np.intp], sizes: IntArray) -> IntArray:
    """Whole counts of these sizes; the label with the largest share gets what rounding leaves."""
    counts: IntArray = np.floor(shares * sizes[:, None]).astype(np.int64)
    counts[np.arange(len(counts)), best] += sizes - counts.sum(axis=1)
    return counts
