"""Agrawal & Srikant (2000): the short versions, and the parts of the attacks.

The made-up people are seeded and noise is not. Deviations come from the long versions: function 1 has one
of 1.5 points at most with 20,000 records, distances of figure 2 one of 0.01, widths of the attacks one of
0.5 % of the range. Every bound below is at least six deviations away: each fails by chance less than once
in 1e8 times.
"""

from __future__ import annotations

import numpy as np
import pytest
from experiments.agrawal_srikant_2000.attacks import COLUMN, filter_noise, noise_variance
from experiments.agrawal_srikant_2000.figure2 import KINDS
from experiments.agrawal_srikant_2000.people import by_epsilon
from experiments.agrawal_srikant_2000.run import EXPERIMENTS, HERE
from experiments.common.experiment import expected_of, reproduce
from experiments.common.report import write

from bocage.local import Gaussian, Uniform

BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}
pytestmark = pytest.mark.xdist_group("agrawal_srikant_2000")


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The report of a short version, run once."""
    folder, done = tmp_path_factory.mktemp("out"), {}

    def report(name):
        if name not in done:
            done[name] = reproduce(BY_NAME[name], HERE, folder, short=True, quiet=True)
            assert all(path.stat().st_size for path in write(done[name], folder, pictures=("svg",)))
        return done[name]

    return report


def test_figure_2_comes_out_of_the_noise(short):
    report = short("figure2")
    assert all(claim.holds for claim in report.claims)
    for target in report.targets:
        if "reconstructed" in target.name:
            assert target.ours < target.published + target.tolerance
    for kind in KINDS:
        densities = report.results.values(f"{kind} density")
        assert densities.shape[1] == 40
        assert (densities.sum(axis=1) <= 1 + 1e-9).all()


@pytest.mark.slow
def test_figure_5_on_function_1(short):
    mean = short("figure5").results.mean
    tolerance = expected_of(HERE, "figure5")["tolerance"]["easy"]
    for noise, published in (("gaussian", 94.5), ("uniform", 98.1)):
        cell = {"function": 1, "noise": noise}
        assert mean("original", **cell) > 99.5
        assert mean("byclass", **cell) > published - tolerance - 10
        assert mean("local", **cell) > published - tolerance - 10
    assert mean("byclass", function=2) > 55  # half of the people is a guess


def test_figure_6_falls_with_privacy(short):
    mean = short("figure6").results.mean
    assert mean("byclass", level=25) > 93
    assert mean("byclass", level=25) > mean("byclass", level=200) - 3
    assert mean("byclass", noise="uniform", level=200) > 75


def test_honest_epsilons_are_those_of_the_survey(short):
    assert short("honest").results.mean("byclass", variant="laplace") > 85
    assert str(by_epsilon("mixed, label too", 4.0).record_privacy().epsilon) == "40"
    assert by_epsilon("mixed", 4.0).record_privacy().epsilon is None


def test_filtering_undoes_noise_on_correlated_columns(short):
    mean = short("attacks").results.mean
    for noise in ("uniform", "gaussian", "laplace"):
        assert mean("filtered width", noise=noise, correlation=0.95) < 0.45
        assert mean("filtered width", noise=noise, correlation=0.95) < 0.7 * mean(
            "filtered width", noise=noise, correlation=0.0
        )
    assert mean("pinned", level=100) == pytest.approx(mean("formula", level=100), abs=0.5)


def test_the_filter_keeps_what_has_no_noise_in_it():
    """Two equal columns: half the noise of their mean is left, and no more is taken away."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 1000, 20_000)
    noise = Gaussian("20")  # small against the columns
    sent = np.stack([noise.distort(COLUMN, x) for _ in range(2)], axis=1)
    errors = filter_noise(sent.astype(float), noise) - x[:, None]
    assert errors.std() == pytest.approx(20 / np.sqrt(2), rel=0.05)


def test_the_variance_of_the_noise_is_read_off_the_survey():
    assert noise_variance(Uniform(100)) == pytest.approx((201**2 - 1) / 12)
    assert noise_variance(Gaussian("50")) == pytest.approx(2500, rel=1e-3)
