"""Made-up tables of a schema, whose labels follow different laws.

They protect nothing and are seeded, so that all learners see the same rows. What is known about a
real table, its schema, is all that goes in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bocage.errors import LearnerError
from bocage.schema import Categorical, Schema

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Codes of the attributes, one row each, and of the label."""

    schema: Schema
    points: Codes
    labels: Codes

    def __len__(self) -> int:
        return len(self.labels)

    def table(self) -> pa.Table:
        """As an owner would have them: texts and numbers."""
        attributes = (*self.schema.attributes, self.schema.label)
        columns = [*self.points.T, self.labels]
        made = {}
        for attribute, codes in zip(attributes, columns, strict=True):
            assert attribute is not None  # noqa: S101 - `generate` refuses a schema without a label
            if isinstance(attribute, Categorical):
                places = pa.array(codes.astype(np.int32))
                made[attribute.name] = pa.DictionaryArray.from_arrays(places, pa.array(attribute.values))
            else:
                known, place = np.unique(codes, return_inverse=True)
                values = np.array([float(attribute.value(int(code))) for code in known])
                made[attribute.name] = pa.array(values[place])
        return pa.table(made)


Law = Callable[[np.random.Generator, Schema], Callable[[np.random.Generator, int], Rows]]


def generate(name: str, schema: Schema, rows: int, seed: int) -> tuple[Rows, Rows]:
    """Rows to learn from and as many to test on (2,000 at least), of the same law.

    The law is the same for every seed, so that runs differ by their rows and their noise alone.
    """
    if name not in GENERATORS:
        raise LearnerError(f"there is no generator {name!r}. There are {', '.join(GENERATORS)}.")
    if schema.label is None:
        raise LearnerError(f"the schema of {schema.name!r} declares no label (target) to learn.")
    law = list(GENERATORS).index(name)
    draw = GENERATORS[name](np.random.default_rng([int(schema.fingerprint[:8], 16), law]), schema)
    rng = np.random.default_rng([seed, law])
    return draw(rng, rows), draw(rng, min(max(rows, 2_000), 10_000))


def random_tree(rng: np.random.Generator, schema: Schema) -> Callable[..., Rows]:
    """Uniform points, labeled by a random tree, then a tenth of all values replaced at random.

    The synthetic data of Friedman & Schuster (2010, section 5.1): leaves from the third level on,
    the tree at most five levels deep.
    """
    label = _grow(rng, schema, levels=5)

    def draw(random: np.random.Generator, rows: int) -> Rows:
        points = _uniform(random, schema, rows)
        labels = label(points)
        hit = random.random(points.shape) < 0.1
        points = np.where(hit, _uniform(random, schema, rows), points)
        other = random.integers(_labels(schema), size=rows)
        return Rows(schema, points, np.where(random.random(rows) < 0.1, other, labels))

    return draw


def additive(rng: np.random.Generator, schema: Schema) -> Callable[..., Rows]:
    """Skewed independent attributes whose scores add up to the odds of each label."""
    skew = [rng.dirichlet(np.full(_cells(schema, i), 1.0)) for i in range(len(schema.attributes))]
    scores = [rng.normal(size=(_cells(schema, i), _labels(schema))) for i in range(len(skew))]
    weight = 2.5 / np.sqrt(len(skew))

    def draw(random: np.random.Generator, rows: int) -> Rows:
        coarse = [random.choice(len(p), size=rows, p=p) for p in skew]
        odds = weight * sum(score[at] for score, at in zip(scores, coarse, strict=True))
        labels = (odds + random.gumbel(size=odds.shape)).argmax(axis=1)
        columns = [_refine(random, schema, i, at) for i, at in enumerate(coarse)]
        return Rows(schema, np.stack(columns, axis=1), labels)

    return draw


def groups(rng: np.random.Generator, schema: Schema) -> Callable[..., Rows]:
    """Correlated attributes: people of six hidden groups, each with its own habits and labels."""
    hidden = 6
    shares = rng.dirichlet(np.full(hidden, 2.0))
    habits = [rng.dirichlet(np.full(_cells(schema, i), 0.5), size=hidden) for i in range(len(schema.attributes))]
    tendency = rng.dirichlet(np.full(_labels(schema), 0.3), size=hidden)

    def draw(random: np.random.Generator, rows: int) -> Rows:
        who = random.choice(hidden, size=rows, p=shares)
        columns = [_refine(random, schema, i, _pick(random, habit[who])) for i, habit in enumerate(habits)]
        return Rows(schema, np.stack(columns, axis=1), _pick(random, tendency[who]))

    return draw


GENERATORS: dict[str, Law] = {"random tree": random_tree, "additive": additive, "groups": groups}
COARSE = 8  # cells of a numeric attribute that a law tells apart


def _labels(schema: Schema) -> int:
    return 0 if schema.label is None else schema.label.cells


def _cells(schema: Schema, at: int) -> int:
    attribute = schema.attributes[at]
    return attribute.cells if isinstance(attribute, Categorical) else min(attribute.cells, COARSE)


def _refine(random: np.random.Generator, schema: Schema, at: int, coarse: Codes) -> Codes:
    """From the cells of a law to codes: evenly inside a coarse cell."""
    cells, parts = schema.attributes[at].cells, _cells(schema, at)
    inside = (coarse + random.random(len(coarse))) * cells / parts
    return np.minimum(inside.astype(np.int64), cells - 1) if parts < cells else coarse


def _uniform(random: np.random.Generator, schema: Schema, rows: int) -> Codes:
    columns = [random.integers(attribute.cells, size=rows) for attribute in schema.attributes]
    return np.stack(columns, axis=1)


def _pick(random: np.random.Generator, chances: NDArray[np.float64]) -> Codes:
    """One value of each row of chances."""
    at = (random.random(len(chances))[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
    picked: Codes = np.minimum(at, chances.shape[1] - 1)
    return picked


def _grow(rng: np.random.Generator, schema: Schema, levels: int) -> Callable[[Codes], Codes]:
    """A random tree, as the function that labels points."""
    useful = [i for i, a in enumerate(schema.attributes) if a.cells > 1]
    if levels == 0 or not useful or (levels <= 2 and rng.random() < 0.3):
        code = int(rng.integers(_labels(schema)))
        return lambda points: np.full(len(points), code)
    at = int(rng.choice(useful))
    categorical = isinstance(schema.attributes[at], Categorical)
    branches = _cells(schema, at) if categorical else 2
    point = 0 if categorical else int(rng.integers(1, schema.attributes[at].cells))
    below = [_grow(rng, schema, levels - 1) for _ in range(branches)]

    def label(points: Codes) -> Codes:
        way = points[:, at] if categorical else (points[:, at] >= point).astype(np.int64)
        labels = np.zeros(len(points), np.int64)
        for branch, law in enumerate(below):
            here = way == branch
            if here.any():
                labels[here] = law(points[here])
        return labels

    return label
