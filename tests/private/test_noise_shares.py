"""Which tables share noise: all of them have some, the rates add up, and no table is noisier for it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bocage.mechanisms import ConsistentTables, Tables, deviations
from bocage.private.noise_shares import LARGEST, MOST_FREE, groups_of, intercept, least_noise

RATE = Fraction(7, 5)


@pytest.mark.parametrize("sizes", [[2], [3] * 9, [2] * 300, [2, 3, 4, 9, 14, 2, 64], [8] * 100])
def test_groups_hold_every_table_once_and_none_is_too_large(sizes):
    groups = groups_of(sizes)
    assert sorted(i for group in groups for i in group) == list(range(len(sizes)))
    for group in groups:
        own = [sizes[i] for i in group]
        assert max(own) <= Fraction(3, 2) * min(own)
        assert len(own) == 1 or sum(own) <= MOST_FREE


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("sizes", [[2], [3] * 9, [2] * 20, [2, 3, 4, 9, 14, 2, 64], [LARGEST + 1]])
def test_the_least_noise_uses_all_of_the_rate_and_is_less_than_that_of_tables_apart(sizes, columns):
    shared = least_noise([1, *sizes], columns, RATE)
    assert sum(body.rate for _, body in shared) == RATE
    assert sorted(i for group, _ in shared for i in group) == list(range(len(sizes) + 1))
    found = {}
    for group, body in shared:
        assert body.sizes == tuple([1, *sizes][i] for i in group)
        assert body.columns == columns
        assert not isinstance(body, ConsistentTables) or max(body.sizes) <= LARGEST
        found |= zip(group, deviations(body), strict=True)
    rest = RATE - intercept(len(sizes), columns, RATE).rate
    apart = 0.0
    for group in groups_of(sizes):
        own = tuple(sizes[i] for i in group)
        apart += sum(deviations(Tables(rest * len(group) / len(sizes), own, columns)))
    assert sum(found[i] for i in found if i) <= apart * (1 + 1e-12)


def test_ternary_tables_have_their_sum_for_the_intercept():
    ((group, body),) = least_noise([1] + [3] * 9, 1, RATE)
    assert group == list(range(10))
    assert isinstance(body, ConsistentTables)
