"""The synthetic data of section 5.1: a random tree, uniform points, and values replaced at random.

Data are seeded, so that all algorithms see the same tables; noise of an algorithm never is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from bocage.schema import Categorical, Numeric, Schema

LARGEST = 100.0  # numeric attributes lie in [0, 100]


@dataclass(frozen=True)
class Domain:
    """Nominal attributes n0, n1, … and numeric ones x0, x1, …, in this order, and a class."""

    nominal: int
    numeric: int = 0
    values: int = 2
    classes: int = 2

    def __len__(self) -> int:
        return self.nominal + self.numeric

    def schema(self, row_cap: int, cells: int, bins: int | None = None) -> Schema:
        """The public schema; with `bins`, numeric attributes are cut into equal ranges."""
        names = [Categorical(f"n{i}", _texts(self.values)) for i in range(self.nominal)]
        numbers = [
            Numeric(f"x{i}", Fraction(0), Fraction(100), cells=cells)
            if bins is None
            else Categorical(f"x{i}", _texts(bins))
            for i in range(self.numeric)
        ]
        label = Categorical("class", _texts(self.classes))
        return Schema("synthetic", (*names, *numbers), label=label, row_cap=row_cap)


@dataclass(frozen=True)
class Records:
    """Attributes in the order of the domain, one row each, and the classes."""

    domain: Domain
    points: np.ndarray
    labels: np.ndarray

    def table(self, bins: int | None = None) -> pa.Table:
        domain = self.domain
        columns = {f"n{i}": _coded(self.points[:, i], domain.values) for i in range(domain.nominal)}
        for i in range(domain.numeric):
            numbers = self.points[:, domain.nominal + i]
            columns[f"x{i}"] = (
                pa.array(numbers) if bins is None else _coded(np.minimum(numbers * bins / LARGEST, bins - 1), bins)
            )
        return pa.table({**columns, "class": _coded(self.labels, domain.classes)})


@dataclass(frozen=True)
class Node:
    """A node of the tree that labels the points: a leaf if it has no branches."""

    label: int = 0
    attribute: int = 0
    point: float = 0.0  # of a numeric attribute
    branches: tuple[Node, ...] = ()


def random_tree(rng: np.random.Generator, domain: Domain, depth: int, p_leaf: float) -> Node:
    """Attributes picked uniformly, nominal ones once per path; leaves from the third level on.

    The paper does not say where numeric split points lie: uniformly in what the path has left.
    """

    def grow(level: int, nominal: frozenset[int], box: dict[int, tuple[float, float]]) -> Node:
        early = level >= 2 and rng.random() < p_leaf  # the root is the first level
        choices = sorted(nominal) + list(range(domain.nominal, len(domain)))
        if level == depth or early or not choices:
            return Node(label=int(rng.integers(domain.classes)))
        attribute = int(rng.choice(choices))
        if attribute < domain.nominal:
            rest = nominal - {attribute}
            return Node(
                attribute=attribute,
                branches=tuple(grow(level + 1, rest, box) for _ in range(domain.values)),
            )
        low, high = box.get(attribute, (0.0, LARGEST))
        point = float(rng.uniform(low, high))
        below = grow(level + 1, nominal, {**box, attribute: (low, point)})
        above = grow(level + 1, nominal, {**box, attribute: (point, high)})
        return Node(attribute=attribute, point=point, branches=(below, above))

    return grow(0, frozenset(range(domain.nominal)), {})


def single_split(attribute: int, point: float = 0.0) -> Node:
    """A tree with one split, whose two leaves have different classes."""
    return Node(attribute=attribute, point=point, branches=(Node(label=0), Node(label=1)))


def classify(tree: Node, domain: Domain, points: np.ndarray) -> np.ndarray:
    labels = np.empty(len(points), int)
    places = [(tree, np.arange(len(points)))]
    while places:
        node, rows = places.pop()
        labels[rows] = node.label
        if node.branches:
            values = points[rows, node.attribute]
            nominal = node.attribute < domain.nominal
            way = values if nominal else values >= node.point
            places += [(branch, rows[way == i]) for i, branch in enumerate(node.branches)]
    return labels


def sample(rng: np.random.Generator, tree: Node, domain: Domain, size: int, p_noise: float = 0.0) -> Records:
    """Uniform points, labeled by the tree; then each value is replaced with probability `p_noise`."""
    points = _points(rng, domain, size)
    labels = classify(tree, domain, points)
    hit = rng.random(points.shape) < p_noise
    points = np.where(hit, _points(rng, domain, size), points)
    other = rng.integers(domain.classes, size=size)
    labels = np.where(rng.random(size) < p_noise, other, labels)
    return Records(domain, points, labels)


def _points(rng: np.random.Generator, domain: Domain, size: int) -> np.ndarray:
    names = rng.integers(domain.values, size=(size, domain.nominal)).astype(float)
    return np.hstack([names, rng.uniform(0, LARGEST, (size, domain.numeric))])


def _texts(values: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(values))


def _coded(codes: np.ndarray, values: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(_texts(values)))
