"""A report: published values beside ours with a verdict, claims checked, a table and plots."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from experiments.common.runner import Results

MARKERS = "osD^vP*X"


@dataclass(frozen=True)
class Target:
    """One published value and ours. Outside the tolerance, a target needs an explanation."""

    name: str
    published: float
    ours: float
    error: float  # standard error of ours
    tolerance: float
    explanation: str = ""

    @property
    def within(self) -> bool:
        return abs(self.ours - self.published) <= self.tolerance

    @property
    def verdict(self) -> str:
        if self.within:
            return "within"
        return f"explained: {self.explanation}" if self.explanation else "**outside**"


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether our figures bear it out: with `exceptions` only in part."""

    text: str
    holds: bool
    numbers: str
    explanation: str = ""
    exceptions: str = ""

    @property
    def verdict(self) -> str:
        if not self.holds:
            return "**false**"
        return "**in part**" if self.exceptions else "true"

    @property
    def evidence(self) -> str:
        """The numbers, then what does not fit, then why."""
        but = f"but {self.exceptions}" if self.exceptions else ""
        return "; ".join(part for part in (self.numbers, but, self.explanation) if part)


@dataclass(frozen=True)
class Curve:
    """A line of a plot. `published` draws hollow marks in the color of the curve of that label."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    published: bool = False
    dashed: bool = False
    spread: Sequence[np.ndarray] | None = None  # drawn as boxes: extremes, quartiles, median


@dataclass(frozen=True)
class Plot:
    name: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    log: bool = False
    ticks: Sequence[str] | None = None  # names of x = 0, 1, 2, …

    def draw(self, path: Path) -> None:
        draw(self, path)


class Picture(Protocol):
    """What a report shows: a plot, or something of its own kind."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    def draw(self, path: Path) -> None: ...


@dataclass(frozen=True)
class Report:
    """What one experiment says."""

    name: str
    title: str
    about: str
    results: Results
    targets: Sequence[Target] = ()
    claims: Sequence[Claim] = ()
    plots: Sequence[Picture] = ()
    metrics: Sequence[str] = ("accuracy",)
    notes: Sequence[str] = field(default=())
    against: str = "published"  # what the targets are; a reference of our own is not published
    recorded: Sequence[dict[str, Any]] = ()  # rows of the table that an earlier run measured

    @property
    def outside(self) -> list[Target]:
        """Targets that are neither met nor explained."""
        return [t for t in self.targets if not t.within and not t.explanation]


def write(report: Report, folder: Path, *, pictures: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write ``name.csv``, ``name.md`` and the plots."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [*table(report.results, report.metrics), *report.recorded]
    header = list(dict.fromkeys(key for row in rows for key in row))
    paths = [folder / f"{report.name}.csv", folder / f"{report.name}.md"]
    with paths[0].open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    paths[1].write_text(markdown(report), encoding="utf-8")
    for plot in report.plots:
        for ending in pictures:
            paths.append(folder / f"{plot.name}.{ending}")
            plot.draw(paths[-1])
    return paths


def curves(results: Results, names: Sequence[str], key: str, xs: Sequence[float]) -> list[Curve]:
    """The mean accuracy of each algorithm along `key`, with its standard error.

    An algorithm whose name ends in ``(ours)`` is drawn dashed, in the color of its namesake.
    """
    found = []
    for name in names:
        cells: list[dict[str, Any]] = [{"algorithm": name, key: x} for x in xs]
        have = [i for i, cell in enumerate(cells) if len(results.values(**cell))]
        found.append(
            Curve(
                name,
                [xs[i] for i in have],
                [results.mean(**cells[i]) for i in have],
                [results.error(**cells[i]) for i in have],
                dashed=name.endswith("(ours)"),
            )
        )
    return found


def table(results: Results, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """One row per cell: its configuration, then mean, standard deviation and number of runs."""
    rows = []
    for config in results.configs():
        row: dict[str, Any] = dict(config)
        for metric in metrics:
            values = results.values(metric, **config)
            if len(values):
                row[metric] = round(float(values.mean()), 3)
                row[f"{metric} sd"] = round(float(values.std(ddof=min(1, len(values) - 1))), 3)
                row["runs"] = len(values)
        rows.append(row)
    return rows


def markdown(report: Report) -> str:
    fewest, most = report.results.repetitions()
    runs = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    lines = [f"# {report.title}", ""]
    lines += ["<!-- --8<-- [start:tables] -->", report.about, "", f"Repetitions per cell: {runs}."]
    if report.targets:
        lines += ["", f"| cell | {report.against} | ours | ± | tolerance | verdict |"]
        lines += ["|---|---:|---:|---:|---:|---|"]
        lines += [
            f"| {t.name} | {t.published:g} | {t.ours:.1f} | {t.error:.1f} | {t.tolerance:.1f} | {t.verdict} |"
            for t in report.targets
        ]
        lines += ["", "± is the standard error of ours."]
    if report.claims:
        lines += ["", "| the paper says | holds | our numbers |", "|---|---|---|"]
        lines += [f"| {c.text} | {c.verdict} | {c.evidence} |" for c in report.claims]
    lines += ["<!-- --8<-- [end:tables] -->"]  # the documentation shows what stands between
    for plot in report.plots:
        lines += ["", f"![{plot.title}]({plot.name}.svg)"]
    for note in report.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def draw(plot: Plot, path: Path) -> None:
    """A plot that is the same file for the same figures."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "bocage", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.subplots()
        colors: dict[str, str] = {}
        boxed = [curve.label for curve in plot.curves if curve.spread is not None]
        for position, curve in enumerate(plot.curves):
            aside = 0.0
            if curve.label in boxed:  # boxes stand side by side
                aside = (boxed.index(curve.label) - (len(boxed) - 1) / 2) / (len(boxed) + 1)
            places = np.asarray(curve.x, float) + aside
            color = colors.setdefault(curve.label.split(" (")[0], f"C{len(colors)}")
            mark = MARKERS[list(colors).index(curve.label.split(" (")[0]) % len(MARKERS)]
            axes.errorbar(
                places,
                curve.y,
                yerr=None if curve.error is None else 2 * np.asarray(curve.error),
                label="_published" if curve.published else curve.label,
                color=color,
                marker=mark,
                markersize=8 if curve.published else 5,
                markerfacecolor="none" if curve.published else color,
                linestyle="none" if curve.published else "--" if curve.dashed else "-",
                linewidth=1.3,
                elinewidth=0.8,
                capsize=2,
                zorder=3 if curve.published else 2 + position / 100,
            )
            if curve.spread is not None:
                thin = {"color": color, "linewidth": 0.9}
                axes.boxplot(
                    curve.spread,
                    positions=places,
                    widths=0.8 / (len(boxed) + 1),
                    whis=(0, 100),
                    manage_ticks=False,
                    boxprops=thin,
                    whiskerprops=thin,
                    capprops=thin,
                    medianprops=thin,
                )
        if plot.ticks is not None:
            axes.set_xticks(range(len(plot.ticks)), plot.ticks)
        if any(curve.published for curve in plot.curves):
            hollow: dict[str, Any] = {
                "markerfacecolor": "none",
                "color": "gray",
                "linestyle": "none",
            }
            axes.plot([], [], marker="o", markersize=8, label="published", **hollow)
        if plot.log:
            axes.set_xscale("log")
            ticks = sorted({x for curve in plot.curves for x in curve.x})
            axes.set_xticks(ticks, [f"{x:,g}" for x in ticks], minor=False)
            axes.set_xticks([], minor=True)
        axes.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
        axes.grid(alpha=0.3)
        if boxed:  # they need the width
            axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
        else:
            axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
