"""How the codes of a column are put together to cells: runs of equal length, or cut explicitly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bocage.schema import Attribute, Categorical, Schema

Cuts = tuple[int, ...]  # where each cell but the first begins; none for runs of equal length


def starts_of(column: Attribute, cells: int, cuts: Cuts = ()) -> Cuts:
    """The code at which each cell but the first begins."""
    return cuts or tuple(-(-i * column.cells // cells) for i in range(1, cells))


def fits(column: Attribute, cells: int, cuts: Cuts) -> bool:
    """Whether a column can be cut in this way: a categorical one keeps its values apart."""
    if isinstance(column, Categorical):
        return cells == column.cells and not cuts
    rising = all(a < b for a, b in pairwise((0, *cuts, column.cells)))
    return 1 <= cells <= column.cells and (not cuts or (len(cuts) == cells - 1 and rising))


def lookup(
    schema: Schema, columns: Sequence[str], cells: Sequence[int], cuts: Sequence[Cuts]
) -> list[NDArray[np.int64]]:
    """For each column the cell of each code."""
    return [
        np.searchsorted(starts_of(schema[name], size, begins), np.arange(schema[name].cells), "right")
        for name, size, begins in zip(columns, cells, cuts or ((),) * len(columns), strict=True)
    ]
