from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.epsilon import LARGEST, UNIT, ZERO, Epsilon
from bocage.errors import EpsilonError


def test_a_tenth_three_times_is_three_tenths() -> None:
    tenth = Epsilon.of(0.1)
    assert tenth + tenth + tenth == Epsilon.of(0.3) == tenth * 3
    assert Epsilon.total([tenth, tenth, tenth]) == Epsilon.of("0.3")


@pytest.mark.parametrize("value", [0.25, "0.25", " 2.5e-1 ", Decimal("0.25"), Fraction(1, 4), Epsilon(250_000_000)])
def test_every_way_to_write_a_quarter_is_the_same(value: object) -> None:
    assert Epsilon.of(value) == Epsilon(UNIT // 4)  # type: ignore[arg-type] # of all kinds


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "greater than 0"),
        (-0.0, "greater than 0"),
        (-1, "greater than 0"),
        ("1000000.000000001", "at most 1000000"),
        (float("nan"), "finite number, not nan"),
        (float("inf"), "finite number, not inf"),
        ("1e999999999", "between 1e-9 and 1000000"),
        ("1e-999999999", "between 1e-9 and 1000000"),
        ("a lot", "must be a number, not 'a lot'"),
        ("", "must be a number"),
        (True, "must be a number, not bool"),
        (None, "must be a number, not NoneType"),
        (1j, "must be a number, not complex"),
        ("0.0000000001", "more than nine decimals"),
        (0.1234567891, "more than nine decimals.* write 0.123456789 instead"),
        (Fraction(1, 3), "more than nine decimals.* write 0.333333333 instead"),
    ],
)
def test_what_is_no_amount_is_refused(value: object, message: str) -> None:
    with pytest.raises(EpsilonError, match=message):
        Epsilon.of(value)  # type: ignore[arg-type] # deliberately wrong


def test_an_amount_cannot_go_below_zero() -> None:
    assert Epsilon.of(1) - Epsilon.of(1) == ZERO
    with pytest.raises(EpsilonError, match="cannot be negative"):
        Epsilon.of(1) - Epsilon.of("1.000000001")


@given(st.integers(1, LARGEST))
def test_the_text_of_an_amount_reads_back(nano: int) -> None:
    assert Epsilon.of(str(Epsilon(nano))) == Epsilon(nano)
    assert Epsilon.of(Epsilon(nano).fraction) == Epsilon(nano)


WEIGHTS = st.lists(
    st.integers(1, 1000) | st.fractions(Fraction(1, 100), 100, max_denominator=100),
    min_size=1,
    max_size=20,
)


@given(st.integers(10**6, LARGEST), WEIGHTS)
def test_the_parts_of_a_split_add_up_and_differ_from_their_share_by_less_than_a_unit(
    nano: int, weights: list[int | Fraction]
) -> None:
    parts = Epsilon(nano).split(weights)
    assert Epsilon.total(parts) == Epsilon(nano)
    whole = Fraction(sum(weights))
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part.nano - nano * Fraction(weight) / whole) <= 1


def test_a_split_into_nothing_is_refused() -> None:
    with pytest.raises(EpsilonError, match="too small to be shared by 3 questions"):
        Epsilon.of("0.000000002").split([1, 1, 1])
    with pytest.raises(EpsilonError, match="too small"):
        Epsilon.of(1).split([1, 0])


def test_an_amount_of_many_digits_is_refused_before_it_is_read() -> None:
    for text in ("0." + "1" * 10**6, "1" * 10**6, "1." + "0" * 400):
        began = process_time()
        with pytest.raises(EpsilonError, match="at most 400 characters"):
            Epsilon.of(text)
        assert process_time() - began < 0.1
