"""Which interval a record is counted in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bocage.local import tree_kernels
from bocage.local.answers import by_order, by_value


def associated(counts, estimated, how):
    """Give every record an interval; the answers of a group in a random order."""
    groups, answers = counts.shape
    labels = np.repeat(np.arange(groups), counts.sum(axis=1))
    sent = np.concatenate([np.repeat(np.arange(answers), line) for line in counts])
    order = np.random.default_rng(1).permutation(len(sent))
    labels, sent = labels[order], sent[order].astype(np.int32)[:, None]
    codes = np.zeros((len(sent), 1), np.uint16)
    association = how(counts, estimated)
    rows = np.arange(len(sent), dtype=np.int32)
    tree_kernels.associate(
        sent,
        0,
        labels,
        rows,
        0,
        association.first,
        association.size,
        association.line,
        association.bounds,
        codes,
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
    association = by_order(np.array([[1000]]), np.array([[500.0, 500.0]]))
    rows = np.arange(1000, dtype=np.int32)
    tree_kernels.associate(
        answers,
        0,
        labels,
        rows,
        0,
        association.first,
        association.size,
        association.line,
        association.bounds,
        codes,
    )
    assert abs(int(codes[:500].sum()) - 250) <= 25
