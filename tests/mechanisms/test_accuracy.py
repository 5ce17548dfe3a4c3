from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.errors import EpsilonError
from bocage.mechanisms import (
    laplace_half_width,
    laplace_probability,
    laplace_scale_for,
    laplace_standard_deviation,
    laplace_tail,
)

scales = st.fractions(min_value=Fraction(1, 20), max_value=12)


def covered(scale, width):
    return sum(Fraction(laplace_probability(scale, x)) for x in range(-width, width + 1))


@given(scales, st.sampled_from([Fraction(1, 2), Fraction(19, 20), Fraction(99, 100)]))
def test_half_width_is_the_smallest_that_covers(scale, confidence):
    width = laplace_half_width(scale, confidence)
    assert covered(scale, width) >= confidence
    assert width == 0 or covered(scale, width - 1) < confidence


@given(scales, st.integers(0, 30))
def test_tail_is_what_the_middle_leaves(scale, k):
    middle = covered(scale, k - 1) if k else 0
    assert math.isclose(laplace_tail(scale, k), float(1 - middle), rel_tol=1e-9, abs_tol=1e-40)


@settings(max_examples=15)
@given(scales)
def test_standard_deviation_is_that_of_the_probabilities(scale):
    variance = 2 * sum(x * x * laplace_probability(scale, x) for x in range(1, 400))
    assert math.isclose(laplace_standard_deviation(scale), float(variance) ** 0.5, rel_tol=1e-9)


@given(st.integers(0, 10**15))
def test_scale_for_a_half_width_is_the_largest(width):
    scale = laplace_scale_for(width)
    assert laplace_half_width(scale) <= width
    assert laplace_half_width(scale * (1 + Fraction(1, 10**11))) > width


def test_extreme_scales_have_widths():
    assert laplace_half_width(Fraction(1, 10**9)) == 0
    assert laplace_half_width(Fraction(2**70)) == pytest.approx(2**70 * math.log(20), rel=1e-9)


@pytest.mark.parametrize("confidence", [Fraction(0), Fraction(1), Fraction(95)])
def test_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(EpsilonError, match="between 0 and 1"):
        laplace_half_width(Fraction(1), confidence)
    with pytest.raises(EpsilonError, match="between 0 and 1"):
        laplace_scale_for(5, confidence)


def test_half_width_cannot_be_negative():
    with pytest.raises(EpsilonError, match="0 or more"):
        laplace_scale_for(-1)
