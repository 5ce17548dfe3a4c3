"""Small charts as SVG text, styled by the page's own sheet: no script, no inline style.

Every chart has a title and a description for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil, floor, log10

from markupsafe import Markup, escape

from bocage.private.answer import Answer, figure

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 14, 34


@dataclass(frozen=True)
class Axis:
    """A straight map from values to pixels, with round ticks."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        width = self.high - self.low
        return self.start if width <= 0 else self.start + (value - self.low) / width * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        width = self.high - self.low
        if width <= 0:
            return [self.low]
        rough = width / most
        base = 10 ** floor(log10(rough))
        step = next(k * base for k in (1, 2, 2.5, 5, 10) if k * base >= rough)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def svg(title: str, description: str, parts: Sequence[Markup], height: int = HEIGHT) -> Markup:
    head = Markup('<svg class="chart" role="img" viewBox="0 0 {} {}">').format(WIDTH, height)
    words = Markup("<title>{}</title><desc>{}</desc>").format(title, description)
    return head + words + Markup("").join(parts) + Markup("</svg>")


def text(x: float, y: float, text: object, anchor: str = "middle") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def path(kind: str, points: Sequence[tuple[float, float]], close: str = "") -> Markup:
    way = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) + close
    return Markup('<path class="{}" d="{}"/>').format(kind, way)


def burn_down(spent: Sequence[tuple[float, float]], cap: float, now: float, *, title: str) -> Markup:
    """What is left of a cap over time, from (unix time, spent in all so far); caps as a dashed line."""
    start = spent[0][0] if spent else now - 3600
    xs = Axis(start, max(now, start + 60), LEFT, WIDTH - RIGHT)
    ys = Axis(0, max(cap, 1e-9), HEIGHT - BOTTOM, TOP)
    left = [
        (start, cap),
        *((t, cap - s) for t, s in spent),
        (xs.high, cap - (spent[-1][1] if spent else 0)),
    ]
    steps: list[tuple[float, float]] = [left[0]]
    for (_, before), (t, after) in pairwise(left):
        steps += [(t, before), (t, after)]
    line = [(xs.at(t), ys.at(max(v, 0))) for t, v in steps]
    floor_ = [(line[-1][0], ys.start), (line[0][0], ys.start)]
    parts = [
        path("area", [*line, *floor_], "Z"),
        path("axis", [(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)]),
        path("cap", [(LEFT, ys.at(cap)), (WIDTH - RIGHT, ys.at(cap))]),
        path("mark", line),
        *(text(LEFT - 8, ys.at(v) + 4, f"{v:g}", "end") for v in ys.ticks(4)),
        text(LEFT, HEIGHT - 10, _when(xs.low, xs.high - xs.low), "start"),
        text(WIDTH - RIGHT, HEIGHT - 10, _when(xs.high, xs.high - xs.low), "end"),
    ]
    rest = cap - (spent[-1][1] if spent else 0)
    return svg(title, f"Epsilon left: {rest:.6g} of {cap:.6g}.", parts)


def _when(seconds: float, span: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%H:%M:%S" if span < 7200 else "%Y-%m-%d %H:%M" if span < 3e6 else "%Y-%m-%d")


def answer_chart(answer: Answer, most: int = 24) -> Markup | None:
    """Released numbers with their 95 % intervals; nothing for an answer that is no number."""
    items = [i for i in answer.items if isinstance(i.value, int | float)][:most]
    if not items or len(items) < len(answer.items[:most]):
        return None
    ends = [v for i in items for v in (i.low, i.high, i.value) if isinstance(v, int | float)]
    low, high = min(0, *ends), max(0, *ends)
    names = len(items) > 1
    left, row = (190 if names else 30), 26
    height = TOP + row * len(items) + 34
    xs = Axis(low, high if high > low else low + 1, left, WIDTH - RIGHT - 20)
    parts: list[Markup] = [path("axis", [(xs.at(0), TOP), (xs.at(0), height - 30)])]
    for at, item in enumerate(items):
        y = TOP + row * at + row / 2
        value = float(item.value) if isinstance(item.value, int | float) else 0.0
        if item.low is not None and item.high is not None:
            parts.append(path("span", [(xs.at(item.low), y), (xs.at(item.high) + 0.1, y)]))
        parts.append(Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(xs.at(value), y))
        if names:
            key = item.key if len(item.key) < 28 else item.key[:27] + "…"
            parts.append(text(left - 10, y + 4, key, "end"))
    parts += [text(xs.at(v), height - 10, figure(v)) for v in xs.ticks(4)]
    told = "; ".join(f"{i.key or 'value'} {i.value}" for i in items)
    return svg(answer.question, f"{told}. Bars show 95 % intervals.", parts, height)


def meter(share: float, words: str) -> Markup:
    """A bar that fills from the left: how much is spent."""
    percent = max(0.0, min(1.0, share)) * 100
    return Markup(
        '<svg class="chart" role="img" viewBox="0 0 200 8" preserveAspectRatio="none" height="8">'
        "<title>{}</title><rect class='area' width='200' height='8' rx='4'/>"
        "<rect class='dot' width='{:.1f}' height='8' rx='4'/></svg>"
    ).format(escape(words), 2 * percent)


def two_bars(title: str, names: Sequence[str], sent: Sequence[float], found: Sequence[float]) -> Markup:
    """Shares as they were sent (outlined) and as they were reconstructed (filled), side by side."""
    left, bottom, height = 44, 46, 240
    most = max([*sent, *found, 1e-9])
    ys = Axis(0, most, height - bottom, 22)
    width = (WIDTH - left - RIGHT) / max(len(names), 1)
    parts: list[Markup] = [text(left, 14, title, "start")]
    bar = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
    for at, (before, after) in enumerate(zip(sent, found, strict=True)):
        x = left + at * width
        for kind, share, shift in (("sent", before, 0.08), ("found", after, 0.5)):
            top = ys.at(share)
            parts.append(bar.format(kind, x + shift * width, top, 0.4 * width, ys.start - top))
    longest = min(max((len(name) for name in names), default=1), 12)
    step = max(1, ceil(8 * longest / width))  # so that no two texts touch
    for at in range(0, len(names), step):
        name = names[at] if len(names[at]) < 12 else names[at][:11] + "…"
        parts.append(text(left + (at + 0.5) * width, height - 26, name))
    parts.append(path("axis", [(left, ys.start), (WIDTH - RIGHT, ys.start)]))
    parts += [text(left - 6, ys.at(v) + 4, f"{100 * v:g} %", "end") for v in ys.ticks(3)]
    parts.append(text(WIDTH - RIGHT, height - 6, "outlined: as sent · filled: reconstructed", "end"))
    told = "; ".join(f"{n}: {100 * f:.0f} %" for n, f in zip(names, found, strict=True))
    return svg(f"{title}, reconstructed", told, parts, height)
