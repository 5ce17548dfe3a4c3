"""Exponential variables: the digits have the right probabilities, and never change."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from bocage.mechanisms.exponential_variables import Exponentials
from bocage.mechanisms.rng import RandomBits


def test_further_digits_only_narrow_a_variable_down():
    variables = Exponentials(200, RandomBits(), bits=5)
    before = variables.digits.copy()
    variables.refine(60)
    variables.refine(3)
    assert variables.bits == 68
    assert (variables.digits >> 63 == before).all()


def test_digits_follow_the_exponential_distribution():
    # 40,000 variables in steps of 1/8 up to 4, against exp(-x); false alarm 1e-9.
    variables = Exponentials(40_000, RandomBits(), bits=3)
    drawn = np.minimum(variables.digits.astype(int), 32)
    edges = np.exp(-np.arange(33) / 8)
    expected = 40_000 * np.append(edges[:-1] - edges[1:], edges[-1])
    assert stats.chisquare(np.bincount(drawn, minlength=33), expected).pvalue > 1e-9


def test_digits_that_are_appended_have_the_probability_of_their_place():
    # The fourth digit after the point, appended later: 40,000 draws, false alarm 1e-9.
    variables = Exponentials(40_000, RandomBits(), bits=3)
    variables.refine(1)
    ones = int((variables.digits & 1).sum())
    probability = 1 / (1 + math.exp(1 / 16))
    assert stats.binomtest(ones, 40_000, probability).pvalue > 1e-9


def test_no_variable_is_no_variable():
    assert Exponentials(0, RandomBits()).digits.tolist() == []
