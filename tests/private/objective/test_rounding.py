"""The rounded minimum is that of the true minimum, however it was found."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from bocage.mechanisms import Perturbation, Roots
from bocage.mechanisms.rng import RandomBits
from bocage.private.objective import residuals, rounding
from bocage.private.objective.exact_residuals import PRECISE_BITS, precise_error, precise_residuals
from bocage.private.objective.fit import GRID_BITS
from bocage.private.objective.residuals import FitRows
from bocage.private.objective.rounding import Problem, rounded_minimum
from bocage.private.terms import Block, Design, calibrate
from private.fits import EPSILON, SCHEMA, A, B, at, problem, searcher


def true_minimum(problem, digits=40):
    """Newton's method in decimals, on the middle of the noise that has been drawn, to 30 digits."""
    design, noise = problem.design, problem.noise
    noise.refine()
    bounds = noise.bounds()
    order = np.argsort(problem.calibration.order)
    unit = Decimal(2) ** (noise.bits + 1)
    with localcontext(prec=digits):
        beta = [
            Decimal(int(low + high)) / unit
            for i in order
            for low, high in zip(bounds[i][0].ravel(), bounds[i][1].ravel(), strict=True)
        ]
        at = np.zeros((sum(design.sizes), design.columns))
        exact = np.array([[Decimal(0)] * design.columns] * len(at), object)
        for _ in range(14):
            gradient = _gradient(problem, exact, np.array(beta, object).reshape(at.shape))
            exact = exact - _solve(problem, exact.astype(float), gradient.astype(float))
        assert max(abs(g) for g in gradient.ravel()) < Decimal(10) ** -25
        intercept, tables = design.expand(exact)
        grid = Decimal(2) ** GRID_BITS
        entries = np.concatenate([intercept[None], tables])
        return [[int((v * grid + Decimal("0.5")).__floor__()) for v in row] for row in entries]


def _gradient(problem, at, beta):
    design = problem.design
    scaled = np.vectorize(lambda v: int(v * 2**120), otypes=[object])(at)
    intercept, tables = design.expand(scaled)
    prior = problem.prior.astype(object) * 2 ** (120 - GRID_BITS) + intercept
    sums, _ = precise_residuals(problem.rows.chunks(), design, tables, prior, 120)
    whole = design.collect(sums)
    gradient = np.vectorize(lambda v: Decimal(int(v)) / 2**PRECISE_BITS, otypes=[object])(whole)
    gradient = gradient + beta
    for start, size in zip(design.starts, design.sizes, strict=True):
        if size > 1:
            part = gradient[start : start + size]
            gradient[start : start + size] = part - part.sum(axis=0) / size
    penalties = design.spread_over(np.array(problem.calibration.penalties))[:, None]
    return gradient + at * np.vectorize(lambda p: Decimal(int(p)) / 1024, otypes=[object])(penalties)


