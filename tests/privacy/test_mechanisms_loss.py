"""The privacy loss of every mechanism, computed exactly on all neighbors of small cases.

Scores are counts, sums of two counts, or differences of counts of a small table, so that adding one
record moves them as a real table would. Every statement has a counterpart that fails: drop the
factor two where it is needed, and the loss exceeds epsilon.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bocage.mechanisms import (
    Adjacency,
    Contest,
    exponential_probabilities,
    laplace_loss,
    laplace_probability,
    permute_and_flip_probabilities,
    privacy_loss,
    response_probabilities,
)

ROUNDING = Fraction(1, 10**40)
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(5, 2)]
SELECTIONS = pytest.mark.parametrize("probabilities", [exponential_probabilities, permute_and_flip_probabilities])


def loss(one, other):
    return Fraction(privacy_loss(one, other))


def worst_loss(probabilities, neighbors, rate, weights=None):
    """The largest loss over pairs of neighboring score vectors."""
    return max(
        loss(
            probabilities(Contest(np.array(one), rate, weights)),
            probabilities(Contest(np.array(other), rate, weights)),
        )
        for one, other in neighbors
    )


def monotone_neighbors(sensitivity=1):
    """All pairs where one record raises each of three scores by 0 .. sensitivity."""
    steps = list(product(range(sensitivity + 1), repeat=3))
    for scores in product(range(3), repeat=3):
        for step in steps:
            yield scores, tuple(a + b for a, b in zip(scores, step, strict=True))


def general_neighbors():
    """All pairs where one record raises or lowers each of three scores by at most one."""
    for scores in product(range(3), repeat=3):
        for step in product((-1, 0, 1), repeat=3):
            yield scores, tuple(a + b for a, b in zip(scores, step, strict=True))


@SELECTIONS
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_monotone_scores_need_no_factor_two(probabilities, epsilon):
    assert worst_loss(probabilities, monotone_neighbors(), epsilon) <= epsilon + ROUNDING
    assert worst_loss(probabilities, monotone_neighbors(2), epsilon / 2) <= epsilon + ROUNDING


@SELECTIONS
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_general_scores_need_the_factor_two(probabilities, epsilon):
    assert worst_loss(probabilities, general_neighbors(), epsilon / 2) <= epsilon + ROUNDING
    assert worst_loss(probabilities, general_neighbors(), epsilon) > epsilon * Fraction(11, 10)


@SELECTIONS
def test_replacing_a_record_doubles_even_monotone_scores(probabilities):
    # A record leaves one count and enters another.
    epsilon = Fraction(1)
    neighbors = [(scores, (scores[0] - 1, scores[1] + 1, scores[2])) for scores in product(range(1, 4), repeat=3)]
    factor = Adjacency.REPLACE.factor()
    assert worst_loss(probabilities, neighbors, epsilon / factor) <= epsilon + ROUNDING
    assert worst_loss(probabilities, neighbors, epsilon) > epsilon * Fraction(11, 10)
    assert Adjacency.ADD_REMOVE.factor() == 1


def test_public_weights_cost_nothing():
    weights = np.array([1, 100, 7])
    worst = worst_loss(exponential_probabilities, monotone_neighbors(), Fraction(1), weights)
    assert worst <= 1 + ROUNDING


def test_permute_and_flip_reaches_epsilon():
    neighbors = [((0, 0), (0, 1)), ((0, 40), (0, 41))]
    worst = worst_loss(permute_and_flip_probabilities, neighbors, Fraction(1))
    assert Fraction(99, 100) < worst <= 1 + ROUNDING


def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism():
    for scores in product(range(4), repeat=3):
        contest = Contest(np.array(scores), Fraction(1, 2))
        flip, exponential = (
            sum(p * s for p, s in zip(f(contest), scores, strict=True))
            for f in (permute_and_flip_probabilities, exponential_probabilities)
        )
        assert Fraction(flip) >= Fraction(exponential) - Fraction(1, 10**20)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_laplace_loses_exactly_epsilon(epsilon, sensitivity):
    scale = sensitivity / epsilon
    answers = range(-50, 51)
    here = [laplace_probability(scale, x) for x in answers]
    there = [laplace_probability(scale, x - sensitivity) for x in answers]
    assert laplace_loss(scale, sensitivity) == epsilon
    assert abs(loss(here, there) - epsilon) < ROUNDING
    wrong = [laplace_probability(scale * Fraction(20, 21), x) for x in answers]
    wrong_there = [laplace_probability(scale * Fraction(20, 21), x - sensitivity) for x in answers]
    assert loss(wrong, wrong_there) > epsilon * Fraction(26, 25)


@pytest.mark.parametrize("arity", [2, 3, 10])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomized_response_loses_exactly_epsilon(arity, epsilon):
    rows = response_probabilities(arity, epsilon)
    assert all(abs(sum(map(Fraction, row)) - 1) < ROUNDING for row in rows)
    losses = [loss(a, b) for a in rows for b in rows if a is not b]
    assert all(abs(each - epsilon) < ROUNDING for each in losses)


def test_an_answer_possible_on_one_side_only_has_infinite_loss():
    assert privacy_loss([Decimal(1), Decimal(0)], [Decimal("0.5"), Decimal("0.5")]) == Decimal("Infinity")
