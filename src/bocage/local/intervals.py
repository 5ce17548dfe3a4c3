"""Intervals of values and of answers, and how the one become the other.

Agrawal & Srikant (2000), section 4.2: as many intervals as give 100 records each, but 10 to 100. The
answers have intervals of the same width on a grid of their own, which reaches as far as they do. Of fewer
records a reconstruction follows the noise, which is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bocage.errors import LearnerError
from bocage.local.distortion import Distortion
from bocage.local.kernel import Edges, Kernel
from bocage.schema import Attribute, Categorical

RECORDS_PER_INTERVAL = 100
FEWEST, MOST = 10, 100
MOST_VALUES = 2048  # of a category
MOST_ANSWERS = 4096  # intervals of answers


class FewRecords(UserWarning):
    """There are too few records to reconstruct a distribution from."""


def few_records(records: int, intervals: int) -> str:
    """What to say, and to do, about so few records; nothing if there are enough."""
    needed = RECORDS_PER_INTERVAL * intervals
    if records >= needed:
        return ""
    return (
        f"{records} records in {intervals} intervals are too few to reconstruct a distribution: "
        f"{RECORDS_PER_INTERVAL} in each are needed. Collect {needed} records, or ask for fewer "
        "intervals; what is found may follow the noise."
    )


def number_of_intervals(records: int) -> int:
    """The paper's rule: an average of 100 records in an interval, 10 to 100 intervals."""
    return min(max(records // RECORDS_PER_INTERVAL, FEWEST), MOST)


@dataclass(frozen=True)
class Intervals:
    """The partition of one attribute.

    Parameters
    ----------
    edges
        Interval i of the values holds the codes ``edges[i] .. edges[i + 1] - 1``.
    place
        The interval of every answer, from the lowest that can be sent on.
    kernel
        Values x answers: the probability of an answer, given the value.
    """

    edges: Edges
    place: NDArray[np.int64]
    kernel: Kernel

    @property
    def answers(self) -> int:
        """Number of intervals of the answers."""
        return int(self.kernel.shape[1])


def partition(attribute: Attribute, distortion: Distortion, intervals: int) -> Intervals:
    """Part the values of an attribute and the answers to it.

    Categories, and numbers on a coarse grid, have an interval for each.
    """
    if intervals < 2:
        raise LearnerError(f"a partition has two intervals at least, not {intervals}.")
    cells, sent = attribute.cells, distortion.outputs(attribute)
    if isinstance(attribute, Categorical) and cells > MOST_VALUES:
        raise LearnerError(
            f"{attribute.name!r} has {cells} values; up to {MOST_VALUES} can be reconstructed. Group "
            "them in the schema, or leave the attribute out."
        )
    whole = isinstance(attribute, Categorical) or cells <= intervals
    edges = np.arange(cells + 1) if whole else starts(np.arange(intervals + 1), cells, intervals)
    codes = np.arange(sent.start, sent.stop)
    each = whole or len(sent) <= intervals
    interval = codes - sent.start if each else codes * intervals // cells
    interval -= interval[0]
    if interval[-1] >= MOST_ANSWERS:  # noise that reaches very far: neighbors are counted together
        interval = interval * MOST_ANSWERS // (interval[-1] + 1)
    first = np.flatnonzero(np.diff(interval, prepend=-1))
    ends = np.append(codes[first], sent.stop)
    return Intervals(
        edges,
        np.searchsorted(first, np.arange(len(codes)), side="right") - 1,
        distortion.kernel(attribute, edges, ends),
    )


def starts(numbers: NDArray[np.int64], cells: int, intervals: int) -> Edges:
    """The first code whose interval, ``code * intervals // cells``, is the given one."""
    return -(-numbers * cells // intervals)
