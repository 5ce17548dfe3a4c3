"""The pessimistic error of C4.5."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from bocage.learners.papers.binomial import beta_distribution, upper_error_rate


@pytest.mark.parametrize(("errors", "cases", "rate"), [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.750)])
def test_quinlans_examples(errors, cases, rate):
    assert round(upper_error_rate(errors, cases, 0.25), 3) == rate


def test_quinlans_example_with_an_error():
    # The book prints 0.157: its program takes a normal approximation from the first error on. The
    # exact limit is the rate at which one error or none in 16 has probability 25 %.
    rate = upper_error_rate(1, 16, 0.25)
    assert rate == pytest.approx(0.157, abs=0.004)
    assert binom.cdf(1, 16, rate) == pytest.approx(0.25, abs=1e-9)


@settings(max_examples=300)
@given(
    cases=st.floats(0.01, 1e8),
    share=st.floats(0, 1),
    confidence=st.sampled_from([0.5, 0.25, 0.1, 0.01]),
)
@example(cases=0.01, share=1 - 2**-53, confidence=0.5)  # the rate is 1 to all digits
@example(cases=1.0, share=1 - 1e-12, confidence=0.01)
def test_upper_error_rate_equals_scipy(cases, share, confidence):
    errors = cases * share
    exact = beta.ppf(1 - confidence, errors + 1, cases - errors) if errors < cases else 1.0
    assert upper_error_rate(errors, cases, confidence) == pytest.approx(exact, abs=1e-8)


@settings(max_examples=200)
@given(x=st.floats(0, 1), a=st.floats(1, 1e6), b=st.floats(0.1, 1e6))
def test_the_beta_distribution_equals_scipy(x, a, b):
    assert beta_distribution(x, a, b) == pytest.approx(beta.cdf(x, a, b), abs=1e-8)


def test_the_two_ways_to_compute_it_meet():
    below, above = (upper_error_rate(n, 1000, 0.25) for n in (98.999, 99.001))
    assert below < above < below + 1e-5


def test_all_cases_wrong_or_none_at_all_is_rate_one():
    assert upper_error_rate(3, 3, 0.25) == 1
    assert upper_error_rate(0, 0, 0.25) == 1
