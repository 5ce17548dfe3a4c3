"""The map as a chart: accuracy against epsilon, a line for each learner, the frontier behind them."""

from __future__ import annotations

from math import log10

from markupsafe import Markup

from bocage.frontier import Chart, Place
from bocage.service.web.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, path, svg, text

MARKS = 8  # shapes and colors that differ


def map_chart(chart: Chart, rows: int, most: int) -> Markup:
    """One number of rows; epsilon on a logarithmic axis, as powers of ten differ in kind."""
    here = [place for place in chart.places if place.rows == rows]
    shown = chart.candidates[:most]
    drawn = [place for place in here if place.candidate in shown or place.on_frontier]
    low, high = min(p.accuracy for p in drawn), max(p.accuracy for p in drawn)
    xs = Axis(_at(chart.epsilons[0]), _at(chart.epsilons[-1]), LEFT + 12, WIDTH - RIGHT - 12)
    ys = Axis(max(low - 3, 0), min(high + 3, 100), HEIGHT - BOTTOM, TOP)

    def points(places: list[Place]) -> list[tuple[float, float]]:
        placed = sorted((_at(p.epsilon), p.accuracy) for p in places)
        return [(xs.at(x), ys.at(y)) for x, y in placed]

    parts = [path("axis", [(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)])]
    parts.append(path("frontier", points([p for p in here if p.on_frontier])))
    for at, name in enumerate(shown):
        line = points([p for p in here if p.candidate == name])
        parts.append(path(f"line line{at % MARKS}", line))
        parts += [mark(at, x, y) for x, y in line]
    parts += [text(LEFT - 8, ys.at(v) + 4, f"{v:g} %", "end") for v in ys.ticks(4)]
    parts += [text(xs.at(_at(e)), HEIGHT - 12, f"ε {e}") for e in chart.epsilons]
    best = "; ".join(
        f"epsilon {p.epsilon}: {p.candidate} {p.accuracy:.0f} %"
        for p in sorted(here, key=lambda p: _at(p.epsilon))
        if p.on_frontier
    )
    return svg(f"Accuracy against epsilon with {rows:,} rows", f"The best at {best}.", parts)


def _at(epsilon: str) -> float:
    return log10(float(epsilon))


_SHAPES = (
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
    "M-4,-4h8v8h-8z",
    "M0,-5l5,5l-5,5l-5,-5z",
    "M0,-5l5,9h-10z",
    "M0,5l5,-9h-10z",
    "M-5,-1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z",
    "M-4,-5h8l-8,10h8z",
    "M-5,-2h10v4h-10z",
)


def mark(at: int, x: float, y: float) -> Markup:
    """The shape of a line: for those who do not tell colors apart."""
    return Markup('<path class="mark{}" transform="translate({:.1f} {:.1f})" d="{}"/>').format(
        at % MARKS, x, y, _SHAPES[at % MARKS]
    )


def key(at: int) -> Markup:
    """The line and the mark of a learner, for the table beside."""
    line = Markup('<path class="line line{}" d="M0,6h28"/>').format(at % MARKS)
    head = Markup('<svg class="chart key" viewBox="0 0 28 12" aria-hidden="true">')
    return head + line + mark(at, 14, 6) + Markup("</svg>")
