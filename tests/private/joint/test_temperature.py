"""Rates that are drawn with an outcome: their weights, and how far one record moves them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.mechanisms import Proposed
from bocage.private.joint.temperature import LEAST, SURE, UNITS, rates_of, tempered
from private.joint.tree.test_sampler import every_walk

RIGHT = (7, 4, 0)  # rows that each of three outcomes predicts right
PRIOR = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))


def propose(right=RIGHT):
    def proposal(rate):
        weights = np.array([log(p) + float(rate) * r for p, r in zip(PRIOR, right, strict=True)])

        def walk(steps):
            place = steps.choose(weights)
            return Proposed((rate, place), right[place], PRIOR[place].as_integer_ratio())

        return walk, rate, float(np.logaddexp.reduce(weights))

    return proposal


def test_small_rates_are_left_as_they_are():
    walk, rate, total = tempered(propose(), 9, 2, Fraction(149, 100))
    assert rate == Fraction(149, 100)
    assert total == pytest.approx(log(fsum(p * exp(1.49 * r) for p, r in zip(PRIOR, RIGHT, strict=True))))  # fmt: skip
    assert [walked.score for walked, _ in every_walk(walk)][::-1] == list(RIGHT)


@pytest.mark.parametrize("rate", ["3/2", "2", "6", "7", "100", "300000"])
@pytest.mark.parametrize("labels", [2, 3, 18])
def test_the_law_is_that_of_labels_with_an_unknown_share_of_chance(rate, labels):
    rate, rows = Fraction(rate), 9
    walk, unit, total = tempered(propose(), rows, labels, rate)
    rates, weights = rates_of(rate), []
    assert rates[0] == rate or SURE / 2 <= rates[0] < SURE <= rate
    assert all(a == 2 * b for a, b in pairwise(rates))
    assert LEAST <= rates[-1] < 2 * LEAST
    for walked, chance in every_walk(walk):
        own, place = walked.outcome
        likely = RIGHT[place] * float(own) - rows * np.logaddexp(float(own), log(labels - 1))
        weight = log(Fraction(*walked.odds)) + float(unit * walked.score)
        assert Fraction(*walked.odds) == PRIOR[place] / len(rates)
        assert float(unit * walked.score) == pytest.approx(likely, abs=1e-4 * float(rate))
        assert chance == pytest.approx(weight - total, abs=1e-9)  # the contract of a walk
        weights.append(weight)
    assert total == pytest.approx(log(fsum(map(exp, weights))), abs=1e-9)


@given(
    st.fractions(Fraction(3, 2), 10**5, max_denominator=10**6),
    st.integers(2, 30),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.integers(0, 50),
)
def test_one_record_moves_all_weights_within_the_full_rate(rate, labels, hits, rows):
    """Whichever outcomes a record is right for: exactly, in whole numbers."""
    more = tuple(r + hit for r, hit in zip(RIGHT, hits, strict=True))
    scores = []
    for right, count in ((RIGHT, rows), (more, rows + 1)):
        walk, unit, _ = tempered(propose(right), count, labels, rate)
        assert unit * UNITS == rate
        scores.append(np.array([walked.score for walked, _ in every_walk(walk)]))
    moved = scores[1] - scores[0]
    assert moved.max() - moved.min() <= UNITS


@pytest.mark.parametrize(
    ("rate", "right", "expected"),
    [
        ("2", 9000, "2"),
        ("2", 6500, "1"),
        ("40", 6500, "5/4"),
        ("40", 9000, "5/2"),
        ("40", 9999, "5"),
    ],
)
def test_labels_that_are_half_chance_ask_for_a_small_rate(rate, right, expected):
    """So many of 10,000 rows right: the likelier rate is the nearer to the log-odds of being right."""
    walk, _, _ = tempered(propose((right, 0, 0)), 10_000, 2, Fraction(rate))
    best = max(every_walk(walk), key=lambda one: one[1])
    assert best[0].outcome == (Fraction(expected), 0)
