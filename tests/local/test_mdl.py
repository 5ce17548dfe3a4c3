"""Pruning by description length, by hand."""

from __future__ import annotations

from math import log2, pi

import numpy as np
import pytest

from bocage.local import mdl


def test_bits_of_a_leaf_by_hand():
    """Two classes, 3 and 1 records: 3 log(4/3) + log 4 + log(4/2)/2 + log(pi)."""
    by_hand = 3 * log2(4 / 3) + 2 + 0.5 + log2(pi)
    assert mdl.leaf_bits(np.array([[3, 1]]))[0] == pytest.approx(by_hand)
    assert mdl.leaf_bits(np.array([8, 0])) == pytest.approx(1 + log2(pi))


@pytest.mark.parametrize(("parts", "kept"), [([[50, 0], [0, 50]], True), ([[26, 24], [24, 26]], False)])
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
