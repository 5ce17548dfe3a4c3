"""From what was true to what is sent: probabilities in floating point, for reconstruction.

Intervals are given by their edges: interval i holds the codes ``edges[i] .. edges[i + 1] - 1``.
A kernel has a row for each interval of true codes and a column for each interval of sent codes;
the true code is taken to be uniform within its interval. A row adds up to 1 if the columns cover
all codes that can be sent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocage.errors import SurveyError
from bocage.mechanisms.local_tables import WHOLE, LocalTable

Kernel = NDArray[np.float64]
Edges = NDArray[np.int64]


def edges_within(edges: ArrayLike | None, codes: range, what: str) -> Edges:
    """Edges of intervals inside `codes`; by default each code is an interval of its own."""
    if edges is None:
        return np.arange(codes.start, codes.stop + 1, dtype=np.int64)
    array = np.asarray(edges)
    if array.ndim != 1 or len(array) < 2 or not np.issubdtype(array.dtype, np.integer):
        raise SurveyError(f"the edges of {what} codes are at least two whole numbers.")
    if (np.diff(array) <= 0).any() or array[0] < codes.start or array[-1] > codes.stop:
        raise SurveyError(f"the edges of {what} codes must grow and lie within {codes.start} .. {codes.stop}.")
    return array.astype(np.int64)


def additive_kernel(table: LocalTable, inputs: Edges, outputs: Edges, sent: range) -> Kernel:
    """The kernel of a noise that is added, the sum clamped to the codes `sent`.

    P(sum < b) for x is F(b - 1 - x), F the distribution function of the noise. Its mean over the
    interval is a difference of the running sums of F.
    """
    distribution = np.cumsum([count / WHOLE for count in table.counts])
    distribution[-1] = 1.0
    running = np.concatenate([[0.0], np.cumsum(distribution)])
    last = table.first + len(distribution) - 1

    def summed(k: Edges) -> Kernel:
        """Sum of F(j) over all j <= k."""
        position = np.clip(k, table.first - 1, last) - table.first + 1
        return np.asarray(running[position] + np.maximum(k - last, 0), dtype=np.float64)

    cuts = outputs[None, :] - 1
    below = summed(cuts - inputs[:-1, None]) - summed(cuts - inputs[1:, None])
    below /= np.diff(inputs)[:, None]
    below[:, outputs <= sent.start] = 0.0
    below[:, outputs >= sent.stop] = 1.0
    return np.maximum(np.diff(below, axis=1), 0.0)


def mapped_kernel(image: Edges, inputs: Edges, outputs: Edges) -> Kernel:
    """The kernel of a distortion without chance; `image` are the codes that 0, 1, ... are sent as."""
    column = np.searchsorted(outputs, image, side="right") - 1
    row = np.searchsorted(inputs, np.arange(len(image)), side="right") - 1
    inside = (row >= 0) & (row < len(inputs) - 1) & (column >= 0) & (column < len(outputs) - 1)
    kernel = np.zeros((len(inputs) - 1, len(outputs) - 1))
    np.add.at(kernel, (row[inside], column[inside]), 1.0)
    return kernel / np.diff(inputs)[:, None]
