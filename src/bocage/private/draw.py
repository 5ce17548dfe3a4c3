"""Answers in the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bocage.private.answer import Answer, Item, Kind, figure, printable

_COLORS = {Kind.RELEASE: "green", Kind.STORED: "cyan", Kind.DRY_RUN: "magenta"}
_BAR = 28
_MOST_ROWS = 40


def draw_answer(answer: Answer) -> RenderableType:
    """A small table: key, value, 95 % interval, and bars where there are several counts."""
    if answer.kind is Kind.PREVIEW:
        return _draw_preview(answer)
    items = answer.items
    several = len(items) > 1
    table = Table(box=None)
    if several:
        table.add_column("", overflow="fold")
    table.add_column("value", justify="right", style=_COLORS[answer.kind])
    if answer.lows:
        table.add_column("95 % interval", justify="right", style="dim")
    largest = max((abs(i.value) for i in items if isinstance(i.value, int | float)), default=0)
    bars = several and largest > 0
    if bars:
        table.add_column("")
    for item in items[:_MOST_ROWS]:
        table.add_row(*_cells(item, several=several, largest=largest if bars else 0))
    if len(items) > _MOST_ROWS:
        table.add_row(f"… {len(items) - _MOST_ROWS} more")
    title = Text(printable(answer.question), style="bold")
    return Group(title, table, Text(printable(answer.footnote()), style="dim"))


def _draw_preview(answer: Answer) -> RenderableType:
    facts = Text(printable(answer.footnote()), style="dim")
    facts.highlight_regex("± .* at 95 %", "not dim yellow")
    return Group(Text(printable(answer.question), style="bold"), facts)


def _cells(item: Item, *, several: bool, largest: float) -> list[Text]:
    """Texts, not strings: what a public value contains is shown, never read as markup."""
    cells = [item.key] if several else []
    cells.append("–" if item.value is None else figure(item.value))
    if item.low is not None and item.high is not None:
        cells.append(f"{figure(item.low)} … {figure(item.high)}")
    if largest and isinstance(item.value, int | float):
        cells.append("█" * round(_BAR * max(item.value, 0) / largest))
    return [Text(printable(cell)) for cell in cells]
