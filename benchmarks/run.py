"""All benchmarks in one table of ratios: ours and the peer's from the same run.

Each module of this directory has a function `run` that returns rows of name, ours, peer, ratio and
target. It runs in a process of its own, so that none inherits another's memory or threads.
"""

from __future__ import annotations

import argparse
import inspect
import operator
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

HERE = Path(__file__).parent
REPORT = HERE.parent / "out" / "bench.md"
COMPARE = {">=": operator.ge, "<=": operator.le}
HEADINGS = ("", "ours", "peer", "ratio", "target", "met")


def main() -> None:
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem != Path(__file__).stem)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=names, help="run this one (repeatable)")
    parser.add_argument("--rows", type=int, help="rows of the tables that are counted")
    arguments = parser.parse_args()
    console = Console()
    lines, failed = [], []
    for name in arguments.only or names:
        with console.status(f"{name} …"):
            try:
                rows = _in_new_process(name, arguments.rows)
            except Exception as error:  # noqa: BLE001 - the others are still worth running
                failed.append(name)
                console.print(f"{name} failed: {type(error).__name__}: {error}", style="red")
                continue
        _print(console, name, rows)
        lines += _markdown(name, rows)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join([*_header(), *lines]) + "\n", encoding="utf-8")
    console.print(f"The table is in {REPORT.relative_to(HERE.parent)}.")
    sys.exit(bool(failed))


def _in_new_process(name: str, rows: int | None) -> list[dict[str, Any]]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, name, rows).result()


def measure(name: str, rows: int | None) -> list[dict[str, Any]]:
    sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]  # Spark starts as it does in the tests
    run = import_module(name).run
    takes_rows = rows is not None and "rows" in inspect.signature(run).parameters
    return list(run(rows=rows) if takes_rows else run())


def _cells(row: dict[str, Any]) -> list[str]:
    sign, bound = row["target"].split()
    met = COMPARE[sign](row["ratio"], float(bound))
    return [
        row["name"],
        _figure(row["ours"]),
        _figure(row["peer"]),
        f"{row['ratio']:.2f}x",
        f"{sign} {bound}x",
        "yes" if met else "NO",
    ]


def _figure(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _print(console: Console, name: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=name, title_justify="left", title_style="bold cyan", box=None)
    for at, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if at == 0 else "right")
    for row in rows:
        *cells, met = _cells(row)
        table.add_row(*cells, Text(met, style="green" if met == "yes" else "bold red"))
    console.print(table)
    console.print()


def _header() -> list[str]:
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return [
        "# Benchmarks",
        "",
        f"{when}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}.",
        "Ratios of ours and the peer's from the same run.",
    ]


def _markdown(name: str, rows: list[dict[str, Any]]) -> list[str]:
    lines = ["", f"## {name}", "", f"| {' | '.join(HEADINGS)} |", "|---|--:|--:|--:|--:|---|"]
    return lines + [f"| {' | '.join(_cells(row))} |" for row in rows]


if __name__ == "__main__":
    main()
