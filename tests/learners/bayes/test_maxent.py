"""Log-odds fitted to released tables: laws that are known are found, and noise is not."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.learners import Bayes
from bocage.learners.bayes import learner, maxent
from bocage.learners.bayes.log_odds import Evidence, naive, weighted
from bocage.learners.bayes.maxent import FARTHEST, fitted, laws
from bocage.learners.bayes.synthetic import GRID, population
from bocage.schema import Categorical, Schema
from private.noises import SilentNoise, SilentRecordingNoise
from private.tables import table

SIZES, LABELS, ROWS = (3, 4, 3), 4, 10**6


def additive_law(seed=0, pairs=()):
    """Log-odds that add up, and what they give for every combination of cells."""
    rng = np.random.default_rng(seed)
    cells = np.indices(SIZES).reshape(len(SIZES), -1)
    sums = np.zeros((cells.shape[1], LABELS))
    for i, size in enumerate(SIZES):
        sums += 1.5 * rng.normal(size=(size, LABELS))[cells[i]]
    for a, b in pairs:
        sums += rng.normal(size=(SIZES[a], SIZES[b], LABELS))[cells[a], cells[b]]
    return cells, shares_of(sums)


def shares_of(sums):
    chances = np.exp(sums - sums.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def evidence_of(cells, counts, pairs=(), variance=1e-3):
    """The exact tables of rows: counts for every combination of cells and label."""
    sizes = cells.max(axis=1) + 1

    def count(at):
        found = np.zeros((*(sizes[i] for i in at), counts.shape[1]))
        np.add.at(found, tuple(cells[i] for i in at), counts)
        return found

    singles = [count((i,)) for i in range(len(cells))]
    return Evidence(
        counts.sum(axis=0) / counts.sum(),
        float(counts.sum()),
        singles,
        [variance] * len(singles),
        {pair: count(pair) for pair in pairs},
        dict.fromkeys(pairs, variance),
    )


def predicted(law, cells):
    sums = np.tile(law[()], (cells.shape[1], 1))
    for at, scores in law.items():
        if at:
            sums += scores[tuple(cells[i] for i in at)]
    return shares_of(sums)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pairs", [(), ((0, 1), (0, 2), (1, 2))])
def test_a_law_that_adds_up_is_found_from_its_tables_where_naive_bayes_fails(pairs, seed):
    cells, truth = additive_law(seed, pairs)
    evidence = evidence_of(cells, truth * ROWS / len(truth), pairs)
    law = naive(evidence)
    found = fitted(evidence, population(evidence, law), law)
    assert {at: own.shape for at, own in found.items()} == {at: law[at].shape for at in law}
    assert np.abs(predicted(found, cells) - truth).max() < 0.03
    assert np.abs(predicted(law, cells) - truth).max() > 0.1


def test_a_label_that_the_tables_do_not_have_is_as_rare_as_the_prior_says():
    """Else its intercept and its tables would pull against each other without end."""
    cells, truth = additive_law()
    evidence = evidence_of(cells, np.column_stack([truth, -1e-4 * truth[:, 0]]) * ROWS / len(truth))
    prior = np.maximum(evidence.prior, 0.005)
    evidence = replace(evidence, prior=prior / prior.sum())
    law = naive(evidence)
    found = predicted(fitted(evidence, population(evidence, law), law), cells)
    assert found[:, 4].mean() == pytest.approx(0.005, abs=0.002)
    assert np.abs(found[:, :4] - truth).max() < 0.05


def test_the_fit_explains_the_tables_even_where_the_law_does_not_add_up():
    cells = np.indices((4, 4)).reshape(2, -1)
    same = (cells[0] == cells[1]).astype(int) + (cells[0] > 1)
    counts = 1000.0 * np.eye(3)[same]
    evidence = evidence_of(cells, counts)
    found = fitted(evidence, population(evidence, naive(evidence)), naive(evidence))
    again = evidence_of(cells, predicted(found, cells) * 1000)
    for fit, table_ in zip(again.singles, evidence.singles, strict=True):
        assert fit == pytest.approx(table_, abs=20)  # of 4000 rows of each cell


def test_tables_of_noise_leave_the_fit_where_it_begins():
    cells, truth = additive_law()
    evidence = evidence_of(cells, truth * 100 / len(truth), variance=1e6)
    center = naive(evidence)
    found = fitted(evidence, population(evidence, center), center)
    for at, own in center.items():
        assert found[at] == pytest.approx(own, abs=0.05)


def test_records_are_independent_where_every_combination_is_a_row():
    cells, truth = additive_law()
    pairs = tuple(combinations(range(3), 2))
    evidence = evidence_of(cells, truth * ROWS / len(truth), pairs)
    people = population(evidence, naive(evidence))
    assert (people.cells == cells).all()
    assert people.weights == pytest.approx(ROWS / cells.shape[1], rel=0.02)


def test_records_depend_on_each_other_as_the_pairs_say():
    """Naive Bayes is right here: given the label, attributes are independent; and so is the fit."""
    rng = np.random.default_rng(2)
    cells = np.indices(SIZES).reshape(3, -1)
    given_label = [rng.dirichlet(np.full(size, 1.0), LABELS).T for size in SIZES]
    joint_shares = np.full((cells.shape[1], LABELS), 1 / LABELS)
    for own, cell in zip(given_label, cells, strict=True):
        joint_shares = joint_shares * own[cell]
    pairs = tuple(combinations(range(3), 2))
    evidence = evidence_of(cells, ROWS * joint_shares, pairs)
    people = population(evidence, naive(evidence))
    assert people.weights / ROWS == pytest.approx(joint_shares.sum(axis=1), abs=0.002)
    alone = weighted(naive(evidence), 0)
    truth = joint_shares / joint_shares.sum(axis=1, keepdims=True)
    assert np.abs(predicted(fitted(evidence, people, alone), cells) - truth).max() < 0.05


def test_combinations_that_never_occur_hardly_weigh():
    cells = np.indices((4, 4)).reshape(2, -1)
    legal = cells[0] <= cells[1]
    evidence = evidence_of(cells, 1000.0 * np.outer(legal, [1, 1]), ((0, 1),))
    people = population(evidence, naive(evidence))
    assert people.weights[~legal].sum() < 0.02 * people.weights.sum()


def test_of_many_combinations_some_are_drawn_and_always_the_same():
    rng = np.random.default_rng(4)
    singles = [rng.uniform(50, 100, (6, 2)) for _ in range(8)]
    singles = [600 * own / own.sum(axis=0) for own in singles]
    assert GRID < 6**8
    evidence = Evidence(np.array([0.5, 0.5]), 1200.0, singles, [1e-3] * 8, {}, {})
    people, again = (population(evidence, naive(evidence)) for _ in range(2))
    assert (people.cells == again.cells).all()
    for cell, own in zip(people.cells, singles, strict=True):
        assert np.bincount(cell, people.weights) == pytest.approx(own.sum(axis=1), abs=2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_whatever_was_released_log_odds_are_finite(seed):
    rng = np.random.default_rng(seed)
    sizes, labels, scale = rng.integers(1, 5, 3), rng.integers(2, 5), 10.0 ** rng.integers(-2, 8)
    noise = 10.0 ** rng.integers(-3, 8)
    singles = [scale * rng.normal(size=(size, labels)) for size in sizes]
    pairs = {(0, 2): scale * rng.normal(size=(sizes[0], sizes[2], labels))}
    prior = rng.dirichlet(np.ones(labels)).clip(0.005)
    rows = max(float(scale * rng.normal()), 1.0)
    evidence = Evidence(prior / prior.sum(), rows, singles, [noise] * 3, pairs, {(0, 2): noise})
    for law in laws(evidence):
        assert all(np.isfinite(own).all() and np.abs(own).max() <= FARTHEST for own in law.values())


def test_tables_too_large_to_be_fitted_are_naive(monkeypatch):
    cells, truth = additive_law()
    evidence = evidence_of(cells, truth * ROWS / len(truth), ((0, 1),))
    assert len(laws(evidence)) == 4
    monkeypatch.setattr(maxent, "MOST_FITTED", 10)
    law = naive(evidence)
    for found, weight in zip(laws(evidence), (1, 0.5, 0), strict=True):
        for at, own in weighted(law, weight).items():
            assert (found[at] == own).all()


VALUES = ("a", "b", "c", "d")
SUMS = Schema(
    "sums",
    tuple(Categorical(f"x{i}", VALUES) for i in range(5)),
    Categorical("sum", ("low", "middle", "high", "top")),
)


def sums():
    """Every combination once, and how high the sum of its values is."""
    cells = np.indices((4,) * 5).reshape(5, -1)
    total = cells[0] * 3 + cells[1] * 2 + cells[2] + cells[3] + cells[4]
    columns = {f"x{i}": np.array(VALUES)[cell] for i, cell in enumerate(cells)}
    columns["sum"] = np.array(SUMS.label.values)[np.searchsorted([7, 10, 16], total)]
    return columns


def test_a_sum_of_attributes_is_fitted_better_than_naive_bayes_has_it(monkeypatch):
    rows = sums()

    def accuracy():
        noise = SilentRecordingNoise()
        model = Bayes(pairs=False).fit(table(rows, SUMS, noise=noise), "1")
        return (model.predict(rows) == rows["sum"]).mean(), len(noise.contests)

    fit, choices = accuracy()
    assert choices == 1
    monkeypatch.setattr(learner, "TOLD_APART", 10**9)
    before, choices = accuracy()
    assert choices == 0
    assert fit > before + 0.05


def test_few_records_are_not_spent_on_a_choice():
    rows = {name: column[:100] for name, column in sums().items()}
    for epsilon, choices in (("1", 0), ("4", 0), ("16", 1)):  # 1000 records times epsilon
        noise = SilentRecordingNoise()
        Bayes(pairs=False).fit(table(rows, SUMS, noise=noise), epsilon)
        assert len(noise.contests) == choices
    assert Bayes(pairs=False).fit(table(rows, SUMS, noise=SilentNoise()), "1").terms
