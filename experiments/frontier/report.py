"""Ours beside the rivals, with the goals; where a rival wins, in words."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.common.experiment import Settings
from experiments.common.report import Curve, Report
from experiments.common.runner import Results
from experiments.frontier import rivals
from experiments.frontier.panels import Panels
from experiments.frontier.table import labels_of, text_of

from bocage.learners import LEARNERS

TITLE = "Accuracy per epsilon: our learners and the rivals that can be installed"
Goals = dict[tuple[str, float], float]  # by data and epsilon
RECORDED = Path(__file__).parent / "results" / "table.csv"
NOT_INSTALLABLE = ("PrivaTree", "S-BDT")  # no distribution in the package index


@dataclass(frozen=True)
class Score:
    """A method in one cell."""

    method: str
    setting: str
    mean: float
    error: float
    folds: int
    seconds: float

    @property
    def figure(self) -> str:
        return f"{self.mean:.1f} ± {self.error:.1f}"

    @property
    def full_name(self) -> str:
        return self.method if self.setting in {"", "default"} else f"{self.method} ({self.setting})"


class Scores:
    """All cells of a run, and what was recorded before of rivals that are not installed here."""

    def __init__(self, results: Results, settings: Settings) -> None:
        self.results, self.data = results, list(settings["data"])
        self.epsilons: list[float] = list(settings["epsilons"])
        self.recorded = _recorded(results, settings)
        known = {config["method"] for config in results.configs()}
        known |= {row["method"] for row in self.recorded}
        self.ours = [name for name in settings["ours"] if name in known]
        self.rivals = [r["method"] for r in settings["rivals"] if r["method"] in known]
        self.defaults = {r["method"]: text_of(r["settings"][0]) for r in settings["rivals"]}

    def all(self, data: str, epsilon: float, method: str) -> list[Score]:
        """One score per setting that was run."""
        found = []
        for config in self.results.configs():
            if (config["data"], config["epsilon"], config["method"]) != (data, epsilon, method):
                continue
            values, seconds = (
                self.results.values(**config),
                self.results.values("seconds", **config),
            )
            if len(values):
                found.append(
                    Score(
                        method,
                        config.get("setting", ""),
                        float(values.mean()),
                        self.results.error(**config),
                        len(values),
                        float(seconds.mean()),
                    )
                )
        same = {"data": data, "epsilon": f"{epsilon}", "method": method}
        return found + [_score(row) for row in self.recorded if same.items() <= row.items()]

    def best(self, data: str, epsilon: float, methods: Sequence[str]) -> Score | None:
        """The most accurate one, settings chosen in hindsight."""
        found = [score for method in methods for score in self.all(data, epsilon, method)]
        return max(found, key=lambda score: score.mean, default=None)

    def default(self, data: str, epsilon: float, method: str) -> Score | None:
        found = self.all(data, epsilon, method)
        return next((s for s in found if s.setting == self.defaults[method]), None)


def _recorded(results: Results, settings: Settings) -> list[dict[str, Any]]:
    """What an earlier run wrote of rivals that this one did not ask: they and the folds are the same."""
    asked = {config["method"] for config in results.configs()}
    absent = {rival["method"] for rival in settings["rivals"]} - asked
    with RECORDED.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["method"] in absent and row["runs"]]


def _score(row: dict[str, str]) -> Score:
    runs, spread = int(row["runs"]), float(row["accuracy sd"])
    mean, seconds = float(row["accuracy"]), float(row["seconds"])
    return Score(row["method"], row["setting"], mean, spread / runs**0.5, runs, seconds)


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    scores, goals = Scores(results, settings), goals_of(expected)
    parts = [ABOUT, "\n".join(_main(scores, goals)), *_words(scores, goals)]
    if scores.rivals:
        parts += ["The rivals: best setting of each cell, and the default in brackets."]
        parts += ["\n".join(_rivals(scores))]
    parts += ["CPU seconds of one fit at the largest ε, mean:", "\n".join(_seconds(scores))]
    parts += ["Not run:", "\n".join(_missing(scores, settings))]
    return Report(
        "table",
        TITLE,
        "\n\n".join(parts),
        results,
        plots=[Panels("table", TITLE, {data: _curves(scores, data) for data in scores.data})],
        metrics=("accuracy", "seconds"),
        recorded=scores.recorded,
    )


def goals_of(expected: Settings) -> Goals:
    return {
        (data, epsilon): goal
        for data, row in expected["goals"].items()
        for epsilon, goal in zip(expected["epsilons"], row, strict=True)
    }


ABOUT = (
    "Mean accuracy in per cent and its standard error over stratified ten folds, repeated until the error is "
    "below 0.5 (1 on votes and tic-tac-toe) or a maximum of folds is reached. The folds are the same for all. "
    "The rivals' settings are chosen in hindsight, for every cell anew, which no one could do in private and which "
    "flatters them; ours have none. DP-EBM promises (ε, 10⁻⁶), all others ε. A repetition is one fold."
)


def _head(*first: str, epsilons: Sequence[float]) -> list[str]:
    names = [*first, *(f"ε {epsilon:g}" for epsilon in epsilons)]
    return [f"| {' | '.join(names)} |", "|" + "---|" * len(first) + "---:|" * len(epsilons)]


def _main(scores: Scores, goals: Goals) -> Iterator[str]:
    yield from _head("data", "method", epsilons=scores.epsilons)
    for data in scores.data:
        for method in scores.ours:
            row = [scores.best(data, epsilon, [method]) for epsilon in scores.epsilons]
            yield _line(data, method, [score.figure if score else "" for score in row])
        if scores.rivals:
            row = [scores.best(data, epsilon, scores.rivals) for epsilon in scores.epsilons]
            texts = [f"{score.figure} {score.method}" if score else "" for score in row]
            yield _line(data, "*best rival*", texts)
        wanted = [goals.get((data, epsilon)) for epsilon in scores.epsilons]
        yield _line(data, "*goal*", ["" if goal is None else f"{goal:g}" for goal in wanted])


def _rivals(scores: Scores) -> Iterator[str]:
    yield from _head("data", "rival", epsilons=scores.epsilons)
    for data in scores.data:
        for method in scores.rivals:
            texts = []
            for epsilon in scores.epsilons:
                best, default = (
                    scores.best(data, epsilon, [method]),
                    scores.default(data, epsilon, method),
                )
                plain = f" [{default.mean:.1f}]" if default else ""
                texts.append(f"{best.figure}{plain}" if best else "")
            if any(texts):
                yield _line(data, method, texts)


def _seconds(scores: Scores) -> Iterator[str]:
    methods = [*scores.ours, *scores.rivals]
    yield f"| data | {' | '.join(methods)} |"
    yield "|---|" + "---:|" * len(methods)
    for data in scores.data:
        row = [scores.best(data, scores.epsilons[-1], [method]) for method in methods]
        yield f"| {data} | {' | '.join(f'{s.seconds:.2f}' if s else '' for s in row)} |"


def _line(*first: str | list[str]) -> str:
    cells = [text for part in first for text in ([part] if isinstance(part, str) else part)]
    return f"| {' | '.join(cells)} |"


def _words(scores: Scores, goals: Goals) -> Iterator[str]:
    """Who wins, and what was not reached."""
    behind, level, apart, missed = list[str](), list[str](), list[str](), list[str]()
    cells = 0
    for data in scores.data:
        for epsilon in scores.epsilons:
            ours = scores.best(data, epsilon, scores.ours)
            rival = scores.best(data, epsilon, scores.rivals)
            if ours is None:
                continue
            cells += 1
            place = f"{data} at ε {epsilon:g}"
            if rival is not None and rival.mean > ours.mean:
                clear = rival.mean - ours.mean > 2 * (rival.error**2 + ours.error**2) ** 0.5
                text = f"{place}: {rival.full_name} {rival.figure}, {ours.method} {ours.figure}"
                (behind if clear else level).append(text)
            auto = scores.best(data, epsilon, ["auto"])
            if auto is not None and ours.mean - auto.mean > 1:
                apart.append(f"{place}: {auto.figure}, {ours.method} {ours.figure}")
            goal = goals.get((data, epsilon), 0.0)
            if ours.mean < goal:
                missed.append(f"{place}: {ours.method} {ours.figure}, goal {goal:g}")
    if scores.rivals:
        yield _list(
            f"A rival is ahead by more than two standard errors in {len(behind)} of {cells} cells",
            behind,
        )
        yield _list(f"A rival is ahead within two standard errors in {len(level)}", level)
    if "auto" in scores.ours:
        yield _list(f"`auto` is more than one point below the best of ours in {len(apart)}", apart)
    yield _list(f"The best of ours is below the goal in {len(missed)}", missed)


def _list(sentence: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{sentence}:", "", *(f"- {line}" for line in lines)]) if lines else f"{sentence}."


def _missing(scores: Scores, settings: Settings) -> Iterator[str]:
    """What was not run, and why."""
    for name in NOT_INSTALLABLE:
        yield f"- {name}: the package index has no distribution of it."
    for name in settings["ours"]:
        if name not in LEARNERS:
            yield f"- {name}: this version has no such learner."
    for rival in settings["rivals"]:
        method, why = rival["method"], rivals.problem(rival["environment"])
        if why:
            before = "; its figures are those of an earlier run on the same folds"
            yield f"- {method}: {why}{before if method in scores.rivals else ''}."
            continue
        for data in scores.data:
            if labels_of(data) > rival.get("labels", 99):
                yield f"- {method} on {data}: {labels_of(data)} labels, with a model for each."
            failed = scores.results.values("failed", data=data, method=method)
            if len(failed):
                yield f"- {method} on {data}: it failed in {len(failed)} folds."


def _curves(scores: Scores, data: str) -> list[Curve]:
    found = []
    for method in (*scores.ours, *scores.rivals):
        row = [(e, scores.best(data, e, [method])) for e in scores.epsilons]
        have = [(e, score) for e, score in row if score is not None]
        found.append(
            Curve(
                method,
                [e for e, _ in have],
                [score.mean for _, score in have],
                [score.error for _, score in have],
                dashed=method in scores.rivals,
            )
        )
    return found
