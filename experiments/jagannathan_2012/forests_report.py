"""Figures 1 to 3: what came out, beside a reference and the sentences of section 6.2."""

from __future__ import annotations

from typing import Any

from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report, Target
from experiments.common.runner import Results
from experiments.jagannathan_2012.data import NOT_PRIVATE
from experiments.jagannathan_2012.forests import (
    ID3,
    NONE,
    OURS,
    PAPER,
    by_ensemble,
    error,
    gain,
    inverse,
)

FIGURES = {"nursery": 1, "mushroom": 2, "votes": 3}


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    present = [NONE, *settings["epsilons"]]
    return Report(
        "figures1to3",
        "Figures 1 to 3: private random decision trees",
        "Stratified 10-fold cross-validation. A repetition is a noise draw for one of "
        f"{settings['ensembles']} ensembles, which are the same for every epsilon; boxes are over "
        "the ensembles, each the mean of its draws. Private ID3 is run as the paper counts its "
        "queries and with Failure as an error. The "
        "paper prints box plots only: the reference is an independent simulation of its pseudo-code, "
        "and the paper's own figures are checked by its sentences. *Our rule* is our first rule for "
        "trees and height, from a noisy size that is paid for inside epsilon; the README of this "
        "experiment compares it with the present one. Not private, because the records decide "
        f"on the preparation: {', '.join(NOT_PRIVATE)}.",
        results,
        targets=_targets(results, settings, expected),
        claims=_claims(results, settings),
        plots=[_plot(results, data, settings, present) for data in settings["data"]],
        notes=[_table(results, settings, present)],
        against="reference",
    )


def _targets(results: Results, settings: Settings, expected: Settings) -> list[Target]:
    found = []
    for data, values in expected["reference"].items():
        for epsilon, value in zip(expected["epsilons"], values, strict=True):
            cell = {"data": data, "algorithm": PAPER, "epsilon": epsilon}
            if len(results.values(**cell)):
                ours, off = results.mean(**cell), error(results, settings["ensembles"], **cell)
                name = f"{data}: epsilon {epsilon}"
                why = expected["explained"].get(data, "")
                found.append(Target(name, value, ours, off, expected["tolerance"], why))
    return found


def _claims(results: Results, settings: Settings) -> list[Claim]:
    """Differences count if they exceed two standard errors."""
    claims = []
    for data in settings["data"]:

        def cell(algorithm: str, epsilon: str | float, data: str = data) -> dict[str, Any]:
            return {"data": data, "algorithm": algorithm, "epsilon": epsilon}

        def claim(text: str, one: dict[str, Any], other: dict[str, Any], data: str = data) -> None:
            """`one` is better than `other`."""
            if len(results.values(**one)) and len(results.values(**other)):
                points, off = gain(results, settings["ensembles"], one, other)
                numbers = f"{data}: {points:.1f} ± {off:.1f} points"
                claims.append(Claim(text, points > 2 * off, numbers))

        plain, mild = cell(PAPER, NONE), cell(PAPER, 5.0)
        if len(results.values(**plain)) and len(results.values(**mild)):
            loss, off = gain(results, settings["ensembles"], plain, mild)
            text = "epsilon = 5 costs accuracy, but not substantially (less than 5 points)"
            claims.append(Claim(text, loss < 5, f"{data}: {loss:.1f} ± {off:.1f} points"))
        claim("noise for epsilon = 0.01 overwhelms the counts", plain, cell(PAPER, 0.01))
        claim(
            "at epsilon = 1 random trees are better than private ID3",
            cell(PAPER, 1.0),
            cell(ID3, 1.0),
        )
        claim(
            "(ours) at epsilon = 0.1 the rule is better than the paper's shape",
            cell(OURS, 0.1),
            cell(PAPER, 0.1),
        )
    return claims


def _plot(results: Results, data: str, settings: Settings, present: list[str | float]) -> Plot:
    curves = []
    for algorithm in settings["algorithms"]:
        cells = [{"data": data, "algorithm": algorithm, "epsilon": e} for e in present]
        have = [i for i, cell in enumerate(cells) if len(results.values(**cell))]
        values = [by_ensemble(results.values(**cells[i]), settings["ensembles"]) for i in have]
        means = [results.mean(**cells[i]) for i in have]
        curves.append(Curve(algorithm, have, means, spread=None if algorithm == ID3 else values))
    name = data.split(",", maxsplit=1)[0]
    marked = " (not private)" if data in NOT_PRIVATE else ""
    return Plot(
        f"figure{FIGURES[name]} {data}".replace(", ", "-").replace(" ", "-"),
        f"Figure {FIGURES[name]}: {data}{marked}",
        "1/epsilon",
        "accuracy (%)",
        curves,
        ticks=["0" if e == NONE else inverse(float(e)) for e in present],
    )


def _table(results: Results, settings: Settings, present: list[str | float]) -> str:
    lines = ["| data | algorithm | " + " | ".join(f"ε {e}" for e in present) + " |"]
    lines += ["|---|---|" + "---:|" * len(present)]
    for data in settings["data"]:
        for algorithm in settings["algorithms"]:
            cells = [{"data": data, "algorithm": algorithm, "epsilon": e} for e in present]
            values = [f"{results.mean(**c):.1f}" if len(results.values(**c)) else "" for c in cells]
            lines.append(f"| {data} | {algorithm} | " + " | ".join(values) + " |")
    return "\n".join(lines)
