"""Figures 1 to 3: private random decision trees beside private ID3. What is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from experiments.common.data import folds
from experiments.common.experiment import Settings
from experiments.common.plain import without_noise
from experiments.common.runner import Cell, Results
from experiments.jagannathan_2012.data import prepared
from experiments.jagannathan_2012.literal_id3 import LiteralID3, true_epsilon

from bocage import Epsilon, Schema, study
from bocage.learners import RandomTrees
from bocage.learners.base import label_of
from bocage.learners.forest_size import arities, largest, paper_height, room
from bocage.learners.papers.structure import Structure, random_structure
from bocage.model import Forest
from bocage.private import PrivateTable

FOLDS = 10
NONE = "none"  # no privacy: epsilon is infinite
PAPER, OURS, ID3 = "Private-RDT", "Private-RDT, our rule", "private ID3"
PRESENT = "Private-RDT, present rule"  # OURS is the first one, which the figures were made with
SHAPES: dict[str, int] = {"nursery": 10, "mushroom": 10, "votes": 5}  # trees, section 6.1


@dataclass(frozen=True)
class SeededTrees(RandomTrees):
    """Structures that can be drawn again: the paper has the same ensembles for every epsilon."""

    seed: tuple[int, ...] = ()

    def structures(self, schema: Schema, rows: int | None, epsilon: Epsilon) -> list[Structure]:  # noqa: ARG002
        assert self.trees is not None
        assert self.height is not None
        return _seeded(schema, self.check(schema), self.trees, self.height, self.seed)


@dataclass(frozen=True)
class FirstRule(RandomTrees):
    """The first rule for trees and height, before it was chosen on more data."""

    def structures(self, schema: Schema, rows: int | None, epsilon: Epsilon) -> list[Structure]:
        names, labels = self.check(schema), label_of(schema).cells
        trees, height = first_shape(schema, names, rows or 1, float(epsilon))
        while height > 1 and largest(schema, names, height) > room(labels, trees):
            height -= 1
        return RandomTrees(trees=trees, height=height).structures(schema, rows, epsilon)


def first_shape(schema: Schema, names: tuple[str, ...], rows: int, epsilon: float) -> tuple[int, int]:
    """sqrt(rows * epsilon / 100) trees, within 5 and 20, of the paper's height or a lower one."""
    signal = rows * epsilon
    trees = max(5, min(20, round(np.sqrt(signal / 100))))
    affordable = signal / (4 * np.sqrt(trees) * label_of(schema).cells)
    level = np.mean(np.log(arities(schema, names)))
    height = int(np.log(affordable) // level) if affordable > 1 else 0
    return trees, max(min(height, paper_height(schema, names, rows)), 1)


@lru_cache(maxsize=8)
def _seeded(schema: Schema, names: tuple[str, ...], trees: int, height: int, seed: tuple[int, ...]) -> list[Structure]:
    random, most = Random(str(seed)), room(label_of(schema).cells, trees)  # noqa: S311 - not noise
    return [random_structure(schema, names, height, random, most) for _ in range(trees)]


def cells(settings: Settings) -> list[Cell]:
    """Repetition i is noise draw i // n of ensemble i % n, in a cross-validation of its own."""
    found = []
    for data in settings["data"]:
        for algorithm in settings["algorithms"]:
            for epsilon in [NONE, *settings["epsilons"]]:
                config = {
                    "data": data,
                    "algorithm": algorithm,
                    "epsilon": epsilon,
                    "ensembles": settings["ensembles"],
                    "seed": settings["seed"],
                }
                draws = 1 if epsilon == NONE else settings["draws"]
                runs = settings["ensembles"] * draws
                if algorithm != OURS or epsilon != NONE:  # the rule needs an epsilon
                    found.append(Cell(config, settings["id3_runs"] if algorithm == ID3 else runs))
    return found


def inverse(epsilon: float) -> str:
    """1/epsilon, as the paper names its axis."""
    return f"{1 / epsilon:.2f}".rstrip("0").rstrip(".")


def error(results: Results, ensembles: int, **cell: Any) -> float:
    """The standard error of a mean: ensembles differ, so more draws for the same ones do not end it."""
    means = by_ensemble(results.values(**cell), ensembles)
    return float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0


def gain(results: Results, ensembles: int, better: dict[str, Any], worse: dict[str, Any]) -> tuple[float, float]:
    """The difference of two means, and its standard error (too large where ensembles are shared)."""
    both = np.hypot(error(results, ensembles, **better), error(results, ensembles, **worse))
    return results.mean(**better) - results.mean(**worse), float(both)


def by_ensemble(values: np.ndarray, ensembles: int) -> np.ndarray:
    """The mean over the noise draws of each ensemble."""
    return np.array([values[i::ensembles].mean() for i in range(min(len(values), ensembles))])


def ensemble(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Accuracy of one ensemble in cross-validation, in percent."""
    name, algorithm, epsilon = config["data"], config["algorithm"], config["epsilon"]
    schema, learner = prepared(name).schema, learner_of(config, repetition)

    def predict(rows: pa.Table, rest: pa.Table) -> np.ndarray:
        private = epsilon != NONE
        table = study(rows, schema) if private else without_noise(rows, schema)
        amount = str(epsilon) if private else "1"
        if algorithm == ID3:
            return _literal(table, str(true_epsilon(schema, float(amount))), rest)
        return guessed(learner.fit(table, amount), rest)

    return {"accuracy": cross_validated(name, config["seed"], repetition, predict)}


def _literal(table: PrivateTable, epsilon: str, rest: pa.Table) -> np.ndarray:
    """As the paper writes it: a record that ends in a leaf Failure is an error."""
    learner = LiteralID3()
    model = learner.fit(table, epsilon)
    ends = model.apply_codes(model.encode(rest))
    return np.where(learner.failures(model)[ends], -1, model.label[ends])


def guessed(model: Forest, rest: pa.Table) -> np.ndarray:
    return model.predict_codes(model.encode(rest))


def learner_of(config: dict[str, Any], repetition: int) -> RandomTrees:
    """As section 6.1 says; or as a user has it who declares nothing."""
    number = repetition % config["ensembles"]
    if config["algorithm"] in {OURS, PRESENT}:
        return FirstRule() if config["algorithm"] == OURS else RandomTrees()
    data = prepared(config["data"])
    schema = data.schema
    trees = SHAPES[config["data"].split(",")[0]]
    height = config.get("height") or paper_height(schema, names_of(schema), len(data))
    return SeededTrees(trees=trees, height=height, seed=(config["seed"], number))


def cross_validated(
    name: str, seed: int, repetition: int, predict: Callable[[pa.Table, pa.Table], np.ndarray]
) -> float:
    """Accuracy over the folds, in percent."""
    data = prepared(name)
    right = 0
    for train, test in _folds(name, repetition, seed):
        guess = predict(data.take(train), data.take(test))
        right += int((guess == data.labels[test]).sum())
    return 100 * right / len(data)


@lru_cache(maxsize=64)
def _folds(name: str, repetition: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return folds(prepared(name).labels, FOLDS, repetition, seed)


def names_of(schema: Schema) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in schema.attributes)
