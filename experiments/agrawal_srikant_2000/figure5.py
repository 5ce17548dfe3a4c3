"""Section 5.2, figure 5: five algorithms, five functions, two noises."""

from __future__ import annotations

from typing import Any

from experiments.agrawal_srikant_2000.people import HARD, NAMES, base, by_percent, run
from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report, Target
from experiments.common.runner import Cell, Results

from bocage.local import SurveyTree

LEARNERS = {name: SurveyTree(name) for name in NAMES}  # type: ignore[arg-type] # all are algorithms
EXPLAINED = "the generator's grid and the tie-breaks of another program; see the README"


def cells(settings: Settings) -> list[Cell]:
    return [
        Cell(
            {**base(settings), "function": function, "noise": noise, "level": level},
            settings["between"] if level == 50 else settings["runs"],
        )
        for function in settings["functions"]
        for noise in settings["noises"]
        for level in settings["levels"]
    ]


def once(config: dict[str, Any], repetition: int) -> dict[str, float]:
    return run(config, repetition, by_percent(config["noise"], config["level"]), LEARNERS)


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    return Report(
        "figure5",
        "Figure 5: classification accuracy",
        f"{settings['records']:,} training records in two equal groups, {settings['test']:,} test "
        "records that are not distorted; noise on all nine attributes, the group in clear. The paper "
        "draws bars: the reference is what an independent program obtained. The targets are for ByClass.",
        results,
        against="reference",
        targets=_targets(results, settings, expected),
        claims=claims(results, settings),
        plots=[
            Plot(
                f"figure5-{noise}-{level}",
                f"Figure 5: {noise} noise, {level} % privacy",
                "function",
                "accuracy, %",
                [
                    Curve(
                        title,
                        range(len(settings["functions"])),
                        [results.mean(name, function=f, noise=noise, level=level) for f in settings["functions"]],
                        [results.error(name, function=f, noise=noise, level=level) for f in settings["functions"]],
                    )
                    for name, title in NAMES.items()
                ],
                ticks=[f"F{f}" for f in settings["functions"]],
            )
            for noise in settings["noises"]
            for level in settings["levels"]
        ],
        metrics=tuple(NAMES),
        notes=[_table(results, settings, expected)],
    )


def _targets(results: Results, settings: Settings, expected: Settings) -> list[Target]:
    found = []
    for noise in settings["noises"]:
        for level in settings["levels"]:
            published = expected["reference"][noise].get(str(level))
            for f in settings["functions"] if published else ():
                cell = {"function": f, "noise": noise, "level": level}
                found.append(
                    Target(
                        f"F{f}, {noise}, {level} %",
                        published["byclass"][f - 1],
                        results.mean("byclass", **cell),
                        results.error("byclass", **cell),
                        expected["tolerance"]["hard" if f in HARD else "easy"],
                        EXPLAINED,
                    )
                )
    return found


def _table(results: Results, settings: Settings, expected: Settings) -> str:
    """All algorithms: ours, and in brackets the other program's."""
    titles = [f"{n}, {level} %" for n in settings["noises"] for level in settings["levels"]]
    lines = [
        "All algorithms, and in brackets what the other program obtained:",
        "",
        "| | algorithm | " + " | ".join(f"F{f}" for f in settings["functions"]) + " |",
        "|---|---|" + "---:|" * len(settings["functions"]),
    ]
    places = [(n, level) for n in settings["noises"] for level in settings["levels"]]
    for title, (noise, level) in zip(titles, places, strict=True):
        published = expected["reference"][noise].get(str(level), {})
        for name in NAMES:
            row = []
            for f in settings["functions"]:
                ours = results.mean(name, function=f, noise=noise, level=level)
                other = f" ({published[name][f - 1]:g})" if published else ""
                row.append(f"{ours:.1f}{other}")
            lines.append(f"| {title} | {NAMES[name]} | {' | '.join(row)} |")
    return "\n".join(lines)


