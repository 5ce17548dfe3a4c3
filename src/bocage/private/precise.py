"""Residuals to 120 binary digits, one row at a time: for the rare fit that floating point leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.private.cells import Chunk
from bocage.private.design import Design

PRECISE_BITS = 120
_DIGITS = 50


def precise_error(columns: int) -> Fraction:
    """How far one residual of one row can be from the true one: decimals round far below a unit."""
    return Fraction(1, 2**PRECISE_BITS) + Fraction(columns + 18, 10 ** (_DIGITS - 1))


def precise_residuals(
    chunks: Iterator[Chunk],
    design: Design,
    tables: NDArray[Any],
    prior: NDArray[Any],
    bits: int,
) -> tuple[NDArray[Any], int]:
    """Sums of residuals in units of ``2**-PRECISE_BITS``, and the number of rows.

    `tables` and `prior` are Python integers of ``2**-bits``. Equal rows are computed once.
    """
    sums = np.zeros((design.fine, design.columns), object)
    rows = 0
    with localcontext(prec=_DIGITS):
        for cells, labels in chunks:
            rows += len(labels)
            lines = np.vstack([cells, labels[None]]).astype(np.uint16)
            kinds, counts = np.unique(lines, axis=1, return_counts=True)
            for kind, count in zip(kinds.T, counts.tolist(), strict=True):
                at = kind[:-1] + design.offsets
                scores = [Decimal(int(s)) / (1 << bits) for s in prior + tables[at].sum(axis=0)]
                residuals = np.array(_residuals(scores, int(kind[-1]), design.reference), object)
                sums[at] += residuals * count
    return sums, rows


def _residuals(scores: list[Decimal], label: int, reference: int) -> list[int]:
    scores = [*([Decimal(0)] * reference), *scores]
    top = max(scores)
    weights = [(score - top).exp() for score in scores]
    total = sum(weights)
    whole = 1 << PRECISE_BITS
    units = [round(weight / total * whole) for weight in weights]
    units[label] -= whole
    return units[reference:]
