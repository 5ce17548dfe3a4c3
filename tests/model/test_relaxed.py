"""A second promise with a delta: when it pays, what it says, and that it is true."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import ModelError
from bocage.model import Certificate, PlanLine


def certificate(epsilon, queries, level=0):
    line = PlanLine(level, "all tables", "discrete Laplace", epsilon, queries)
    return Certificate("bayes", "", epsilon, "add_remove", "people", "fingerprint", (line,))


def test_a_single_question_has_no_smaller_epsilon():
    assert certificate("1", 1).relaxed() is None
    assert "delta" not in certificate("1", 1).statement()


def test_forty_two_questions_do():
    found = certificate("1", 42).relaxed()
    assert found is not None
    assert found.rho == Fraction(1, 84)
    assert 0.6 < found.epsilon < 1 / 84 + 2 * sqrt(log(1e6) / 84)  # the plainer bound: 0.823
    assert f"(epsilon = {found.epsilon:g}, delta = 1e-06)" in certificate("1", 42).statement()


def test_questions_on_the_way_down_a_tree_do_not_count():
    assert certificate("1", 1000, level=1).relaxed() is None


def test_nothing_is_promised_where_nothing_is():
    made = Certificate("sulq", "", None, "add_remove", "people", "fingerprint")
    assert made.relaxed() is None


@pytest.mark.parametrize("delta", [0, 1, -1e-6, float("nan")])
def test_delta_is_a_probability(delta):
    with pytest.raises(ModelError, match="between 0 and 1"):
        certificate("1", 42).relaxed(delta)


@given(st.integers(20, 400), st.decimals("0.1", "4", places=2), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_it_holds_for_the_worst_questions_that_there_are(queries, epsilon, delta):
    """q randomized responses: no e-DP questions lose more (Kairouz, Oh & Viswanath 2015)."""
    found = certificate(str(epsilon), queries).relaxed(delta)
    if found is not None:
        assert lost(float(epsilon) / queries, queries, found.epsilon) <= delta


def lost(rate, queries, epsilon):
    """The delta that so many randomized responses need at `epsilon`, by their binomial law."""
    true = exp(rate) / (1 + exp(rate))
    total, ways = 0.0, 1
    for truths in range(queries + 1):
        here = ways * true**truths * (1 - true) ** (queries - truths)
        there = ways * (1 - true) ** truths * true ** (queries - truths)
        total += max(here - exp(epsilon) * there, 0.0)
        ways = ways * (queries - truths) // (truths + 1)
    return total
