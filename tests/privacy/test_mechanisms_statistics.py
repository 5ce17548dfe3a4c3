"""A million draws against the definition, and against OpenDP.

Every test computes a p-value and compares it with 1e-9, which is also its probability of a false
alarm. Every test is run a second time on noise that is 5 % too wide, and must reject it; the sizes
are such that it misses it with a probability below 1e-9 too.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from bocage.mechanisms import (
    Contest,
    OpenDPNoise,
    Selection,
    SystemNoise,
    exponential_probabilities,
    laplace_probability,
    laplace_tail,
    permute_and_flip_probabilities,
    response_probabilities,
)
from bocage.mechanisms.bernoulli import bernoulli_exp
from bocage.mechanisms.laplace import draw_laplace
from bocage.mechanisms.rng import RandomBits

DRAWS = 1_000_000
FALSE_ALARM = 1e-9
WRONG = Fraction(21, 20)
NOISE = SystemNoise()
SCALES = [Fraction(1), Fraction(10), Fraction(1, 3), Fraction(1000)]


def cells(scale):
    """Edges of about forty cells that cover the integers, one value each where noise is narrow."""
    reach = max(3, int(7 * scale))
    step = max(1, reach // 20)
    return np.arange(-reach, reach + step, step)


def counts(noise, edges):
    """Count x < edges[0], edges[0] <= x < edges[1], ..., edges[-1] <= x."""
    return np.bincount(np.searchsorted(edges, noise, side="right"), minlength=len(edges) + 1)


def expected_shares(scale, edges):
    below = [_below(scale, int(edge)) for edge in edges]
    return np.diff(np.array([0.0, *below, 1.0]))


def _below(scale, x):
    """P(X < x)."""
    if x > 0:
        return 1 - laplace_tail(scale, x) / 2
    return laplace_tail(scale, 1 - x) / 2


def p_value(observed, shares):
    enough = shares * observed.sum() >= 10
    merged = np.append(observed[enough], observed[~enough].sum())
    expected = np.append(shares[enough], shares[~enough].sum()) * observed.sum()
    kept = expected > 0
    assert not merged[~kept].any()
    return stats.chisquare(merged[kept], expected[kept]).pvalue


def two_sample_p_value(one, other):
    both = np.stack([one, other])
    enough = both.min(axis=0) >= 10
    table = np.column_stack([both[:, enough], both[:, ~enough].sum(axis=1)])
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


def test_cells_have_the_probability_of_their_values():
    scale, edges = Fraction(2), np.array([-2, 0, 3])
    shares = expected_shares(scale, edges)
    assert shares[1] == pytest.approx(float(sum(laplace_probability(scale, x) for x in (-2, -1))))
    assert shares[2] == pytest.approx(float(sum(laplace_probability(scale, x) for x in (0, 1, 2))))
    assert counts(np.array([-3, -2, -1, 0, 2, 3]), edges).tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize("scale", [*SCALES, Fraction(123_456_789, 7)])
def test_laplace_draws_follow_their_distribution(scale):
    edges = cells(scale)
    shares = expected_shares(scale, edges)
    assert p_value(counts(NOISE.laplace(scale, DRAWS), edges), shares) > FALSE_ALARM
    assert p_value(counts(NOISE.laplace(scale * WRONG, DRAWS), edges), shares) < FALSE_ALARM


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10), Fraction(1000)])
def test_laplace_tails_are_neither_too_light_nor_too_heavy(scale):
    k = round(float(scale) * 5)  # about 7,000 of a million draws lie beyond
    share = laplace_tail(scale, k)

    def tail(factor):
        beyond = int((np.abs(NOISE.laplace(scale * factor, DRAWS)) >= k).sum())
        return stats.binomtest(beyond, DRAWS, share).pvalue

    assert tail(1) > FALSE_ALARM
    assert tail(WRONG) < FALSE_ALARM
    assert tail(1 / WRONG) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("scale", [Fraction(7), Fraction(1000)])
def test_low_digits_do_not_depend_on_high_digits(scale):
    # X mod 4 against X div 4, six million draws, X >= 0: independent by definition.
    noise = NOISE.laplace(scale, 6 * DRAWS)
    noise = noise[noise >= 0]
    high = np.minimum(noise // 4 // max(1, int(scale) // 8), 3)
    table = np.bincount(high * 4 + noise % 4, minlength=16).reshape(4, 4)
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM
    table[0] = (table[0] * [1.05, 1, 1, 1]).astype(int)
    assert stats.chi2_contingency(table).pvalue < FALSE_ALARM


def test_noise_of_a_scale_beyond_63_bits_follows_its_distribution():
    # 100,000 draws, in units of 2**60: a scale of 1024.
    scale = Fraction(2**70)
    edges = cells(Fraction(1024))
    shares = expected_shares(Fraction(1024), edges)

    def observed(factor, size):
        noise = draw_laplace(scale * factor, size, RandomBits()) >> 60
        return counts(noise.astype(np.int64), edges)

    assert p_value(observed(1, 100_000), shares) > FALSE_ALARM
    assert p_value(observed(WRONG, 100_000), shares) < FALSE_ALARM


@pytest.mark.parametrize(("p", "q"), [(1, 2), (3, 1), (2**57 + 1, 2**58), (3 * 2**69, 2**70)])
def test_bernoulli_exp_draws_follow_their_distribution(p, q):
    def check(factor):
        top, bottom = p * factor.numerator, q * factor.denominator
        size = DRAWS if bottom < 2**63 else 200_000  # where the integers are Python's
        heads = bernoulli_exp(np.full(size, top, dtype=object), bottom, RandomBits())
        return stats.binomtest(int(heads.sum()), size, float(np.exp(-float(Fraction(p, q))))).pvalue

    assert check(Fraction(1)) > FALSE_ALARM
    assert check(WRONG) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize(
    ("selection", "probabilities", "weights"),
    [
        (Selection.EXPONENTIAL, exponential_probabilities, None),
        (Selection.EXPONENTIAL, exponential_probabilities, [1, 3, 0, 20, 2**20]),
        (Selection.PERMUTE_AND_FLIP, permute_and_flip_probabilities, None),
    ],
)
def test_selections_follow_their_distribution(selection, probabilities, weights):
    weights = None if weights is None else np.array(weights)

    def select(rate, quarters=4):
        contest = Contest(np.array([100, 99, 98, 90, 30]), rate, weights)
        chosen = [NOISE.select([contest] * (DRAWS // 4), selection) for _ in range(quarters)]
        return np.bincount(np.concatenate(chosen), minlength=5)

    rate = Fraction(1, 5)
    shares = probabilities(Contest(np.array([100, 99, 98, 90, 30]), rate, weights))
    shares = np.array([float(p) for p in shares])
    assert p_value(select(rate), shares) > FALSE_ALARM
    assert p_value(select(rate * WRONG, quarters=2), shares) < FALSE_ALARM


def test_contests_of_one_batch_are_independent_and_each_has_its_distribution():
    # 50,000 pairs of contests in the same batches.
    one, other = Contest(np.array([1, 0]), Fraction(1)), Contest(np.array([0, 0, 2]), Fraction(1))
    for selection, probabilities in (
        (Selection.EXPONENTIAL, exponential_probabilities),
        (Selection.PERMUTE_AND_FLIP, permute_and_flip_probabilities),
    ):
        chosen = NOISE.select([one, other] * 50_000, selection).reshape(-1, 2)
        observed = np.bincount(chosen[:, 0] * 3 + chosen[:, 1], minlength=6)
        shares = np.outer(*([float(p) for p in probabilities(c)] for c in (one, other))).ravel()
        assert p_value(observed, shares) > FALSE_ALARM
        assert p_value(observed, np.roll(shares, 1)) < FALSE_ALARM


def test_responses_follow_their_distribution():
    def respond(rate):
        answers = NOISE.randomize(np.full(DRAWS, 2), 5, rate)
        return np.bincount(answers, minlength=5)

    shares = np.array([float(p) for p in response_probabilities(5, Fraction(1))[2]])
    assert p_value(respond(Fraction(1)), shares) > FALSE_ALARM
    assert p_value(respond(WRONG), shares) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_laplace_agrees_with_opendp(scale):
    # 150,000 of theirs against a million of ours.
    edges = cells(scale)
    theirs = counts(OpenDPNoise().laplace(scale, 150_000), edges)
    assert two_sample_p_value(theirs, counts(NOISE.laplace(scale, DRAWS), edges)) > FALSE_ALARM
    wrong = counts(NOISE.laplace(scale * WRONG, DRAWS), edges)
    assert two_sample_p_value(theirs, wrong) < FALSE_ALARM


@pytest.mark.slow
def test_selections_agree_with_opendp():
    # 8,000 of theirs against 100,000 of ours; each mechanism is told from the other.
    contest = Contest(np.array([4, 3, 0, 2]), Fraction(1, 2))
    theirs, ours = (
        {s: np.bincount(n.select([contest] * size, s), minlength=4) for s in Selection}
        for n, size in ((OpenDPNoise(), 8_000), (NOISE, 100_000))
    )
    for selection in Selection:
        for other in Selection:
            agree = two_sample_p_value(theirs[selection], ours[other]) > FALSE_ALARM
            assert agree == (selection is other)
