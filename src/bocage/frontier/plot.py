"""The map as a picture: a panel for each number of rows, a line for each learner."""

from __future__ import annotations

from pathlib import Path

from bocage.epsilon import Epsilon
from bocage.errors import LearnerError
from bocage.frontier.chart import Chart

# After Okabe and Ito: told apart with most kinds of color blindness.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6fd1", "#7a7a7a")
_MARKS = "osD^vPX*"
_ASIDE = 1.03  # how far right of the one before it a learner stands, so that bars are told apart


def plot_chart(chart: Chart, path: Path, most: int = 8) -> None:
    """Write the map as a PNG or SVG file; the learners beyond the best `most` are left out."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise LearnerError("a plot needs matplotlib: pip install 'bocage[plot]'.") from None
    sizes = chart.sizes
    figure = Figure(figsize=(4.2 * len(sizes) + 2.4, 4.4), layout="constrained")
    panels = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    shown = chart.candidates[:most]
    for panel, rows in zip(panels, sizes, strict=True):
        for at, name in enumerate(shown):
            aside = _ASIDE ** (at - (len(shown) - 1) / 2)
            line = sorted(
                (Epsilon.of(p.epsilon).nano / 1e9 * aside, p.accuracy, 2 * p.error)
                for p in chart.places
                if p.rows == rows and p.candidate == name
            )
            xs, ys, bars = zip(*line, strict=True)
            color, mark = _COLORS[at % len(_COLORS)], _MARKS[at % len(_MARKS)]
            panel.errorbar(xs, ys, bars, color=color, marker=mark, ms=5, lw=1.6, elinewidth=0.8, label=name)
        best = sorted(
            (Epsilon.of(p.epsilon).nano / 1e9, p.accuracy) for p in chart.places if p.rows == rows and p.on_frontier
        )
        panel.plot(*zip(*best, strict=True), color="black", lw=5, alpha=0.15, zorder=0)
        panel.set_xscale("log")
        panel.set_xticks([x for x, _ in best], [f"{x:g}" for x, _ in best])
        panel.minorticks_off()
        panel.set_title(f"{rows:,} rows")
        panel.set_xlabel("epsilon")
        panel.grid(alpha=0.25)
    panels[0].set_ylabel("accuracy, per cent")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False)
    kind = "public rows" if chart.public else "made-up rows of the schema"
    figure.suptitle(f"{chart.schema}: accuracy against epsilon ({kind}; the frontier in grey)")
    figure.savefig(path, dpi=130)
