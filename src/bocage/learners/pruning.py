"""Pruning with released counts only: free of charge.

Friedman & Schuster (2010), Algorithm 3, and Fletcher & Islam (2015), section 3.2. Both papers leave
open what to do with negative noisy counts; they are raised to 0 first.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bocage.learners.binomial import upper_error_rate
from bocage.model import Tree, TreeBuilder

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
    leaf = np.array([not tree.children(node) for node in range(len(tree))])
    cut: dict[int, FloatArray] = {}
    for node in reversed(range(len(tree))):
        children = list(tree.children(node))
        if not children or not leaf[children].all():
            continue
        weights = _shares(counts[children].sum(axis=1))
        if _gini(counts[node]) >= sum(
            weight * _gini(counts[child]) for weight, child in zip(weights, children, strict=True)
        ):
            leaf[node] = True
            cut[node] = counts[node]
    return _cut(tree, cut)


def _gini(counts: FloatArray) -> float:
    """The negative Gini index: 0 for a pure node."""
    total = counts.sum()
    return float(((counts / total) ** 2).sum() - 1) if total else 0.0


def _shares(amounts: FloatArray) -> FloatArray:
    """Parts of one; equal parts where there is nothing to go by."""
    total = amounts.sum()
    return amounts / total if total > 0 else np.full(len(amounts), 1 / len(amounts))


def _cut(tree: Tree, leaves: Mapping[int, FloatArray]) -> Tree:
    """The same tree with some inner nodes turned into leaves that decide by the given counts."""
    if not leaves:
        return tree
    built = TreeBuilder(tree.schema)
    places = [(0, built.root)]
    while places:
        old, new = places.pop()
        if tree.has_total[old]:
            built.total(new, int(tree.total[old]))
        if tree.has_counts[old]:
            built.counts(new, tree.counts[old].tolist())
        if old in leaves:
            if not tree.has_counts[old]:
                built.counts(new, np.rint(leaves[old]).astype(int).tolist())
            built.label(new, int(leaves[old].argmax()))
            continue
        children = list(tree.children(old))
        if not children:
            built.label(new, int(tree.label[old]))
            continue
        at = int(tree.threshold[old])
        column = tree.schema.attributes[int(tree.column[old])].name
        places += zip(children, built.split(new, column, None if at < 0 else at), strict=True)
    return built.freeze(tree.certificate)
