"""Distortions: what they send, with which probabilities, and what they say they protect."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.epsilon import Epsilon
from bocage.errors import SurveyError
from bocage.local import (
    Clear,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Uniform,
    ValueClass,
    parse_distortion,
)
from bocage.mechanisms.local_tables import WHOLE
from bocage.schema import Categorical, Numeric
from local.surveys import SURVEY

AGE = Numeric("age", Fraction(0), Fraction(100), cells=1000)
YEARS = Numeric("years", Fraction(0), Fraction(9), step=Fraction(1))
JOB = Categorical("job", ("farmer", "clerk", "other"))
SMALL = [
    (YEARS, Clear()),
    (YEARS, ValueClass(4)),
    (YEARS, ValueClass(edges=(1, 7))),
    (YEARS, Uniform(3)),
    (YEARS, Gaussian(Decimal("1.5"))),
    (YEARS, Laplace(Epsilon.of(2))),
    (JOB, Clear()),
    (JOB, RandomizedResponse(Epsilon.of("0.5"))),
]


@pytest.mark.parametrize(("attribute", "distortion"), SMALL)
def test_the_kernel_is_what_the_table_does_to_every_code(attribute, distortion):
    kernel = distortion.kernel(attribute)
    sent = distortion.outputs(attribute)
    assert kernel.shape == (attribute.cells, len(sent))
    table = distortion.table(attribute)
    for code in range(attribute.cells):
        expected = np.zeros(len(sent))
        outcomes = [(None, WHOLE)] if table is None else enumerate(table.counts, table.first)
        for drawn, count in outcomes:
            noise = None if drawn is None else np.array([drawn])
            [answer] = distortion.apply(attribute, np.array([code]), noise)
            expected[answer - sent.start] += count / WHOLE
        assert kernel[code] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("attribute", "distortion"), SMALL)
@settings(max_examples=15)
@given(data=st.data())
def test_the_kernel_of_intervals_is_the_mean_of_the_kernel_of_codes(attribute, distortion, data):
    sent = distortion.outputs(attribute)
    inputs = data.draw(_edges(0, attribute.cells))
    outputs = data.draw(_edges(sent.start, sent.stop))
    fine, found = distortion.kernel(attribute), distortion.kernel(attribute, inputs, outputs)
    for i, (a, b) in enumerate(pairwise(inputs)):
        for j, (c, d) in enumerate(pairwise(outputs)):
            part = fine[a:b, c - sent.start : d - sent.start]
            assert found[i, j] == pytest.approx(part.sum() / (b - a), abs=1e-12)


def _edges(low: int, high: int):
    return st.lists(st.integers(low, high), min_size=2, max_size=5, unique=True).map(sorted)


@pytest.mark.parametrize("edges", [[3], [2, 1], [0, 11], [-1, 3], [0.5, 1.5], [[0, 1]]])
def test_edges_outside_the_codes_are_refused(edges):
    with pytest.raises(SurveyError, match="edges of true codes"):
        Uniform(3).kernel(YEARS, edges)


@pytest.mark.parametrize(("attribute", "distortion"), SMALL)
def test_what_is_sent_has_the_probabilities_of_the_kernel(attribute, distortion):
    # 40,000 answers. A share is off by more than 0.02 with probability below
    # 2 exp(-2 * 40,000 * 0.02**2) = 3e-14 (Hoeffding), for fewer than 100 shares in all.
    code = attribute.cells - 1
    answers = distortion.distort(attribute, np.full(40_000, code))
    sent = distortion.outputs(attribute)
    shares = np.bincount(answers - sent.start, minlength=len(sent)) / len(answers)
    assert np.abs(shares - distortion.kernel(attribute)[code]).max() < 0.02


@pytest.mark.parametrize("codes", [[-1], [10], [0.5], [[1]]])
def test_a_code_outside_the_attribute_is_refused(codes):
    with pytest.raises(SurveyError, match="'years'"):
        Uniform(3).distort(YEARS, np.array(codes))


def test_table_1_of_the_paper():
    uniform = Uniform(100).privacy(AGE)  # 100 steps of 0.1 are 10: 2 alpha = 20
    assert uniform.widths == pytest.approx((0.5 * 20, 0.95 * 20, 0.999 * 20))
    assert uniform.percent == pytest.approx(19)
    gauss = Gaussian(Decimal(100)).privacy(AGE)  # sigma = 10
    assert gauss.widths == pytest.approx((13.49, 39.2, 65.8), rel=1e-3)  # 6.8 sigma is a slip
    classes = ValueClass(50).privacy(AGE)  # W = 5
    assert classes.widths == pytest.approx((2.5, 4.75, 4.995))
    laplace = Laplace(Epsilon.of("9.99")).privacy(AGE)  # scale 100 steps
    assert laplace.widths == pytest.approx((20 * np.log(2), 20 * np.log(20), 20 * np.log(1000)), rel=1e-9)


@pytest.mark.parametrize("kind", [Uniform, Gaussian, Laplace, ValueClass])
@pytest.mark.parametrize("percent", [9.5, 19, 47.5])
def test_privacy_asked_is_privacy_stated(kind, percent):
    stated = kind.of_privacy(AGE, percent).privacy(AGE).percent
    assert percent <= stated < percent + 0.3  # rounded up to a step of the grid


@given(st.integers(2, 1000), st.floats(0.2, 47))
def test_no_class_is_narrower_than_asked(cells, percent):
    attribute = Numeric("x", Fraction(0), Fraction(1), cells=cells)
    with suppress(SurveyError):
        stated = ValueClass.of_privacy(attribute, percent).privacy(attribute).percent
        assert stated >= percent - 1e-9


def test_a_hundred_percent_of_each_noise_in_epsilon():
    assert Uniform.of_privacy(AGE, 100).alpha == 527  # 1000 / 1.9 = 526.3
    assert Gaussian.of_privacy(AGE, 100).privacy(AGE).approximate == pytest.approx(
        Decimal("23.69"), abs=Decimal("0.02")
    )
    assert float(Laplace.of_privacy(AGE, 100).epsilon) == pytest.approx(5.99, abs=0.01)


def test_only_laplace_and_response_have_an_epsilon():
    found = {p.kind: p.epsilon for p in SURVEY.privacy()}
    assert {kind for kind, epsilon in found.items() if epsilon} == {"laplace", "response"}
    for statement in SURVEY.privacy():
        if statement.epsilon is not None:
            assert 0 < statement.loss <= Decimal(str(statement.epsilon))
        else:
            assert "No" in statement.words
            assert statement.loss is None


def test_the_epsilons_of_a_record_add_up_or_there_is_none():
    whole = SURVEY.record_privacy()
    assert whole.epsilon is None
    assert "none for salary, weight, height, town." in whole.words
    assert "epsilon = 6.5" in whole.words  # 2 + 1.5 + 3


def test_every_statement_is_in_words_of_a_participant():
    for statement in SURVEY.privacy():
        assert statement.words.startswith(f"{statement.name}: ")
        assert "\n" not in statement.words
    assert "Nothing protects this answer" in Clear().privacy(JOB).words


@pytest.mark.parametrize("kind", [Uniform, Gaussian, Laplace, ValueClass])
@pytest.mark.parametrize("percent", [0, -5, 1e9, float("nan"), float("inf")])
def test_privacy_out_of_reason_is_refused(kind, percent):
    with pytest.raises(SurveyError, match="above 0 and at most 1000 %"):
        kind.of_privacy(AGE, percent)


def test_privacy_that_the_grid_or_epsilon_cannot_give_is_refused():
    with pytest.raises(SurveyError, match="less than one step"):
        Uniform.of_privacy(YEARS, 5)
    with pytest.raises(SurveyError, match="no protection"):
        Laplace.of_privacy(AGE, 5)
    with pytest.raises(SurveyError, match="leave only one"):
        ValueClass.of_privacy(AGE, 100)
    with pytest.raises(SurveyError, match="confidence"):
        Uniform.of_privacy(AGE, 100, confidence=1)
    with pytest.raises(SurveyError, match="one grid cell"):
        Uniform(3).check(Numeric("x", Fraction(0), Fraction(1), cells=1))
    with pytest.raises(SurveyError, match="one value"):
        RandomizedResponse(Epsilon.of(1)).check(Categorical("x", ("only",)))


@pytest.mark.parametrize(
    ("attribute", "text", "distortion"),
    [
        (AGE, "clear", Clear()),
        (AGE, "uniform:10", Uniform(100)),
        (AGE, "gaussian: 2.5", Gaussian(Decimal(25))),
        (AGE, "laplace:0.5", Laplace(Epsilon.of("0.5"))),
        (AGE, "gaussian:100%", Gaussian.of_privacy(AGE, 100)),
        (AGE, "class:10", ValueClass(100)),
        (AGE, "classes:20,65", ValueClass(edges=(200, 650))),
        (JOB, "response:2", RandomizedResponse(Epsilon.of(2))),
    ],
)
def test_distortions_are_read_as_people_write_them(attribute, text, distortion):
    assert parse_distortion(attribute, text) == distortion


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (AGE, ""),
        (AGE, "laplace"),
        (AGE, "laplace:"),
        (AGE, "laplace:-1"),
        (AGE, "laplace:1e9"),
        (AGE, "gaussian:0%"),
        (AGE, "gaussian:1e9%"),
        (AGE, "gaussian:x"),
        (AGE, "gaussian:0"),
        (AGE, "uniform:1e99"),
        (AGE, "class:0.05"),
        (AGE, "class:100"),
        (AGE, "classes:20,10"),
        (AGE, "classes:0.33"),
        (AGE, "rot13:1"),
        (AGE, "response:1"),
        (JOB, "laplace:1"),
        (JOB, "clear:1"),
    ],
)
def test_what_is_no_distortion_is_refused_with_its_column(attribute, text):
    with pytest.raises(SurveyError, match=f"'{attribute.name}'"):
        parse_distortion(attribute, text)


def test_classes_are_named_by_their_bounds():
    assert ValueClass(4).texts(YEARS) == ["0 to 3", "4 to 7", "8 to 9"]
    assert ValueClass(500).texts(AGE) == ["[0, 50)", "[50, 100)"]
    close = Numeric("close", Fraction(10**11), Fraction(10**11 + 1), cells=9)
    assert ValueClass(1).texts(close) == [f"class {place}" for place in range(1, 10)]
