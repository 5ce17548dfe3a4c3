"""One small panel per data set: accuracy against epsilon, ours in full lines, rivals dashed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.common.report import MARKERS, Curve

COLUMNS = 4


@dataclass(frozen=True)
class Panels:
    """Curves by the title of their panel; a curve has the same color in all of them."""

    name: str
    title: str
    panels: Mapping[str, Sequence[Curve]]

    def draw(self, path: Path) -> None:
        """The same file for the same figures."""
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        labels = list(dict.fromkeys(c.label for curves in self.panels.values() for c in curves))
        dashed = {c.label: c.dashed for curves in self.panels.values() for c in curves}
        rows = -(-len(self.panels) // COLUMNS)
        with mpl.rc_context({"svg.hashsalt": "bocage", "svg.fonttype": "none", "font.size": 8}):
            figure = Figure(figsize=(11, 0.8 + 2.5 * rows), layout="constrained")
            grid = figure.subplots(rows, min(COLUMNS, len(self.panels)), squeeze=False)
            for axes in grid[-1]:
                axes.set_xlabel("ε")
            for axes in grid.flat[len(self.panels) :]:
                axes.axis("off")
            for axes, (title, curves) in zip(grid.flat, self.panels.items(), strict=False):
                for curve in curves:
                    at = labels.index(curve.label)
                    axes.errorbar(
                        curve.x,
                        curve.y,
                        yerr=None if curve.error is None else [2 * e for e in curve.error],
                        color=f"C{at % 10}",
                        marker=MARKERS[at % len(MARKERS)],
                        markersize=3 if curve.dashed else 4,
                        linestyle="--" if curve.dashed else "-",
                        linewidth=0.9 if curve.dashed else 1.5,
                        elinewidth=0.6,
                        zorder=2 if curve.dashed else 3,
                    )
                axes.set_xscale("log")
                ticks = sorted({x for curve in curves for x in curve.x})
                axes.set_xticks(ticks, [f"{x:g}" for x in ticks], minor=False)
                axes.set_xticks([], minor=True)
                axes.set_title(title, fontsize=9)
                axes.grid(alpha=0.3)
            figure.supylabel("accuracy, %")
            handles = [
                Line2D(
                    [], [], color=f"C{i % 10}", marker=MARKERS[i % len(MARKERS)], markersize=4,
                    linestyle="--" if dashed[label] else "-", label=label,
                )
                for i, label in enumerate(labels)
            ]  # fmt: skip
            figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
            figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
