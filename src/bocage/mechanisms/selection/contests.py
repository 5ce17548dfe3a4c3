"""Many contests of one rate laid end to end, so that they are decided together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bocage.errors import EpsilonError
from bocage.mechanisms.base import Contest, IntArray


@dataclass(frozen=True)
class Batch:
    """Contests of one rate: candidates of contest c are at starts[c] .. starts[c + 1] - 1."""

    rate: Fraction
    members: IntArray  # which of the contests asked for
    starts: IntArray  # one more than there are contests
    gaps: NDArray[np.uint64]  # best score of the contest minus score; arbitrary at weight 0
    weights: IntArray

    def part(self, first: int, stop: int) -> Batch:
        """Return the batch of the contests first .. stop - 1."""
        begin, end = int(self.starts[first]), int(self.starts[stop])
        return Batch(
            self.rate,
            self.members[first:stop],
            self.starts[first : stop + 1] - begin,
            self.gaps[begin:end],
            self.weights[begin:end],
        )


def batches(contests: Sequence[Contest]) -> Iterator[Batch]:
    """Check contests and group them by rate."""
    groups: dict[Fraction, list[int]] = {}
    for i, contest in enumerate(contests):
        groups.setdefault(contest.rate, []).append(i)
    for rate, members in groups.items():
        if rate <= 0:
            raise EpsilonError(f"the rate of a selection must be greater than 0, not {rate}.")
        yield _batch(rate, members, [contests[i] for i in members])


def _batch(rate: Fraction, members: list[int], contests: list[Contest]) -> Batch:
    sizes = np.array([len(contest.scores) for contest in contests], dtype=np.int64)
    if not sizes.all():
        raise ValueError("a contest needs at least one candidate")
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    scores = np.concatenate([contest.scores for contest in contests]).astype(np.int64, copy=False)
    weights = np.ones(len(scores), dtype=np.int64)
    for start, contest in zip(starts[:-1].tolist(), contests, strict=True):
        if contest.weights is not None:
            weights[start : start + len(contest.scores)] = contest.weights
    if weights.min() < 0 or not np.maximum.reduceat(weights, starts[:-1]).all():
        raise ValueError("weights must be 0 or more, and one of each contest greater than 0")
    eligible = np.where(weights > 0, scores, np.iinfo(np.int64).min)
    best = np.repeat(np.maximum.reduceat(eligible, starts[:-1]), sizes)
    # Unsigned subtraction wraps around to the true gap, which may not fit a signed integer.
    gaps = best.view(np.uint64) - scores.view(np.uint64)
    return Batch(rate, np.array(members, dtype=np.int64), starts, gaps, weights)
