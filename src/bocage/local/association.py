"""Which interval a record is counted in: Agrawal & Srikant (2000), "Partitioning the Data".

The reconstruction says how many records of a class lie in each interval, not which. Numbers are
associated by sorting: the lowest answers belong to the first interval, and so on. Categories have no
order; there as many records as possible keep the value that they sent, and those of values that were
sent too often fill up the values that were sent too seldom. Neither says what a person has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Association:
    """Where the records of a group that sent an answer lie; see `tree_kernels.associate`.

    Parameters
    ----------
    first, size
        Groups x answers: the stretch of a line on which these records lie.
    line
        Groups x answers: which line of `bounds` it is.
    bounds
        The ends of the intervals on each line.
    """

    first: Floats
    size: NDArray[np.int64]
    line: NDArray[np.int64]
    bounds: Floats


def by_order(counts: NDArray[np.int64], estimated: Floats) -> Association:
    """Sort the records of every group by their answers; fill the intervals from the lowest on.

    Parameters
    ----------
    counts
        Groups x answers: how many records sent each answer.
    estimated
        Groups x intervals: how many records lie in each, as reconstructed.
    """
    first = (np.cumsum(counts, axis=1) - counts).astype(np.float64)
    line = np.broadcast_to(np.arange(len(counts))[:, None], counts.shape)
    return Association(first, counts, np.ascontiguousarray(line), np.cumsum(estimated, axis=1))


def by_value(counts: NDArray[np.int64], estimated: Floats) -> Association:
    """Let as many records as possible keep the category that they sent; move the others.

    Answers and intervals are the same categories here.
    """
    size = counts.astype(np.float64)
    groups, values = size.shape
    kept = np.minimum(size, estimated)
    short = estimated - kept
    missing = short.sum(axis=1, keepdims=True)
    shares = np.divide(short, missing, out=np.zeros_like(short), where=missing > 0)
    moved = (size - kept)[:, :, None] * shares[:, None, :]
    moved[:, np.arange(values), np.arange(values)] += kept
    bounds = np.cumsum(moved, axis=2).reshape(groups * values, values)
    line = np.arange(groups * values).reshape(groups, values)
    return Association(np.zeros_like(size), counts, line, bounds)
