"""The search for a rounded minimum ends: every step is certified, and there always is one."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.private.objective import rounding
from bocage.private.objective.minimizer import Descent
from bocage.private.objective.rounding import rounded_minimum, steepest
from private.fits import A, B, at, problem, searcher

HUGE = Fraction(900_000)  # an epsilon at which labels are told apart without a doubt
MOST_LOOKS = 80  # at points of one fit; Newton's method needs about 30


@pytest.fixture
def looks(monkeypatch):
    """Every point that is examined; a search that takes too many is stopped."""
    found, examine = [], rounding._examine

    def watched(*arguments):
        found.append(examine(*arguments))
        assert len(found) < watched.most, "the search does not end"
        return found[-1]

    watched.most = MOST_LOOKS
    monkeypatch.setattr(rounding, "_examine", watched)
    return found, watched


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1), Fraction(200), HUGE])
@pytest.mark.parametrize("labels", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("rows", [0, 1, 2, 500])
def test_a_fit_ends_soon_at_any_epsilon_with_labels_that_are_impossible_for_some(labels, epsilon, rows, looks):
    assert not looks[0]
    one = problem([A, B], labels, rows=rows, epsilon=epsilon, told=True)
    assert rounded_minimum(one).shape == (1 + one.design.fine, one.design.columns)


@pytest.mark.parametrize("labels", [2, 3, 6])
def test_every_start_leads_to_the_same_rounded_minimum(labels):
    one = problem([A, B], labels, rows=60, epsilon=HUGE, told=True)
    found = rounded_minimum(one).tolist()
    for value in (-7, 0, 20):
        assert rounding._surely(one, searcher(one), at(one, value)).tolist() == found


NONSENSE = {
    "nothing": lambda gradient: np.zeros(gradient.shape),
    "uphill": lambda gradient: -gradient,
    "anywhere": lambda gradient: np.random.default_rng(0).normal(size=gradient.shape),
    "far away": lambda gradient: 1e30 * gradient,
    "no numbers": lambda gradient: np.full(gradient.shape, np.nan),
}


@pytest.mark.parametrize("labels", [2, 5])
@pytest.mark.parametrize("propose", NONSENSE.values(), ids=NONSENSE)
def test_a_fit_ends_within_its_bound_whatever_floating_point_proposes(labels, propose, looks, monkeypatch):
    one = problem([A], labels, rows=6, epsilon=Fraction(1))
    monkeypatch.setattr(Descent, "newton", lambda self, at, gradient, remains: propose(gradient))
    monkeypatch.setattr(rounding, "_HALVINGS", 2)
    steps, step = [], rounding._step

    def counted(*arguments):
        steps.append(step(*arguments))
        assert steps[-1] is not None or not arguments[3], "with digits there always is a step"
        return steps[-1]

    monkeypatch.setattr(rounding, "_step", counted)
    looks[1].most = 10**5
    start = at(one, 8)
    found = rounding._surely(one, searcher(one), start)
    kinds = steepest(one) / (min(one.calibration.penalties) / 1024)
    levels = 1 + (one.noise.bits - 56) // 64
    gone = log2(rounding._size(start) * 2**one.noise.bits)
    assert len(steps) < 20 * kinds * (gone + levels)
    monkeypatch.undo()
    assert found.tolist() == rounded_minimum(one).tolist()


@settings(max_examples=60)
@given(
    table=st.builds(
        lambda **facts: problem([A, B], epsilon=Fraction(3), **facts),
        rows=st.integers(0, 12),
        labels=st.integers(2, 5),
        seed=st.integers(0, 99),
    ),
    rounds=st.integers(1, 2),
    value=st.integers(-20, 20),
    near=st.integers(0, 40),
)
def test_a_gradient_of_sixteen_errors_always_allows_a_step(table, rounds, value, near):
    """The step down the gradient, and no other, from points as far and as near as can be."""
    for _ in range(rounds):
        table.noise.refine()
    digits = table.noise.bits
    bits = digits + (64 * steepest(table) * 30).bit_length()
    search = searcher(table)
    search.run(20)
    away = (search.at + value * 2.0**-near) * 2.0**52
    point = np.vectorize(int, otypes=[object])(np.rint(away)) * (1 << (bits - 52))
    here = rounding._examine(table, rounding._balanced(point, table.design), bits, digits)
    if rounding._norm(here) < rounding._FAR * here.error:
        return
    down = (here.gradient << here.bits) // (2 * steepest(table) << here.unit)
    moved = rounding._balanced(here.parameters - down, table.design)
    there = rounding._examine(table, moved, bits, digits)
    assert rounding._better(table, here, there, Fraction(0))


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_no_second_derivative_is_larger_than_the_bound_says(labels):
    one = problem([A, B], labels, rows=200, seed=2)
    search, rng = searcher(one), np.random.default_rng(1)
    for _ in range(20):
        search.at = rng.normal(scale=3, size=search.at.shape)
        turn = search._centered(rng.normal(size=search.at.shape))
        for _ in range(30):  # towards the largest one
            turn = search._curved(turn / np.sqrt((turn**2).sum()))
        assert np.sqrt((turn**2).sum()) <= steepest(one)


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_curvature_times_a_direction_is_the_change_of_the_gradient(labels):
    one = problem([A, B], labels, rows=100, seed=4)
    search, rng = searcher(one), np.random.default_rng(0)
    search.at = rng.normal(size=search.at.shape)
    turn = search._centered(rng.normal(size=search.at.shape))
    h = 1e-5
    change = (search._slope(search.at + h * turn) - search._slope(search.at - h * turn)) / (2 * h)
    assert search._curved(turn) == pytest.approx(change, rel=1e-4, abs=1e-4)
