"""Local tables: their exact counts obey the epsilon that is claimed, for any domain."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO
from itertools import accumulate
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.errors import EpsilonError, NoiseError
from bocage.mechanisms.bounds import exp_bounds
from bocage.mechanisms.local_loss import approximate_epsilon, laplace_ratio, loss, response_ratio
from bocage.mechanisms.local_tables import (
    WHOLE,
    LocalTable,
    draw_local,
    gaussian_table,
    laplace_table,
    response_table,
    uniform_table,
)
from bocage.mechanisms.rng import RandomBits

EPSILONS = st.integers(1, 64 * 10**9).map(lambda nano: Fraction(nano, 10**9)) | st.sampled_from(
    [Fraction(1, 10**9), Fraction(1), Fraction(64)]
)


def at_most_exp(ratio: Fraction, epsilon: Fraction) -> bool:
    """Whether ratio <= exp(epsilon), decided in integers: exp(-epsilon) <= 1 / ratio."""
    bits = 512
    high = exp_bounds(epsilon, bits)[1]
    return high * ratio.numerator <= ratio.denominator << bits


def clamped(table: LocalTable, cells: int) -> list[list[int]]:
    """All counts P(y | x) of noise added to x and clamped, one after the other."""
    matrix = [[0] * cells for _ in range(cells)]
    for x in range(cells):
        for noise, count in enumerate(table.counts, table.first):
            matrix[x][min(max(x + noise, 0), cells - 1)] += count
    return matrix


def shifted(table: LocalTable, cells: int) -> list[list[int]]:
    matrix = [[0] * cells for _ in range(cells)]
    for x in range(cells):
        for shift, count in enumerate(table.counts):
            matrix[x][(x + shift) % cells] += count
    return matrix


def worst(matrix: list[list[int]]) -> Fraction:
    return max(Fraction(max(column), min(column)) for column in zip(*matrix, strict=True))


@settings(max_examples=60, deadline=None)
@given(EPSILONS, st.integers(2, 24))
def test_laplace_obeys_epsilon_by_enumeration(epsilon, cells):
    table = laplace_table(epsilon, cells - 1)
    matrix = clamped(table, cells)
    assert all(sum(row) == WHOLE for row in matrix)
    assert worst(matrix) == laplace_ratio(table, cells - 1)
    assert at_most_exp(worst(matrix), epsilon)
    # Not wasted either: the epsilon used is the epsilon asked, to a unit of 1e-9.
    assert abs(float(epsilon) - float(loss(worst(matrix)))) < 1e-9


@settings(max_examples=12, deadline=None)
@given(EPSILONS, st.integers(2, 2**16))
def test_laplace_obeys_epsilon_on_large_grids(epsilon, cells):
    assert at_most_exp(laplace_ratio(laplace_table(epsilon, cells - 1), cells - 1), epsilon)


@settings(max_examples=60, deadline=None)
@given(EPSILONS, st.integers(2, 40))
def test_response_obeys_epsilon_by_enumeration(epsilon, cells):
    table = response_table(epsilon, cells)
    matrix = shifted(table, cells)
    assert all(sum(row) == WHOLE for row in matrix)
    assert worst(matrix) == response_ratio(table)
    assert at_most_exp(worst(matrix), epsilon)
    assert abs(float(epsilon) - float(loss(worst(matrix)))) < 1e-9


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**9), Fraction(64)])
def test_response_obeys_epsilon_at_the_ends(epsilon):
    assert at_most_exp(response_ratio(response_table(epsilon, 2**16)), epsilon)


def test_a_table_rounded_the_other_way_would_be_found_out():
    table = response_table(Fraction(1), 3)
    truth, lie, _ = table.counts
    broken = LocalTable(0, (truth + 2, truth + 2 + lie - 1))
    assert not at_most_exp(response_ratio(broken), Fraction(1))


@given(st.integers(1, 300))
def test_uniform_noise_is_symmetric_and_even_to_one_part(alpha):
    counts = uniform_table(alpha).counts
    assert sum(counts) == WHOLE
    assert counts == counts[::-1]
    assert max(counts) - min(counts) <= 2 * alpha + 1
    assert len(counts) == 2 * alpha + 1


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(7, 3), Fraction(261)])
def test_gaussian_noise_has_the_discrete_gaussian_probabilities(sigma):
    table = gaussian_table(sigma, 10**6)
    weights = {k: exp(-(k * k) / (2 * float(sigma) ** 2)) for k in range(-4000, 4001)}
    whole = sum(weights.values())
    for k, count in enumerate(table.counts, table.first):
        assert count / WHOLE == pytest.approx(weights[k] / whole, rel=1e-9, abs=1e-30)
    assert table.counts == table.counts[::-1]


def test_noise_beyond_the_reach_becomes_the_reach():
    free, cut = gaussian_table(Fraction(3), 100), gaussian_table(Fraction(3), 2)
    assert len(cut.counts) == 5
    assert cut.counts[1:4] == free.counts[-free.first - 1 : -free.first + 2]


def test_gaussian_epsilon_equals_a_search_over_all_tails():
    steps, delta = 9, Fraction(1, 1000)
    table = gaussian_table(Fraction(4), 10**3)
    found = approximate_epsilon(table, steps, delta)
    chances = np.array([count / WHOLE for count in table.counts])
    one, other = np.pad(chances, (0, steps)), np.pad(chances, (steps, 0))

    def excess(epsilon: float) -> float:
        return float(np.maximum(one - exp(epsilon) * other, 0).sum())

    assert found is not None
    assert excess(float(found) - 1e-6) > float(delta) > excess(float(found) + 1e-6)
    assert approximate_epsilon(uniform_table(5), 4, Fraction(1, 1000)) is None
    assert loss(Fraction(1)) == 0
    assert float(loss(Fraction(2))) == log(2)


@given(st.binary(min_size=16, max_size=16), st.sampled_from(["laplace", "edges"]))
def test_a_draw_counts_the_thresholds_at_or_below_the_integer(content, which):
    table = laplace_table(Fraction(2), 5)
    if which == "edges":  # many thresholds with the same upper word
        table = LocalTable(0, (1, 2, 3, 2**64 - 1, 2**64, 2**64 + 1, WHOLE - 1))
    words = np.frombuffer(content, dtype="<u8").reshape(1, 2)
    whole = int(words[0, 0]) << 64 | int(words[0, 1])
    below = list(accumulate(table.counts))
    assert table.draw(words)[0] - table.first == sum(whole >= b for b in below[:-1])


@pytest.mark.parametrize("whole", [0, 1, 2**64 - 1, 2**64, 2**64 + 1, WHOLE - 2, WHOLE - 1])
def test_a_draw_at_a_threshold_is_exact(whole):
    table = LocalTable(0, (1, 2, 3, 2**64 - 1, 2**64, 2**64 + 1, WHOLE - 1))
    words = np.array([[whole >> 64, whole & (2**64 - 1)]], dtype=np.uint64)
    assert table.draw(words).tolist() == [sum(whole >= t for t in table.thresholds)]


def test_many_records_take_the_same_bytes_as_one_after_the_other():
    content = np.random.default_rng(5).bytes(2 * 2 * 8 * 50)
    tables = [laplace_table(Fraction(1), 20), response_table(Fraction(1), 4)]

    def source():
        stream = BytesIO(content)
        return RandomBits(lambda count: stream.read(count).ljust(count, b"\0"))

    together = draw_local(tables, 50, source())
    alone = source()
    assert [draw_local(tables, 1, alone)[0].tolist() for _ in range(50)] == together.tolist()
    with pytest.raises(NoiseError, match="64 bits"):
        draw_local(tables, 1, RandomBits(word_bits=8))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: laplace_table(Fraction(0), 5), EpsilonError),
        (lambda: laplace_table(Fraction(65), 5), EpsilonError),
        (lambda: laplace_table(Fraction(1), 0), NoiseError),
        (lambda: response_table(Fraction(1), 1), NoiseError),
        (lambda: uniform_table(0), NoiseError),
        (lambda: gaussian_table(Fraction(0), 5), NoiseError),
        (lambda: gaussian_table(Fraction(1, 50), 5), NoiseError),
        (lambda: gaussian_table(Fraction(10**9), 5), NoiseError),
    ],
)
def test_parameters_without_meaning_are_refused(make, error):
    with pytest.raises(error):
        make()
