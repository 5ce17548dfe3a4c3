"""Noisy integers become numbers in the unit of a column, rounded once."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.epsilon import Epsilon
from bocage.errors import EpsilonError
from bocage.mechanisms import Adjacency, laplace_half_width
from bocage.private.count import Count
from bocage.private.query import Terms, laplace_answer
from bocage.schema import Categorical, Schema

SCHEMA = Schema("people", (Categorical("sex", ("F", "M")),))
TERMS = Terms(SCHEMA, Adjacency.ADD_REMOVE)
UNITS = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)
NUMBERS = st.integers(min_value=-(2**62), max_value=2**62)


@given(number=NUMBERS, unit=UNITS, nano=st.integers(min_value=1, max_value=10**12))
def test_values_and_intervals_are_the_nearest_to_the_exact_fractions(number, unit, nano):
    query = Count(Epsilon(nano))
    scale = TERMS.scale(1, query.epsilon)
    assert scale == Fraction(10**9, nano)
    half = laplace_half_width(scale)
    answer = laplace_answer(query, TERMS, ["all"], scale=scale, unit=unit, noisy=[number])
    exact = number * unit
    assert answer.value == (int(exact) if unit.denominator == 1 else float(exact))
    assert type(answer.value) is (int if unit.denominator == 1 else float)
    assert answer.interval == (float((number - half) * unit), float((number + half) * unit))
    assert all(type(end) is float for end in answer.interval)
    assert answer.plus_minus == float(half * unit)
    assert answer.scale == f"{float(scale * unit):.6g}"


def test_a_scale_that_is_too_large_is_refused_every_time():
    for _ in range(2):
        with pytest.raises(EpsilonError, match="does not fit"):
            TERMS.scale(2**40, Epsilon(1))
