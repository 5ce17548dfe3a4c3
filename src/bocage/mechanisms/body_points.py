"""Random points of bodies as intervals of integers: what the draws of noise on tables share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.mechanisms.bounds import ceil_div
from bocage.mechanisms.rng import Randomness

Bounds = tuple[NDArray[Any], NDArray[Any]]  # Python integers, in units of 2**-bits
Interval = tuple[int, int]


class BodyDraw(ABC):
    """A random point of one body: what it needs beside exponentials, and how many of these."""

    count: int

    @abstractmethod
    def bounds(self, digits: list[int]) -> list[Bounds]:
        """The tables that the exponentials make."""


def share(part: Interval, low: int, high: int, radius: Interval, divisor: int) -> Interval:
    """Bounds on radius * part / (sum * divisor), where the sum lies between `low` and `high`."""
    whole = ceil_div(radius[1], divisor)  # no share exceeds the whole
    first = radius[0] * part[0] // (high * divisor)
    last = ceil_div(radius[1] * part[1], low * divisor) if low else whole
    return first, min(last, whole)


def permutation(size: int, source: Randomness) -> list[int]:
    """A uniformly random order of 0 .. size - 1."""
    order = list(range(size))
    steps = source.below_each(np.arange(1, size + 1, dtype=np.int64)).tolist()
    for at in range(size - 1, 0, -1):
        other = steps[at]
        order[at], order[other] = order[other], order[at]
    return order


def index_of(weights: Sequence[int], number: int) -> int:
    """The index whose share of the running sum of the weights a number below it falls on."""
    for at, weight in enumerate(weights):
        if number < weight:
            return at
        number -= weight
    raise ValueError("the number lies beyond the weights")


def as_rows(values: Sequence[Sequence[int]]) -> NDArray[Any]:
    array = np.empty((len(values), len(values[0])), object)
    array[...] = values
    return array


def as_columns(points: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Bounds:
    """Lower and upper bounds of a table, given those of each of its columns."""
    return as_rows([low for low, _ in points]).T, as_rows([high for _, high in points]).T
