"""Figure 5: two owners with half of the attributes each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report, Target
from experiments.common.runner import Cell, Results
from experiments.jagannathan_2012.data import prepared
from experiments.jagannathan_2012.forests import (
    PAPER,
    SHAPES,
    SeededTrees,
    by_ensemble,
    cross_validated,
    error,
    guessed,
    inverse,
    learner_of,
    names_of,
)

from bocage import Epsilon, study
from bocage.learners.forest_size import paper_height
from bocage.model import Forest

WHOLE, LOW = "whole table", "whole table, height 4"
HONEST, PRINTED = "two owners, epsilon/2 each", "two owners, epsilon each (costs 2 epsilon)"
ALGORITHMS = (WHOLE, LOW, HONEST, PRINTED)


def cells(settings: Settings) -> list[Cell]:
    return [
        Cell(
            {
                "data": data,
                "algorithm": algorithm,
                "epsilon": epsilon,
                "ensembles": settings["ensembles"],
                "seed": settings["seed"],
            },
            settings["ensembles"] * settings["draws"],
        )
        for data in settings["data"]
        for algorithm in ALGORITHMS
        for epsilon in settings["epsilons"]
    ]


def ensemble(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """Accuracy of one ensemble; which owner has which attributes is drawn for each."""
    name, algorithm = config["data"], config["algorithm"]
    schema, total = prepared(name).schema, Epsilon.of(str(config["epsilon"]))
    number = repetition % config["ensembles"]
    order = np.random.default_rng([config["seed"], number]).permutation(names_of(schema))
    halves = [tuple(sorted(half.tolist())) for half in np.array_split(order, 2)]
    shares = total.split([1, 1]) if algorithm == HONEST else [total, total]

    def predict(rows: pa.Table, rest: pa.Table) -> np.ndarray:
        if algorithm in {WHOLE, LOW}:
            height = {"height": 4} if algorithm == LOW else {}
            learner = learner_of({**config, "algorithm": PAPER, **height}, repetition)
            return guessed(learner.fit(study(rows, schema), total), rest)
        forests = [
            SeededTrees(
                trees=SHAPES[name.split(",")[0]],
                height=paper_height(schema, half, len(prepared(name))),
                attributes=half,
                seed=(config["seed"], number, owner),
            ).fit(study(rows, schema), share)
            for owner, (half, share) in enumerate(zip(halves, shares, strict=True))
        ]
        return guessed(union(forests), rest)

    found = cross_validated(name, config["seed"], repetition, predict)
    return {"accuracy": found}


def union(forests: list[Forest]) -> Forest:
    """Algorithm 6: all trees vote. Every person is in all of them, so that their costs add up."""
    plans = tuple(line for forest in forests for line in forest.certificate.plan)
    certificate = replace(
        forests[0].certificate,
        variant="vertical union",
        plan=plans,
        epsilon=str(Epsilon.total([line.cost for line in plans])),
    )
    return Forest(tuple(t for forest in forests for t in forest.trees), "counts", certificate)


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    points, reference = expected["tolerance"], expected["reference"]
    data, epsilons = settings["data"][0], settings["epsilons"]
    targets = []
    for key, algorithm in zip(("whole", "low", "honest", "printed"), ALGORITHMS, strict=True):
        cell = {"data": data, "algorithm": algorithm, "epsilon": expected["epsilon"]}
        if len(results.values(**cell)):
            ours, off = results.mean(**cell), error(results, settings["ensembles"], **cell)
            name = f"{data}: {algorithm}, epsilon {expected['epsilon']}"
            targets.append(Target(name, reference[key], ours, off, points))
    by = {a: np.array([results.mean(data=data, algorithm=a, epsilon=e) for e in epsilons]) for a in ALGORITHMS}
    better = bool((by[HONEST] > by[WHOLE]).any())
    gain = ", ".join(
        f"epsilon {e:g}: {two:.1f} against {one:.1f}"
        for e, two, one in zip(epsilons, by[HONEST], by[WHOLE], strict=True)
    )
    because = "The gain comes from the lower height: see the whole table with height 4."
    spots = range(len(epsilons))
    return Report(
        "figure5",
        "Figure 5: two owners with half of the attributes each",
        "Every person is in both tables, so the price is the sum over the owners: the paper's claim "
        "of parallel composition is wrong, and its epsilon is 2 epsilon. Beside it the honest price, "
        "epsilon/2 each. The reference is an independent simulation: the paper prints box "
        f"plots only. A repetition is a noise draw for one of {settings['ensembles']} ensembles; boxes "
        "are over the ensembles, each the mean of its draws.",
        results,
        targets=targets,
        against="reference",
        claims=[Claim("parted data may be classified better than the whole table", better, gain, because)],
        plots=[
            Plot(
                "figure5",
                "Votes, two owners with eight attributes each",
                "1/epsilon",
                "accuracy (%)",
                [
                    Curve(
                        a,
                        spots,
                        by[a].tolist(),
                        spread=[
                            by_ensemble(
                                results.values(data=data, algorithm=a, epsilon=e),
                                settings["ensembles"],
                            )
                            for e in epsilons
                        ],
                    )
                    for a in ALGORITHMS
                ],
                ticks=[inverse(e) for e in epsilons],
            )
        ],
    )
