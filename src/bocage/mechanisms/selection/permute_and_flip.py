"""Permute-and-flip (McKenna and Sheldon 2020): never worse than the exponential mechanism.

The published mechanism visits the candidates in random order, flips for each a coin that shows
heads with probability exp(-rate * gap), and returns the first candidate with heads. The coins do
not depend on the order, so all of them may be flipped first; the first heads in random order is
then a uniform choice among the heads. The best candidate has heads for certain: no second round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms.base import Contest, IntArray
from bocage.mechanisms.bernoulli import bernoulli_exp
from bocage.mechanisms.rng import Randomness
from bocage.mechanisms.selection.contests import Batch, batches


def select_permute_and_flip(contests: Sequence[Contest], source: Randomness) -> IntArray:
    """Select one candidate of each contest by permute-and-flip, exactly.

    Weights may be 0 (excluded) or 1; another base measure needs the exponential mechanism.

    Privacy
    -------
    Each contest is epsilon-differentially private if `rate` is epsilon over the range of the
    scores; see `Contest`. Contests over the same records add up.
    """
    selected = np.empty(len(contests), dtype=np.int64)
    for batch in batches(contests):
        if batch.weights.max() > 1:
            raise ValueError("permute-and-flip knows no weights but 0 and 1: use the exponential mechanism")
        selected[batch.members] = _select(batch, source)
    return selected


def _select(batch: Batch, source: Randomness) -> IntArray:
    starts = batch.starts[:-1]
    heads = np.zeros(len(batch.gaps), dtype=np.bool_)
    eligible = np.flatnonzero(batch.weights)
    heads[eligible] = bernoulli_exp(
        _product(batch.gaps[eligible], batch.rate.numerator), batch.rate.denominator, source
    )
    counts = np.add.reduceat(heads, starts, dtype=np.int64)
    first = np.cumsum(counts) - counts
    return np.flatnonzero(heads)[first + source.below_each(counts)] - starts


def _product(gaps: NDArray[np.uint64], numerator: int) -> NDArray[Any]:
    if max(1, int(gaps.max())) * numerator < 1 << 64:
        return gaps * np.uint64(numerator)
    return gaps.astype(object) * numerator
