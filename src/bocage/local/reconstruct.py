"""The distribution of what people have, from what they sent: Agrawal & Srikant (2000), section 3.

The procedure of figure 1 with partitioning (equation 3), for any distortion that is known as a kernel:
``kernel[p, s]`` is the probability that a value of interval p is sent as an answer of interval s.
Values and answers have their own intervals, because noise leads beyond the domain. The kernel is
integrated over the intervals: with distances of mid-points, as printed, bounded noise is wrongly
weighted at its ends, and some answers have no possible value at all.

One step is a step of expectation maximization (Agrawal & Aggarwal 2001). Run to its end it fits the
noise of the sample too, and draws spikes: the paper's stopping rule is what keeps it smooth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bocage.errors import LearnerError

Floats = NDArray[np.float64]
Stop = Literal["chi_square", "convergence"]

PART_OF_THRESHOLD = 0.01  # "1 % of the threshold of the χ² test"
NORMAL_95 = 1.6448536269514722
MOST_STEPS = {"chi_square": 2_000, "convergence": 20_000}
STILL = 1e-7  # total variation of a step that is called convergence


@dataclass(frozen=True)
class Reconstruction:
    """Estimated distributions of values.

    Parameters
    ----------
    shares
        The share of every interval; one row for each row of counts.
    steps
        How many steps each of them took.
    """

    shares: Floats
    steps: NDArray[np.int64]


def reconstruct(counts: NDArray[np.int64] | Floats, kernel: Floats, stop: Stop = "chi_square") -> Reconstruction:
    """Estimate how values are distributed, from counts of answers.

    Parameters
    ----------
    counts
        How many answers lie in each interval of answers; one row for each group that is
        reconstructed by itself.
    kernel
        Values x answers: the probability of an answer, given the value; see
        :meth:`~bocage.local.Distortion.kernel`.
    stop
        ``"chi_square"``: the paper's rule, when a step changes the estimate by less than 1 % of what
        a χ² test at 95 % would notice. ``"convergence"``: when a step changes nothing any more.

    Privacy
    -------
    Post-processing of answers that were distorted before they were sent.
    """
    if stop not in MOST_STEPS:
        raise LearnerError(f'stop is "chi_square" or "convergence", not {stop!r}.')
    table = np.atleast_2d(np.asarray(counts, np.float64))
    if table.ndim != 2 or kernel.ndim != 2 or table.shape[1] != kernel.shape[1]:
        raise LearnerError(f"counts of {table.shape[-1]} intervals do not fit a kernel for {kernel.shape[-1]}.")
    sent = table.any(axis=0) & kernel.any(axis=0)  # others say nothing
    matrix, table = np.ascontiguousarray(kernel[:, sent]), table[:, sent]
    totals = table.sum(axis=1)
    groups, values = len(table), len(kernel)
    shares = np.full((groups, values), 1 / values)
    steps = np.zeros(groups, np.int64)
    limit = _limit(stop, values)
    open_ = np.flatnonzero(totals > 0)
    while len(open_):
        old = shares[open_]
        new = _step(old, table[open_], totals[open_], matrix)
        shares[open_] = new
        steps[open_] += 1
        change = totals[open_] * _chi_square(new, old) if stop == "chi_square" else np.abs(new - old).sum(axis=1) / 2
        open_ = open_[(change >= limit) & (steps[open_] < MOST_STEPS[stop])]
    return Reconstruction(shares, steps)


def threshold(freedom: int) -> float:
    """The 95 % point of χ², by Wilson & Hilferty (1931): 2 % off for 1 degree of freedom, less than
    0.1 % for 9 and more.
    """
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + NORMAL_95 * spread**0.5) ** 3)


def _limit(stop: Stop, values: int) -> float:
    if values < 2:
        return np.inf
    return PART_OF_THRESHOLD * threshold(values - 1) if stop == "chi_square" else STILL


def _step(shares: Floats, counts: Floats, totals: Floats, kernel: Floats) -> Floats:
    """Equation 3."""
    expected = shares @ kernel
    ratio = np.divide(counts, expected, out=np.zeros_like(counts), where=expected > 0)
    updated: Floats = shares * (ratio @ kernel.T) / totals[:, None]
    whole = updated.sum(axis=1, keepdims=True)  # 1, unless an answer was impossible
    return np.asarray(np.divide(updated, whole, out=shares.copy(), where=whole > 0), np.float64)


def _chi_square(new: Floats, old: Floats) -> Floats:
    gaps = (new - old) ** 2
    parts: Floats = np.divide(gaps, old, out=np.zeros_like(gaps), where=old > 0).sum(axis=1)
    return parts
