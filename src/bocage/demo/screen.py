"""How the tour looks on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text


def chapter(screen: Console, title: str, words: str) -> None:
    screen.print()
    screen.print(Rule(Text(title, style="bold cyan"), align="left", style="cyan"))
    screen.print(Text(words))


def show(screen: Console, table: Table) -> None:
    screen.print(Padding(table, (1, 0, 0, 0)))


def columns(*names: str, numbers: tuple[int, ...] = ()) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for at, name in enumerate(names):
        table.add_column(name, justify="right" if at in numbers else "left")
    return table


def real(value: float | str | None) -> float:
    return float(value or 0)


def whole(value: float | str | None) -> str:
    """Whole numbers: nobody needs the decimals of a noisy sum."""
    return f"{real(value):,.0f}"
