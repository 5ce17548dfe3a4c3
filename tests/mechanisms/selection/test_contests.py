from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.errors import EpsilonError
from bocage.mechanisms import Contest, Selection, SystemNoise
from bocage.mechanisms.rng import RandomBits
from bocage.mechanisms.selection.exponential import select_exponential

SURE = Fraction(200)  # a rate at which a point of score decides, but for exp(-200)
NOISE = SystemNoise()
BOTH = pytest.mark.parametrize("selection", list(Selection))


def select(contests, selection):
    return NOISE.select(contests, selection).tolist()


@BOTH
def test_the_best_wins_at_a_high_rate(selection):
    contests = [
        Contest(np.array([1, 5, 3]), SURE),
        Contest(np.array([-4]), SURE),
        Contest(np.array([-9, -8, -10, -11]), SURE * 2),
        Contest(np.array([-(2**63), 2**63 - 1, 0]), SURE),
    ]
    assert select(contests, selection) == [1, 0, 1, 1]


@BOTH
def test_no_contest_gives_no_selection(selection):
    assert select([], selection) == []


@BOTH
def test_weight_zero_excludes_even_the_best(selection):
    contest = Contest(np.array([9, 5, 3, 9]), SURE, np.array([0, 1, 1, 0]))
    assert set(select([contest] * 100, selection)) == {1}


@BOTH
def test_extreme_rates_are_answered(selection):
    scores = np.array([0, 2**62, -(2**62)])
    for rate in (Fraction(1, 10**60), Fraction(10**60), Fraction(10**30 + 1, 10**30)):
        assert select([Contest(scores, rate)], selection)[0] in {0, 1, 2}
    assert select([Contest(scores, Fraction(10**60))], selection) == [1]


@BOTH
@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6),
            st.fractions(min_value=Fraction(1, 10**12), max_value=10**12),
        ),
        max_size=6,
    )
)
def test_each_contest_selects_one_of_its_candidates(selection, contests):
    chosen = select([Contest(np.array(s), r) for s, r in contests], selection)
    assert len(chosen) == len(contests)
    assert all(0 <= c < len(s) for c, (s, _) in zip(chosen, contests, strict=True))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 2**62), min_size=2, max_size=6).filter(any))
def test_weights_of_any_size_are_answered(weights):
    contest = Contest(np.zeros(len(weights), dtype=np.int64), Fraction(1), np.array(weights))
    [chosen] = select([contest], Selection.EXPONENTIAL)
    assert weights[chosen] > 0


def test_large_weights_outweigh_scores_as_they_should():
    # 2**62 / e**20 = 9.5e9: the second wins but for a probability of 1e-10.
    contest = Contest(np.array([20, 0]), Fraction(1), np.array([1, 2**62]))
    assert select([contest], Selection.EXPONENTIAL) == [1]


def test_contests_that_do_not_fit_one_batch_are_split():
    # With 9 bits a batch holds a total weight of 7: [3 + 3], [9 alone], [2 + 2].
    sizes = [3, 3, 9, 2, 2]
    contests = [Contest(np.arange(size), SURE) for size in sizes]
    chosen = select_exponential(contests, RandomBits(), bits=9)
    assert chosen.tolist() == [size - 1 for size in sizes]


@BOTH
@pytest.mark.parametrize(
    "contest",
    [
        Contest(np.array([], dtype=np.int64), SURE),
        Contest(np.array([1, 2]), SURE, np.array([0, 0])),
        Contest(np.array([1, 2]), SURE, np.array([1, -1])),
        Contest(np.array([1, 2]), SURE, np.array([1, 1, 1])),
    ],
)
def test_malformed_contests_are_refused(selection, contest):
    with pytest.raises(ValueError, match=r"candidate|weights|broadcast"):
        select([Contest(np.array([1]), SURE), contest], selection)


@BOTH
@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1)])
def test_rate_must_be_positive(selection, rate):
    with pytest.raises(EpsilonError, match="rate of a selection"):
        select([Contest(np.array([1, 2]), rate)], selection)


def test_permute_and_flip_refuses_weights():
    contest = Contest(np.array([1, 2]), SURE, np.array([1, 2]))
    with pytest.raises(ValueError, match="exponential mechanism"):
        select([contest], Selection.PERMUTE_AND_FLIP)


@BOTH
def test_one_good_candidate_among_many_bad_takes_no_longer(selection):
    scores = np.zeros(100_000, dtype=np.int64)
    scores[77_777] = 10**9
    contest = Contest(scores, Fraction(1, 1000))
    start = time.process_time()
    chosen = select([contest] * 5, selection)
    assert chosen == [77_777] * 5
    assert time.process_time() - start < 2  # rejection would take 100,000 rounds of each
