"""Exact privacy loss of whole questions on tiny tables.

Every table of up to a few rows over a tiny domain and every neighbor of it: the numbers that reach
the noise, and the scale or contests, are captured from the real query; the output distribution
follows from the mechanisms' exact probabilities; no log ratio may exceed epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from bocage.epsilon import Epsilon
from bocage.mechanisms import (
    Adjacency,
    Selection,
    exponential_probabilities,
    laplace_probability,
    permute_and_flip_probabilities,
    privacy_loss,
)
from bocage.private.choose import Candidate, Choose
from bocage.private.criteria import CRITERIA
from bocage.private.quantile import Within
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentNoise
from private.tables import table

TINY = Schema(
    "tiny",
    (Categorical("a", ("u", "v")), Numeric("x", lower=0, upper=2, step=1)),
    label=Categorical("c", ("no", "yes")),
    row_cap=3,
)
RECORDS = list(product(("u", "v"), (0, 1, 2), ("no", "yes")))
SLACK = Decimal("1e-25")  # sums of decimals of 28 digits


class Capture(SilentNoise):
    def __init__(self):
        self.scales, self.contests = [], []

    def laplace(self, scale, size):
        self.scales.append((scale, size))
        return super().laplace(scale, size)

    def select(self, contests, selection):
        self.contests += [(contest, selection) for contest in contests]
        return super().select(contests, selection)


def captured(ask, rows, adjacency):
    capture = Capture()
    columns = {c.name: [record[i] for record in rows] for i, c in enumerate(TINY)}
    answer = ask(table(columns, TINY, noise=capture, adjacency=adjacency))
    return answer, capture


def pairs(adjacency, most_rows):
    for size in range(most_rows + 1):
        for rows in combinations_with_replacement(RECORDS, size):
            if adjacency is Adjacency.ADD_REMOVE:
                if size < most_rows:
                    yield from ((rows, (*rows, record)) for record in RECORDS)
            elif size:
                yield from ((rows, (*rows[1:], record)) for record in RECORDS)


_PROBABILITIES = {
    Selection.EXPONENTIAL: exponential_probabilities,
    Selection.PERMUTE_AND_FLIP: permute_and_flip_probabilities,
}


def contest_key(contest, selection):
    weights = None if contest.weights is None else contest.weights.tobytes()
    # Only gaps matter: many tables share one contest.
    gaps = contest.scores.max() - contest.scores
    return gaps.tobytes(), contest.rate, weights, selection


def worst_selection_loss(ask, adjacency, most_rows):
    """Independent contests over the same records: their losses add up."""
    runs, distributions, losses = {}, {}, {}

    def contests(rows):
        key = tuple(sorted(rows))
        if key not in runs:
            runs[key] = []
            for contest, selection in captured(ask, key, adjacency)[1].contests:
                kind = contest_key(contest, selection)
                if kind not in distributions:
                    distributions[kind] = _PROBABILITIES[selection](contest)
                runs[key].append(kind)
        return runs[key]

    worst = Decimal(0)
    for one, other in pairs(adjacency, most_rows):
        total = Decimal(0)
        for p, r in zip(contests(one), contests(other), strict=True):
            if (p, r) not in losses:
                losses[p, r] = privacy_loss(distributions[p], distributions[r])
            total += losses[p, r]
        worst = max(worst, total)
    return worst


EPSILON = Epsilon.of("0.9")
LIMIT = Decimal("0.9") + SLACK
SELECTIONS = [
    lambda t: t.noisy_mode("x", EPSILON),
    lambda t: t.noisy_mode("a", EPSILON, selection="exponential"),
    lambda t: t.noisy_quantile("x", EPSILON),
    lambda t: t.noisy_quantile("x", EPSILON, level="0.75"),
    *[
        lambda t, c=criterion, s=selection: t.choose(["a", "x"], c, EPSILON, selection=s)
        for criterion in CRITERIA
        for selection in Selection
    ],
    lambda t: t.where("a = 'u'").choose(["x"], "gini", EPSILON),
]


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("ask", SELECTIONS)
def test_selections_lose_at_most_epsilon(ask, adjacency):
    worst = worst_selection_loss(ask, adjacency, 3)
    assert 0 < worst <= LIMIT


def test_selections_over_a_partition_lose_at_most_epsilon():
    # Cells are disjoint: an added record is in one of them.
    ask = lambda t: t.partition("a").choose(["x"], "max", EPSILON)  # noqa: E731 - a question
    assert 0 < worst_selection_loss(ask, Adjacency.ADD_REMOVE, 3) <= LIMIT


@dataclass(frozen=True)
class Wrong:
    """A trusted criterion with a range that is a third too small."""

    inner: object
    name: str = "wrong"

    @property
    def units(self):
        return self.inner.units

    def range(self, schema):
        return Fraction(self.inner.range(schema) * 2, 3)

    def branch(self, counts):
        return self.inner.branch(counts)


@pytest.mark.parametrize("selection", list(Selection))
def test_a_criterion_with_too_small_a_range_is_caught(selection, monkeypatch):
    monkeypatch.setitem(CRITERIA, "wrong", Wrong(CRITERIA["max"]))
    candidates = ((Candidate.of(TINY, "a"), Candidate.of(TINY, "x")),)
    query = Choose(candidates, "c", CRITERIA["wrong"], selection, EPSILON)
    assert worst_selection_loss(lambda t: t._ask(query, False), Adjacency.ADD_REMOVE, 3) > LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("level", ["0.5", "0.75"])
def test_a_quantile_and_the_counts_around_it_lose_at_most_epsilon(level, adjacency, monkeypatch):
    # For every value that may be chosen: the loss of choosing it, and of the counts of its runs, each
    # of which is greatest, and the same, at every output outside of the two exact values.
    seen = []
    monkeypatch.setattr(Within, "runs", lambda _, noisy: seen.append(noisy) or (0, 0))

    def choosing(rows, value):
        noise = Capture()
        noise.select = lambda contests, _: noise.contests.extend(contests) or np.array([value])
        columns = {c.name: [record[i] for record in rows] for i, c in enumerate(TINY)}
        own = table(columns, TINY, noise=noise, adjacency=adjacency)
        own.noisy_quantile("x", EPSILON, level=level)
        (contest,), ((scale, size),) = noise.contests, noise.scales
        assert size == len(seen[-1])
        return exponential_probabilities(contest)[value], seen[-1], scale

    found = cache(choosing)
    worst = Decimal(0)
    for pair in pairs(adjacency, 3):
        one, other = (tuple(sorted(rows)) for rows in pair)
        for value in range(3):
            (p, counts, scale), (q, others, _) = found(one, value), found(other, value)
            moved = int(np.abs(counts - others).sum()) / scale
            worst = max(worst, abs((p / q).ln()) + Decimal(moved.numerator) / moved.denominator)
    assert LIMIT / 2 < worst <= LIMIT


COUNTS = [
    lambda t: t.noisy_count(EPSILON),
    lambda t: t.where("x >= 1").noisy_count(EPSILON),
    lambda t: t.partition("a").noisy_count(EPSILON),
    lambda t: t.noisy_counts(["x", "c"], EPSILON),
    lambda t: t.noisy_sum("x", EPSILON),
    lambda t: t.partition("a").noisy_sum("x", EPSILON),
]


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("ask", COUNTS)
def test_laplace_answers_lose_at_most_epsilon(ask, adjacency):
    # The noise of each number is independent, so the losses of the numbers add up; the loss of one
    # is greatest, and the same, at every output outside of the two exact values.
    exact, worst = {}, Decimal(0)
    for rows in {tuple(sorted(r)) for pair in pairs(adjacency, 3) for r in pair}:
        answer, capture = captured(ask, rows, adjacency)
        ((scale, size),) = capture.scales
        assert size == len(answer.values)
        exact[rows] = np.array(answer.values, np.int64)
    logs = {}
    for one, other in pairs(adjacency, 3):
        distance = np.abs(exact[tuple(sorted(one))] - exact[tuple(sorted(other))]).tolist()
        total = Decimal(0)
        for d in distance:
            if d not in logs:
                outputs = range(-3, d + 4)
                logs[d] = privacy_loss(
                    [laplace_probability(scale, x) for x in outputs],
                    [laplace_probability(scale, x - d) for x in outputs],
                )
            total += logs[d]
        worst = max(worst, total)
    assert worst <= LIMIT
    if adjacency is Adjacency.ADD_REMOVE:
        assert worst >= LIMIT - 2 * SLACK  # and all of it is used
