"""Pruning by description length: Mehta, Agrawal & Rissanen (1995).

A tree is worth what it saves: the bits that say the classes of the records of a leaf, against the
bits that say the tree. A node is encoded with one bit (leaf or split), a split with the attribute
and one of its possible cuts, and the classes at a leaf by their stochastic complexity.
"""

from __future__ import annotations

from math import lgamma, log, log2, pi

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def leaf_bits(counts: NDArray[np.int64] | Floats) -> Floats:
    """The bits that say the class of every record of a leaf, for rows of class counts."""
    table = np.asarray(counts, np.float64)
    sizes, labels = table.sum(axis=-1), table.shape[-1]
    parts = np.divide(table, sizes[..., None], out=np.ones_like(table), where=table > 0)
    entropy = -(table * np.log2(parts)).sum(axis=-1)
    bits: Floats = entropy + (labels - 1) / 2 * np.log2(np.maximum(sizes, 1) / 2)
    return bits + label_bits(labels)


def label_bits(labels: int) -> float:
    """The last term of the stochastic complexity, which depends on the number of classes only."""
    return (labels / 2 * log(pi) - lgamma(labels / 2)) / log(2)


def split_bits(attributes: int, cuts: int) -> float:
    """The bits that name an attribute, and one of its cuts."""
    return log2(max(attributes, 1)) + log2(max(cuts, 1))


def kept_splits(
    first_child: NDArray[np.int64],
    arity: NDArray[np.int64],
    counts: NDArray[np.int64],
    bits: Floats,
) -> NDArray[np.bool_]:
    """Which splits of a grown tree are worth their bits.

    Parameters
    ----------
    first_child, arity
        The children of a node are ``first_child .. first_child + arity``, and come after it; a leaf
        has none.
    counts
        Class counts of every node.
    bits
        What it takes to name the split of a node.
    """
    cost = 1 + leaf_bits(counts)
    kept = np.zeros(len(cost), bool)
    for node in np.flatnonzero(arity)[::-1]:  # children before their parents
        below = cost[first_child[node] : first_child[node] + arity[node]].sum()
        split = 1 + bits[node] + below
        if split < cost[node]:
            cost[node], kept[node] = split, True
    return kept