def claims(results: Results, settings: Settings) -> list[Claim]:
    """The sentences of section 5.2, one by one."""
    functions, noises = settings["functions"], settings["noises"]

    def loss(name: str, f: int, noise: str, level: int) -> float:
        cell = {"function": f, "noise": noise, "level": level}
        return results.mean("original", **cell) - results.mean(name, **cell)

    def judged(text: str, found: dict[str, float], most: float, why: str = "") -> Claim:
        """True if no loss is above `most`; in part if one at least is not."""
        over = {where: gap for where, gap in found.items() if gap > most}
        shown = ", ".join(f"{where} {gap:.1f}" for where, gap in found.items())
        but = ", ".join(f"{where} {gap:.1f}" for where, gap in over.items())
        return Claim(text, len(over) < len(found), f"points lost: {shown}", why if over else "", but)

    found = []
    for name in ("byclass", "local"):
        low = [level for level in (25, 50) if level in settings["levels"]]
        if low:
            near = {f"F{f} {n} {lv} %": loss(name, f, n, lv) for f in functions for n in noises for lv in low}
            found.append(
                judged(
                    f"{NAMES[name]} is very close to Original at 25 % and 50 % (within 5 points)",
                    near,
                    5.0,
                    "at 50 % the noise spreads over 65K, and functions 2 and 3 have salary intervals of 25K",
                )
            )
        for text, some, most, why in (
            (
                "within 5 points on functions 1, 4 and 5",
                (1, 4, 5),
                5.0,
                "another program lost 1.9 to 5.9, from an Original that is a point lower on 4 and 5",
            ),
            (
                "within 15 points on functions 2 and 3",
                HARD,
                15.0,
                "another program lost 15 to 24; in the paper Original is poor on function 2",
            ),
        ):
            gaps = {f"F{f} {n}": loss(name, f, n, 100) for f in functions if f in some for n in noises}
            found.append(judged(f"at 100 % {NAMES[name]} is {text}", gaps, most, why))
    found += _comparisons(results, settings)
    return found


def _comparisons(results: Results, settings: Settings) -> list[Claim]:
    functions, noises, levels = (settings[key] for key in ("functions", "noises", "levels"))
    cells = {
        f"F{f} {n} {lv} %": {"function": f, "noise": n, "level": lv} for f in functions for n in noises for lv in levels
    }

    def compared(text: str, better: str, worse: str, chosen: dict[str, Any], why: str = "") -> Claim:
        gaps = {w: results.mean(better, **c) - results.mean(worse, **c) for w, c in chosen.items()}
        against = {w: g for w, g in gaps.items() if g < 0}
        mean = sum(gaps.values()) / len(gaps)
        return Claim(
            text,
            mean > 0,
            f"{mean:+.1f} points in the mean, {len(gaps) - len(against)} of {len(gaps)} cells",
            why if against else "",
            ", ".join(f"{w} {g:+.1f}" for w, g in against.items()),
        )

    found = [
        compared("Global performs worse than ByClass", "byclass", "global", cells),
        compared("Global performs worse than Local", "local", "global", cells),
        compared("Local performs marginally better than ByClass", "local", "byclass", cells),
        compared(
            "reconstruction has an advantage over Randomized (ByClass)",
            "byclass",
            "randomized",
            cells,
        ),
    ]
    diagonal = [f for f in functions if f in (4, 5)]
    if diagonal:
        gaps = {
            w: results.mean("original", **c) - results.mean("randomized", **c)
            for w, c in cells.items()
            if c["function"] in diagonal and c["level"] <= 25
        }
        found.append(
            Claim(
                "Randomized is quite close to Original on functions 4 and 5 (within 5 points at 25 %)",
                all(gap <= 5 for gap in gaps.values()),
                ", ".join(f"{w} {g:.1f}" for w, g in gaps.items()),
            )
        )
    if 2 in functions:
        values = [results.mean("original", **c) for c in cells.values() if c["function"] == 2]
        found.append(
            Claim(
                "Original is poor on function 2, because of a buried exclusive or",
                min(values) < 95,
                f"{min(values):.1f} %",
                "with 100,000 records some split always has a little gain; ours goes on from there",
            )
        )
    return found
