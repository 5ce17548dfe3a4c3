"""The search for the minimum of a penalized, perturbed logistic loss, in floating point.

Nothing here is a claim: where the search ends is only a proposal, which `certify` examines. The
method is L-BFGS (Nocedal 1980) preconditioned by the curvature at a few points; for two labels that
is Newton's method at those points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.private.objective.residuals import UNIT_BITS, FitRows
from bocage.private.terms import PENALTY_BITS, Calibration, Design

Floats = NDArray[np.float64]
STEPS_FEW_LABELS, STEPS = 14, 32  # always taken, so that their number tells nothing
# At these steps curvature is looked at, on so many rows.
_CURVATURE_AT = {0: 2**13, 2: 2**14, 5: 2**16, 12: 2**16, 24: 2**17}
_CLOSELY = 2**20
_MOST_INCREMENTS, _LEAST_SAMPLE = 2**25, 2**12
_MEMORY = 12
_MOST_TURNS = 200  # of conjugate gradients
_ENOUGH = 0.25  # of the slope may remain, uphill, after a step


class Descent:
    """Steps towards the minimum over centered tables."""

    def __init__(
        self,
        rows: FitRows,
        design: Design,
        calibration: Calibration,
        prior: Floats,
        noise: Floats,
    ) -> None:
        self._rows, self._design, self._prior, self._noise = rows, design, prior, noise
        penalties = np.array(calibration.penalties) / 2.0**PENALTY_BITS
        self._penalty = design.spread_over(penalties)[:, None]
        self.at = np.zeros((sum(design.sizes), design.columns))
        self._gradient = self._slope(self.at)
        self._taken = 0
        self._pairs: list[tuple[Floats, Floats, float]] = []

    def run(self, steps: int) -> None:
        for _ in range(steps):
            if self._taken in _CURVATURE_AT:
                self.look_around(_CURVATURE_AT[self._taken])
            self._step()
            self._taken += 1

    def direction(self, gradient: Floats) -> Floats:
        """How far the minimum is from where the gradient is this, about."""
        q: Floats
        q, kept = gradient.copy(), []
        for moved, change, inverse in reversed(self._pairs):
            part = inverse * float((moved * q).sum())
            kept.append(part)
            q -= part * change
        q = self._conditioned(q)
        for (moved, change, inverse), part in zip(self._pairs, reversed(kept), strict=True):
            q += moved * (part - inverse * float((change * q).sum()))
        return q

    def newton(self, at: Floats, gradient: Floats, remains: float) -> Floats:
        """How far the minimum is from a point with this gradient, by conjugate gradients.

        Curvature is that of all rows and all labels together, to which no matrix is made. The inverses
        at hand, which know each label by itself where there are many, tell it where to begin. It ends
        where so much of the square of the gradient `remains`.
        """
        self.at = at
        self.look_around()
        step, left = np.zeros(at.shape), gradient
        towards = better = self._conditioned(left)
        now = first = float((left * better).sum())
        for _ in range(_MOST_TURNS):
            curved = self._curved(towards)
            along = float((towards * curved).sum())
            if not (along > 0 and now > remains * first):
                break
            step = step + now / along * towards
            left = left - now / along * curved
            better = self._conditioned(left)
            before, now = now, float((left * better).sum())
            towards = better + now / before * towards
        return step

    def _conditioned(self, gradient: Floats) -> Floats:
        """The inverses at hand times a gradient."""
        parts = gradient.T.reshape(len(self._inverses), -1)
        times: Floats = np.einsum("cij,cj->ci", self._inverses, parts)
        return times.reshape(gradient.T.shape).T

    def _curved(self, direction: Floats) -> Floats:
        """The second derivatives where the search is, times a direction over centered tables."""
        intercept, tables = self._design.expand(self.at)
        curved = self._rows.curved((self._prior + intercept, tables), self._design.expand(direction))
        return self._centered(self._design.collect(curved)) + self._penalty * direction

    def look_around(self, sample: int = _CLOSELY) -> None:
        """Take the curvature from here, and forget what was seen on the way."""
        design, columns = self._design, self._design.columns
        # With few labels their curvature is taken together, else each label's on its own.
        joint = bool(design.reference)
        which = [(c, d) for c in range(columns) for d in range(c + 1) if joint or c == d]
        pairs = len(design.blocks) * (len(design.blocks) + 1) // 2 * len(which)
        sample = min(sample, max(_MOST_INCREMENTS // pairs, _LEAST_SAMPLE))
        intercept, tables = design.expand(self.at)
        prior = self._prior + intercept
        fine = self._rows.curvature(np.ascontiguousarray(tables), prior, which, sample)
        size = len(self.at)
        whole = np.zeros((1, columns * size, columns * size) if joint else (columns, size, size))
        for (c, d), one in zip(which, fine, strict=True):
            rows = self._centered(design.collect(one))
            matrix = self._centered(design.collect(np.ascontiguousarray(rows.T)))
            if joint:
                whole[0, c * size : (c + 1) * size, d * size : (d + 1) * size] = matrix
                whole[0, d * size : (d + 1) * size, c * size : (c + 1) * size] = matrix
            else:
                whole[c] = matrix
        places = np.arange(whole.shape[1])
        whole[:, places, places] += np.tile(self._penalty[:, 0], len(places) // size)
        try:
            self._inverses = np.linalg.inv(whole)
        except np.linalg.LinAlgError:  # to within rounding
            diagonal = np.maximum(whole[:, places, places], 1e-300)
            self._inverses = np.eye(len(places)) / diagonal[:, None]
        self._pairs = []

    def _step(self) -> None:
        step = -self.direction(self._gradient)
        slope = float((step * self._gradient).sum())
        length = 1.0
        for _ in range(30):
            there = self.at + length * step
            gradient = self._slope(there)
            after = float((step * gradient).sum())
            if after <= _ENOUGH * abs(slope):
                break
            length *= abs(slope) / (abs(slope) + after)  # where the slope would vanish if linear
        self._remember(there - self.at, gradient - self._gradient)
        self.at, self._gradient = there, gradient

    def _remember(self, moved: Floats, change: Floats) -> None:
        product = float((moved * change).sum())
        size = float(np.sqrt((moved**2).sum() * (change**2).sum()))
        if product > 1e-6 * size and size > 1e-18:  # else rounding is all that is seen
            self._pairs = [*self._pairs[-_MEMORY:], (moved, change, 1 / product)]

    def _slope(self, parameters: Floats) -> Floats:
        design = self._design
        intercept, tables = design.expand(parameters)
        sums, _ = self._rows.residuals(np.ascontiguousarray(tables), self._prior + intercept)
        loss = design.collect(sums.astype(np.float64)) / 2.0**UNIT_BITS
        return self._centered(loss + self._noise) + self._penalty * parameters

    def _centered(self, gradient: Floats) -> Floats:
        """Subtract from every table its mean; the intercept stays."""
        sizes = np.array(self._design.sizes)
        means = np.add.reduceat(gradient, self._design.starts, axis=0) / sizes[:, None]
        means[sizes == 1] = 0.0
        centered: Floats = gradient - np.repeat(means, sizes, axis=0)
        return centered


def to_float(values: NDArray[Any], bits: int) -> Floats:
    """Python integers of ``2**-bits`` as floating-point numbers, each rounded once."""
    one = 1 << bits
    return np.array([int(v) / one for v in values.ravel()], np.float64).reshape(values.shape)
