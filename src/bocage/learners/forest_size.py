"""How many random trees, and how high: from the schema, the public size and epsilon alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import cbrt, floor, inf, log, prod, sqrt

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.model.tree.shape import MOST_ENTRIES
from bocage.plan.question import MOST_COUNTERS
from bocage.schema import Categorical, Schema

FEWEST_TREES, MOST_TREES = 3, 20
HIGHEST = 12  # levels; more were not tried
MOST_LEAVES = 2**18  # of one tree
COMFORTABLE = 2**20  # counts of a whole forest: a file of some megabytes
NUMERIC = 1.4  # branches that a random cut is worth: most rows are often on one side of it


def shape(
    schema: Schema,
    attributes: Sequence[str],
    rows: int,
    epsilon: Epsilon,
    trees: int | None = None,
) -> tuple[int, int]:
    """Number of trees and height.

    More trees smooth the random structure, but every counter then carries noise of a scale that
    grows with their number: the cube root of rows * epsilon / 3, within 3 and 20. The height is the
    largest with ``rows * epsilon >= 3/4 * trees * sqrt(labels) * b**height`` and
    ``rows >= b**height``, at most 12, where b is the geometric mean of the numbers of branches and a
    random cut of a numeric attribute counts for 1.4 of them.

    The constants were chosen on generated tables and public data other than the paper's
    (``experiments/jagannathan_2012/sizing.py``).
    """
    signal = rows * float(epsilon)
    labels = label_of(schema).cells
    count = trees or max(FEWEST_TREES, min(MOST_TREES, round(cbrt(signal / 3))))
    affordable = min(signal / (0.75 * count * sqrt(labels)), rows)
    numbers = arities(schema, attributes)
    discrete = [isinstance(schema[name], Categorical) for name in attributes]
    worth = [n if categorical else NUMERIC for n, categorical in zip(numbers, discrete, strict=True)]
    level = sum(map(log, worth)) / len(worth)
    height = min(floor(log(affordable) / level), HIGHEST) if affordable > 1 else 1
    if all(discrete):
        height = min(height, len(attributes))
    mean = sum(numbers) / len(numbers)
    while height > 1 and (
        largest(schema, attributes, height) > room(labels, count) or mean**height * labels * count > COMFORTABLE
    ):
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
    widest = sorted(arities(schema, attributes), reverse=True)[:height]
    repeats = any(not isinstance(schema[name], Categorical) for name in attributes)
    binary = max(height - len(widest), 0) if repeats else 0
    bits = sum(log(n) for n in widest) + binary * log(2)
    return prod(widest) * 2**binary if bits < log(MOST_COUNTERS) else inf


def room(labels: int, trees: int) -> int:
    """The most leaves that one of `trees` trees may have."""
    return min(MOST_LEAVES, MOST_ENTRIES // (2 * labels), MOST_COUNTERS // (labels * trees))
