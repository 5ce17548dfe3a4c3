"""The command line that the directories of the papers share."""

from __future__ import annotations

import argparse
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.common.data import ROOT
from experiments.common.report import Report, write
from experiments.common.runner import Cell, Results, run
from rich.console import Console
from rich.markup import escape

Settings = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper."""

    name: str
    work: str  # "package.module:function", called with (config, repetition)
    cells: Callable[[Settings], list[Cell]]
    report: Callable[[Results, Settings, Settings], Report]  # results, settings, expected
    chunk: int = 5
    # What is run next in the light of the results, until nothing is added: cells with more repetitions.
    more: Callable[[Results, list[Cell], Settings], list[Cell]] | None = None


def settings_of(folder: Path, name: str, *, short: bool) -> Settings:
    """The section of ``config.toml``; the short version replaces what its sub-table ``short`` names."""
    document = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
    section = dict(document[name])
    replaced = section.pop("short", {})
    general = {key: value for key, value in document.items() if not isinstance(value, dict)}
    return {**general, **section, **(replaced if short else {})}


def expected_of(folder: Path, name: str) -> Settings:
    """The section of ``expected.toml``: what the paper says."""
    document = tomllib.loads((folder / "expected.toml").read_text(encoding="utf-8"))
    found: Settings = document.get(name, {})
    return found


def reproduce(
    experiment: Experiment,
    folder: Path,
    store: Path,
    *,
    short: bool = False,
    jobs: int = 1,
    minutes: float | None = None,
    quiet: bool = False,
) -> Report:
    """Run an experiment, or what is left of it, and draw its conclusions."""
    settings = settings_of(folder, experiment.name, short=short)
    cells, done = experiment.cells(settings), list[Cell]()
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    while cells != done:
        results = run(
            experiment.name,
            cells,
            experiment.work,
            store / f"{experiment.name}.jsonl",
            jobs=jobs,
            chunk=experiment.chunk,
            minutes=None if deadline is None else max(0.0, deadline - time.monotonic()) / 60,
            quiet=quiet,
        )
        done = cells
        if experiment.more:  # after the deadline too: what was stored before is reported
            cells = experiment.more(results, cells, settings)
    return experiment.report(results, settings, expected_of(folder, experiment.name))


def main(folder: Path, experiments: Sequence[Experiment], arguments: list[str] | None = None) -> int:
    """Run the experiments of a paper; 1 if a target is neither met nor explained."""
    names = [experiment.name for experiment in experiments]
    parser = argparse.ArgumentParser(description=f"Reproduce {folder.name}.")
    parser.add_argument("--only", action="append", choices=names, help="run this one (repeatable)")
    parser.add_argument("--short", action="store_true", help="few repetitions, in minutes")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--minutes", type=float, help="stop each experiment after this time")
    parser.add_argument("--fresh", action="store_true", help="forget what was done before")
    parser.add_argument("--record", action="store_true", help="also write to results/")
    given = parser.parse_args(arguments)
    out = ROOT / "out" / "reproduce" / folder.name / ("short" if given.short else "long")
    console, failed = Console(), False
    for experiment in experiments:
        if given.only and experiment.name not in given.only:
            continue
        if given.fresh:
            (out / f"{experiment.name}.jsonl").unlink(missing_ok=True)
        report = reproduce(experiment, folder, out, short=given.short, jobs=given.jobs, minutes=given.minutes)
        write(report, out)
        if given.record:
            write(report, folder / "results", pictures=("svg",))
        _print(console, report, out)
        failed |= bool(report.outside)
    return int(failed)


def _print(console: Console, report: Report, out: Path) -> None:
    console.rule(escape(report.title))
    for target in report.targets:
        color = "green" if target.within else "yellow" if target.explanation else "red"
        console.print(
            f"[{color}]{escape(target.name)}: {report.against} {target.published:g}, "
            f"ours {target.ours:.1f} ± {target.error:.1f} ({target.verdict.replace('*', '')})"
        )
    for claim in report.claims:
        verdict = claim.verdict.replace("*", "")
        color = "green" if verdict == "true" else "yellow"
        console.print(f"[{color}]{verdict}[/]: {escape(claim.text)} ({escape(claim.evidence)})")
    console.print(f"In {out.relative_to(ROOT)}/{report.name}.md.")
