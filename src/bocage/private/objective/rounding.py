"""Rounding the true minimum of the perturbed loss, although only a point near it is known.

The loss is lambda-strongly convex: wherever the gradient is g, the minimum is within |g| / lambda. The
gradient at a proposed point is computed in integers, together with a bound on what is not known of
it: the rounding of exponentials and the digits of the noise that are not drawn yet. If the ball around
the point lies in one cell of the grid in every coordinate, the center of that cell is the rounded
minimum, exactly. Otherwise more digits are drawn and computed until it does.

Why the search ends
-------------------
Floating point proposes: first `Descent`, then steps by Newton's method. What a step is worth is
certified with the same integers. Let f be the loss, n its rows, T its tables, L = n T / 2 + (the largest
penalty) and g~ a gradient that is known to within e. Second derivatives lie between lambda and L: those
of a row are (diag(p) - p p^T) times the squares of its features, at most 1/2 times T.

1. f is convex: f(v) <= f(w) + <v - w, grad f(v)>. So <v - w, g~(v)> + |v - w| e bounds the change of f
   from above. A step is taken if that is at most -|g~(w)|**2 / 8 L, or if it halves the smallest
   gradient so far.
2. Where |g~| >= 16 e there is always such a step, v = w - g~ / 2 L: its gradient at v is g - H g~ / 2 L
   for some H <= L, so that <v - w, grad f(v)> <= -(|g~|**2 / 2 - |g~| e) / 2 L, and what the certificate
   shows is at most -(7/32 - 2/32) |g~|**2 / L. Rounding takes less than what is left above 4/32.
3. At a point with gradient g, f is above its minimum by |g|**2 / 2 lambda at most. So from a smallest
   gradient of r, while none is below r / 2, every step takes r**2 / 32 L at least from (17 r / 16)**2 / 2
   lambda: that are less than 20 L / lambda steps. To come from a gradient g_0 to 16 e takes less than 20
   (L / lambda) log2(g_0 / e) of them, and with the row cap for n that is a public number. It is a bound,
   not an estimate: Newton's method takes about ten.
4. Where |g~| < 16 e, 64 more digits of the noise and of all exponentials are computed, and the ball shrinks
   to a 2**-64 part. The minimum has a density, so it does not lie on the border of a cell: each time the
   search goes on with a probability of about 2**-64 of the time before. As in every exact draw, how many
   digits it takes is not bounded, and is never more than a few rounds.

Nothing of that decides what is released, only when: the rounded minimum is the same from every point.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms import Perturbation
from bocage.private.objective.exact_residuals import PRECISE_BITS, precise_error, precise_residuals
from bocage.private.objective.fit import GRID_BITS
from bocage.private.objective.minimizer import STEPS, STEPS_FEW_LABELS, Descent, to_float
from bocage.private.objective.residuals import UNIT_BITS, FitRows, row_error
from bocage.private.terms import PENALTY_BITS, Calibration, Design

_SIGNIFICANT = 52  # bits that partial sums of scores may need
_MORE_STEPS = 4  # of the descent, before the next look
_FAR = 16  # errors; nearer to nothing, a gradient has too few digits
_ABOUT, _CLOSE = (
    1e-8,
    1e-24,
)  # what a step leaves of a square; digits cost more than a good direction
_HALVINGS = 12  # of a step by Newton's method, until the gradient is followed
Integers = NDArray[Any]  # Python integers


@dataclass(frozen=True)
class Problem:
    """What is minimized: the loss of the rows, penalties, noise. `prior` counts 2**-GRID_BITS."""

    rows: FitRows
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


@np.errstate(all="ignore")  # floating point only proposes
def rounded_minimum(problem: Problem) -> Integers:
    """Intercept and fine tables of the true minimum, rounded to the grid."""
    design = problem.design
    prior = problem.prior / 2.0**GRID_BITS
    noise = to_float(_middle(problem), problem.noise.bits + 1)
    descent = Descent(problem.rows, design, problem.calibration, prior, noise)
    descent.run(STEPS_FEW_LABELS if design.reference else STEPS)
    before = inf
    while True:
        if (place := _with_few_bits(problem, descent.at)) is None:
            place = np.zeros(descent.at.shape, np.int64).astype(object), GRID_BITS
            return _surely(problem, descent, _examine(problem, *place))
        point = _examine(problem, *place)
        if (minimum := _rounded(point, problem)) is not None:
            return minimum
        norm = to_float(np.array([_norm(point)], object), point.unit)[0]
        if norm > before / 2:
            return _surely(problem, descent, point)
        before = norm
        descent.run(_MORE_STEPS)


def _surely(problem: Problem, descent: Descent, point: Point) -> Integers:
    """The same from any point, where the descent has come to its end; the module says why it ends."""
    digits, nearest = 0, _size(point)
    while True:
        if (minimum := _rounded(point, problem)) is not None:
            return minimum
        there = None
        if _norm(point) >= _FAR * point.error:
            there = _step(problem, descent, point, digits, nearest)
        if there is None:
            problem.noise.refine()
            digits = max(PRECISE_BITS, problem.noise.bits)
            finer = digits + (64 * steepest(problem) * point.parameters.size).bit_length()
            moved = point.parameters * (1 << (finer - point.bits))
            there = _examine(problem, moved, finer, digits)
            nearest = _size(there)
        point, nearest = there, min(nearest, _size(there))


def _step(problem: Problem, descent: Descent, point: Point, digits: int, nearest: Fraction) -> Point | None:
    """A point that is certainly better: by Newton's method, or down the gradient.

    None only where floating point has too few digits for it.
    """
    at, gradient = to_float(point.parameters, point.bits), to_float(point.gradient, point.unit)
    towards = descent.newton(at, gradient, _CLOSE if digits else _ABOUT)
    for length in 2.0 ** -np.arange(_HALVINGS) if np.isfinite(towards).all() else ():
        if digits:
            moved = point.parameters - _to_integers(length * towards, point.bits)
            there = _examine(problem, _balanced(moved, problem.design), point.bits, digits)
        elif place := _with_few_bits(problem, at - length * towards):
            there = _examine(problem, *place)
        else:
            continue
        if _better(problem, point, there, nearest):
            return there
    if not digits:
        return None
    down = (point.gradient << point.bits) // (2 * steepest(problem) << point.unit)
    moved = _balanced(point.parameters - down, problem.design)
    there = _examine(problem, moved, point.bits, digits)
    return there if _better(problem, point, there, nearest) else None


def _better(problem: Problem, point: Point, there: Point, nearest: Fraction) -> bool:
    """Whether a step is certain to lead far enough down, or near enough."""
    if 2 * _size(there) <= nearest:
        return True
    finer = max(point.bits, there.bits)
    moved = there.parameters * (1 << (finer - there.bits))
    moved = moved - point.parameters * (1 << (finer - point.bits))
    length = isqrt(int((moved**2).sum())) + 1
    rise = Fraction(int((moved * there.gradient).sum()) + length * there.error, 1 << (finer + there.unit))
    return -rise >= _size(point) ** 2 / (8 * steepest(problem))


def steepest(problem: Problem) -> int:
    """No second derivative of the loss is larger."""
    largest = max(problem.calibration.penalties) >> PENALTY_BITS
    return problem.rows.rows * len(problem.design.sizes) // 2 + largest + 2


def _with_few_bits(problem: Problem, parameters: NDArray[np.float64]) -> tuple[Integers, int] | None:
    """The point on so coarse a grid that adding up its scores, or subtracting them, rounds nothing.

    None if floating point has no such grid, or no such point.
    """
    design, bits = problem.design, _SIGNIFICANT
    if not np.isfinite(parameters).all():
        return None
    while bits >= GRID_BITS:
        point = _balanced(_to_integers(parameters, bits), design)
        largest = int(np.abs(problem.prior).max()) << (bits - GRID_BITS)
        for start, size in zip(design.starts, design.sizes, strict=True):
            largest += np.abs(point[start : start + size]).max()
        if 2 * largest <= 1 << _SIGNIFICANT:
            return point, bits
        bits -= (2 * largest).bit_length() - _SIGNIFICANT
    return None


def _examine(problem: Problem, parameters: Integers, bits: int, digits: int = 0) -> Point:
    """The gradient at a point, with all that is not known of it.

    Residuals have so many binary digits; by floating point if that is 0.
    """
    design = problem.design
    intercept, tables = design.expand(parameters)
    prior = problem.prior.astype(object) * (1 << (bits - GRID_BITS)) + intercept
    if digits:
        chunks = problem.rows.chunks()
        sums, rows = precise_residuals(chunks, design, tables, prior, bits, fraction=digits)
        fraction, each = digits, precise_error(design.columns, digits)
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
    undrawn = Fraction(isqrt(int(((high - low) ** 2).sum())) + 1, 1 << problem.noise.bits)
    rest = isqrt(gradient.size) + 1  # centering rounds every entry by less than a unit
    error = int((loss + undrawn) * (1 << unit)) + 1 + rest
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


def _size(point: Point) -> Fraction:
    """The norm of its gradient, as far as it is known."""
    return Fraction(_norm(point), 1 << point.unit)


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
