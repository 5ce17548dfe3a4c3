"""The exponential mechanism: candidate i with probability proportional to n_i exp(-rate * gap_i).

gap_i is the distance of its score from the best, n_i its public base weight. The scheme is
rejection from integer weights that are hardly too large:

1. For each candidate, integers low <= 2**P exp(-rate * gap) <= high, a few units apart, from
   integer arithmetic alone (`_Ladder`).
2. Draw an integer R uniformly below the sum of n * high over the contest. It falls on one of the n
   copies of one candidate, at a place v uniform on 0 .. high - 1.
3. Accept the candidate if v + U < 2**P exp(-rate * gap) for a fresh uniform real U: surely if
   v < low; otherwise the bits of U and tighter bounds are drawn and computed until it is settled.
   If not accepted, draw the contest again.

A candidate is thus accepted in one round with probability exactly proportional to its weight. A
round fails only on the few units between the exact weight and `high`. Since the best candidate
alone weighs 2**P, and P is chosen to exceed the bits of the sum of the n, rounds rarely fail
whatever the scores are: one good candidate among many bad ones costs what any contest costs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms.base import Contest, IntArray
from bocage.mechanisms.bounds import ceil_div, exp_bounds, power_bounds
from bocage.mechanisms.rng import Randomness
from bocage.mechanisms.selection.contests import Batch, batches

_BITS = 61  # of all n * high of a batch together, so that their running sum fits int64
_SPARE = 3  # bits by which P exceeds the bits of the sum of the n
_FEW = 32  # candidates whose weights are computed one by one sooner than by a ladder


def select_exponential(contests: Sequence[Contest], source: Randomness, bits: int = _BITS) -> IntArray:
    """Select one candidate of each contest by the exponential mechanism, exactly.

    `bits` sets how many contests go into one batch and how tight the first bounds are, not the
    distribution.

    Privacy
    -------
    Each contest is epsilon-differentially private if `rate` is epsilon over the range of the
    scores; see `Contest` (McSherry and Talwar 2007). Contests over the same records add up.
    """
    selected = np.empty(len(contests), dtype=np.int64)
    for same_rate in batches(contests):
        for batch, total in _bounded(same_rate, bits):
            if total.bit_length() <= (bits - _SPARE) // 2:
                chosen = _select(batch, bits - total.bit_length(), source)
            else:
                chosen = np.array([_select_wide(batch, total, source)])
            selected[batch.members] = chosen
    return selected


def _bounded(batch: Batch, bits: int) -> Iterator[tuple[Batch, int]]:
    """Cut into batches with a sum of weights below 2**((bits - spare) / 2), or of one contest."""
    limit = (1 << (bits - _SPARE) // 2) - 1
    sums = np.diff(batch.starts).tolist()
    if batch.weights.max() > 1:  # in Python integers, which do not overflow
        edges = zip(batch.starts[:-1].tolist(), batch.starts[1:].tolist(), strict=True)
        sums = [sum(batch.weights[a:b].tolist()) for a, b in edges]
    first = total = 0
    for i, weight in enumerate([*sums, limit + 1]):  # the extra one closes the last batch
        if i > first and total + weight > limit:
            yield batch.part(first, i), total
            first, total = i, 0
        total += weight


def _select(batch: Batch, precision: int, source: Randomness) -> IntArray:
    low, high = _bounds(batch, precision)
    ends = np.cumsum(batch.weights * high)
    begins = np.concatenate([np.zeros(1, dtype=np.int64), ends])[batch.starts]
    chosen = np.empty(len(batch.members), dtype=np.int64)
    open_ = np.arange(len(batch.members))
    while len(open_):
        place = begins[open_] + source.below_each(np.diff(begins)[open_])
        candidate = np.searchsorted(ends, place, side="right")
        place = (ends[candidate] - 1 - place) % high[candidate]
        accepted = place < low[candidate]
        for i in np.flatnonzero(~accepted).tolist():
            gap = int(batch.gaps[candidate[i]])
            accepted[i] = _accept(int(place[i]), batch.rate * gap, precision, source)
        chosen[open_[accepted]] = candidate[accepted]
        open_ = open_[~accepted]
    return chosen - batch.starts[:-1]


def _bounds(batch: Batch, precision: int) -> tuple[IntArray, IntArray]:
    if len(batch.gaps) > _FEW:
        return _ladder(batch.rate).bounds(batch.gaps, precision)
    gaps = batch.gaps.tolist()
    bounds = {gap: exp_bounds(batch.rate * gap, precision) for gap in set(gaps)}
    both = np.array([bounds[gap] for gap in gaps], dtype=np.int64)
    return both[:, 0], both[:, 1]


def _select_wide(batch: Batch, total: int, source: Randomness) -> int:
    """Decide one contest in Python integers: its weights are too large for int64."""
    precision = total.bit_length() + 64
    gaps, weights = batch.gaps.tolist(), batch.weights.tolist()
    highs = {gap: exp_bounds(batch.rate * gap, precision)[1] for gap in set(gaps)}
    ends = list(accumulate(n * highs[gap] for n, gap in zip(weights, gaps, strict=True)))
    while True:
        place = int(source.below(ends[-1], 1)[0])
        candidate = bisect_right(ends, place)
        gap = gaps[candidate]
        place = (ends[candidate] - 1 - place) % highs[gap]
        if _accept(place, batch.rate * gap, precision, source):
            return candidate


def _accept(place: int, exponent: Fraction, precision: int, source: Randomness) -> bool:
    """Tell whether place + U < 2**precision * exp(-exponent), drawing as much of U as it takes."""
    while True:
        low, high = exp_bounds(exponent, precision)
        if place < low:
            return True
        if place >= high:
            return False
        place = place << source.word_bits | int(source.words(1)[0])
        precision += source.word_bits


class _Ladder:
    """Bounds on exp(-rate * gap) for many gaps at once, in 62-bit fixed point.

    exp(-rate * gap) is the product over the digits of the gap in base 256, each from a table. A
    product of table entries, each rounded down, is a lower bound. With entries at most 2 too low, a
    product that is e too low times an entry becomes at most e + 4 too low; there are at most eight
    digits, so it is at most 30 too low.
    """

    FIXED, SLACK, DIGIT = 62, 30, 8

    def __init__(self, rate: Fraction) -> None:
        self.rate = rate
        # From here on the weight is below 2**-62 and its bounds are 0 and SLACK.
        self.far = min(ceil_div(self.FIXED * rate.denominator, rate.numerator), (1 << 64) - 1)
        self.digits = [
            np.array(self._entries(rate * (1 << place)), dtype=np.uint64)
            for place in range(0, self.far.bit_length(), self.DIGIT)
        ]

    def _entries(self, decay: Fraction) -> list[int]:
        lows, _ = power_bounds(decay, 1 << self.DIGIT, self.FIXED)
        return lows

    def bounds(self, gaps: NDArray[np.uint64], precision: int) -> tuple[IntArray, IntArray]:
        """Return integers low <= 2**precision * exp(-rate * gap) <= high, precision < 62."""
        gaps = np.minimum(gaps, np.uint64(self.far))
        digits = max(1, -(-int(gaps.max()).bit_length() // self.DIGIT))
        low = np.full(len(gaps), 1 << self.FIXED, dtype=np.uint64)
        for place, entries in enumerate(self.digits[:digits]):
            digit = (gaps >> np.uint64(place * self.DIGIT)) & np.uint64((1 << self.DIGIT) - 1)
            low = entries[digit] if place == 0 else _multiply(low, entries[digit])
        shift = np.uint64(self.FIXED - precision)
        high = ((low + np.uint64(self.SLACK)) >> shift) + np.uint64(1)
        return (low >> shift).astype(np.int64), high.astype(np.int64)


def _multiply(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return floor(a * b / 2**62) for a, b <= 2**62, by halves of 31 bits."""
    half, mask = np.uint64(31), np.uint64((1 << 31) - 1)
    a1, a0, b1, b0 = a >> half, a & mask, b >> half, b & mask
    carry = (a0 * b0) >> half
    middle: NDArray[np.uint64] = (a1 * b0 + a0 * b1 + carry) >> half
    return a1 * b1 + middle


@lru_cache(maxsize=256)
def _ladder(rate: Fraction) -> _Ladder:
    return _Ladder(rate)
