"""Fewer tables where records are few: which attributes to keep, tried out in floating point. Not private.

The prototypes of the additive model and of tables of counts learn from some attributes only, which part of
epsilon has chosen by permute-and-flip::

    python -m experiments.frontier.selection_simulation --keel PATH --out FILE

The numbers that the rule was settled by are in ``selection_development.csv``, with what they say in
``additive_development.md``.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier import additive_simulation, bayes_simulation
from experiments.frontier.additive_tables import tables
from experiments.frontier.simulation import Data

EPSILONS = (0.1, 0.5, 1.0, 2.0)
Learn = Callable[[Data, np.ndarray, np.ndarray, float, np.random.Generator], float]


@dataclass(frozen=True)
class Way:
    """How many attributes are kept, and what the choice costs."""

    feeds: float  # records times epsilon for each number of a table
    share: float = 0.3  # of epsilon for the choice
    most: float = 0.7  # share of the attributes from which on all are kept
    cells: int = 4  # of a numeric attribute, to count the numbers


ADDITIVE: dict[str, Way | None] = {
    "all": None,
    "10, 15 %": Way(10, 0.15),
    "10, 25 %": Way(10, 0.25),
    "10, 35 %": Way(10, 0.35),
    "15, 25 %": Way(15, 0.25),
    "20, 15 %": Way(20, 0.15),
    "20, 25 %": Way(20, 0.25),
    "20, 25 %, all from half of them on": Way(20, 0.25, 0.5),
    "20, 30 %": Way(20),
    "20, 35 %": Way(20, 0.35),
    "30, 30 %": Way(30),
    "30, 40 %": Way(30, 0.4),
    "40, 25 %": Way(40, 0.25),
    "40, 40 %": Way(40, 0.4),
    "80, 25 %": Way(80, 0.25),
}
BAYES: dict[str, Way | None] = {
    "all": None,
    **{f"{feeds}, 30 %": Way(feeds, cells=8) for feeds in (2, 5, 10, 20)},
}


def kept(
    data: Data,
    train: np.ndarray,
    way: Way,
    epsilon: float,
    rng: np.random.Generator,
    *,
    each: float,
) -> list[int] | None:
    """The attributes that are kept; None for all. `each` is what a cell counts for."""
    kinds = list(zip(data.arity, data.numeric, strict=True))
    numbers = np.array([(min(way.cells, a) if numeric else a) - 1 for a, numeric in kinds])
    room = len(train) * epsilon * (1 - way.share) / (way.feeds * each * numbers.mean())
    count = max(int(room), 1)
    if count >= way.most * len(kinds):
        return None
    left, taken = list(range(len(kinds))), []
    scores = epsilon * way.share / count * right_alone(data, train)
    for _ in range(count):
        best = left[int(np.argmax(scores[left] + rng.exponential(size=len(left))))]
        left.remove(best)
        taken.append(best)
    return sorted(taken)


def right_alone(data: Data, train: np.ndarray, cells: int = 8) -> np.ndarray:
    """How many rows each attribute labels right by itself."""
    right = []
    for i, (arity, numeric) in enumerate(zip(data.arity, data.numeric, strict=True)):
        size = min(cells, arity) if numeric else arity
        cell = data.codes[train, i].astype(np.int64) * size // arity
        counts = np.bincount(
            cell * data.classes + data.labels[train], minlength=size * data.classes
        )
        right.append(counts.reshape(size, -1).max(axis=1).sum())
    return np.array(right, float)


def some_of(data: Data, keep: list[int]) -> Data:
    return replace(
        data,
        codes=data.codes[:, keep],
        arity=tuple(data.arity[i] for i in keep),
        numeric=tuple(data.numeric[i] for i in keep),
    )


def additive(
    data: Data, train: np.ndarray, test: np.ndarray, epsilon: float, rng: np.random.Generator
) -> float:
    model, codes = additive_simulation.fit(data, train, additive_simulation.TAKEN, epsilon, rng)
    scores = model.scores([c[test] for c in codes])
    return float((scores.argmax(1) == data.labels[test]).mean())


def bayes(
    data: Data, train: np.ndarray, test: np.ndarray, epsilon: float, rng: np.random.Generator
) -> float:
    way = bayes_simulation.Way()
    fold = bayes_simulation.Fold(data, way.cells, train, test)
    return bayes_simulation.Fit(fold, way, epsilon, rng).accuracy()


def accuracy(
    data: Data, way: Way | None, epsilon: float, learn: Learn, *, count: int, each: float
) -> float:
    found = []
    for i in range(count):
        train, test = folds(data.labels, 10, i // 10, 6)[i % 10]
        rng = np.random.default_rng(zlib.crc32(f"{data.name} {epsilon} {i}".encode()))
        keep = kept(data, train, way, epsilon, rng, each=each) if way else None
        if keep is None or way is None:
            found.append(learn(data, train, test, epsilon, rng))
        else:
            rest = epsilon * (1 - way.share)
            found.append(learn(some_of(data, keep), train, test, rest, rng))
    return 100 * float(np.mean(found))


def frequent(data: Data) -> float:
    shares = np.bincount(data.labels) / len(data.labels)
    some = shares[shares > 0]
    return float(np.exp(-(some * np.log(some)).sum()))


def measured(keel: Path) -> Iterator[tuple[object, ...]]:
    for data in tables(keel):
        if data.classes <= 3 and len(data.labels) <= 6000:
            count = 20 if len(data.labels) < 1500 else 6
            for name, way in ADDITIVE.items():
                means = [
                    accuracy(data, way, e, additive, count=count, each=data.classes - 1)
                    for e in EPSILONS
                ]
                yield "additive", name, data.name, *(f"{mean:.2f}" for mean in means)
    for data in bayes_simulation.tables_of(keel):
        if data.classes >= 4 and len(data.labels) <= 12_000:
            count = 12 if len(data.labels) < 3500 else 3
            for name, way in BAYES.items():
                means = [
                    accuracy(data, way, e, bayes, count=count, each=frequent(data))
                    for e in EPSILONS
                ]
                yield "bayes", name, data.name, *(f"{mean:.2f}" for mean in means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with given.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("learner", "way", "data", *EPSILONS))
        for row in measured(given.keel):
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
