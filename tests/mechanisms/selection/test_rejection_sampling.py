"""A corrected walk draws by its definition, whatever floats it walks by.

Outcomes are (root, left, right): a choice of the root, then one for each of its two children. Target
weights are computed to 60 digits from score and prior, and compared with what the walk does.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bocage.errors import EpsilonError, NoiseError
from bocage.mechanisms import OpenDPNoise, Proposed, SystemNoise
from bocage.mechanisms.rng import RandomBits
from bocage.mechanisms.selection.acceptance import UncoveredError, _exp, _product, accept
from bocage.mechanisms.selection.rejection_sampling import (
    MARGIN,
    Choices,
    _integer_weights,
    draw_by_rejection,
)
from bocage.private import capabilities
from private.noises import SilentNoise

RATE = Fraction(3, 2)
OUTCOMES = list(product((0, 1), repeat=3))
INF = float("inf")


def exp(x, digits=60):
    with localcontext(prec=digits):
        return Fraction((Decimal(x.numerator) / x.denominator).exp())


@dataclass(frozen=True)
class Example:
    scores: np.ndarray  # root, child, choice
    odds: np.ndarray  # likewise, over 6
    off: float = 0.0  # the weights are wrong by so much, up and down in turn

    def score(self, outcome):
        return sum(int(self.scores[outcome[0], child, outcome[1 + child]]) for child in (0, 1))

    def prior(self, outcome):
        left, right = (int(self.odds[outcome[0], child, outcome[1 + child]]) for child in (0, 1))
        return left * right, 36

    def target(self, outcome):
        return Fraction(*self.prior(outcome)) * exp(RATE * self.score(outcome))

    @property
    def total(self):
        """As the contract asks: a choice with weights off by x goes wrong by 2 x at most."""
        weight = sum(map(self.target, OUTCOMES))
        return math.log(weight.numerator) - math.log(weight.denominator) + 6 * self.off

    def walk(self, steps):
        leaves = float(RATE) * self.scores + np.log(self.odds / 6)
        roots = np.logaddexp.reduce(leaves, axis=2).sum(axis=1)
        root = steps.choose(np.array([*roots, -INF]) + self.off * np.array([1, -1, 1]))
        chosen = steps.choose_each(leaves[root] + self.off * np.array([[1, -1], [-1, 1]]))
        outcome = (root, *chosen.tolist())
        return Proposed(outcome, self.score(outcome), self.prior(outcome))


SMALL = Example(np.array([[[0, 1], [1, 0]], [[1, 0], [0, 0]]]), np.array([[[1, 2], [3, 1]], [[5, 1], [2, 6]]]))
# Root 1 weighs less than a 2**-60 part of root 0, where a choice has 52 bits.
STEEP = replace(SMALL, scores=SMALL.scores + np.array([[[14]], [[0]]]))


class Rejected(Exception):
    pass


class Places:
    """Answers one round: the choices by given places, the coin by a given word."""

    word_bits = 64

    def __init__(self, places, word=None):
        self.places, self.word, self.bounds = list(places), word, []

    def below_each(self, bounds):
        if len(self.places) < len(bounds):
            raise Rejected
        self.bounds += bounds.tolist()
        answer, self.places = self.places[: len(bounds)], self.places[len(bounds) :]
        return np.array(answer, dtype=np.int64)

    def words(self, count):
        return np.array([self.word], dtype=np.uint64)


def measured(walk, outcome):
    """The probability with which a walk goes to an outcome, and places that lead it there.

    Found from outside: by bisection for the places at which a choice begins to go further.
    """
    places, probability = [], Fraction(1)
    for level, candidate in enumerate(outcome):

        def at(place, level=level):
            probe = Places([*places, place, 0, 0])
            return walk(Choices(probe)).outcome[level], probe.bounds[level]

        bound = at(0)[1]
        begin, end = (
            bisect_left(range(bound), wanted, key=lambda place: at(place)[0]) for wanted in (candidate, candidate + 1)
        )
        probability *= Fraction(end - begin, bound)
        places.append(begin)
    return probability, places


def accepted(example, places, word):
    try:
        draw_by_rejection(example.walk, RATE, example.total, Places(places, word))
    except Rejected:
        return False
    return True


@pytest.mark.parametrize("off", [0.0, 2**-12, 0.7])
@pytest.mark.parametrize("example", [SMALL, STEEP])
def test_proposal_times_acceptance_is_the_target_whatever_the_floats(example, off):
    example = replace(example, off=off)
    ceiling = exp(Fraction(example.total) + MARGIN)
    for outcome in OUTCOMES:
        proposed, places = measured(example.walk, outcome)
        share = example.target(outcome) / (proposed * ceiling)
        assert Fraction(1, 1 << 20) < share < 1
        word = int(share * (1 << 64))  # a uniform number that begins with this word is undecided
        assert accepted(example, places, word - 1)
        assert not accepted(example, places, word + 1)


def test_without_error_a_walk_fails_about_as_often_as_the_margin_says():
    for outcome in OUTCOMES:
        proposed, _ = measured(SMALL.walk, outcome)
        share = SMALL.target(outcome) / (proposed * exp(Fraction(SMALL.total) + MARGIN))
        assert abs(share - 1 + MARGIN) < MARGIN * MARGIN


def one_round(example):
    """A sampler of what one round ends with, by choices that know one bit of their weights."""
    total = example.total + 3

    def sample(source):
        rounds = []

        def walk(steps):
            if rounds:
                raise Rejected
            rounds.append(1)
            return example.walk(steps)

        try:
            return draw_by_rejection(walk, RATE, total, source, bits=1)
        except Rejected:
            return None

    return sample


def law(enumerate_outputs, example):
    """The probability of each outcome in one round, to 5 digits and more."""
    found, unexplored = enumerate_outputs(one_round(example), smallest=Fraction(1, 10**7))
    assert unexplored < Fraction(1, 10**5)
    found.pop(None)
    return found, unexplored


@pytest.mark.slow
def test_every_round_has_the_law_of_the_definition(enumerate_outputs):
    example = replace(SMALL, off=0.3)
    found, unexplored = law(enumerate_outputs, example)
    ceiling = exp(Fraction(example.total + 3) + MARGIN)
    assert set(found) == set(OUTCOMES)
    for outcome in OUTCOMES:
        share = example.target(outcome) / ceiling
        assert found[outcome] <= share <= found[outcome] + unexplored


@pytest.mark.slow
def test_one_row_changes_the_law_by_no_more_than_the_rate(enumerate_outputs):
    row = np.array([[[1, 0], [0, 0]], [[0, 0], [0, 0]]])

    def with_row(times):
        """One more row, counted so often where the left child of root 0 has the first label."""
        return replace(SMALL, scores=SMALL.scores + times * row)

    def loss(one, other):
        laws = [law(enumerate_outputs, each)[0] for each in (one, other)]
        shares = [[found[each] / sum(found.values()) for each in OUTCOMES] for found in laws]
        return max(abs(math.log(a / b)) for a, b in zip(*shares, strict=True))

    assert 1 < loss(SMALL, with_row(1)) <= RATE + Fraction(1, 1000)
    assert loss(SMALL, with_row(2)) > RATE + Fraction(1, 2)


def test_a_row_is_chosen_from_as_if_it_were_alone():
    weights = np.array([[0.0, -1.5, -INF, 2.0], [-90.0, -90.0, -7e5, -INF], [3.0, -INF, 0.0, 3.0]])
    sums = Choices(RandomBits())
    sums.choose_each(weights)
    for share in (0, 1, 5, 9, 10):
        places = [min(bound - 1, bound * share // 10) for bound in sums.sums]
        together, alone = Choices(Places(places)), Choices(Places(places))
        chosen = together.choose_each(weights).tolist()
        assert chosen == [alone.choose(row) for row in weights]
        assert (together.taken, together.sums) == (alone.taken, alone.sums)
        exact = np.exp(weights - np.logaddexp.reduce(weights, axis=1, keepdims=True))
        kept = [a / b for a, b in zip(together.taken, together.sums, strict=True)]
        assert kept == pytest.approx([exact[i, c] for i, c in enumerate(chosen)], abs=2**-49)


def test_sums_over_thousands_of_candidates_do_not_overflow():
    for columns in (1, 1023, 1024, 100_000):
        weights = np.zeros((2, columns))
        steps = Choices(RandomBits())
        steps.choose_each(weights)
        assert all(1 << 51 < bound < 1 << 63 for bound in steps.sums)
        last = Choices(Places([steps.sums[0] - 1, 0])).choose_each(weights)
        assert last.tolist() == [columns - 1, 0]


@pytest.mark.parametrize("row", [[-INF, -INF], [0.0, INF], [0.0, math.nan], []])
def test_weights_that_allow_no_choice_are_refused(row):
    with pytest.raises(ValueError, match=r"candidate|zero-size"):
        Choices(RandomBits()).choose(np.array(row))


def test_what_is_no_integer_is_refused():
    for walked in (Proposed(0, 0.5, (1, 1)), Proposed(0, 0, (0.5, 1)), Proposed(0, 0, (1, 1.0))):
        with pytest.raises(TypeError):
            SystemNoise().draw_by_rejection(lambda _, walked=walked: walked, RATE, 0.0)
    with pytest.raises(EpsilonError, match="rate of a selection"):
        SystemNoise().draw_by_rejection(SMALL.walk, Fraction(0), 0.0)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 10**30), Fraction(100_000), Fraction(7, 3)])
def test_spans_enclose_the_exponential_and_are_tight(x):
    low, high, shift = _exp(x, 250)
    exact, unit = exp(-x, 120), Fraction(2) ** shift
    assert low * unit <= exact * (1 + Fraction(1, 10**100))
    assert high * unit >= exact * (1 - Fraction(1, 10**100))
    assert Fraction(high - low, low) < Fraction(1, 1 << 200)


def test_spans_enclose_a_product_and_are_tight():
    factors = [3**5000, *range(1 << 52, (1 << 52) + 999)]
    low, high, shift = _product(factors, 160)
    assert low << shift < math.prod(factors) < high << shift
    assert Fraction(high - low, low) < Fraction(1, 1 << 140)
    assert _product([2, 3, 7], 160) == (42, 42, 0)


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(99_999), Fraction(123_456_789, 1000)])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("share", [Fraction(3, 10), Fraction(1, 1 << 30), 1 - Fraction(1, 1 << 40)])
def test_the_coin_is_exact_for_integers_and_exponents_of_any_size(x, sign, share):
    # n / d * exp(-x) is the share, but for a part of 10**-59.
    ratio = exp(x if sign > 0 else -x) * share
    top, bottom = [ratio.numerator, *[7**50] * 500], [ratio.denominator, *[7**100] * 250]
    word = int(share * (1 << 64))
    flips = [accept(top, bottom, sign * x, Places([], word + step)) for step in (-2, 2)]
    assert flips == [True, False]


def test_a_probability_above_one_is_refused_before_the_coin_falls():
    silent = Places([])  # no word of it is drawn
    for above in (
        ([5], [1], Fraction(1)),
        ([1], [5], Fraction(-100_000)),
        ([2**200 + 1], [2**200], Fraction(0)),
        ([7, 3], [4, 5], Fraction(1, 10**9)),
        ([1], [1], Fraction(-1, 10**90)),
    ):
        with pytest.raises(UncoveredError, match="claims less"):
            accept(*above, silent)
    most, least = Places([], (1 << 64) - 1), Places([], 1)
    assert accept([7, 3], [3, 7], Fraction(0), most)
    assert accept([1], [1], Fraction(1, 10**90), Places([], 1))
    assert not accept([1], [5], Fraction(100_000), least)
    assert not accept([0], [5], Fraction(-1), Places([], 0))


@pytest.mark.parametrize("wrong", [(0, 0, 0), (2, 1, 0), (0, 1, -9)])
def test_a_proposal_with_wrong_weights_is_refused_or_draws_by_the_definition(wrong):
    """Whatever the weights, there is no third way: T is refused if and only if a(T) exceeds 1."""
    right = np.array([0.0, 1.0, 2.0])
    total = float(np.logaddexp.reduce(right))
    whole = _integer_weights(np.array([wrong], np.float64), 52)[0]
    for at, chance in enumerate(whole):
        share = exp(Fraction(at)) * Fraction(int(whole.sum()), int(chance))
        covered = share <= exp(Fraction(total) + MARGIN)

        def walk(steps, at=at):
            place = steps.choose(np.array(wrong, np.float64))
            return Proposed(place, place, (1, 1)) if place == at else Proposed(place, -(10**6), (1, 1))

        places = Places([int(whole[:at].sum())], 0)
        if covered:
            assert draw_by_rejection(walk, Fraction(1), total, places) == at
        else:
            with pytest.raises(UncoveredError):
                draw_by_rejection(walk, Fraction(1), total, places)


@pytest.mark.parametrize("exponent", [Fraction(10, 3), Fraction(-10, 3)])
def test_the_coin_is_exact_at_any_precision(enumerate_outputs, exponent):
    share = Fraction(1, 3)
    ratio = exp(exponent) * share
    top, bottom = [ratio.numerator, *[3] * 99], [ratio.denominator, *[3] * 99]
    found, unexplored = enumerate_outputs(
        lambda source: accept(top, bottom, exponent, source, spare=2), smallest=Fraction(1, 10**6)
    )
    assert unexplored < Fraction(1, 10**4)
    assert found[True] <= share <= found[True] + unexplored


@pytest.mark.parametrize(("top", "bottom", "x"), [(3, 4, Fraction(1, 2)), (1, 9, Fraction(-2)), (1, 1, Fraction(0))])
def test_the_coin_draws_as_many_digits_as_it_takes(enumerate_outputs, top, bottom, x):
    found, unexplored = enumerate_outputs(
        lambda source: accept([top], [bottom], x, source), smallest=Fraction(1, 10**25)
    )
    share = Fraction(top, bottom) * exp(-x)
    assert unexplored < Fraction(1, 10**24)
    assert found[True] <= share <= found[True] + unexplored


def test_a_provider_that_walks_is_told_from_one_that_does_not():
    assert capabilities.draws_by_rejection(SystemNoise()) == 0
    assert capabilities.draws_by_rejection(SilentNoise()) == 0
    with pytest.raises(NoiseError, match="no draw of whole trees"):
        capabilities.draws_by_rejection(OpenDPNoise())


def test_the_system_walks_where_the_target_is():
    steep = replace(STEEP, scores=STEEP.scores * 100)  # the best wins but for exp(-100)
    assert SystemNoise().draw_by_rejection(steep.walk, RATE, steep.total) == (0, 1, 0)
    assert SilentNoise().draw_by_rejection(steep.walk, RATE, steep.total) == (0, 1, 0)
