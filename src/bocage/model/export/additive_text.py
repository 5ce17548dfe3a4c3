"""An additive model in words: its tables, as text, for the terminal and as rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bocage.model.additive.model import UNIT, AdditiveModel, Term
from bocage.model.rules import Rule
from bocage.model.tree.paths import condition, in_words
from bocage.plan import to_text as predicate_text
from bocage.plan.predicate import And

if TYPE_CHECKING:
    from rich.console import RenderableType

_BAR = 16


def additive_text(model: AdditiveModel) -> str:
    """Every table as lines of text, the most important first."""
    lines = [start(model)]
    for term in model.by_importance():
        lines.append(" and ".join(term.columns))
        for words, effects in cells_of(model, term):
            shown = "  ".join(
                _signed(e, label) for e, label in zip(effects, _names(model), strict=True)
            )
            lines.append(f"  {words}: {shown}")
    return "\n".join(lines)


def start(model: AdditiveModel) -> str:
    """Where the sum begins, and how it is read."""
    label, values = model.label_attribute.name, model.label_attribute.values
    if len(values) == 2:
        first = (model.intercept[1] - model.intercept[0]) / UNIT
        return f"log-odds of {label} = {values[1]}: {first:+.2f}, plus one line of each table"
    means = (model.intercept - model.intercept.mean()) / UNIT
    listed = ", ".join(f"{v} {m:+.2f}" for v, m in zip(values, means, strict=True))
    return f"scores of {label}: {listed}, plus one line of each table; the largest sum wins"


def additive_rich(model: AdditiveModel) -> RenderableType:
    """The tables for the terminal, with bars to both sides."""
    from rich.console import Group  # noqa: PLC0415 - importing a model loads no terminal
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    tables = []
    largest = max(float(np.abs(model.effects(term)).max()) for term in model.terms) or 1.0
    for term in model.by_importance():
        table = Table(box=None)
        table.add_column(Text(" and ".join(term.columns)))
        for name in _names(model):
            table.add_column(Text(name or "log-odds"), justify="right")
        two = not _names(model)[0]
        if two:
            table.add_column("")
        for words, effects in cells_of(model, term):
            row = [Text(words), *(Text(f"{effect:+.2f}") for effect in effects)]
            table.add_row(*row, *([_bar(effects[0], largest)] if two else []))
        tables.append(table)
    return Group(Text(start(model), style="bold"), *tables)


def _bar(effect: float, largest: float) -> str:
    size = round(_BAR * abs(effect) / largest)
    left = ("█" * size if effect < 0 else "").rjust(_BAR)
    return f"{left}│{'█' * size if effect > 0 else ''}"


def cells_of(model: AdditiveModel, term: Term) -> Iterator[tuple[str, list[float]]]:
    """Each cell of a term in words, and what it adds for each shown label.

    Of several columns together many cells may add nothing: these are one line, the last.
    """
    every = model.effects(term)
    idle = np.flatnonzero(~every.any(axis=1)) if len(term.columns) > 1 else np.empty(0, np.int64)
    left = set(idle.tolist()) if len(idle) > 1 else set()
    for cell, effects in enumerate(every.tolist()):
        if cell not in left:
            accepted = term.accepted(model.schema, cell)
            yield " and ".join(in_words(column, codes) for column, codes in accepted), effects
    if left:
        yield "everything else", every[min(left)].tolist()


def additive_rules(model: AdditiveModel) -> Iterator[Rule]:
    """Each cell of each term as a rule that speaks for the label it raises most.

    Its strength is what it adds: there are no counts, hence neither support nor confidence.
    """
    values = model.label_attribute.values
    for at, term in enumerate(model.terms):
        for cell, scores in enumerate(term.scores):
            accepted = term.accepted(model.schema, cell)
            words = " and ".join(in_words(column, codes) for column, codes in accepted)
            tests = [test for column, codes in accepted for test in condition(column, codes)]
            raised = float(np.ptp(np.sort(scores)[-2:])) / UNIT
            yield Rule(
                tree=at,
                node=cell,
                text=f"{words} ({raised:+.2f})",
                where=predicate_text(tests[0] if len(tests) == 1 else And(tuple(tests))),
                label=values[int(scores.argmax())],
                confidence=None,
                support=None,
                depth=len(term.columns),
                leaf=True,
            )


def _names(model: AdditiveModel) -> tuple[str, ...]:
    """The heading of each shown label; none where it is clear."""
    return ("",) if len(model.label_attribute.values) == 2 else model.shown_labels


def _signed(effect: float, label: str) -> str:
    return f"{label} {effect:+.2f}".strip()
