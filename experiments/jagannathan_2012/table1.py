"""Table 1: ID3 from noisy sum queries against plain ID3 and the most frequent class. What is run."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from experiments.common.data import folds
from experiments.common.experiment import Settings
from experiments.common.plain import id3, predict
from experiments.common.runner import Cell
from experiments.jagannathan_2012.data import codes, prepared
from experiments.jagannathan_2012.literal_id3 import LiteralID3, true_epsilon

from bocage import study
from bocage.learners import PrivateID3

FOLDS = 10
STATED = 0.5
ERROR, PARENT = "Failure is an error", "Failure takes the parent's label"
PLAIN, FREQUENT, OURS = "ID3", "most frequent class", "private ID3 (ours)"
COUNTED, TRUE = "private ID3, 0.5 as the paper counts", "private ID3, 0.5 in all"


def cells(settings: Settings) -> list[Cell]:
    """Repetition i is fold i % 10 of cross-validation i // 10."""
    variants = [{"algorithm": name} for name in (PLAIN, FREQUENT, OURS)]
    variants += [
        {"algorithm": name, "threshold": threshold} for name in (COUNTED, TRUE) for threshold in settings["thresholds"]
    ]
    return [
        Cell({"data": data, "seed": settings["seed"]} | variant, settings["runs"] * FOLDS)
        for data in settings["data"]
        for variant in variants
    ]


@lru_cache(maxsize=8)
def _folds(name: str, repetition: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return folds(prepared(name).labels, FOLDS, repetition, seed)


def fold(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Train on nine parts, test on the tenth; in percent, for both readings of Failure."""
    name, algorithm = config["data"], config["algorithm"]
    data = prepared(name)
    train, test = _folds(name, repetition // FOLDS, config["seed"])[repetition % FOLDS]
    truth, rest = data.labels[test], data.take(test)
    if algorithm == FREQUENT:
        guess = np.full(len(test), np.bincount(data.labels[train]).argmax())
        return _both(guess, guess, truth)
    if algorithm == PLAIN:
        arities = [a.cells for a in data.schema.attributes]
        classes = len(data.document["target"]["values"])
        tree = id3(codes(name)[train], data.labels[train], arities, classes)
        rows = codes(name)[test]
        return _both(predict(tree, rows, empty=-1), predict(tree, rows), truth)
    table = study(data.take(train), data.schema)
    if algorithm == OURS:
        model = PrivateID3().fit(table, str(STATED))
        guess = model.predict_codes(model.encode(rest))
        return _both(guess, guess, truth)
    learner = LiteralID3(threshold=config["threshold"])
    true = true_epsilon(data.schema, STATED) if algorithm == COUNTED else str(STATED)
    model = learner.fit(table, true)
    ends = model.apply_codes(model.encode(rest))
    failed = learner.failures(model)[ends]
    # A root that failed is the only node, and its own parent.
    own, above = model.label[ends], model.label[np.maximum(model.parent, 0)[ends]]
    return {
        **_both(np.where(failed, -1, own), np.where(failed, above, own), truth),
        "Failure": 100 * float(failed.mean()),
        "nodes": len(model),
    }


def _both(strict: np.ndarray, mild: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    return {
        ERROR: 100 * float((strict == truth).mean()),
        PARENT: 100 * float((mild == truth).mean()),
    }
