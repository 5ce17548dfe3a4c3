"""A model as text, plain or for the terminal: a tree by its nodes, an additive model by its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bocage.errors import ModelError
from bocage.model.additive.model import UNIT, AdditiveModel, Term
from bocage.model.base import Model
from bocage.model.tree.paths import in_words, step_in_words
from bocage.model.tree.tree import Tree

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.tree import Tree as Drawing

SHOWN = 6  # label counts that are written out
_BAR = 16


def to_text(model: Model) -> str:
    """A tree as lines of text, children indented below their parents; or the tables of a model."""
    if isinstance(model, AdditiveModel):
        return _additive_text(model)
    tree = _one_tree(model)
    lines = [f"all rows: {outcome(tree, 0)}"]
    for node, rails in _walk(tree):
        lines.append(f"{rails}{step_in_words(tree, node)}: {outcome(tree, node)}")
    return "\n".join(lines)


def to_rich(model: Model) -> RenderableType:
    """A tree for the terminal, leaves in bold and released counts dimmed; or tables with bars."""
    if isinstance(model, AdditiveModel):
        return _additive_rich(model)
    tree = _one_tree(model)
    from rich.text import Text  # noqa: PLC0415 - importing a model loads no terminal
    from rich.tree import Tree as Drawing  # noqa: PLC0415 - likewise

    drawings: dict[int, Drawing] = {}
    for node in range(len(tree)):  # parents come first
        line = Text("all rows" if node == 0 else step_in_words(tree, node))
        line.append(" → ")
        line.append(_decision(tree, node), style="bold" if tree.is_leaf[node] else "")
        line.append(released(tree, node), style="dim")
        above = drawings.get(int(tree.parent[node]))
        drawings[node] = Drawing(line, guide_style="dim") if above is None else above.add(line)
    return drawings[0]


def _one_tree(model: Model) -> Tree:
    if not isinstance(model, Tree):
        raise ModelError(f"a {type(model).__name__} is not written as a whole: write its trees.")
    return model


def outcome(tree: Tree, node: int) -> str:
    """The decision of a node and what was released about it."""
    return _decision(tree, node) + released(tree, node)


def released(tree: Tree, node: int) -> str:
    """The noisy counts of a node as they were released: a negative one is no mistake."""
    labels = tree.label_attribute.values
    if tree.has_counts[node]:
        counts = tree.counts[node].tolist()
        largest = sorted(range(len(counts)), key=lambda code: -counts[code])[:SHOWN]
        parts = [f"{labels[code]} {counts[code]:,}" for code in sorted(largest)]
        more = f", {len(counts) - SHOWN} more" if len(counts) > SHOWN else ""
        return f"  [{', '.join(parts)}{more}]"
    return f"  [{int(tree.total[node]):,} rows]" if tree.has_total[node] else ""


def _decision(tree: Tree, node: int) -> str:
    return tree.label_attribute.values[int(tree.label[node])]


def _walk(tree: Tree) -> Iterator[tuple[int, str]]:
    """Every node but the root, parents before their children, with the lines drawn before it."""
    waiting = [(child, "") for child in reversed(tree.children(0))]
    while waiting:
        node, before = waiting.pop()
        last = node == tree.children(int(tree.parent[node]))[-1]
        yield node, before + ("└─ " if last else "├─ ")
        deeper = before + ("   " if last else "│  ")
        waiting += [(child, deeper) for child in reversed(tree.children(node))]


def _additive_text(model: AdditiveModel) -> str:
    """Every table as lines of text, the most important first."""
    lines = [intercept_text(model)]
    for term in model.by_importance():
        lines.append(" and ".join(term.columns))
        for words, effects in cells_of(model, term):
            shown = "  ".join(_signed(e, label) for e, label in zip(effects, _names(model), strict=True))
            lines.append(f"  {words}: {shown}")
    return "\n".join(lines)


def intercept_text(model: AdditiveModel) -> str:
    """Where the sum begins, and how it is read."""
    label, values = model.label_attribute.name, model.label_attribute.values
    if len(values) == 2:
        first = (model.intercept[1] - model.intercept[0]) / UNIT
        return f"log-odds of {label} = {values[1]}: {first:+.2f}, plus one line of each table"
    means = (model.intercept - model.intercept.mean()) / UNIT
    listed = ", ".join(f"{v} {m:+.2f}" for v, m in zip(values, means, strict=True))
    return f"scores of {label}: {listed}, plus one line of each table; the largest sum wins"


def _additive_rich(model: AdditiveModel) -> RenderableType:
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
    return Group(Text(intercept_text(model), style="bold"), *tables)


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


def _names(model: AdditiveModel) -> tuple[str, ...]:
    """The heading of each shown label; none where it is clear."""
    return ("",) if len(model.label_attribute.values) == 2 else model.shown_labels


def _signed(effect: float, label: str) -> str:
    return f"{label} {effect:+.2f}".strip()
