"""Splitting, association and pruning, against what can be counted by hand or by brute force."""

from __future__ import annotations

from math import log2, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from bocage.local import mdl, tree_kernels
from bocage.local.answers import by_order, by_value


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
    column, cut = tree_kernels.best_split(
        table, offset, multiway, totals, np.zeros(classes, np.int64)
    )
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


def associated(counts, estimated, how):
    """Give every record an interval; the answers of a group in a random order."""
    groups, answers = counts.shape
    labels = np.repeat(np.arange(groups), counts.sum(axis=1))
    sent = np.concatenate([np.repeat(np.arange(answers), line) for line in counts])
    order = np.random.default_rng(1).permutation(len(sent))
    labels, sent = labels[order], sent[order].astype(np.int32)[:, None]
    codes = np.zeros((len(sent), 1), np.uint16)
    found = how(counts, estimated)
    rows = np.arange(len(sent), dtype=np.int32)
    tree_kernels.associate(
        sent, 0, labels, rows, 0, found.first, found.size, found.line, found.bounds, codes
    )
    return labels, sent[:, 0], codes[:, 0]


def test_the_lowest_answers_belong_to_the_first_interval():
    counts = np.array([[2, 2, 2], [1, 0, 3]])
    estimated = np.array([[4.0, 2.0], [1.0, 3.0]])
    labels, sent, codes = associated(counts, estimated, by_order)
    assert codes[(labels == 0) & (sent < 2)].tolist() == [0] * 4
    assert codes[(labels == 0) & (sent == 2)].tolist() == [1] * 2
    assert codes[(labels == 1) & (sent == 0)].tolist() == [0]
    assert codes[(labels == 1) & (sent == 2)].tolist() == [1] * 3


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4), st.integers(0, 2**32 - 1))
def test_every_interval_gets_as_many_as_estimated(line, seed):
    if not sum(line):
        return
    counts = np.array([line])
    shares = np.random.default_rng(seed).dirichlet(np.ones(5))
    estimated = sum(line) * shares[None, :]
    _, sent, codes = associated(counts, estimated, by_order)
    got = np.bincount(codes, minlength=5)
    assert np.abs(np.cumsum(got) - np.cumsum(estimated)).max() <= 0.5 + 1e-9
    order = np.argsort(sent, kind="stable")
    highest = [codes[sent == s].max(initial=0) for s in range(4)]
    assert all(codes[order][sent[order] > s].min(initial=5) >= highest[s] for s in range(3))


def test_as_many_records_as_possible_keep_their_category():
    """Category 0 was sent 10 times and is estimated at 6: four records move, three to the second
    and one to the third category, which lack three and one."""
    counts = np.array([[10, 5, 5]])
    estimated = np.array([[6.0, 8.0, 6.0]])
    _, sent, codes = associated(counts, estimated, by_value)
    assert np.bincount(codes).tolist() == [6, 8, 6]
    assert (codes[sent == 1] == 1).all()
    assert (codes[sent == 2] == 2).all()


def test_ties_do_not_depend_on_the_order_of_the_rows():
    """Half of the people with one answer belong to each interval: not the first half of the file."""
    answers, labels = np.zeros((1000, 1), np.int32), np.zeros(1000, np.int64)
    codes = np.zeros((1000, 1), np.uint16)
    found = by_order(np.array([[1000]]), np.array([[500.0, 500.0]]))
    rows = np.arange(1000, dtype=np.int32)
    tree_kernels.associate(
        answers, 0, labels, rows, 0, found.first, found.size, found.line, found.bounds, codes
    )
    assert abs(int(codes[:500].sum()) - 250) <= 25


def test_bits_of_a_leaf_by_hand():
    """Two classes, 3 and 1 records: 3 log(4/3) + log 4 + log(4/2)/2 + log(pi)."""
    by_hand = 3 * log2(4 / 3) + 2 + 0.5 + log2(pi)
    assert mdl.leaf_bits(np.array([[3, 1]]))[0] == pytest.approx(by_hand)
    assert mdl.leaf_bits(np.array([8, 0])) == pytest.approx(1 + log2(pi))


@pytest.mark.parametrize(
    ("parts", "kept"), [([[50, 0], [0, 50]], True), ([[26, 24], [24, 26]], False)]
)
def test_a_split_is_kept_if_it_saves_bits(parts, kept):
    counts = np.array([[50, 50], *parts])
    first, arity = np.array([1, -1, -1]), np.array([2, 0, 0])
    bits = np.array([mdl.split_bits(9, 99), 0, 0])
    assert mdl.kept_splits(first, arity, counts, bits)[0] == kept


def test_a_split_below_can_be_worth_one_above_that_saves_nothing():
    """Exclusive or: the first split alone says nothing."""
    counts = np.array([[50, 50], [25, 25], [25, 25], [25, 0], [0, 25], [0, 25], [25, 0]])
    first, arity = np.array([1, 3, 5, -1, -1, -1, -1]), np.array([2, 2, 2, 0, 0, 0, 0])
    kept = mdl.kept_splits(first, arity, counts, np.full(7, 5.0))
    assert kept.tolist() == [True] * 3 + [False] * 4
