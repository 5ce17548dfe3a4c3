"""Figure 4: random trees that get their data in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report, Target
from experiments.common.runner import Cell, Results
from experiments.jagannathan_2012.data import prepared
from experiments.jagannathan_2012.forests import (
    PAPER,
    by_ensemble,
    cross_validated,
    error,
    gain,
    guessed,
    learner_of,
)

from bocage import study
from bocage.learners import RandomTrees
from bocage.model import Forest


def cells(settings: Settings) -> list[Cell]:
    """One batch stands for a forest that is built again from all rows: a second release."""
    return [
        Cell(
            {
                "data": data,
                "algorithm": PAPER,
                "batches": batches,
                "epsilon": settings["epsilon"],
                "ensembles": settings["ensembles"],
                "seed": settings["seed"],
            },
            settings["ensembles"] * settings["draws"],
        )
        for data in settings["data"]
        for batches in settings["batches"]
    ]


def ensemble(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Accuracy of one ensemble, its training rows dealt into batches of equal size."""
    schema = prepared(config["data"]).schema
    learner = learner_of(config, repetition)
    rng = np.random.default_rng([config["seed"], repetition])

    def predict(rows: pa.Table, rest: pa.Table) -> np.ndarray:
        order = np.array_split(rng.permutation(rows.num_rows), config["batches"])
        batches = [rows.take(pa.array(part)) for part in order]
        return guessed(_updated(learner, batches, schema, str(config["epsilon"])), rest)

    found = cross_validated(config["data"], config["seed"], repetition, predict)
    return {"accuracy": found}


def _updated(learner: RandomTrees, batches: list[pa.Table], schema: Any, epsilon: str) -> Forest:
    """Algorithm 5: grow on the first batch, add the others one by one."""
    forest = learner.fit(study(batches[0], schema, batch="0"), epsilon)
    for number, batch in enumerate(batches[1:], 1):
        forest = learner.update(forest, study(batch, schema, batch=str(number)), epsilon)
    return forest


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    sizes = settings["batches"]
    points = expected["tolerance"]
    targets = []
    for data, values in expected["reference"].items():
        for batches, value in values.items():
            cell = {"data": data, "batches": int(batches)}
            if len(results.values(**cell)):
                name = f"{data}: {batches} batches"
                ours, off = results.mean(**cell), error(results, settings["ensembles"], **cell)
                why = expected["explained"][data]
                targets.append(Target(name, value, ours, off, points, why))
    claims = []
    for data in settings["data"]:
        few, many = ({"data": data, "batches": m} for m in (min(sizes), max(sizes)))
        lost, off = gain(results, settings["ensembles"], few, many)
        numbers = (
            f"{data}: {results.mean(**few):.1f} with {min(sizes)}, {results.mean(**many):.1f} with "
            f"{max(sizes)}: {lost:.1f} ± {off:.1f} lost"
        )
        text = "there is a gradual reduction when the updates increase"
        flat = "" if lost > 2 * off else "No loss that these repetitions could show."
        claims.append(Claim(text, lost > 2 * off, numbers, flat))
    curves = [
        Curve(
            data,
            sizes,
            [results.mean(data=data, batches=m) for m in sizes],
            spread=[by_ensemble(results.values(data=data, batches=m), settings["ensembles"]) for m in sizes],
        )
        for data in settings["data"]
    ]
    title = f"Random trees after m batches, epsilon {settings['epsilon']}"
    return Report(
        "figure4",
        "Figure 4: new batches",
        "The first batch grows the forest, the others are added with their own noise; every person "
        "is in one batch, so epsilon is 0.5 in all. One batch is a forest that is built again from "
        "all rows. The reference is an independent simulation: the paper prints box "
        f"plots only. A repetition is a noise draw for one of {settings['ensembles']} ensembles; boxes "
        "are over the ensembles, each the mean of its draws.",
        results,
        targets=targets,
        against="reference",
        claims=claims,
        plots=[Plot("figure4", title, "batches", "accuracy (%)", curves)],
    )
