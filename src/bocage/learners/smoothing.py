"""Noisy counts of the leaves, each pulled towards what the tree says about its surroundings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.private import IntArray

PULL = 4.0  # records of its parent's shares that a node gets, for the noise of all its counts


def smoothed(
    parents: Sequence[int],
    leaves: Mapping[int, IntArray],
    paid: Mapping[int, Epsilon],
    decided: NDArray[np.integer] | None = None,
) -> list[tuple[list[int], int]]:
    """Counts and label of every node: the leaves' noisy counts, pulled.

    Sums of the leaves' counts are noisy counts of the nodes above, less noisy compared with their
    size. From the root down, every node takes the shares of its parent for as many records as its
    own noise is worth: a node with many records keeps its own shares, one with none decides as its
    surroundings do. The size of a node stays its own noisy sum.

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
        The label of every node if it is known already: it gets the largest of the shares.
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
        shares[node] = np.maximum(pulled, 1e-9) / np.maximum(pulled, 1e-9).sum()
    sizes = np.maximum(np.rint(sums.sum(axis=1)), 0).astype(np.int64)
    best = shares.argmax(axis=1)
    if decided is not None:
        nodes = np.arange(len(best))
        shares[nodes, best], shares[nodes, decided] = shares[nodes, decided], shares[nodes, best]
        best = decided.astype(np.intp)
    return list(zip(_whole(shares, best, sizes).tolist(), best.tolist(), strict=True))


def _whole(shares: NDArray[np.float64], best: NDArray[np.intp], sizes: IntArray) -> IntArray:
    """Whole counts of these sizes; the label with the largest share gets what rounding leaves."""
    counts: IntArray = np.floor(shares * sizes[:, None]).astype(np.int64)
    counts[np.arange(len(counts)), best] += sizes - counts.sum(axis=1)
    return counts
