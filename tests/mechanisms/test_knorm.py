"""Noise on tables: its bounds hold, and it has the density that is claimed."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from bocage.errors import EpsilonError
from bocage.mechanisms import Perturbation, Roots, SystemNoise, Tables, deviations
from bocage.mechanisms.rng import RandomBits

RATE = Fraction(3, 2)


def norm(x):
    """Sum of the distances to the median; the size of a single number."""
    return abs(x[0]) if len(x) == 1 else float(np.abs(x - np.median(x)).sum())


def values(bodies, bits=40):
    drawn = Perturbation(bodies, RandomBits(), bits)
    return [((low + high) / 2.0 ** (drawn.bits + 1)).astype(float) for low, high in drawn.bounds()]


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_the_norm_is_that_of_the_hull_of_centered_indicators(size):
    rng = np.random.default_rng(size)
    corners = np.eye(size) - 1 / size
    for _ in range(20):
        x = rng.normal(size=size)
        x -= x.mean()
        both = np.concatenate([corners, -corners]).T
        least = linprog(np.ones(2 * size), A_eq=both, b_eq=x).fun
        assert least == pytest.approx(norm(x))


def test_refining_stays_within_the_bounds_and_closes_in():
    bodies = [Tables(RATE, (1, 2, 7), 2), Roots(RATE, 4, 5), Roots(RATE, 1, 4)]
    drawn = Perturbation(bodies, RandomBits(), 2)
    before = drawn.bounds()
    assert [low.shape for low, _ in before] == [(1, 2), (2, 2), (7, 2), (4, 5), (1, 4)]
    drawn.refine()
    assert drawn.bits == 66
    for (low, high), (finer_low, finer_high) in zip(before, drawn.bounds(), strict=True):
        assert (low << 64 <= finer_low).all()
        assert (finer_low <= finer_high).all()
        assert (finer_high <= high << 64).all()
        assert (finer_high - finer_low < 1 << 24).all()


def test_tables_are_centered_within_their_bounds():
    for low, high in Perturbation([Tables(RATE, (3, 8)), Roots(RATE, 3, 4)], RandomBits()).bounds():
        assert (low.sum(axis=0) <= 0).all()
        assert (high.sum(axis=0) >= 0).all()


# A density exp(-rate * norm) in d dimensions has a norm that is gamma distributed with d. 1,500
# draws each, Kolmogorov-Smirnov, false alarm 1e-9 each.
@pytest.mark.parametrize(("sizes", "columns"), [((1,), 1), ((4,), 1), ((2, 3), 1), ((3, 3), 2)])
def test_the_norm_of_tables_is_gamma_distributed(sizes, columns):
    drawn = values([Tables(RATE, sizes, columns)] * 1500)
    norms = [
        max(norm(column) for table in drawn[i : i + len(sizes)] for column in table.T)
        for i in range(0, len(drawn), len(sizes))
    ]
    dimension = columns * sum(max(size - 1, 1) for size in sizes)
    assert stats.kstest(norms, "gamma", (dimension, 0, 1 / float(RATE))).pvalue > 1e-9


def test_the_order_of_cells_is_uniform():
    # The largest of three cells: 3,000 draws, false alarm 1e-9.
    largest = [int(table.argmax()) for table in values([Tables(RATE, (3,))] * 3000, 10)]
    assert stats.chisquare(np.bincount(largest, minlength=3)).pvalue > 1e-9


@pytest.mark.parametrize("labels", [3, 4])
def test_a_cell_of_roots_has_its_norm_and_its_signs(labels):
    # 2,000 draws; false alarms 1e-9 each.
    cells = np.array([table[0] for table in values([Roots(RATE, 1, labels)] * 2000)])
    sizes = np.maximum(cells, 0).sum(axis=1)
    assert stats.kstest(sizes, "gamma", (labels - 1, 0, 1 / float(RATE))).pvalue > 1e-9
    positive = np.bincount((cells > 0).sum(axis=1), minlength=labels)[1:]
    ways = np.array([comb(labels, m) * comb(labels - 2, m - 1) for m in range(1, labels)])
    assert stats.chisquare(positive, 2000 * ways / ways.sum()).pvalue > 1e-9


@pytest.mark.parametrize("body", [Tables(RATE, (1, 2, 5)), Tables(RATE, (3,), 2), Roots(RATE, 3, 4)])
def test_deviations_are_those_of_the_draws(body):
    # 3,000 draws. The noise has tails no heavier than Laplace noise, so that the mean square has a
    # relative deviation of at most sqrt(5 / 3000) = 4 %; seven of these are 28 %, or 13 % of the
    # root: false alarm below 1e-9.
    drawn = values([body] * 3000, 20)
    expected = deviations(body)
    for at, deviation in enumerate(expected):
        squares = [np.mean(table**2) for table in drawn[at :: len(expected)]]
        assert np.sqrt(np.mean(squares)) == pytest.approx(deviation, rel=0.13)


def test_a_rate_of_zero_is_refused_and_the_system_draws():
    with pytest.raises(EpsilonError, match="greater than 0"):
        Perturbation([Tables(Fraction(0), (2,))], RandomBits())
    assert len(SystemNoise().perturb([Tables(RATE, (2, 3))]).bounds()) == 2
