"""Rounding the true minimum of the perturbed loss, although only a point near it is known.

The loss is lambda-strongly convex: wherever the gradient is g, the minimum is within |g| / lambda. The
gradient at a proposed point is computed in integers, together with a bound on what is not known of
it: the rounding of exponentials and the digits of the noise that are not drawn yet. If the ball around
the point lies in one cell of the grid in every coordinate, the center of that cell is the rounded
minimum, exactly. Otherwise more digits are drawn and computed until it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms import Perturbation
from bocage.private.additive import GRID_BITS
from bocage.private.cells import CellRows
from bocage.private.descent import STEPS, STEPS_FEW_LABELS, Descent, to_float
from bocage.private.design import PENALTY_BITS, Calibration, Design
from bocage.private.precise import PRECISE_BITS, precise_error, precise_residuals
from bocage.private.residuals import UNIT_BITS, row_error

_SIGNIFICANT = 52  # bits that partial sums of scores may need
_MORE_STEPS = 4  # in floating point, before the next look; twice as many where they lead not far
_MOST_STEPS = 100
_NEAR = 2**10
_FINER_BITS = 120
Integers = NDArray[Any]  # Python integers


@dataclass(frozen=True)
class Problem:
    """What is minimized: the loss of the rows, penalties, noise. `prior` counts 2**-GRID_BITS."""

    rows: CellRows
    design: Design
    calibration: Calibration
    prior: NDArray[np.int64]
    noise: Perturbation


@dataclass(frozen=True)
class Point:
    """A proposed minimum in units of ``2**-bits``, its gradient in units of ``2**-unit``.

    The norm of the true gradient differs by no more than `error` units.
    """

    parameters: Integers
    bits: int
    gradient: Integers
    unit: int
    error: int


def rounded_minimum(problem: Problem) -> Integers:
    """Intercept and fine tables of the true minimum, rounded to the grid."""
    design = problem.design
    prior = problem.prior / 2.0**GRID_BITS
    noise = to_float(_middle(problem), problem.noise.bits + 1)
    descent = Descent(problem.rows, design, problem.calibration, prior, noise)
    descent.run(STEPS_FEW_LABELS if design.reference else STEPS)
    before, steps = inf, _MORE_STEPS
    while True:
        point = _examine(problem, *_with_few_bits(problem, descent.at))
        if (found := _rounded(point, problem)) is not None:
            return found
        norm = to_float(np.array([_norm(point)], object), point.unit)[0]
        if norm > before / 2:
            if _norm(point) < _NEAR * point.error or steps > _MOST_STEPS:
                break  # floating point leads no further
            descent.look_around()
            steps *= 2
        before = norm
        descent.run(steps)
    return _precisely(problem, descent, point.parameters * (1 << (_FINER_BITS - point.bits)))


def _precisely(problem: Problem, descent: Descent, parameters: Integers) -> Integers:
    """The same from a point where floating point has come to its end.

    With a fixed preconditioner P, a short enough step along -P g lowers g P g, whatever P is: the
    derivative of g is positive definite. So the search gets nearer with every step that is kept.
    """
    descent.look_around()
    nearest, step, length, least = parameters, np.zeros(parameters.shape), 1.0, inf
    while True:
        point = _examine(problem, parameters, _FINER_BITS, precisely=True)
        if (found := _rounded(point, problem)) is not None:
            return found
        if _norm(point) < point.error:  # the noise itself is open: its digits change what is sought
            problem.noise.refine()
            least = inf
            continue
        gradient = to_float(point.gradient, point.unit)
        towards = descent.direction(gradient)
        left = float((gradient * towards).sum())
        if left < least:
            nearest, step, length, least = parameters, towards, 1.0, left
        else:
            length /= 2
        moved = _to_integers(length * step, _FINER_BITS)
        parameters = _balanced(nearest - moved, problem.design)


def _with_few_bits(problem: Problem, parameters: NDArray[np.float64]) -> tuple[Integers, int]:
    """The point on so coarse a grid that adding up its scores, or subtracting them, rounds nothing."""
    design, bits = problem.design, _SIGNIFICANT
    while True:
        point = _balanced(_to_integers(parameters, bits), design)
        largest = int(np.abs(problem.prior).max()) << (bits - GRID_BITS)
        for start, size in zip(design.starts, design.sizes, strict=True):
            largest += np.abs(point[start : start + size]).max()
        if 2 * largest <= 1 << _SIGNIFICANT:
            return point, bits
        bits -= (2 * largest).bit_length() - _SIGNIFICANT


def _examine(
    problem: Problem, parameters: Integers, bits: int, *, precisely: bool = False
) -> Point:
    """The gradient at a point, with all that is not known of it."""
    design = problem.design
    intercept, tables = design.expand(parameters)
    prior = problem.prior.astype(object) * (1 << (bits - GRID_BITS)) + intercept
    if precisely:
        sums, rows = precise_residuals(problem.rows.chunks(), design, tables, prior, bits)
        fraction, each = PRECISE_BITS, precise_error(design.columns)
    else:
        floats = np.ascontiguousarray(to_float(tables, bits))
        sums, rows = problem.rows.residuals(floats, to_float(prior, bits))
        fraction, each = UNIT_BITS, row_error(design.columns)
    unit = max(fraction, bits + PENALTY_BITS, problem.noise.bits + 1)
    penalties = design.spread_over(np.array(problem.calibration.penalties, object))[:, None]
    gradient = design.collect(sums) * (1 << (unit - fraction))
    gradient = gradient + _middle(problem) * (1 << (unit - problem.noise.bits - 1))
    gradient = _centered(gradient, design)
    gradient = gradient + penalties * parameters * (1 << (unit - bits - PENALTY_BITS))
    # A column of a table has every row once, so that its errors add up to those of all rows.
    loss = (isqrt(len(design.sizes) * design.columns) + 1) * rows * each
    low, high = _noise_bounds(problem)
    digits = Fraction(isqrt(int(((high - low) ** 2).sum())) + 1, 1 << problem.noise.bits)
    rest = isqrt(gradient.size) + 1  # centering rounds every entry by less than a unit
    error = int((loss + digits) * (1 << unit)) + 1 + rest
    return Point(parameters, bits, gradient, unit, error)


def _rounded(point: Point, problem: Problem) -> Integers | None:
    """The cells of the grid that hold the minimum, if each coordinate leaves no choice."""
    design = problem.design
    norm = _norm(point) + point.error
    smallest = min(problem.calibration.penalties)
    levels = max(len(block.levels) for block in design.blocks)
    # An entry of a fine table is a sum of one entry of each level.
    reach = Fraction(norm << PENALTY_BITS, smallest << point.unit) * (isqrt(levels - 1) + 1)
    radius = int(reach * (1 << point.bits)) + 1
    intercept, tables = design.expand(point.parameters)
    entries = np.concatenate([intercept[None], tables])
    cell = 1 << (point.bits - GRID_BITS)
    low, high = (entries - radius + cell // 2) // cell, (entries + radius + cell // 2) // cell
    return low if (low == high).all() else None


def _norm(point: Point) -> int:
    return isqrt(int((point.gradient**2).sum())) + 1


def _noise_bounds(problem: Problem) -> tuple[Integers, Integers]:
    """The noise on all parameters, in units of ``2**-noise.bits``."""
    bounds = problem.noise.bounds()
    ordered = sorted(zip(problem.calibration.order, bounds, strict=True), key=lambda one: one[0])
    low = np.concatenate([low for _, (low, _) in ordered])
    return low, np.concatenate([high for _, (_, high) in ordered])


def _middle(problem: Problem) -> Integers:
    """The middle of the noise's bounds, in units of half their own."""
    low, high = _noise_bounds(problem)
    return low + high


def _centered(gradient: Integers, design: Design) -> Integers:
    parts = []
    for start, size in zip(design.starts, design.sizes, strict=True):
        part = gradient[start : start + size]
        parts.append((part * size - part.sum(axis=0)) // size if size > 1 else part)
    return np.concatenate(parts)


def _balanced(parameters: Integers, design: Design) -> Integers:
    """Tables that are centered to the last unit: the minimum is sought among these only."""
    balanced = parameters.copy()
    for start, size in zip(design.starts, design.sizes, strict=True):
        if size > 1:
            balanced[start] -= parameters[start : start + size].sum(axis=0)
    return balanced


def _to_integers(values: NDArray[np.float64], bits: int) -> Integers:
    integers = np.empty(values.shape, object)
    integers[...] = [[_scaled(float(v), bits) for v in row] for row in values]
    return integers


def _scaled(value: float, bits: int) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << bits) // denominator
