"""The tables of ``results/beyond.md``: `auto` beside the best rival of each cell, and how often it is ahead.

::

    python -m experiments.frontier.beyond_report experiments/frontier/results/beyond.csv
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from experiments.frontier.beyond import EPSILONS, OURS, RIVALS

Found = tuple[float, float]  # accuracy and its standard error, in per cent
Cells = dict[tuple[str, float], dict[tuple[str, str], Found]]


def cells_of(rows: Iterable[dict[str, str]]) -> Cells:
    """For each table and epsilon what each method has, with each of its settings."""
    found: Cells = {}
    for row in rows:
        here = found.setdefault((row["data"], float(row["epsilon"])), {})
        here[row["method"], row["setting"]] = float(row["accuracy"]), float(row["error"])
    return found


def best_rival(cell: dict[tuple[str, str], Found]) -> tuple[Found, str]:
    """The best setting of the best rival, in hindsight."""
    return max((found, method) for (method, _), found in cell.items() if method in RIVALS)


def summary(cells: Cells) -> Iterator[str]:
    yield "| | " + " | ".join(f"{epsilon:g}" for epsilon in EPSILONS) + " |"
    yield "|---|" + "---|" * len(EPSILONS)
    lead: dict[str, list[str]] = {}
    for epsilon in EPSILONS:
        own = [cell for (_, at), cell in cells.items() if at == epsilon]
        auto = np.array([cell["auto", ""][0] - best_rival(cell)[0][0] for cell in own])
        sure = [np.hypot(cell["auto", ""][1], best_rival(cell)[0][1]) for cell in own]
        error = auto.std(ddof=1) / len(auto) ** 0.5
        best = np.array([max(cell[name, ""][0] for name in OURS if (name, "") in cell) for cell in own])
        missed = best.mean() - np.mean([cell["auto", ""][0] for cell in own])
        for words, text in (
            ("`auto` minus the best rival, mean over tables", f"{auto.mean():+.1f} ± {error:.1f}"),
            ("tables where `auto` is ahead of all rivals", f"{(auto > 0).sum()} of {len(auto)}"),
            ("... ahead by two standard errors", f"{(auto > 2 * np.array(sure)).sum()}"),
            ("... behind by two standard errors", f"{(auto < -2 * np.array(sure)).sum()}"),
            ("the best of ours in hindsight minus `auto`, mean", f"{missed:.1f}"),
        ):
            lead.setdefault(words, []).append(text)
    for words, texts in lead.items():
        yield f"| {words} | " + " | ".join(texts) + " |"


def lines(cells: Cells) -> Iterator[str]:
    yield "| table | | " + " | ".join(f"{epsilon:g}" for epsilon in EPSILONS) + " |"
    yield "|---|---|" + "---|" * len(EPSILONS)
    for name in sorted({name for name, _ in cells}, key=str.lower):
        own = [cells[name, epsilon] for epsilon in EPSILONS]
        texts = ["{:.1f} ± {:.1f}".format(*cell["auto", ""]) for cell in own]
        yield f"| {name} | `auto` | " + " | ".join(texts) + " |"
        rivals = [best_rival(cell) for cell in own]
        texts = ["{:.1f} ± {:.1f} {}".format(*found, method) for found, method in rivals]
        yield "| | best rival | " + " | ".join(texts) + " |"


def report(rows: Iterable[dict[str, str]]) -> str:
    cells = cells_of(rows)
    return "\n".join([*summary(cells), "", *lines(cells), ""])


def main() -> None:
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        print(report(csv.DictReader(file)))


if __name__ == "__main__":
    main()
