"""Splitting, against what can be counted by hand or by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from bocage.local import tree_kernels


def table_of(codes, labels, bins, classes):
    offset = np.concatenate([[0], np.cumsum(bins)])
    table = np.zeros((offset[-1], classes), np.int64)
    rows = np.arange(len(labels), dtype=np.int32)
    tree_kernels.count_codes(codes, labels, rows, 0, len(rows), offset, table)
    return offset, table


def gini(labels):
    shares = np.bincount(labels) / len(labels)
    return len(labels) * (1 - (shares**2).sum())


@settings(max_examples=60, deadline=None)  # the first example compiles
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(2, 3))
def test_the_best_split_is_the_one_with_the_lowest_gini_index(seed, n, classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, (n, 3)).astype(np.uint16)
    labels = rng.integers(0, classes, n)
    multiway = np.array([False, False, True])
    offset, table = table_of(codes, labels, [5, 5, 5], classes)
    totals = np.bincount(labels, minlength=classes)
    column, cut = tree_kernels.best_split(table, offset, multiway, totals, np.zeros(classes, np.int64))
    scores = {(-1, -1): gini(labels)}
    for a in (0, 1):
        for c in range(1, 5):
            left = codes[:, a] < c
            if left.any() and not left.all():
                scores[a, c] = gini(labels[left]) + gini(labels[~left])
    scores[2, -1] = sum(gini(labels[codes[:, 2] == v]) for v in set(codes[:, 2].tolist()))
    assert scores[column, cut] == pytest.approx(min(scores.values()), abs=1e-9)


def test_a_tree_that_is_not_pruned_fits_every_record_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 50, (3000, 4)).astype(np.uint16)
    labels = rng.integers(0, 3, 3000)
    offset = np.arange(5) * 50
    rows = np.arange(3000, dtype=np.int32)
    column, _, first, counts = tree_kernels.grow(
        codes, labels, rows, offset, np.zeros(4, bool), 3, 2, 100, -np.inf, 0.0
    )
    leaves = counts[column < 0]
    peer = DecisionTreeClassifier(random_state=0).fit(codes, labels)
    wrong = (leaves.sum(axis=1) - leaves.max(axis=1)).sum()
    assert wrong == (peer.predict(codes) != labels).sum()
    assert leaves.sum(axis=0).tolist() == np.bincount(labels).tolist()
    assert sorted(rows.tolist()) == list(range(3000))
    assert (first[column >= 0] > np.flatnonzero(column >= 0)).all()
