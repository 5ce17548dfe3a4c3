"""Section 5.1.2: trees of depth 5. Figures 6 and 7."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Plot, Report, curves
from experiments.common.runner import Cell, Results
from experiments.common.statistics import Difference, paired
from experiments.friedman_schuster_2010.algorithms import OURS_NOTE, accuracy
from experiments.friedman_schuster_2010.synthetic import Domain, random_tree, sample

DOMAINS = {6: Domain(10), 7: Domain(7, 3)}
TREES = 10
DEPTH = 5


def cells(settings: Settings) -> list[Cell]:
    """Repetition i is run i // 10 on tree i % 10."""
    return [
        Cell(
            {"seed": settings["seed"], "figure": settings["figure"], "algorithm": name, "n": n},
            settings["runs"] * TREES,
        )
        for name in settings["algorithms"]
        for n in settings["sizes"]
    ]


def larger(config: dict[str, Any], repetition: int) -> dict[str, float]:
    """One run on one tree: B = 1, depth 5, at most 50,000 rows, noise 0.1."""
    domain = DOMAINS[config["figure"]]
    seeds = [config["seed"], config["figure"]]
    tree = random_tree(np.random.default_rng([*seeds, repetition % TREES]), domain, DEPTH, 0.3)
    rng = np.random.default_rng([*seeds, config["n"], repetition])
    train = sample(rng, tree, domain, config["n"], 0.1)
    test = sample(rng, tree, domain, 10_000)
    schema = domain.schema(row_cap=50_000, cells=1024)
    name = config["algorithm"]
    return {"accuracy": accuracy(name, train, test, schema, depth=DEPTH, budget=1.0)}


def figure(results: Results, settings: Settings, expected: Settings) -> Report:  # noqa: ARG001 - no number is published
    number, family = settings["figure"], settings["family"]
    large = settings["sizes"][-1]

    def gap(first: str, second: str, n: int) -> Difference:
        return paired(
            results.values(algorithm=f"{family}-{first}", n=n),
            results.values(algorithm=f"{family}-{second}", n=n),
        )

    def means(n: int) -> str:
        return ", ".join(f"{c} {results.mean(algorithm=f'{family}-{c}', n=n):.1f}" for c in ("InfoGain", "Gini", "Max"))

    gini, gain = gap("Gini", "Max", large), gap("InfoGain", "Max", large)
    early = {n: gap("Max", "InfoGain", n) for n in settings["sizes"] if n <= settings["small"]}
    better = [n for n, g in early.items() if g.mean > 0 and g.p < 0.05]
    others = "; ".join(f"at {n}: {means(n)}, {g}" for n, g in early.items() if n not in better)
    within, overall = _deviation(results, family, settings)
    spread = f"median over the cells: {within:.1f} between runs on one tree, {overall:.1f} over all runs"
    claims = [
        Claim(
            "with few samples, scores that use the budget efficiently are superior",
            bool(better),
            "Max − InfoGain " + "; ".join(f"at {n}: {means(n)}, {early[n]}" for n in better),
            exceptions=others,
        ),
        Claim(
            "with many samples the depth limit makes Max inferior to the other scores",
            gini.mean > 0 and gini.p < 0.05,
            f"at {large}: {means(large)}; Gini − Max {gini}; InfoGain − Max {gain}",
            exceptions="" if gain.mean > 0 and gain.p < 0.05 else f"InfoGain is not yet better with {large} records",
        ),
        # The paper does not say which deviation it means, so both are held against it.
        Claim(
            "the typical standard deviation is around ±5 %",
            within <= 7 and overall >= 3,
            spread,
            exceptions="" if within >= 4 and overall <= 6 else "the paper says not which it means",
        )
        if number == 6
        else Claim(
            "the typical standard deviation is lower than in figure 6 (around ±5 %)",
            within < 5 or overall < 5,
            spread,
            exceptions="only the one is below 5" if within < 5 <= overall else "",
        ),
    ]
    what = "10 binary attributes" if number == 6 else "7 binary and 3 numeric attributes"
    return Report(
        f"figure{number}",
        f"Figure {number}: trees of depth 5 with {what}",
        f"B = 1, leaves with probability 0.3 from the third level on, noise 0.1, at most 50,000 "
        f"rows; {TREES} trees, the repetitions evenly on them; 10,000 test records. The caption "
        "does not give the noise.",
        results,
        claims=claims,
        plots=[
            Plot(
                f"figure{number}",
                f"Figure {number}: depth 5, {what} (B = 1)",
                "training records",
                "accuracy, %",
                curves(results, settings["algorithms"], "n", settings["sizes"]),
                log=True,
            )
        ],
        notes=[OURS_NOTE],
    )


def _deviation(results: Results, family: str, settings: Settings) -> tuple[float, float]:
    """The median deviation of the private algorithms: within a tree, and over all runs."""
    within, overall = [], []
    for criterion in ("InfoGain", "Gini", "Max"):
        for n in settings["sizes"]:
            values = results.values(algorithm=f"{family}-{criterion}", n=n)
            by_tree = [values[tree::TREES] for tree in range(TREES)]
            spread = [part.var(ddof=1) for part in by_tree if len(part) > 1]
            within.append(float(np.sqrt(np.mean(spread))) if spread else float("nan"))
            overall.append(float(values.std(ddof=1)))
    return float(np.median(within)), float(np.median(overall))
