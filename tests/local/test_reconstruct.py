"""Reconstruction: steps counted by hand, what must never happen, and the shapes of figure 2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bocage.errors import LearnerError
from bocage.local import Gaussian, Laplace, RandomizedResponse, Uniform, reconstruct
from bocage.local.intervals import number_of_intervals, partition
from bocage.local.reconstruct import _step, threshold
from bocage.schema import Categorical, Numeric

WIDE = Numeric("x", -1, 1, 200)
COLORS = Categorical("color", ("red", "green", "blue"))


def test_one_step_is_equation_3():
    """Truth is sent with 3/4, and 3 of 4 people sent the first answer. From shares of one half
    P(answer 1) = 1/2, so the new share is (3 * 3/4 + 1 * 1/4) * (1/2) / (1/2) / 4 = 5/8."""
    kernel = np.array([[0.75, 0.25], [0.25, 0.75]])
    step = _step(np.array([[0.5, 0.5]]), np.array([[3.0, 1.0]]), np.array([4.0]), kernel)
    assert step.tolist() == [[0.625, 0.375]]


def test_answers_in_the_clear_are_the_distribution():
    found = reconstruct(np.array([[5, 3, 2], [0, 0, 0], [0, 1, 0]]), np.eye(3))
    assert np.allclose(found.shares, [[0.5, 0.3, 0.2], [1 / 3] * 3, [0, 1, 0]])
    assert found.steps.tolist() == [2, 0, 2]


def test_randomized_response_is_undone():
    kernel = RandomizedResponse("1").kernel(COLORS)
    true = np.array([0.7, 0.2, 0.1])
    found = reconstruct(1e6 * true @ kernel, kernel, "convergence")
    assert np.abs(found.shares[0] - true).max() < 1e-4


def test_groups_are_reconstructed_by_themselves():
    kernel = Gaussian("20").kernel(WIDE)
    counts = np.random.default_rng(1).multinomial(5000, np.full(kernel.shape[1], 1 / 400)[:], 2)
    together = reconstruct(counts, kernel).shares
    alone = np.concatenate([reconstruct(line, kernel).shares for line in counts])
    assert np.allclose(together, alone)


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.tuples(
            st.lists(st.integers(0, 50), min_size=k + 1, max_size=k + 1),
            st.lists(
                st.lists(st.integers(0, 9), min_size=k + 1, max_size=k + 1).filter(sum),
                min_size=k,
                max_size=k,
            ),
        )
    )
)
def test_every_step_explains_the_answers_better_and_keeps_a_distribution(case):
    counts, weights = np.array(case[0], float)[None, :], np.array(case[1], float)
    kernel = weights / weights.sum(axis=1, keepdims=True)
    counts = counts * kernel.any(axis=0)  # what can be sent
    if not counts.any():
        return
    shares = np.full((1, len(kernel)), 1 / len(kernel))
    before = -np.inf
    for _ in range(20):
        sent = shares @ kernel
        likelihood = (counts * np.log(np.where(counts > 0, sent, 1))).sum()
        assert likelihood >= before - 1e-9
        before = likelihood
        shares = _step(shares, counts, counts.sum(axis=1), kernel)
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1)


def test_answers_that_no_value_can_have_sent_change_nothing():
    kernel = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert np.allclose(reconstruct(np.array([1, 3, 9]), kernel).shares, [[0.25, 0.75]])


@pytest.mark.parametrize("freedom", [1, 2, 9, 19, 99])
def test_the_threshold_is_that_of_the_test(freedom):
    assert threshold(freedom) == pytest.approx(stats.chi2.ppf(0.95, freedom), rel=0.025)


def plateau(rng, n):
    return rng.uniform(-0.5, 0.5, n)


def triangles(rng, n):
    return rng.choice([-0.5, 0.5], n) + rng.triangular(-0.4, 0, 0.4, n)


@pytest.mark.parametrize("shape", [plateau, triangles])
@pytest.mark.parametrize("noise", [Gaussian("25"), Uniform(50), Laplace("8")])
def test_a_shape_comes_out_of_the_noise(shape, noise):
    """100,000 answers: the distance from the truth is a fraction of what the noise made of it."""
    rng = np.random.default_rng(3)
    codes = ((shape(rng, 100_000) + 1) * 100).astype(int)
    parts = partition(WIDE, noise, 40)
    sent = noise.distort(WIDE, codes)
    counts = np.bincount(parts.place[sent - noise.outputs(WIDE).start], minlength=parts.answers)
    found = reconstruct(counts, parts.kernel).shares[0]
    true = np.histogram(codes, parts.edges)[0] / len(codes)
    inside = np.histogram(sent, parts.edges)[0]
    as_sent = inside / inside.sum()
    # Deviations of the distance over samples are below 0.01; the bound is ten of them away.
    assert np.abs(found - true).sum() < 0.7 * np.abs(as_sent - true).sum()


def test_convergence_goes_on_where_the_rule_stops():
    rng = np.random.default_rng(4)
    parts = partition(WIDE, Gaussian("25"), 40)
    counts = rng.multinomial(10_000, np.full(40, 1 / 40) @ parts.kernel)
    smooth, spiky = (reconstruct(counts, parts.kernel, how) for how in ("chi_square", "convergence"))
    assert smooth.steps[0] < spiky.steps[0]
    assert smooth.shares.std() < spiky.shares.std()


@pytest.mark.parametrize(("records", "intervals"), [(1, 10), (999, 10), (1100, 11), (5000, 50), (10**6, 100)])
def test_a_hundred_records_in_an_interval(records, intervals):
    assert number_of_intervals(records) == intervals


@pytest.mark.parametrize("cells", [7, 64, 1000])
@pytest.mark.parametrize("intervals", [2, 10, 37, 100])
@pytest.mark.parametrize("noise", [Uniform(20), Gaussian("9.5"), Laplace("0.5")])
def test_intervals_hold_every_value_and_every_answer_once(cells, intervals, noise):
    column = Numeric("x", 0, 1, cells)
    parts = partition(column, noise, intervals)
    assert (parts.edges[0], parts.edges[-1]) == (0, cells)
    assert (np.diff(parts.edges) > 0).all()
    assert len(parts.place) == len(noise.outputs(column))
    assert np.diff(parts.place).min() >= 0
    assert set(parts.place.tolist()) == set(range(parts.answers))
    assert np.allclose(parts.kernel.sum(axis=1), 1)
    fine = noise.kernel(column)  # the kernel of the intervals is that of the codes, added up
    by_place = np.stack([fine[:, parts.place == at].sum(axis=1) for at in range(parts.answers)], 1)
    mean = np.add.reduceat(by_place, parts.edges[:-1], axis=0) / np.diff(parts.edges)[:, None]
    assert np.allclose(parts.kernel, mean)


def test_noise_that_reaches_very_far_is_counted_in_wider_intervals():
    parts = partition(Numeric("x", 0, 1, 100), Uniform(100_000), 10)
    assert parts.answers <= 4096
    assert parts.place[-1] == parts.answers - 1
    assert np.allclose(parts.kernel.sum(axis=1), 1)


def test_what_does_not_fit_is_refused():
    many = Categorical("town", tuple(map(str, range(3000))))
    with pytest.raises(LearnerError, match="3000 values; up to 2048"):
        partition(many, RandomizedResponse("1"), 10)
    with pytest.raises(LearnerError, match="chi_square"):
        reconstruct(np.ones(2), np.eye(2), "soon")
    with pytest.raises(LearnerError, match="3 intervals do not fit a kernel for 2"):
        reconstruct(np.ones(3), np.eye(2))
    with pytest.raises(LearnerError, match="two intervals"):
        partition(WIDE, Uniform(2), 1)
