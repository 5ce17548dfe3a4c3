"""The range that a criterion claims is a privacy claim: brute force, and large counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import PlanError
from bocage.private.criteria import (
    CRITERIA,
    UNITS,
    Doubled,
    Gini,
    MaxOperator,
    _entropy,
    _entropy_table,
    criterion_named,
)
from bocage.schema import Categorical, Schema


def capped(row_cap):
    return Schema("capped", (Categorical("a", ("x", "y")),), row_cap=row_cap)


def score(criterion, counts):
    return int(criterion.branch(np.array([counts], np.int64))[0])


def changes(criterion, counts):
    """How the score of a branch moves when a record of each label is added."""
    before = score(criterion, counts)
    for i in range(len(counts)):
        yield score(criterion, [n + (j == i) for j, n in enumerate(counts)]) - before


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize(("labels", "most"), [(2, 24), (3, 9), (4, 5)])
def test_one_record_moves_all_scores_one_way_and_within_the_range(criterion, labels, most):
    moved = []
    for counts in product(range(most), repeat=labels):
        claimed = criterion.range(capped(sum(counts) + 1))
        found = list(changes(criterion, counts))
        # A split that the record is not part of moves by 0: so the interval must hold it too.
        assert max(*found, 0) - min(*found, 0) <= claimed
        moved += found
    assert all(m >= 0 for m in moved) or all(m <= 0 for m in moved)


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@given(
    counts=st.lists(st.integers(0, 2**38), min_size=1, max_size=4),
    near=st.sampled_from([0, 4096, 2**13, 2**25, 2**26, 2**26 + 2**14, 2**30, 2**39]),
)
def test_large_counts_keep_the_range_across_every_switch(criterion, counts, near):
    for offset in (-2, -1, 0, 1):
        shifted = [max(0, near + offset - sum(counts[1:])), *counts[1:]]
        claimed = criterion.range(capped(sum(shifted) + 1)) if sum(shifted) < 2**40 else None
        if claimed is not None:
            found = list(changes(criterion, shifted))
            assert max(*found, 0) - min(*found, 0) <= claimed


def published(name, branches):
    """Friedman and Schuster's formulas, larger is better."""
    total = 0.0
    for x in branches:
        t = sum(x)
        if name == "max":
            total += max(x)
        elif name == "gini":
            total -= float(t - Fraction(sum(n * n for n in x), t)) if t else 0
        elif name == "blend":  # -(E + I/2) / 2
            impurity = t - Fraction(sum(n * n for n in x), t) if t else 0
            total -= float(t - max(x) + impurity / 2) / 2
        else:
            total += sum(n * log2(n / t) for n in x if n)
    return total


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@given(st.lists(st.lists(st.integers(0, 300), min_size=2, max_size=3), min_size=1, max_size=4))
def test_scores_are_the_published_formulas_in_small_units(criterion, branches):
    ours = sum(score(criterion, x) for x in branches) / criterion.units
    real = published(criterion.name, branches)
    if criterion.name == "max":
        assert ours == real
    elif criterion.name in {"gini", "blend"}:  # a floor per branch
        assert real - len(branches) / UNITS <= ours <= real + 1e-9
    else:  # slopes are rounded down: at most a unit per record, most of which cancels
        assert abs(ours - real) <= sum(map(sum, branches)) / UNITS


@given(st.lists(st.integers(0, 2**36), min_size=2, max_size=3))
def test_information_gain_of_large_branches_is_close(counts):
    ours = score(CRITERIA["information_gain"], counts) / UNITS
    assert abs(ours - published("information_gain", [counts])) <= sum(counts) / UNITS


def test_gini_is_the_same_integer_on_both_sides_of_the_switch():
    for a, b in [(2**25, 2**26 - 2**25 - 1), (2**26 - 1, 0), (2**25, 2**25), (2**26, 3)]:
        exact = UNITS * (a * a + b * b) // (a + b) - UNITS * (a + b)
        assert score(Gini(), [a, b]) == exact
    assert score(Gini(), [2**40, 0]) == 0
    assert score(Gini(), [2**39, 2**39]) == -UNITS * 2**39
    assert score(Gini(), [0, 0]) == 0


def test_the_entropy_function_is_convex_at_its_knots():
    gain = CRITERIA["information_gain"]
    for power in range(1, 40):
        n = 2**power
        slopes = [gain.range(capped(m + 1)) for m in (n - 2, n - 1, n, n + 1) if m >= 0]
        assert slopes == sorted(slopes)


def test_information_gain_range_is_the_papers_value_and_no_more():
    # log2 N + (N - 1) log2(N / (N - 1)) = 13.73 for N = 5000, to one unit in 1024
    claimed = CRITERIA["information_gain"].range(capped(5000)) / UNITS
    tight = 5000 * log2(5000) - 4999 * log2(4999)
    assert tight - 1 / UNITS <= claimed <= tight


def test_information_gain_needs_a_row_cap():
    with pytest.raises(PlanError, match="row_cap"):
        CRITERIA["information_gain"].range(capped(None))


def test_only_trusted_criteria_are_taken():
    class Leaky(MaxOperator):
        def branch(self, counts):
            raise AssertionError(counts)

    for wrong in (Leaky(), "leaky", Doubled(Leaky()), MaxOperator(name="max", units=3), None):
        with pytest.raises(PlanError, match="no criterion"):
            criterion_named(wrong)
    assert criterion_named("gini") is CRITERIA["gini"]
    assert criterion_named(CRITERIA["max"]) is CRITERIA["max"]


def test_doubled_claims_twice_the_range():
    twice = Doubled(CRITERIA["gini"])
    assert criterion_named(twice).range(capped(9)) == 4 * UNITS
    assert twice.name != CRITERIA["gini"].name


@given(st.integers(0, 2**41) | st.builds(lambda k, d: max(2**k + d, 0), st.integers(0, 40), st.integers(-2, 2)))
def test_the_knot_below_a_count_is_found_without_a_search(n):
    knots, values, slopes = _entropy_table()
    at = np.searchsorted(knots, n, side="right") - 1
    assert _entropy(np.array([n]))[0] == values[at] + slopes[at] * (n - knots[at])
