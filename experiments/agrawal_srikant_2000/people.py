"""What the figures on classification share: the made-up people, their surveys, and one run."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from experiments.common.experiment import Settings

from bocage.local import (
    Clear,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Records,
    Survey,
    SurveyTree,
    Uniform,
    generator,
)
from bocage.model import Tree
from bocage.schema import Categorical

NOISES = {"gaussian": Gaussian, "uniform": Uniform, "laplace": Laplace}
NAMES = {
    "original": "Original",
    "randomized": "Randomized",
    "global": "Global",
    "byclass": "ByClass",
    "local": "Local",
}
HARD = (2, 3)  # the functions that the paper calls so


@lru_cache(maxsize=1)
def people(function: int, records: int, seed: int, repetition: int) -> dict[str, np.ndarray]:
    return generator.generate(records, function, 1000 * seed + repetition)


def test_people(config: dict[str, Any], repetition: int) -> dict[str, np.ndarray]:
    """Other people than any that a tree is made from."""
    return generator.generate(config["test"], config["function"], 1000 * config["seed"] + 500 + repetition)


@lru_cache(maxsize=64)
def by_percent(noise: str, percent: float) -> Survey:
    """The survey of the paper: every number with p % privacy at 95 % confidence, the group in clear."""
    schema = generator.schema()
    kind = NOISES[noise]
    noises = {a.name: kind.of_privacy(a, percent) for a in schema.attributes}
    return Survey(schema, {**noises, generator.LABEL: Clear()})


@lru_cache(maxsize=64)
def by_epsilon(variant: str, epsilon: float) -> Survey:
    """Every answer with the same epsilon: Laplace noise, and randomized response for categories."""
    schema = generator.schema(categorical=variant != "laplace")
    noises = {
        a.name: RandomizedResponse(str(epsilon))  # type: ignore[arg-type] # it reads text too
        if isinstance(a, Categorical)
        else Laplace(str(epsilon))  # type: ignore[arg-type] # likewise
        for a in schema.attributes
    }
    label = RandomizedResponse(str(epsilon)) if variant.endswith("label too") else Clear()  # type: ignore[arg-type] # likewise
    return Survey(schema, {**noises, generator.LABEL: label})


@lru_cache(maxsize=2)
def in_the_clear() -> Survey:
    schema = generator.schema()
    return Survey(schema, {column.name: Clear() for column in schema})


def run(config: dict[str, Any], repetition: int, survey: Survey, learners: dict[str, SurveyTree]) -> dict[str, float]:
    """The accuracy of every learner in percent, on records that nobody distorted."""
    rows = people(config["function"], config["records"], config["seed"], repetition)
    test = test_people(config, repetition)
    sent = Records.distort(survey, rows)
    found = {}
    for name, learner in learners.items():
        records = Records.distort(in_the_clear(), rows) if name == "original" else sent
        found[name] = accuracy(learner.fit(records), test)
    return found


def accuracy(tree: Tree, rows: dict[str, np.ndarray]) -> float:
    return 100 * float((tree.predict(rows) == rows[generator.LABEL]).mean())


def base(settings: Settings) -> dict[str, Any]:
    return {key: settings[key] for key in ("seed", "records", "test")}