def _solve(problem, at, gradient):
    """A damped step: the penalties and the largest curvature there can be."""
    design = problem.design
    penalties = design.spread_over(np.array(problem.calibration.penalties))[:, None] / 1024
    features = np.zeros((problem.rows.rows, len(at)))
    features[:, 0] = 1
    row = 0
    for cells, labels in problem.rows.chunks():
        for i in range(len(labels)):
            start = 1
            for block, cell in zip(design.blocks, cells[:, i], strict=True):
                for size in block.levels:
                    features[row, start : start + size] = -1 / size
                    features[row, start + cell * size // block.size] += 1
                    start += size
            row += 1
    scores = problem.prior / 2.0**GRID_BITS + at[0] + features[:, 1:] @ at[1:]
    if design.reference:
        scores = np.concatenate([np.zeros((len(scores), 1)), scores], axis=1)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = (p / p.sum(axis=1, keepdims=True))[:, design.reference :]
    size = at.size
    hessian = np.einsum("rc,cd,ri,rj->icjd", p, np.eye(p.shape[1]), features, features)
    hessian -= np.einsum("rc,rd,ri,rj->icjd", p, p, features, features)
    matrix = hessian.reshape(size, size) + np.diag(np.repeat(penalties, at.shape[1]))
    step = np.linalg.solve(matrix, gradient.ravel()).reshape(at.shape)
    return np.vectorize(Decimal, otypes=[object])(step)


@pytest.mark.parametrize("labels", [2, 3, 5])
@pytest.mark.parametrize("blocks", [[A], [A, B], [Block(("a", "b"), (2, 4), (8,))]])
def test_the_rounded_minimum_is_that_of_decimal_arithmetic(blocks, labels):
    one = problem(blocks, labels)
    assert rounded_minimum(one).tolist() == true_minimum(one)


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_few_digits_of_noise_are_refined_until_the_rounding_is_certain(labels):
    # With 6 digits the noise is open by far more than the grid: only the precise way can end.
    one = problem([A, B], labels, rows=25, bits=6)
    rounded = rounded_minimum(one)
    assert one.noise.bits > 6
    assert rounded.tolist() == true_minimum(one)


def test_rows_that_are_not_kept_are_read_again():
    kept = problem([A, B], 2)
    scans = []

    def read():
        scans.append(1)
        return (np.vstack([*cells, labels]).astype(np.uint16) for cells, labels in kept.rows.chunks())

    again = FitRows(read, kept.design, SCHEMA, keep_bytes=0)
    streamed = Problem(again, kept.design, kept.calibration, kept.prior, kept.noise)
    assert rounded_minimum(streamed).tolist() == rounded_minimum(kept).tolist()
    assert len(scans) > 10


def test_an_empty_table_has_a_minimum_too():
    one = problem([A, B], 2, rows=1)
    empty = FitRows(lambda: iter([]), one.design, SCHEMA)
    nothing = Problem(empty, one.design, one.calibration, one.prior, one.noise)
    penalties = np.array(one.calibration.penalties) / 1024
    intercept = rounded_minimum(nothing)[0, 0]
    low, high = one.noise.bounds()[one.calibration.order.index(0)]
    noise = (low[0, 0] + high[0, 0]) / 2.0 ** (one.noise.bits + 1)
    assert intercept == round(-noise / penalties[0] * 2**GRID_BITS)


def test_the_exponential_keeps_its_error_bound():
    rng = np.random.default_rng(0)
    x = -np.concatenate([rng.uniform(0, 1, 2000), rng.uniform(0, 60, 2000), rng.uniform(0, 700, 999)])
    x = np.append(x, [0.0, -1e-300, -0.34657, -0.34658, -699.999])
    y = x.copy()
    residuals._exp(y, len(y))
    with localcontext(prec=40):
        for given, found in zip(x.tolist(), y.tolist(), strict=True):
            true = Decimal(given).exp()
            assert abs(Decimal(found) / true - 1) < Decimal(8) / 2**53
    beyond = np.array([-701.0, -1e9])
    residuals._exp(beyond, 2)
    assert beyond.tolist() == [0, 0]


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_residuals_are_within_their_error_bound_of_the_precise_ones(labels):
    one = problem([A, B], labels, rows=300, seed=3)
    design = one.design
    rng = np.random.default_rng(1)
    units = rng.integers(-(2**43), 2**43, (design.fine, design.columns))
    tables = units / 2.0**40
    prior = one.prior / 2.0**GRID_BITS
    sums, rows = one.rows.residuals(tables, prior)
    precise, again = precise_residuals(
        one.rows.chunks(),
        design,
        units.astype(object),
        one.prior.astype(object) * 2 ** (40 - GRID_BITS),
        40,
    )
    assert rows == again == 300
    worst = rows * (residuals.row_error(design.columns) + precise_error(design.columns))
    scale = 2 ** (PRECISE_BITS - residuals.UNIT_BITS)
    difference = np.abs(sums * scale - precise).max()
    assert Fraction(int(difference), 2**PRECISE_BITS) <= worst


def test_noise_and_penalties_keep_what_the_proof_needs():
    for labels in (2, 3, 4, 7):
        design = Design((A, B), labels)
        for rows in (1, 1000, 10**7):
            found = calibrate(design, EPSILON, rows, 10)
            squares = sum(1 - Fraction(1, size) if size > 1 else 1 for size in design.sizes)
            rho = squares / Fraction(min(found.penalties), 1024)
            rates = sum(body.rate for body in found.bodies)
            if labels == 2:
                assert rates == EPSILON
                assert rho <= EPSILON
            else:
                assert rho <= EPSILON / 4
                assert rates + EPSILON / 4 * Fraction(labels - 2, labels - 1) == EPSILON
            drawn = [
                size for body in found.bodies for size in ((body.size,) if isinstance(body, Roots) else body.sizes)
            ]
            assert drawn == [design.sizes[i] for i in found.order]


@pytest.mark.parametrize("labels", [2, 5])
def test_the_search_ends_on_a_sorted_table_as_on_any_other(labels, monkeypatch):
    """The first rows of a table say nothing about the others."""
    rng, rows = np.random.default_rng(0), 2**17
    b = np.sort(rng.integers(0, 4, rows))
    a = rng.integers(0, 2, rows)
    odds = rng.normal(scale=2, size=(2, labels))[a] + rng.normal(scale=2, size=(4, labels))[b]
    label = (odds + rng.gumbel(size=odds.shape)).argmax(axis=1)
    design = Design((A, B), labels)
    calibration = calibrate(design, EPSILON, rows, 10)
    cells = FitRows(lambda: iter([np.array([a, b, label], np.uint16)]), design, SCHEMA)
    noise = Perturbation(calibration.bodies, RandomBits())
    looks = []

    def examine(*arguments, **options):
        looks.append(1)
        assert len(looks) < 30, "the search does not end"
        return look(*arguments, **options)

    look = rounding._examine
    monkeypatch.setattr(rounding, "_examine", examine)
    one = Problem(cells, design, calibration, np.zeros(design.columns, np.int64), noise)
    assert len(rounded_minimum(one)) == 1 + design.fine


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_the_precise_search_ends_wherever_it_begins(labels):
    one = problem([A, B], labels, rows=40)
    found = rounding._surely(one, searcher(one), at(one, 30))
    assert found.tolist() == true_minimum(one)


def test_scores_of_a_point_that_is_examined_add_up_without_rounding():
    one = problem([Block(("a", "b"), (2, 4), (8,))], 2)
    parameters = np.full((sum(one.design.sizes), 1), 1000.7)  # far from centered
    point, bits = rounding._with_few_bits(one, parameters)
    tables = zip(one.design.starts, one.design.sizes, strict=True)
    largest = sum(np.abs(point[start : start + size]).max() for start, size in tables)
    largest += abs(int(one.prior[0])) << (bits - GRID_BITS)
    assert 2 * largest <= 2**53
    assert point[1:].sum() == 0
