"""Each sampler, run on every random input, has the output distribution of its definition.

`loss` computes the definitions independently. The comparison is exact but for the mass of the
paths left unexplored, which is stated and small.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bocage.mechanisms import (
    Contest,
    exponential_probabilities,
    laplace_probability,
    permute_and_flip_probabilities,
    response_probabilities,
)
from bocage.mechanisms.bernoulli import bernoulli_exp
from bocage.mechanisms.finite_distribution import FiniteDistribution
from bocage.mechanisms.laplace import _Digits
from bocage.mechanisms.randomized_response import randomize_response
from bocage.mechanisms.rng import RandomBits
from bocage.mechanisms.selection.exponential import select_exponential
from bocage.mechanisms.selection.permute_and_flip import select_permute_and_flip

ROUNDING = Fraction(1, 10**25)  # of the decimals that state the definitions


def mismatch(enumeration, expected):
    """Tell how far the definition lies outside [found, found + unexplored], at worst."""
    found, unexplored = enumeration
    assert set(found) <= set(expected)
    excess = [
        max(found.get(output, 0) - Fraction(p), Fraction(p) - found.get(output, 0) - unexplored)
        for output, p in expected.items()
    ]
    return max(*excess, 0)


def agrees(enumeration, expected, unexplored):
    assert enumeration[1] <= unexplored
    return mismatch(enumeration, expected) <= ROUNDING


@pytest.mark.parametrize(("p", "q"), [(0, 1), (1, 1), (1, 2), (2, 3), (5, 2), (7, 3)])
def test_bernoulli_exp_is_exact(enumerate_outputs, p, q):
    enumeration = enumerate_outputs(lambda source: bool(bernoulli_exp(np.array([p]), q, source)[0]))
    heads = (-Decimal(p) / q).exp()
    assert agrees(enumeration, {True: heads, False: 1 - heads}, Fraction(1, 10**3))


def test_bernoulli_exp_of_integers_beyond_64_bits_is_exact(enumerate_outputs, scripted):
    q = 1 << 80

    class Halves(scripted):
        """Stands for 0 .. q/2 - 1 by 0 and for the rest by q/2."""

        def below(self, bound, count):
            if bound < q:
                return super().below(bound, count)
            halves = [self._choice(2) * (q // 2) for _ in range(count)]
            return np.array(halves, dtype=object)

    enumeration = enumerate_outputs(
        lambda source: bool(bernoulli_exp(np.array([q + q // 2], dtype=object), q, source)[0]),
        source=Halves,
    )
    heads = Decimal("-1.5").exp()
    assert agrees(enumeration, {True: heads, False: 1 - heads}, Fraction(1, 10**3))


def drawn_of_many(digits, source):
    return int(digits.draw(1, source, np.dtype(np.int64))[0])


DRAWS = pytest.mark.parametrize("draw", [drawn_of_many, _Digits.draw_one])


@DRAWS
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1, 40), Fraction(2, 7)])
def test_laplace_of_one_digit_is_exact(enumerate_outputs, scale, draw):
    digits = _Digits(scale, 8, 4)
    assert len(digits.tables) == 1
    enumeration = enumerate_outputs(lambda source: draw(digits, source), word_bits=8)
    expected = {x: laplace_probability(scale, x) for x in range(-80, 80)}
    assert agrees(enumeration, expected, Fraction(1, 10**3))


@pytest.mark.slow
@DRAWS
@pytest.mark.parametrize("scale", [Fraction(4, 3)])
def test_laplace_of_two_digits_is_exact(enumerate_outputs, scale, draw):
    digits = _Digits(scale, 6, 4)
    assert len(digits.tables) == 2
    enumeration = enumerate_outputs(
        lambda source: draw(digits, source),
        word_bits=6,
        smallest=Fraction(1, 1 << 12),
    )
    expected = {x: laplace_probability(scale, x) for x in range(-80, 80)}
    assert agrees(enumeration, expected, Fraction(3, 100))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10**6), Fraction(10**14, 3)])
def test_one_draw_is_what_the_same_words_make_of_many(scale):
    digits = _Digits(scale, 64, 512)
    for seed in range(200):
        sources = [RandomBits(np.random.default_rng(seed).bytes) for _ in range(2)]
        assert digits.draw_one(sources[0]) == drawn_of_many(digits, sources[1])


def of_many(table, source):
    return int(table.draw(1, source)[0])


def of_one(table, source):
    return table.draw_one(int(source.words(1)[0]), source)


@pytest.mark.parametrize("draw", [of_many, of_one])
@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(100), Fraction(1 << 17, 3)])
def test_every_digit_of_a_large_scale_is_exact(enumerate_outputs, scale, draw):
    digits = _Digits(scale, 8, 8)
    place = 1
    for level, (table, base) in enumerate(zip(digits.tables, digits.bases, strict=True)):
        enumeration = enumerate_outputs(lambda source, table=table: draw(table, source), word_bits=8)
        ratio = (-Decimal(place) * scale.denominator / scale.numerator).exp()
        if level == 0:
            weights = [ratio ** ((i + 1) // 2) for i in range(2 * base)]
        else:
            weights = [ratio**d for d in range(base)]
        if level == len(digits.tables) - 1:
            weights.append(sum(weights) * ratio**base / (1 - ratio**base))
        expected = {i: weight / sum(weights) for i, weight in enumerate(weights)}
        assert agrees(enumeration, expected, Fraction(1, 10**3))
        place *= base


CONTESTS = [
    Contest(np.array([0, 0]), Fraction(1)),
    Contest(np.array([3, 1, 0]), Fraction(1, 2)),
    Contest(np.array([5, 9, 2, 9]), Fraction(1, 3), np.array([1, 1, 0, 1])),
    Contest(np.array([1, 0, 0]), Fraction(3, 2)),
]
EXTREME = [  # too many choices to enumerate for permute-and-flip
    Contest(np.array([-(2**63), 2**63 - 1]), Fraction(1, 2**63)),
    Contest(np.array([0, 10**6, 7]), Fraction(10)),
]
WEIGHTED = [
    Contest(np.array([2, 0, 1]), Fraction(1, 2), np.array([1, 4, 2])),
    Contest(np.array([9, 0, 1]), Fraction(1), np.array([0, 5, 2])),
]


@pytest.mark.parametrize("contest", CONTESTS + EXTREME + WEIGHTED)
def test_exponential_mechanism_is_exact(enumerate_outputs, contest):
    enumeration = enumerate_outputs(
        lambda source: int(select_exponential([contest], source, bits=11)[0]),
        smallest=Fraction(1, 1 << 12),
    )
    expected = dict(enumerate(exponential_probabilities(contest)))
    assert agrees(enumeration, expected, Fraction(1, 100))


@pytest.mark.parametrize("contest", CONTESTS)
def test_permute_and_flip_is_exact(enumerate_outputs, contest):
    enumeration = enumerate_outputs(
        lambda source: int(select_permute_and_flip([contest], source)[0]),
        smallest=Fraction(1, 1 << 13),
    )
    expected = dict(enumerate(permute_and_flip_probabilities(contest)))
    assert agrees(enumeration, expected, Fraction(1, 20))


@pytest.mark.parametrize(
    ("arity", "rate"), [(2, Fraction(1)), (3, Fraction(1, 2)), (4, Fraction(3)), (2, Fraction(90))]
)
def test_randomized_response_is_exact(enumerate_outputs, arity, rate):
    for truth, row in enumerate(response_probabilities(arity, rate)):
        enumeration = enumerate_outputs(
            lambda source, truth=truth: int(randomize_response(np.array([truth]), arity, rate, source)[0]),
            word_bits=6,
        )
        assert agrees(enumeration, dict(enumerate(row)), Fraction(1, 10**3))


@pytest.fixture(name="scripted_bits")
def _scripted_bits(scripted):
    class ScriptedBits(RandomBits):
        """The real reduction to a bound, on scripted words."""

        def __init__(self, script, word_bits):
            super().__init__(word_bits=word_bits)
            self._script = scripted(script, word_bits)

        def words(self, count):
            return self._script.words(count)

    return ScriptedBits


@pytest.mark.slow
@pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 8, 9, 20])  # words have three bits
def test_integers_below_a_bound_are_uniform(enumerate_outputs, scripted_bits, bound):
    samplers = [
        lambda source: int(source.below(bound, 1)[0]),
        lambda source: source._wide(bound),
    ]
    if bound <= 8:
        samplers.append(lambda source: int(source.below_each(np.array([bound]))[0]))
    expected = dict.fromkeys(range(bound), Decimal(1) / bound)
    for sampler in samplers:
        enumeration = enumerate_outputs(sampler, word_bits=3, source=scripted_bits)
        assert agrees(enumeration, expected, Fraction(1, 10))


def test_a_table_that_takes_undecided_cells_for_decided_is_found_out(enumerate_outputs):
    class Careless(FiniteDistribution):
        def _refine(self, prefix, source):
            return int(np.searchsorted(self._low, prefix, side="right"))

    def weights(bits):
        return [1 << bits, (1 << bits) * 2], [1 << bits, (1 << bits) * 2]

    thirds = {0: Decimal(1) / 3, 1: Decimal(2) / 3}
    exact = enumerate_outputs(lambda source: int(FiniteDistribution(weights, 4).draw(1, source)[0]))
    careless = enumerate_outputs(lambda source: int(Careless(weights, 4).draw(1, source)[0]))
    assert mismatch(exact, thirds) <= ROUNDING
    assert mismatch(careless, thirds) > Fraction(1, 100)
