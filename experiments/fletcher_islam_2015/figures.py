"""Figures 2 to 7: curves, the simulation beside ours, and a table of all means."""

from __future__ import annotations

import numpy as np
from experiments.common.experiment import Settings
from experiments.common.report import Curve, Plot, Report, Target
from experiments.common.runner import Config, Results
from experiments.fletcher_islam_2015.accuracy import private_on
from experiments.fletcher_islam_2015.algorithms import BY_COUNTS
from experiments.fletcher_islam_2015.claims import claims

FIGURES = {"car": 2, "krkopt": 3, "connect-4": 4, "mushroom": 5, "nursery": 6, "tic-tac-toe": 7}


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    runs = {data: len(results.values(data=data, algorithm=settings["plain"][0])) for data in settings["data"]}
    return Report(
        "figures",
        "Figures 2 to 7: six data sets",
        "Stratified 10-fold cross-validation, repeated; a repetition is one fold ("
        + ", ".join(f"{data} {folds}" for data, folds in runs.items())
        + "; the paper has 100). The figures print no values. The cells named *simulation* compare "
        "with an independent simulation of the pseudo-code, not with the paper. ± is the standard "
        "error over folds. *DPDF* is the paper's, which is not differentially private, with the test "
        "d < δ; *d≤δ* is Algorithm 1 to the letter, which spends 11/9 β; *sound* is our default. "
        "*DiffPID3 as run* takes the normalized Gini index with sensitivity 0.5, as the paper's "
        "section 5 does; *DiffPID3-Gini* and *-Max* are Friedman & Schuster's. *Random Forest* is "
        "scikit-learn's with the defaults of version 0.15, which has 10 trees; categories are coded "
        "by their places in the schema's lists (the paper does not say), and one-hot beside it.",
        results,
        targets=_targets(results, settings, expected),
        claims=claims(results, settings, expected),
        plots=[_plot(results, settings, data) for data in settings["data"]],
        notes=[_table(results, settings, data) for data in settings["data"]],
    )


def _targets(results: Results, settings: Settings, expected: Settings) -> list[Target]:
    simulated = expected["simulated"]
    return [
        _target(
            results,
            {"data": data, "algorithm": name, "budget": budget},
            value,
            simulated,
        )
        for data in ("nursery",)
        if data in settings["data"]
        for name, values in simulated[data].items()
        if name in settings["private"]
        for budget, value in zip(simulated["budgets"], values, strict=True)
        if budget in settings["budgets"]
    ]


def _target(results: Results, config: Config, value: float, simulated: Settings) -> Target:
    limits = simulated["tolerance"]
    ours, folds, budget = results.mean(**config), results.values(**config), config["budget"]
    error = float(folds.std(ddof=1) / np.sqrt(len(folds)))
    # The simulation had 30 folds, and its folds vary as ours do.
    both = float(folds.std(ddof=1) * np.sqrt(1 / len(folds) + 1 / limits["folds"]))
    explanation = ""
    if abs(ours - value) <= 3 * both:
        explanation = (
            f"folds vary by {folds.std(ddof=1):.1f}, and the difference of the two means has a "
            f"standard error of {both:.1f}"
        )
    elif why := simulated["explained"].get(f"{config['algorithm']}, {budget:g}"):
        counts = results.values(**config | {"algorithm": BY_COUNTS})
        explanation = f"{why}; {counts.mean():.1f} if trees add up their counts"
    return Target(
        f"simulation: {config['data']}, {config['algorithm']}, β = {budget:g}",
        value,
        ours,
        error,
        limits["from"] if budget >= limits["at"] else limits["below"],
        explanation,
    )


def _plot(results: Results, settings: Settings, data: str) -> Plot:
    budgets = settings["budgets"]
    curves = [
        Curve(
            name,
            budgets,
            [results.mean(data=data, algorithm=name, budget=x) for x in budgets],
            [results.error(data=data, algorithm=name, budget=x) for x in budgets],
            dashed=name.endswith(")"),
        )
        for name in settings["private"]
        if not name.endswith("d≤δ")
    ]
    curves += [
        Curve(name, budgets, [results.mean(data=data, algorithm=name)] * len(budgets))
        for name in settings["plain"]
        if "one-hot" not in name
    ]
    return Plot(
        f"figure{FIGURES[data]}",
        f"Figure {FIGURES[data]}: {data}",
        "privacy budget β",
        "accuracy, %",
        curves,
        log=True,
    )


def _table(results: Results, settings: Settings, data: str) -> str:
    budgets = settings["budgets"]
    lines = [
        f"| {data}, β = | " + " | ".join(f"{x:g}" for x in budgets) + " |",
        "|---|" + "---:|" * len(budgets),
    ]
    for name in private_on(data, settings):
        means = [results.mean(data=data, algorithm=name, budget=x) for x in budgets]
        lines.append(f"| {name} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    for name in settings["plain"]:
        mean = results.mean(data=data, algorithm=name)
        lines.append(f"| {name} | {mean:.1f} |" + " |" * (len(budgets) - 1))
    return "\n".join(lines)
