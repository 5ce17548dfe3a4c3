"""Noise on tables with one sum: its bounds hold, and it has the density that is claimed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from bocage.mechanisms import ConsistentTables, Perturbation, deviations
from bocage.mechanisms.consistent_noise import totals
from bocage.mechanisms.rng import RandomBits

RATE = Fraction(3, 2)
SHAPES = [((3,), 1), ((2, 2), 1), ((1, 2, 4), 1), ((3, 2), 2)]


def draws(body, count, bits=40):
    """For each draw its tables, of shape (cells, columns)."""
    drawn = Perturbation([body] * count, RandomBits(), bits)
    found = [((low + high) / 2.0 ** (drawn.bits + 1)).astype(float) for low, high in drawn.bounds()]
    return [found[i : i + len(body.sizes)] for i in range(0, len(found), len(body.sizes))]


def norm(tables):
    return max(np.abs(table).sum(axis=0).max() for table in tables)


def uniform_points(sizes, wanted, rng):
    """Points of the unit body by rejection from a cube: free cells and the sum."""
    found = []
    while len(found) < wanted:
        total = rng.uniform(-1, 1)
        tables = []
        for size in sizes:
            free = rng.uniform(-1, 1, size - 1)
            tables.append(np.append(free, total - free.sum()))
            if np.abs(tables[-1]).sum() > 1:
                break
        else:
            found.append(tables)
    return found


def test_refining_stays_within_the_bounds_and_closes_in():
    drawn = Perturbation([ConsistentTables(RATE, (1, 2, 6), 2)], RandomBits(), 8)
    before = drawn.bounds()
    assert [low.shape for low, _ in before] == [(1, 2), (2, 2), (6, 2)]
    drawn.refine()
    for (low, high), (finer_low, finer_high) in zip(before, drawn.bounds(), strict=True):
        assert (low << 64 <= finer_low).all()
        assert (finer_low <= finer_high).all()
        assert (finer_high <= high << 64).all()
        assert (finer_high - finer_low < 1 << 32).all()


@pytest.mark.parametrize(("sizes", "columns"), SHAPES)
def test_all_tables_have_one_sum(sizes, columns):
    for tables in draws(ConsistentTables(RATE, sizes, columns), 20):
        for table in tables:
            assert table.sum(axis=0) == pytest.approx(tables[0].sum(axis=0), abs=1e-6)


# A density exp(-rate * norm) in d dimensions has a norm that is gamma distributed with d. 1,500
# draws each, Kolmogorov-Smirnov, false alarm 1e-9 each.
@pytest.mark.parametrize(("sizes", "columns"), SHAPES)
def test_the_norm_is_gamma_distributed(sizes, columns):
    body = ConsistentTables(RATE, sizes, columns)
    norms = [norm(tables) for tables in draws(body, 1500)]
    assert stats.kstest(norms, "gamma", (body.dimension, 0, 1 / float(RATE))).pvalue > 1e-9


@pytest.mark.slow
def test_over_their_norm_draws_are_those_of_a_uniform_point():
    # Where the boundary of the body is hit: two samples of 1,500, Kolmogorov-Smirnov on the sum and on
    # one cell of each table, false alarm 1e-9 each.
    rng = np.random.default_rng(1)
    ours = draws(ConsistentTables(RATE, (2, 3)), 1500)
    theirs = uniform_points((2, 3), 1500, rng)
    for table, cell in ((0, 0), (0, 1), (1, 0), (1, 2)):
        one = [float(t[table][cell, 0] / norm(t)) for t in ours]
        two = [t[table][cell] / max(np.abs(x).sum() for x in t) for t in theirs]
        assert stats.ks_2samp(one, two).pvalue > 1e-9
    sums = [float(t[0].sum() / norm(t)) for t in ours]
    assert stats.ks_2samp(sums, [t[0].sum() / max(np.abs(x).sum() for x in t) for t in theirs]).pvalue > 1e-9


@pytest.mark.parametrize("body", [ConsistentTables(RATE, (1, 2, 5)), ConsistentTables(RATE, (3, 3), 2)])
def test_deviations_are_those_of_the_draws(body):
    # 3,000 draws; the bound is that of the tables in `test_knorm`: false alarm below 1e-9.
    drawn = draws(body, 3000, 20)
    for at, (size, deviation) in enumerate(zip(body.sizes, deviations(body), strict=True)):
        tables = np.array([tables[at] for tables in drawn])
        centered = tables - tables.mean(axis=1, keepdims=True) if size > 1 else tables
        assert np.sqrt((centered**2).mean()) == pytest.approx(deviation, rel=0.13)


def test_tables_of_few_cells_have_far_less_noise_than_laplace_noise():
    for size, gain in ((2, 2.6), (3, 1.9), (4, 1.55), (8, 1.2)):
        laplace = 2 * 9**2 * (1 - 1 / size)  # a centered cell of nine tables
        assert laplace > (gain * deviations(ConsistentTables(Fraction(1), (size,) * 9))[0]) ** 2


def test_the_weights_of_signs_are_symmetric_and_those_of_a_table_of_three():
    # One table of three cells: P! N! binom(2, P)**2.
    assert totals((3,)) == (2, 4, 2)
    assert totals((3, 5, 2)) == totals((3, 5, 2))[::-1]
