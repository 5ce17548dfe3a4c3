"""Section 5: six data sets, ten folds, several budgets."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from experiments.common.data import DataSet, folds, load
from experiments.common.experiment import Settings
from experiments.common.runner import Cell
from experiments.fletcher_islam_2015.algorithms import learner, spent
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import OneHotEncoder

from bocage import study
from bocage.schema import Categorical

FOLDS = 10
TREES = 10  # of scikit-learn 0.15; its other defaults are those of today


def cells(settings: Settings) -> list[Cell]:
    """Repetition i is fold i % 10 of cross-validation i // 10."""
    runs = settings["runs"] * FOLDS
    common = {"seed": settings["seed"]}
    return [
        Cell(
            {"data": data, "algorithm": name, "budget": budget, "depth": settings["depth"]} | common,
            runs,
        )
        for data in settings["data"]
        for name in private_on(data, settings)
        for budget in settings["budgets"]
    ] + [
        Cell({"data": data, "algorithm": name} | common, runs)
        for data in settings["data"]
        for name in settings["plain"]
    ]


def private_on(data: str, settings: Settings) -> list[str]:
    """The private algorithms that are run on a data set."""
    names: list[str] = settings["private"]
    return [*names, *settings["variants"]] if data == "nursery" else names


@cache
def _load(name: str) -> DataSet:
    return load(name)


@lru_cache(maxsize=8)
def _folds(name: str, repetition: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return folds(_load(name).labels, FOLDS, repetition, seed)


def fold(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Train on nine parts, test on the tenth."""
    data, name = _load(config["data"]), config["algorithm"]
    rows, rest = _folds(config["data"], repetition // FOLDS, config["seed"])[repetition % FOLDS]
    truth = data.labels[rest]
    if name == "most frequent class":
        guess = np.full(len(rest), np.bincount(data.labels[rows]).argmax())
    elif name.startswith("Random Forest"):
        seed = int(np.random.SeedSequence([config["seed"], repetition]).generate_state(1)[0])
        features = _features(config["data"], name.endswith("one-hot"))
        forest = RandomForestClassifier(TREES, random_state=seed)
        guess = forest.fit(features[rows], data.labels[rows]).predict(features[rest])
    else:
        how, budget = learner(name, config["depth"]), config["budget"]
        table = study(data.take(rows), data.schema)
        model = how.fit(table, spent(name, config["depth"], budget))
        guess = model.predict_codes(model.encode(data.take(rest)))
    return {"accuracy": 100 * float((guess == truth).mean())}


@cache
def _features(name: str, one_hot: bool) -> Any:
    """The places of the values in the lists of the schema, or a column of 0 and 1 for each value."""
    data = _load(name)
    columns = []
    for attribute in data.schema.attributes:
        assert isinstance(attribute, Categorical)
        values = data.table[attribute.name].to_pylist()
        columns.append([attribute.index[value] for value in values])
    places = np.array(columns, np.float32).T
    return OneHotEncoder(dtype=np.float32, sparse_output=False).fit_transform(places) if one_hot else places
