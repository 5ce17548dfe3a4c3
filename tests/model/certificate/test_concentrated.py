"""A second promise with a delta: when it pays, what it says, and that it is true."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import ModelError
from bocage.mechanisms import Contest, exponential_probabilities, permute_and_flip_probabilities
from bocage.model import Certificate, PlanLine
from bocage.model.certificate.concentrated import _released
from bocage.private.transcript import Used


def certificate(epsilon, queries, level=0):
    line = PlanLine(level, "all tables", "discrete Laplace", epsilon, queries)
    return Certificate("bayes", "", epsilon, "add_remove", "people", "fingerprint", (line,))


def test_a_single_question_has_no_smaller_epsilon():
    assert certificate("1", 1).relaxed() is None
    assert "delta" not in certificate("1", 1).statement()


def test_forty_two_questions_do():
    found = certificate("1", 42).relaxed()
    assert found is not None
    assert found.rho == Fraction(1, 84)
    assert 0.6 < found.epsilon < 1 / 84 + 2 * sqrt(log(1e6) / 84)  # the plainer bound: 0.823
    assert f"(epsilon = {found.epsilon:g}, delta = 1e-06)" in certificate("1", 42).statement()


def test_questions_on_the_way_down_a_tree_do_not_count():
    assert certificate("1", 1000, level=1).relaxed() is None


def test_nothing_is_promised_where_nothing_is():
    made = Certificate("sulq", "", None, "add_remove", "people", "fingerprint")
    assert made.relaxed() is None


@pytest.mark.parametrize("delta", [0, 1, -1e-6, float("nan")])
def test_delta_is_a_probability(delta):
    with pytest.raises(ModelError, match="between 0 and 1"):
        certificate("1", 42).relaxed(delta)


@given(st.integers(20, 400), st.decimals("0.1", "4", places=2), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_it_holds_for_the_worst_questions_that_there_are(queries, epsilon, delta):
    """q randomized responses: no e-DP questions lose more (Kairouz, Oh & Viswanath 2015)."""
    found = certificate(str(epsilon), queries).relaxed(delta)
    if found is not None:
        assert lost(float(epsilon) / queries, queries, found.epsilon) <= delta


def test_a_stated_delta_has_an_answer_that_is_never_worse_than_epsilon():
    found = certificate("1", 1).relaxed(delta=1e-6)
    assert (found.epsilon, found.delta) == (1.0, 1e-6)


def released(*lines, epsilon="1", settled=False):
    return Certificate("readable", "", epsilon, "add_remove", "people", "fingerprint", lines, settled=settled)


def line(rho, epsilon="0.1", within=(), queries=1):
    return PlanLine(1, "q", "m", epsilon, queries, within, str(rho))


def test_rho_adds_up_in_sequence_and_is_the_maximum_of_disjoint_parts():
    third = Fraction(1, 300)
    made = released(
        line(third),
        line(third, within=(1, 1)),
        line(2 * third / 3, within=(1, 2)),
        line(third / 2, within=(1, 2, 1, 1)),
        line(third / 9, within=(1, 2, 1, 2)),
        line(third / 5, within=(2, 1)),
    )
    found = made.relaxed(delta=0.5)
    assert found.rho == third + third * 7 / 6 + third / 5
    assert str(made.used) == "0.4"


def test_what_was_settled_before_any_answer_has_the_smaller_bound():
    lines = [line("1/20000", "0.01", queries=1) for _ in range(100)]
    after, before = released(*lines), released(*lines, settled=True)
    assert before.relaxed().epsilon < after.relaxed().epsilon < 1
    assert "differentially private, through zero-concentrated" in before.statement()
    assert "holds for this very model" in after.statement()


def test_a_rho_above_that_of_its_epsilon_is_refused():
    with pytest.raises(ModelError, match="half its squared epsilon"):
        released(line("1/100", "0.1"))
    for text in ("-1/300", "1/0", "0.1", "1/2/3", "a"):
        with pytest.raises(ModelError, match="rho"):
            released(line(text))


@given(st.integers(2, 5), st.integers(1, 4), st.sampled_from(["0.1", "0.7", "2", "6"]), st.data())
def test_the_exponential_mechanism_costs_an_eighth_of_its_squared_epsilon(candidates, gap, epsilon, data):
    """By enumeration: every divergence of two neighbors is within rho, as all scores move by 0 to 1."""
    scores = data.draw(st.lists(st.integers(0, gap), min_size=candidates, max_size=candidates))
    moved = data.draw(st.lists(st.integers(0, 1), min_size=candidates, max_size=candidates))
    rate = Fraction(epsilon)
    one, other = (
        [float(p) for p in exponential_probabilities(Contest(np.array(own), rate))]
        for own in (scores, np.add(scores, moved))
    )
    rho = float(Used("exponential", (rate,), bounded=True).rho)
    for order in (1.0001, 1.5, 2, 4, 16):
        for p, q in ((one, other), (other, one)):
            divergence = log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True)))
            assert divergence / (order - 1) <= rho * order + 1e-9


def test_permute_and_flip_costs_more_than_that():
    one, other = (
        [float(p) for p in permute_and_flip_probabilities(Contest(np.array(own), Fraction(1)))]
        for own in ([0, 0], [1, 0])
    )
    loss = sum(p * log(p / q) for p, q in zip(one, other, strict=True))
    assert loss > float(Used("exponential", (Fraction(1),), bounded=True).rho)
    assert loss <= float(Used("permute and flip", (Fraction(1),)).rho)


@pytest.mark.parametrize("delta", [0.2, 0.05, 1e-3])
@pytest.mark.parametrize("bold", [-3, 0, 4])
def test_the_bound_of_a_run_holds_where_answers_decide_what_is_asked(bold, delta):
    """By enumeration of all runs: randomized responses, large ones once `bold` more were true than not."""
    small, large, charged, most = Fraction(1, 50), Fraction(1, 5), 4.0, 60
    law = {(0, 0, 0, 0): 1.0}  # true and false answers, small and large: the loss and rho follow
    for _ in range(most):
        after: dict[tuple[int, int, int, int], float] = {}
        for (a, b, c, d), p in law.items():
            at, rate = (2, large) if a + c - b - d >= bold and c + d < 14 else (0, small)
            true = 1 / (1 + exp(-rate))
            for more, share in ((0, true), (1, 1 - true)):
                state = [a, b, c, d]
                state[at + more] += 1
                after[tuple(state)] = after.get(tuple(state), 0.0) + p * share
        law = after
    missed, useful = 0.0, 0
    for (a, b, c, d), p in law.items():
        rho = float((small**2 * (a + b) + large**2 * (c + d)) / 2)
        bound = _released(rho, delta, charged)
        loss = float(small * (a - b) + large * (c - d))
        missed += p * (loss > bound)
        useful += bound < float(small * (a + b) + large * (c + d))
    assert missed <= delta
    assert useful or delta < 0.01


def lost(rate, queries, epsilon):
    """The delta that so many randomized responses need at `epsilon`, by their binomial law."""
    true = exp(rate) / (1 + exp(rate))
    total, ways = 0.0, 1
    for truths in range(queries + 1):
        here = ways * true**truths * (1 - true) ** (queries - truths)
        there = ways * (1 - true) ** truths * true ** (queries - truths)
        total += max(here - exp(epsilon) * there, 0.0)
        ways = ways * (queries - truths) // (truths + 1)
    return total
