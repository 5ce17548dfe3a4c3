"""Passes of the additive fit over its rows: sums of residuals in fixed point, and curvature.

A row's score is the sum of one entry of each table, and its residual for a label is the probability
that the scores give to it, minus one if it is the row's own. Residuals are added as integers of
``2**-UNIT_BITS``, so that sums are exact whatever the order, and threads cannot disturb them.

The only inexact steps are the exponentials and quotients of one row. With u = 2**-53:

- Scores and their differences are exact if all entries are multiples of one power of two and no
  partial sum needs more than 53 bits; see `certify`.
- `_exp` is off by a factor within 1 ± 8u: the argument is reduced exactly up to 2**-54, the Taylor
  polynomial of degree 13 is off by less than 2**-57 on ±0.347, and evaluating it by Horner's rule
  costs less than 5u.
- A sum of at most C + 1 of them and one division add less than (C + 10) u.
- Rounding to the unit adds half a unit.

`row_error` is the sum of all that. It makes no assumption on the system's mathematical library.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.engine.codes.counting import workers
from bocage.engine.codes.kernels import compiled
from bocage.private.term_rows import CellRows, Chunk, on_all_cores

Floats = NDArray[np.float64]
Parameters = tuple[Floats, Floats]  # of an intercept, and of fine tables

UNIT_BITS = 46  # sums of as many units as a chunk has rows fit an integer of 64 bits
_SPLIT = 24  # bits
_STRIP = 2048
_UNIT = 2.0**UNIT_BITS
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # its last 20 bits are 0: products with k < 2**11 are exact
_LN2_LOW = 1.90821492927058770002e-10
_TAYLOR = tuple(1.0 / factorial(j) for j in range(13, -1, -1))
_POWERS = 2.0 ** -np.arange(1024.0)
_SMALLEST = -700.0


def row_error(columns: int) -> Fraction:
    """How far one residual of one row can be from the true one, rounding included."""
    return Fraction(1, 2 ** (UNIT_BITS + 1)) + Fraction(columns + 18, 2**53)


@compiled
def _exp(values: Any, size: Any) -> None:
    """exp of numbers that are 0 or less, in place; 0 instead of what is below exp(-700)."""
    for i in range(size):
        x = max(values[i], _SMALLEST)
        k = np.rint(x * _LOG2_E)
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        y = _TAYLOR[0]
        for j in range(1, 14):
            y = y * r + _TAYLOR[j]
        y *= _POWERS[np.int64(-k)]
        values[i] = y if values[i] >= _SMALLEST else 0.0


@compiled
def _scores(cells: Any, start: Any, stop: Any, offsets: Any, tables: Any, prior: Any, scores: Any) -> None:
    for c in range(len(prior)):
        for i in range(stop - start):
            scores[c, i] = prior[c]
        for b in range(len(cells)):
            shift = offsets[b]
            for i in range(stop - start):
                scores[c, i] += tables[shift + cells[b, start + i], c]


@compiled
def _normalize(p: Any, columns: Any, size: Any, reference: Any) -> None:
    """Scores to probabilities, in place. With a reference one more label has score 0."""
    top, total = p[columns], p[columns + 1]
    for i in range(size):
        largest = 0.0 if reference else p[0, i]
        for c in range(columns):
            largest = max(largest, p[c, i])
        top[i] = largest
    for c in range(columns):
        for i in range(size):
            p[c, i] -= top[i]
        _exp(p[c], size)
    for i in range(size):
        top[i] = -top[i]
    _exp(top, size)
    for i in range(size):
        total[i] = top[i] if reference else 0.0
        for c in range(columns):
            total[i] += p[c, i]
        for c in range(columns):
            p[c, i] /= total[i]


@compiled
def add_residuals(cells: Any, labels: Any, offsets: Any, tables: Any, prior: Any, reference: Any, sums: Any) -> None:
    """Add the residuals of at most CHUNK rows to the integers of their cells."""
    columns = len(prior)
    p = np.empty((columns + 2, _STRIP))
    units = np.empty(_STRIP, np.int64)
    for start in range(0, len(labels), _STRIP):
        stop = min(start + _STRIP, len(labels))
        _scores(cells, start, stop, offsets, tables, prior, p)
        _normalize(p, columns, stop - start, reference)
        for c in range(columns):
            own = c + reference
            for i in range(stop - start):
                whole = np.int64(labels[start + i] == own) << UNIT_BITS
                units[i] = np.int64(np.rint(p[c, i] * _UNIT)) - whole
            for b in range(len(cells)):
                shift = offsets[b]
                for i in range(stop - start):
                    sums[shift + cells[b, start + i], c] += units[i]


@compiled
def add_curvature(
    cells: Any, offsets: Any, tables: Any, prior: Any, reference: Any, which: Any, curvature: Any
) -> None:
    """Add p_c ([c = d] - p_d) to the lower triangle of the matrix of each pair (c, d) of columns."""
    columns, rows = len(prior), cells.shape[1]
    p = np.empty((columns + 2, _STRIP))
    weights = np.empty(_STRIP)
    for start in range(0, rows, _STRIP):
        stop = min(start + _STRIP, rows)
        _scores(cells, start, stop, offsets, tables, prior, p)
        _normalize(p, columns, stop - start, reference)
        for m in range(len(which)):
            c, d = which[m]
            for i in range(stop - start):
                weights[i] = p[c, i] * (np.float64(c == d) - p[d, i])
            for b in range(len(cells)):
                for a in range(b + 1):
                    for i in range(stop - start):
                        row = offsets[b] + cells[b, start + i]
                        column = offsets[a] + cells[a, start + i]
                        curvature[m, row, column] += weights[i]


@compiled
def add_curved(
    cells: Any,
    offsets: Any,
    tables: Any,
    prior: Any,
    turns: Any,
    turn: Any,
    reference: Any,
    sums: Any,
) -> None:
    """Add p_c (t_c - sum_d p_d t_d), where t are the scores that a direction gives to a row.

    A direction has tables and an intercept of its own. The sums are the curvature times it.
    """
    columns, rows = len(prior), cells.shape[1]
    p, t = np.empty((columns + 2, _STRIP)), np.empty((columns, _STRIP))
    for start in range(0, rows, _STRIP):
        stop = min(start + _STRIP, rows)
        _scores(cells, start, stop, offsets, tables, prior, p)
        _normalize(p, columns, stop - start, reference)
        _scores(cells, start, stop, offsets, turns, turn, t)
        for i in range(stop - start):
            mean = 0.0
            for c in range(columns):
                mean += p[c, i] * t[c, i]
            for c in range(columns):
                t[c, i] = p[c, i] * (t[c, i] - mean)
        for b in range(len(cells)):
            shift = offsets[b]
            for c in range(columns):
                for i in range(stop - start):
                    sums[shift + cells[b, start + i], c] += t[c, i]


class FitRows(CellRows):
    """The rows of an additive fit, and what a pass over them adds up."""

    def residuals(self, tables: Floats, prior: Floats) -> tuple[NDArray[Any], int]:
        """Exact sums of the rounded residuals, as Python integers, and the number of rows seen."""
        design = self._design
        shape = (design.fine, design.columns)
        high, low = np.zeros(shape, np.int64), np.zeros(shape, np.int64)

        def work(chunk: Chunk) -> tuple[NDArray[np.int64], int]:
            sums = np.zeros(shape, np.int64)
            add_residuals(*chunk, design.offsets, tables, prior, design.reference, sums)
            return sums, len(chunk[1])

        rows = 0
        for sums, seen in self._each(work, self.chunks()):
            high += sums >> _SPLIT
            low += sums & ((1 << _SPLIT) - 1)
            rows += seen
        return high.astype(object) * (1 << _SPLIT) + low.astype(object), rows

    def curvature(self, tables: Floats, prior: Floats, which: list[tuple[int, int]], sample: int) -> Floats:
        """About the second derivatives of the loss, a matrix of fine cells for each pair of columns.

        From about `sample` rows, evenly spread over the table, which may be sorted: it only steers
        the search.
        """
        design = self._design
        pairs = np.array(which, np.int64)
        stride = max(-(-self.rows // sample), 1)
        passed, parts = 0, [np.zeros((len(design.blocks), 0), np.uint8)]
        for cells, _ in self.chunks():
            parts.append(np.ascontiguousarray(cells[:, -passed % stride :: stride]))
            passed += cells.shape[1]
        taken = np.concatenate(parts, axis=1)

        def work(part: NDArray[Any]) -> Floats:
            sums = np.zeros((len(which), design.fine, design.fine))
            add_curvature(
                np.ascontiguousarray(part),
                design.offsets,
                tables,
                prior,
                design.reference,
                pairs,
                sums,
            )
            return sums

        whole = np.zeros((len(which), design.fine, design.fine))
        for sums in on_all_cores(work, iter(np.array_split(taken, workers(), axis=1))):
            whole += sums
        whole += np.tril(whole, -1).transpose(0, 2, 1)
        whole *= self.rows / max(taken.shape[1], 1)
        return whole

    def curved(self, at: Parameters, direction: Parameters) -> Floats:
        """About the second derivatives of the loss times a direction, from all rows."""
        design = self._design
        tables, turns = np.ascontiguousarray(at[1]), np.ascontiguousarray(direction[1])

        def work(chunk: Chunk) -> Floats:
            sums = np.zeros((design.fine, design.columns))
            add_curved(chunk[0], design.offsets, tables, at[0], turns, direction[0], design.reference, sums)
            return sums

        whole = np.zeros((design.fine, design.columns))
        for sums in self._each(work, self.chunks()):
            whole += sums
        return whole
