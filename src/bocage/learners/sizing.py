"""How many random trees, and how high: from the schema, the public size and epsilon alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, floor, inf, log, prod, sqrt

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.model.shape import MOST_ENTRIES
from bocage.plan.question import MOST_COUNTERS
from bocage.schema import Categorical, Schema

FEWEST_TREES, ENOUGH_TREES = 5, 20
MOST_LEAVES = 2**18  # of one tree


def shape(
    schema: Schema,
    attributes: Sequence[str],
    rows: int,
    epsilon: Epsilon,
    trees: int | None = None,
) -> tuple[int, int]:
    """Number of trees and height.

    More trees smooth the random structure, but every counter then carries noise of a scale that
    grows with their number: sqrt(rows * epsilon / 100), within 5 and 20. The height is the paper's
    (:func:`paper_height`) where it can be afforded: in the sum over all trees, the rows of one label
    in an average leaf must be 4 / sqrt(2) deviations of the noise, which is
    ``rows * epsilon >= 4 * sqrt(trees) * labels * b**height`` with b the geometric mean of the
    numbers of branches. The constants were chosen on generated tables
    (``experiments/jagannathan_2012/sizing.py``).
    """
    signal = rows * float(epsilon)
    labels = label_of(schema).cells
    count = trees or max(FEWEST_TREES, min(ENOUGH_TREES, round(sqrt(signal / 100))))
    affordable = signal / (4 * sqrt(count) * labels)
    b = exp(sum(log(n) for n in arities(schema, attributes)) / len(attributes))
    height = floor(log(affordable, b)) if affordable > 1 else 0
    height = min(height, paper_height(schema, attributes, rows))
    while height > 1 and largest(schema, attributes, height) > room(labels, count):
        height -= 1
    return count, max(height, 1)


def paper_height(schema: Schema, attributes: Sequence[str], rows: int) -> int:
    """min(floor(k/2), floor(log_b rows) - 1), where b is the mean number of branches; at least 1."""
    b = Fraction(sum(arities(schema, attributes)), len(attributes))
    fits = 0  # floor(log_b rows), without rounding
    while fits <= len(attributes) and b ** (fits + 1) <= rows:
        fits += 1
    return max(min(len(attributes) // 2, fits - 1), 1)


def arities(schema: Schema, attributes: Sequence[str]) -> list[int]:
    """The number of branches of a split by each attribute."""
    columns = [schema[name] for name in attributes]
    return [column.cells if isinstance(column, Categorical) else 2 for column in columns]


def largest(schema: Schema, attributes: Sequence[str], height: int) -> float:
    """The most leaves that a random tree of this height can have."""
    found = sorted(arities(schema, attributes), reverse=True)[:height]
    repeats = any(not isinstance(schema[name], Categorical) for name in attributes)
    binary = max(height - len(found), 0) if repeats else 0
    bits = sum(log(n) for n in found) + binary * log(2)
    return prod(found) * 2**binary if bits < log(MOST_COUNTERS) else inf


def room(labels: int, trees: int) -> int:
    """The most leaves that one of `trees` trees may have."""
    return min(MOST_LEAVES, MOST_ENTRIES // (2 * labels), MOST_COUNTERS // (labels * trees))
