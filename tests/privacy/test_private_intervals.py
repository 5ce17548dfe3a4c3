"""The 95 % intervals hold the exact value in at least 95 % of releases, with real noise.

Each case releases the same question 4,000 times (as 4,000 cells with equal counts). If an interval
missed with probability 5 % exactly, more than `MOST_MISSES` misses would occur with probability
below 1e-9 per case; there are fewer than 200 cases.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.plan import ALWAYS, Cells, Tally
from bocage.private.amount import Average, Sum
from bocage.private.count import Count
from bocage.private.quantile import Quantile
from bocage.private.query import Place, Terms
from bocage.schema import Numeric, Schema

TIMES = 4000
MOST_MISSES = int(binom.isf(1e-9, TIMES, 0.05))
STEPS = Numeric("x", lower=0, upper=9, step=1)
WIDE = Numeric("x", lower=-50, upper=50, cells=64)
EPSILONS = ["0.001", "0.1", "1", "20"]
PLACE = Place(ALWAYS, Cells((), TIMES), tuple(map(str, range(TIMES))))


def released(query, column, counts, adjacency=Adjacency.ADD_REMOVE):
    """Release the same counts in every cell."""
    counts = np.asarray(counts, np.int64)
    codes = np.tile(counts, (TIMES, 1))
    tally = Tally(
        codes.sum(axis=1, keepdims=True),
        {"x": codes[:, :, None]},
        {"x": codes @ np.arange(column.cells)},
    )
    terms = Terms(Schema("t", (column,)), adjacency)
    return query.release(tally, terms, PLACE, SystemNoise())


def misses(answer, exact):
    return sum(
        not low <= exact <= high for low, high in zip(answer.lows, answer.highs, strict=True)
    )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("rows", [0, 1, 8, 1000])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_counts(rows, epsilon, adjacency):
    counts = [rows, *[0] * 9]
    answer = released(Count(Epsilon.of(epsilon)), STEPS, counts, adjacency)
    assert misses(answer, rows) <= MOST_MISSES
    # Nor are the intervals wider than stated.
    widths = {high - low for low, high in zip(answer.lows, answer.highs, strict=True)}
    assert max(widths) <= 2 * answer.plus_minus


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("column", [STEPS, WIDE], ids=["steps", "cells"])
def test_sums(column, epsilon):
    counts = [1, 0, 2, *[0] * (column.cells - 4), 5]
    exact = float(sum(n * column.value(code) for code, n in enumerate(counts)))
    assert misses(released(Sum("x", Epsilon.of(epsilon)), column, counts), exact) <= MOST_MISSES


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("many", [1, 7, 400])
@pytest.mark.parametrize("column", [STEPS, WIDE], ids=["steps", "cells"])
def test_averages(column, many, epsilon):
    counts = [many, *[0] * (column.cells - 2), 3]
    total = sum((n * column.value(code) for code, n in enumerate(counts)), Fraction(0))
    exact = float(total / sum(counts))
    answer = released(Average("x", Epsilon.of(epsilon)), column, counts)
    assert misses(answer, exact) <= MOST_MISSES


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("level", ["1/2", "9/10"])
@pytest.mark.parametrize(
    "counts",
    [[0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 2, 2, 0, 0, 0, 0, 1], [90, *[0] * 8, 90], [50] * 10],
)
def test_quantiles(counts, level, epsilon):
    share = Fraction(level)
    answer = released(Quantile("x", share, Epsilon.of(epsilon)), STEPS, counts)
    upto = np.cumsum(counts)
    target = share * int(upto[-1])
    exact = [c for c in range(10) if upto[c] - counts[c] <= target <= upto[c]]
    # Every grid point with that share of the rows on either side is inside.
    for code in (min(exact), max(exact)):
        assert misses(answer, code) <= MOST_MISSES
    assert all(
        low <= v <= high
        for v, low, high in zip(answer.values, answer.lows, answer.highs, strict=True)
    )


def test_an_interval_that_is_too_narrow_is_noticed():
    answer = released(Count(Epsilon.of("0.1")), STEPS, [8, *[0] * 9])
    shrunk = answer.as_kind(
        answer.kind,
        lows=tuple(v - 0.75 * answer.plus_minus for v in answer.values),
        highs=tuple(v + 0.75 * answer.plus_minus for v in answer.values),
    )
    assert misses(shrunk, 8) > MOST_MISSES
