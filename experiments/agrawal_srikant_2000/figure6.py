"""Section 5.3, figure 6: accuracy by privacy. Then the same by epsilon, which the paper does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from experiments.agrawal_srikant_2000.people import HARD, base, by_epsilon, by_percent, run
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report, Target
from experiments.common.runner import Cell, Results

from bocage.local import SurveyTree

LEARNERS = {name: SurveyTree(name) for name in ("original", "randomized", "byclass")}  # type: ignore[arg-type] # all are algorithms
HONEST = {
    "randomized": SurveyTree("randomized"),
    "byclass": SurveyTree("byclass"),
    "byclass, 20 intervals": SurveyTree("byclass", intervals=20),
}


def cells(settings: Settings) -> list[Cell]:
    return [
        Cell(
            {**base(settings), "function": function, "noise": noise, "level": level},
            settings["runs"],
        )
        for function in settings["functions"]
        for noise in settings["noises"]
        for level in settings["levels"]
    ]


def once(config: dict[str, Any], repetition: int) -> dict[str, float]:
    return run(config, repetition, by_percent(config["noise"], config["level"]), LEARNERS)


def report(results: Results, settings: Settings, expected: Settings) -> Report:  # noqa: ARG001 - no number is published
    levels, functions = settings["levels"], settings["functions"]
    plots = []
    for f in functions:
        curves = [_curve(results, "Original", "original", "level", levels, function=f)]
        for noise in settings["noises"]:
            for name, title in (("byclass", "ByClass"), ("randomized", "Random")):
                label = f"{title}({noise[0].upper()})"
                curves.append(_curve(results, label, name, "level", levels, function=f, noise=noise))
        plots.append(Plot(f"figure6-F{f}", f"Figure 6: function {f}", "privacy, %", "accuracy, %", curves))
    return Report(
        "figure6",
        "Figure 6: change in accuracy with privacy",
        f"{settings['records']:,} training records, as in figure 5; G is Gaussian noise, U uniform. "
        "The paper draws lines and prints no numbers: its sentences are checked.",
        results,
        claims=_claims(results, settings),
        plots=plots,
        metrics=tuple(LEARNERS),
    )


def _curve(results: Results, label: str, metric: str, key: str, xs: list[float], **cell: Any) -> Curve:
    return Curve(
        label,
        xs,
        [results.mean(metric, **{key: x}, **cell) for x in xs],
        [results.error(metric, **{key: x}, **cell) for x in xs],
    )


def _claims(results: Results, settings: Settings) -> list[Claim]:
    levels, functions = settings["levels"], settings["functions"]
    high = [level for level in levels if level >= 50]

    def gap(name: str, f: int, level: int) -> float:
        """By how much Gaussian noise is better than uniform noise."""
        means = [results.mean(name, function=f, noise=n, level=level) for n in settings["noises"]]
        return means[0] - means[1]

    before = {f: sum(gap("randomized", f, lv) for lv in high) / len(high) for f in functions}
    after = {f: sum(gap("byclass", f, lv) for lv in high) / len(high) for f in functions}
    names = ", ".join(f"F{f} {before[f]:+.1f} before and {after[f]:+.1f} after" for f in functions)
    found = [
        Claim(
            "before correction uniform noise costs much more than Gaussian; after it they are comparable",
            sum(before.values()) > 2 * abs(sum(after.values())),
            f"Gaussian − uniform from 50 % on: {names}",
            exceptions=", ".join(f"F{f}" for f in functions if abs(after[f]) >= before[f]),
        )
    ]
    lost = {
        (f, lv): results.mean("original", function=f, level=lv) - results.mean("byclass", function=f, level=lv)
        for f in functions
        for lv in levels
    }
    far = {key: points for key, points in lost.items() if points > 15}
    found.append(
        Claim(
            "ByClass comes fairly close to Original (within 15 points, mean of both noises)",
            len(far) < len(lost),
            ", ".join(
                f"F{f} {lost[f, levels[0]]:.1f} at {levels[0]} % to {lost[f, levels[-1]]:.1f} at {levels[-1]} %"
                for f in functions
            ),
            exceptions=", ".join(f"F{f} at {lv} % {p:.1f}" for (f, lv), p in far.items()),
        )
    )
    if {4, 5} <= set(functions):
        apart = max(
            abs(
                results.mean("byclass", function=4, noise=n, level=lv)
                - results.mean("byclass", function=5, noise=n, level=lv)
            )
            for n in settings["noises"]
            for lv in levels
        )
        found.append(
            Claim(
                "function 4 is almost identical to function 5 (within 3 points, ByClass)",
                apart <= 3,
                f"at most {apart:.1f} points apart",
            )
        )
    return found


def honest_cells(settings: Settings) -> list[Cell]:
    return [
        Cell(
            {**base(settings), "function": function, "variant": variant, "epsilon": epsilon},
            settings["runs"],
        )
        for function in settings["functions"]
        for variant in settings["variants"]
        for epsilon in settings["epsilons"]
    ]


def honest_once(config: dict[str, Any], repetition: int) -> dict[str, float]:
    return run(config, repetition, by_epsilon(config["variant"], config["epsilon"]), HONEST)


def honest_report(results: Results, settings: Settings, expected: Settings) -> Report:
    epsilons, functions = settings["epsilons"], settings["functions"]
    targets = [
        Target(
            f"F{f}, Laplace, epsilon {epsilon:g}: {name}",
            expected["reference"][name][f"{epsilon:g}"][f - 1],
            results.mean(name, function=f, variant="laplace", epsilon=epsilon),
            results.error(name, function=f, variant="laplace", epsilon=epsilon),
            expected["tolerance"]["hard" if f in HARD else "easy"],
            "our answers are clamped to the domain, which loses nothing of the promise and changes "
            "what is sent at its ends",
        )
        for f in functions
        for name in ("randomized", "byclass")
        for epsilon in epsilons
        if f"{epsilon:g}" in expected["reference"][name]
    ]
    plots = []
    for f in functions:
        curves = [
            replace(
                _curve(results, f"{variant}: {name}", name, "epsilon", epsilons, **cell),
                dashed=name == "randomized",
            )
            for name in HONEST
            for variant in settings["variants"]
            for cell in ({"function": f, "variant": variant},)
            if not (name.endswith("intervals") and variant != "laplace")
        ]
        title = f"Function {f} by the epsilon of every answer"
        plots.append(Plot(f"honest-F{f}", title, "epsilon of every answer", "accuracy, %", curves, log=True))
    records = {v: by_epsilon(v, 1.0).record_privacy().words for v in settings["variants"]}
    return Report(
        "honest",
        "Laplace noise and randomized response at honest epsilons",
        f"{settings['records']:,} training records; every answer has the same epsilon. *laplace*: "
        "noise on nine numbers. *mixed*: education, car and zip code are categories and answered by "
        "randomized response. *mixed, label too*: so is the group, and only then does the whole "
        "record have an epsilon, ten times that of an answer. Not in the paper; the reference is "
        "what an independent program obtained.",
        results,
        against="reference",
        targets=targets,
        claims=_honest_claims(results, settings),
        plots=plots,
        metrics=tuple(HONEST),
        notes=[f"At epsilon 1 for an answer, {v}: {words}" for v, words in records.items()],
    )


def _honest_claims(results: Results, settings: Settings) -> list[Claim]:
    found = []
    for epsilon in settings["epsilons"]:
        cell = {"variant": "laplace", "epsilon": epsilon}
        means = {f: [results.mean(name, function=f, **cell) for name in HONEST] for f in settings["functions"]}
        better = [f for f, (sent, by_class, _) in means.items() if by_class > sent]
        few = [f for f, (_, by_class, fewer) in means.items() if fewer > by_class]
        found.append(
            Claim(
                f"(ours) at epsilon {epsilon:g} for every answer ByClass beats Randomized",
                bool(better),
                ", ".join(f"F{f} {a:.1f} → {b:.1f}" for f, (a, b, _) in means.items())
                + f"; with 20 intervals better on {', '.join(f'F{f}' for f in few) or 'none'}",
                exceptions=", ".join(f"F{f}" for f in means if f not in better),
            )
        )
    return found
