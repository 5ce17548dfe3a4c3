"""Baselines without privacy: ID3, C4.5 with its pruning, and our own learners without noise.

The noise provider that is silent lives here and in the tests; the package has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from bocage.accounting import MemoryAccount
from bocage.engine.sources import open_engine
from bocage.epsilon import LARGEST, Epsilon
from bocage.learners.papers.binomial import upper_error_rate
from bocage.mechanisms import Adjacency, Contest, Selection
from bocage.private import PrivateTable
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE
from bocage.schema import Schema

TINY = 1e-9


class SilentNoise:
    """No noise: zeros, and the best candidate."""

    name = "silent"

    def laplace(self, scale: Any, size: int) -> np.ndarray:  # noqa: ARG002 - no noise at any scale
        return np.zeros(size, np.int64)

    def select(self, contests: Sequence[Contest], selection: Selection) -> np.ndarray:  # noqa: ARG002
        return np.array([_best(contest) for contest in contests], np.int64)

    def randomize(self, codes: np.ndarray, arity: int, rate: Any) -> np.ndarray:  # noqa: ARG002
        return codes


def _best(contest: Contest) -> int:
    scores = contest.scores.astype(float)
    if contest.weights is not None:
        scores = np.where(contest.weights > 0, scores, -np.inf)
    return int(np.argmax(scores))


def without_noise(source: Any, schema: Schema) -> PrivateTable:
    """A table that answers exactly. For public data and baselines only."""
    terms = Terms(schema, Adjacency.ADD_REMOVE)
    executor = LiveExecutor(terms, open_engine(source, schema), SilentNoise(), has_ledger=False)
    return PrivateTable(executor, MemoryAccount.of(Epsilon(LARGEST)), WHOLE)


@dataclass(frozen=True)
class Node:
    """A node of a plain tree: it decides, unless it splits and the branch is there."""

    label: int
    column: int = -1
    branches: tuple[Node | None, ...] = ()


def id3(codes: np.ndarray, labels: np.ndarray, arities: Sequence[int], classes: int, depth: int = 10**9) -> Node:
    """Quinlan's ID3: the largest information gain, until a node is pure or nothing is gained.

    Parameters
    ----------
    codes
        One row per record, one column per attribute, whole numbers below `arities`.
    depth
        The most levels of splits.
    """
    wide = max(arities)
    offsets = np.arange(len(arities)) * wide * classes
    flat = codes.astype(np.int64) * classes + labels[:, None] + offsets

    def grow(rows: np.ndarray, columns: np.ndarray, left: int) -> Node:
        counts = np.bincount(labels[rows], minlength=classes)
        label = int(counts.argmax())
        if left == 0 or not len(columns) or counts.max() == counts.sum():
            return Node(label)
        cells = np.bincount(flat[rows][:, columns].ravel(), minlength=len(arities) * wide * classes)
        tables = cells.reshape(len(arities), wide, classes)[columns]
        gains = _entropy(counts) - _entropy(tables).sum(axis=1)
        if gains.max() <= TINY * len(rows):
            return Node(label)
        column = int(columns[gains.argmax()])
        rest = columns[columns != column]
        parts = [rows[codes[rows, column] == value] for value in range(arities[column])]
        branches = tuple(grow(part, rest, left - 1) if len(part) else None for part in parts)
        return Node(label, column, branches)

    return grow(np.arange(len(labels)), np.arange(len(arities)), depth)


def predict(tree: Node, codes: np.ndarray, empty: int | None = None) -> np.ndarray:
    """The label of every row. A branch that no training record took decides by its parent's
    majority, or gives `empty` (Weka's ID3 leaves such records without a class: take -1).
    """
    result = np.full(len(codes), tree.label)
    places: list[tuple[Node, np.ndarray]] = [(tree, np.arange(len(codes)))]
    while places:
        node, rows = places.pop()
        result[rows] = node.label
        for value, branch in enumerate(node.branches):
            part = rows[codes[rows, node.column] == value]
            if branch is not None:
                places.append((branch, part))
            elif empty is not None:
                result[part] = empty
    return result


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Entropy mass of the last axis: its sum times its entropy."""
    total = counts.sum(axis=-1)
    parts = counts * np.log2(np.maximum(counts, 1))
    mass: np.ndarray = total * np.log2(np.maximum(total, 1)) - parts.sum(axis=-1)
    return mass


def c45(
    features: np.ndarray, labels: np.ndarray, *, prune: bool = True, confidence: float = 0.25
) -> DecisionTreeClassifier:
    """A tree like J48's: entropy, two records per leaf, and C4.5's pruning by pessimistic errors.

    It splits in two by information gain where C4.5 takes the gain ratio: with binary and numeric
    attributes that is a small difference.
    """
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2).fit(features, labels)
    if prune:
        _prune(tree, confidence)
    return tree


def _prune(model: DecisionTreeClassifier, confidence: float) -> None:
    """Replace subtrees by leaves, from below, where the pessimistic number of errors allows it."""
    tree = model.tree_
    sizes = tree.n_node_samples.astype(float)
    wrong = sizes * (1 - tree.value[:, 0].max(axis=1) / tree.value[:, 0].sum(axis=1))
    as_leaf = [size * upper_error_rate(float(e), float(size), confidence) for e, size in zip(wrong, sizes, strict=True)]
    errors = np.array(as_leaf)
    for node in reversed(range(tree.node_count)):
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            continue
        below = errors[left] + errors[right]
        if as_leaf[node] <= below + 0.1:  # C4.5's own margin
            tree.children_left[node] = tree.children_right[node] = -1
        else:
            errors[node] = below
