"""Pruning with released counts only: free of charge.

Friedman & Schuster (2010), Algorithm 3, and Fletcher & Islam (2015), section 3.2. Both papers leave
open what to do with negative noisy counts; they are raised to 0 first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bocage.learners.papers.binomial import upper_error_rate
from bocage.model import Tree
from bocage.model.tree.builder import decisions

FloatArray = NDArray[np.float64]


def prune_with_noisy_counts(tree: Tree, confidence: float) -> Tree:
    """Algorithm 3: make the counts consistent, then prune as C4.5 does."""
    sizes = top_down_correct(tree)
    counts = bottom_up_aggregate(tree, sizes)
    return c45_prune(tree, sizes, counts, confidence)


def top_down_correct(tree: Tree) -> FloatArray:
    """Lines 7 to 16: scale the sizes of siblings so that they add up to their parent's."""
    sizes = np.maximum(tree.total, 0).astype(float)
    for node in range(len(tree)):  # parents come before their children
        children = list(tree.children(node))
        if children:
            sizes[children] = sizes[node] * _shares(sizes[children])
    return sizes


def bottom_up_aggregate(tree: Tree, sizes: FloatArray) -> FloatArray:
    """Lines 17 to 29: class counts that add up to the sizes, summed from the leaves upwards."""
    counts = np.maximum(tree.counts, 0).astype(float)
    for node in reversed(range(len(tree))):
        children = list(tree.children(node))
        if children:
            counts[node] = counts[children].sum(axis=0)
        else:
            counts[node] = sizes[node] * _shares(counts[node])
    return counts


def c45_prune(tree: Tree, sizes: FloatArray, counts: FloatArray, confidence: float) -> Tree:
    """Replace a subtree by a leaf where the leaf's pessimistic error is not larger."""
    errors = np.zeros(len(tree))
    cut: dict[int, FloatArray] = {}
    for node in reversed(range(len(tree))):
        wrong = max(sizes[node] - counts[node].max(), 0.0)
        as_leaf = sizes[node] * upper_error_rate(wrong, sizes[node], confidence)
        children = list(tree.children(node))
        below = errors[children].sum() if children else np.inf
        errors[node] = min(as_leaf, below)
        if children and as_leaf <= below:
            cut[node] = counts[node]
    return _cut(tree, cut)


def prune_by_gini(tree: Tree) -> Tree:
    """Cut the leaves of a parent whose own class counts are at least as pure as theirs (eq. 27)."""
    counts = np.maximum(tree.counts, 0).astype(float)
    sizes, gini = counts.sum(axis=1), _gini(counts).tolist()
    leaf = tree.column < 0
    cut: dict[int, FloatArray] = {}
    for node in reversed(np.flatnonzero(~leaf).tolist()):
        children = tree.children(node)
        below = slice(children[0], children[-1] + 1)
        if not leaf[below].all():
            continue
        weights = _shares(sizes[below]).tolist()
        if gini[node] >= sum(w * g for w, g in zip(weights, gini[below], strict=True)):
            leaf[node] = True
            cut[node] = counts[node]
    return _cut(tree, cut)


def _gini(counts: FloatArray) -> FloatArray:
    """The negative Gini index of each node: 0 for a pure or an empty one."""
    totals = counts.sum(axis=1, keepdims=True)
    parts = counts / np.maximum(totals, 1)
    return np.where(totals[:, 0] > 0, (parts**2).sum(axis=1) - 1, 0.0)


def _shares(amounts: FloatArray) -> FloatArray:
    """Parts of one; equal parts where there is nothing to go by."""
    total = amounts.sum()
    return amounts / total if total > 0 else np.full(len(amounts), 1 / len(amounts))


def _cut(tree: Tree, leaves: Mapping[int, FloatArray]) -> Tree:
    """The same tree with some inner nodes turned into leaves that decide by the given counts."""
    if not leaves:
        return tree
    column, threshold = tree.column.copy(), tree.threshold.copy()
    counts, has_counts = tree.counts.copy(), tree.has_counts.copy()
    label = np.where(tree.is_leaf, tree.label, -1)
    kept = np.ones(len(tree), np.bool_)
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # parents come before their children
        if node in leaves and kept[node]:
            column[node] = threshold[node] = -1
            label[node] = leaves[node].argmax()
            if not has_counts[node]:
                counts[node], has_counts[node] = np.rint(leaves[node]), True
        if column[node] < 0 or not kept[node]:
            kept[list(tree.children(node))] = False
    number = np.cumsum(kept) - 1
    children: dict[int, Sequence[int]] = {
        int(number[node]): number[list(tree.children(node))].tolist()
        for node in np.flatnonzero(kept & (column >= 0)).tolist()
    }
    return replace(
        tree,
        column=column[kept],
        threshold=threshold[kept],
        label=decisions(children, counts[kept], has_counts[kept], label[kept]),
        counts=counts[kept],
        has_counts=has_counts[kept],
        total=tree.total[kept],
        has_total=tree.has_total[kept],
    )
