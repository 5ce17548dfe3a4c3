"""The search for the minimum of a penalized, perturbed logistic loss, in floating point.

Nothing here is a claim: where the search ends is only a proposal, which `certify` examines. The
method is L-BFGS (Nocedal 1980) preconditioned by the curvature at a few points; for two labels that
is Newton's method at those points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.private.cells import CellRows
from bocage.private.design import PENALTY_BITS, Calibration, Design
from bocage.private.residuals import UNIT_BITS

Floats = NDArray[np.float64]
STEPS_TWO_LABELS, STEPS = 12, 48  # always taken, so that their number tells nothing
# At these steps curvature is looked at, on so many rows.
_CURVATURE_AT = {0: 2**13, 2: 2**14, 5: 2**16, 12: 2**16, 24: 2**17}
_MEMORY = 12
_ENOUGH = 0.25  # of the slope may remain, uphill, after a step


class Descent:
    """Steps towards the minimum over centered tables."""

    def __init__(
        self,
        rows: CellRows,
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
                self._look_around(_CURVATURE_AT[self._taken])
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
        q = np.einsum("cij,jc->ic", self._inverses, q)
        for (moved, change, inverse), part in zip(self._pairs, reversed(kept), strict=True):
            q += moved * (part - inverse * float((change * q).sum()))
        return q

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

    def _look_around(self, sample: int) -> None:
        design = self._design
        intercept, tables = design.expand(self.at)
        fine = self._rows.curvature(np.ascontiguousarray(tables), self._prior + intercept, sample)
        matrices = []
        for one in fine:
            rows = self._centered(design.collect(one))
            matrix = self._centered(design.collect(np.ascontiguousarray(rows.T)))
            matrix[np.diag_indices_from(matrix)] += self._penalty[:, 0]
            matrices.append(matrix)
        self._inverses = np.linalg.inv(np.stack(matrices))
        self._pairs = []


def to_float(values: NDArray[Any], bits: int) -> Floats:
    """Python integers of ``2**-bits`` as floating-point numbers, each rounded once."""
    one = 1 << bits
    return np.array([int(v) / one for v in values.ravel()], np.float64).reshape(values.shape)
