from __future__ import annotations

import inspect
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest

from bocage.errors import EpsilonError, NoiseError
from bocage.mechanisms import Contest, Noise, OpenDPNoise, Selection, SystemNoise
from bocage.mechanisms.laplace import draw_laplace
from bocage.mechanisms.opendp import _round_up
from bocage.mechanisms.rng import RandomBits

PROVIDERS = pytest.mark.parametrize("provider", [SystemNoise, OpenDPNoise])


@PROVIDERS
def test_providers_keep_the_contract(provider):
    noise: Noise = provider()
    draws = noise.laplace(Fraction(10), 50)
    assert draws.dtype == np.int64
    assert draws.shape == (50,)
    assert noise.laplace(Fraction(10), 0).shape == (0,)
    # at this rate the best wins but for exp(-500)
    contests = [Contest(np.array([0, 500]), Fraction(1)), Contest(np.array([500, 0]), Fraction(1))]
    for selection in Selection:
        assert noise.select(contests, selection).tolist() == [1, 0]
        assert noise.select([], selection).shape == (0,)


@PROVIDERS
def test_providers_have_nothing_to_configure(provider):
    assert not inspect.signature(provider).parameters


@PROVIDERS
@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(2**49)])
def test_scales_that_make_no_sense_are_refused(provider, scale):
    with pytest.raises(EpsilonError):
        provider().laplace(scale, 1)


def test_opendp_excludes_candidates_of_weight_zero():
    contest = Contest(np.array([900, 0, 400]), Fraction(1), np.array([0, 1, 1]))
    assert OpenDPNoise().select([contest], Selection.PERMUTE_AND_FLIP).tolist() == [2]


def test_opendp_says_what_it_cannot_do():
    weighted = Contest(np.array([1, 2]), Fraction(1), np.array([1, 2]))
    with pytest.raises(NoiseError, match="weights"):
        OpenDPNoise().select([weighted], Selection.EXPONENTIAL)
    with pytest.raises(NoiseError, match="no exact randomized response"):
        OpenDPNoise().randomize(np.array([1]), 2, Fraction(1))
    with pytest.raises(NoiseError, match="no draw of whole trees"):
        OpenDPNoise().draw_by_rejection(lambda _: None, Fraction(1), 0.0)
    with pytest.raises(EpsilonError, match="rate"):
        OpenDPNoise().select([Contest(np.array([1]), Fraction(0))], Selection.EXPONENTIAL)


@pytest.mark.parametrize("exact", [Fraction(1, 3), Fraction(1, 10), Fraction(10), Fraction(2, 7)])
def test_scales_for_opendp_are_never_rounded_down(exact):
    assert exact <= Fraction(_round_up(exact)) <= exact * (1 + Fraction(1, 2**51))


@pytest.mark.parametrize(("arity", "rate", "error"), [(1, Fraction(1), ValueError), (2, Fraction(0), EpsilonError)])
def test_randomized_response_refuses_meaningless_parameters(arity, rate, error):
    with pytest.raises(error):
        SystemNoise().randomize(np.array([0]), arity, rate)


def test_randomized_response_answers_whatever_the_codes_are():
    codes = np.array([-(2**63), -1, 0, 3, 2**63 - 1])
    answers = SystemNoise().randomize(codes, 3, Fraction(1, 10))
    assert set(answers.tolist()) <= {0, 1, 2}


def test_randomized_response_keeps_the_truth_at_a_high_rate():
    codes = np.arange(1000) % 5  # kept but for 1000 * 4 * exp(-100)
    assert (SystemNoise().randomize(codes, 5, Fraction(100)) == codes).all()


def test_scales_beyond_63_bits_are_drawn_in_python_integers():
    draws = draw_laplace(Fraction(2**70), 200, RandomBits())
    assert all(type(x) is int for x in draws.tolist())
    # Each misses int64 but for 2**-7; that 100 of 200 fit has probability below 1e-150.
    assert sum(abs(x) > 2**63 for x in draws.tolist()) > 100


def test_a_single_draw_takes_well_under_a_millisecond():
    noise = SystemNoise()
    noise.laplace(Fraction(10), 1)
    start = time.process_time()
    for _ in range(200):
        noise.laplace(Fraction(10), 1)
    assert time.process_time() - start < 200 * 0.0005


def test_importing_the_mechanisms_loads_neither_numba_nor_opendp():
    program = "import sys, bocage.mechanisms; sys.exit(bool({'numba', 'opendp', 'scipy', 'duckdb'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
