from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.mechanisms.bounds import exp_bounds, power_bounds
from bocage.mechanisms.selection.exponential import _Ladder, _multiply

exponents = st.fractions(min_value=0, max_value=300)


def scaled_exp(x, bits):
    """2**bits * exp(-x), to 120 digits."""
    with localcontext(prec=120):
        return Fraction((-Decimal(x.numerator) / x.denominator).exp() * (1 << bits))


@given(exponents, st.integers(8, 300))
def test_bounds_enclose_the_exponential_and_are_tight(x, bits):
    low, high = exp_bounds(x, bits)
    exact = scaled_exp(x, bits)
    slop = exact / 10**110
    assert low <= exact + slop
    assert exact - slop <= high
    assert high - low <= 2


@pytest.mark.parametrize("x", [Fraction(1, 10**40), Fraction(10**40), Fraction(2**200 + 1, 2**200), Fraction(0)])
def test_bounds_hold_at_extreme_arguments(x):
    low, high = exp_bounds(x, 128)
    assert low <= high <= low + 2
    assert low <= scaled_exp(x, 128) + 1
    assert scaled_exp(x, 128) - 1 <= high


@given(st.fractions(min_value=0, max_value=50), st.integers(1, 40))
def test_powers_enclose_the_exponential_and_are_tight(x, count):
    lows, highs = power_bounds(x, count, 100)
    for k, (low, high) in enumerate(zip(lows, highs, strict=True)):
        exact = scaled_exp(x * k, 100)
        assert low <= exact + Fraction(1, 10**60)
        assert exact - Fraction(1, 10**60) <= high
        assert high - low <= 2


@given(st.integers(0, 1 << 62), st.integers(0, 1 << 62))
def test_product_by_halves_is_the_product(a, b):
    product = _multiply(np.array([a], dtype=np.uint64), np.array([b], dtype=np.uint64))
    assert int(product[0]) == a * b >> 62


@given(
    st.lists(st.integers(0, (1 << 64) - 1) | st.integers(0, 5000), min_size=1, max_size=20),
    st.fractions(min_value=Fraction(1, 10**25), max_value=10**6).filter(bool),
    st.integers(5, 61),
)
def test_ladder_encloses_every_weight_within_its_slack(gaps, rate, precision):
    low, high = _Ladder(rate).bounds(np.array(gaps, dtype=np.uint64), precision)
    for gap, a, b in zip(gaps, low.tolist(), high.tolist(), strict=True):
        exact_low, exact_high = exp_bounds(rate * gap, precision + 64)
        assert a << 64 <= exact_high
        assert exact_low <= b << 64
        assert b - a <= (_Ladder.SLACK >> (62 - precision)) + 2
