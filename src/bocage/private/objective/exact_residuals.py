"""Residuals to as many binary digits as it takes: for the rare fit that floating point leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.private.term_rows import Chunk
from bocage.private.terms import Design

PRECISE_BITS = 120
_SPARE = 14  # decimal digits beyond those of a unit and of a score


def precise_error(columns: int, fraction: int = PRECISE_BITS) -> Fraction:
    """How far one residual of one row can be from the true one: decimals round far below a unit."""
    return Fraction(1, 2**fraction) + Fraction(columns + 18, 10 ** (_digits(fraction) - 1))


def precise_residuals(
    chunks: Iterator[Chunk],
    design: Design,
    tables: NDArray[Any],
    prior: NDArray[Any],
    bits: int,
    *,
    fraction: int = PRECISE_BITS,
) -> tuple[NDArray[Any], int]:
    """Sums of residuals in units of ``2**-fraction``, and the number of rows.

    `tables` and `prior` are Python integers of ``2**-bits``. Equal rows are computed once.
    """
    sums = np.zeros((design.fine, design.columns), object)
    rows, largest = 0, int(np.abs(prior).max()) + len(design.blocks) * int(np.abs(tables).max())
    with localcontext(prec=_digits(fraction) + len(str(largest >> bits))):
        for cells, labels in chunks:
            rows += len(labels)
            lines = np.vstack([cells, labels[None]]).astype(np.uint16)
            kinds, counts = np.unique(lines, axis=1, return_counts=True)
            for kind, count in zip(kinds.T, counts.tolist(), strict=True):
                at = kind[:-1] + design.offsets
                scores = [Decimal(int(s)) / (1 << bits) for s in prior + tables[at].sum(axis=0)]
                residuals = np.array(_residuals(scores, int(kind[-1]), design.reference, fraction), object)
                sums[at] += residuals * count
    return sums, rows


def _digits(fraction: int) -> int:
    """Decimal digits for so many binary ones."""
    return fraction * 30103 // 100_000 + _SPARE


def _residuals(scores: list[Decimal], label: int, reference: int, fraction: int) -> list[int]:
    scores = [*([Decimal(0)] * reference), *scores]
    top = max(scores)
    weights = [(score - top).exp() for score in scores]
    total = sum(weights)
    whole = 1 << fraction
    units = [round(weight / total * whole) for weight in weights]
    units[label] -= whole
    return units[reference:]
