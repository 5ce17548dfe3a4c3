"""A tree as text, plain or for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bocage.errors import ModelError
from bocage.model.additive.model import AdditiveModel
from bocage.model.base import Model
from bocage.model.tree.paths import step_in_words
from bocage.model.tree.tree import Tree

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.tree import Tree as Drawing

SHOWN = 6  # label counts that are written out


def to_text(model: Model) -> str:
    """A tree as lines of text, children indented below their parents; or the tables of a model."""
    if isinstance(model, AdditiveModel):
        from bocage.model.export.additive_text import additive_text  # noqa: PLC0415 - it draws rules too

        return additive_text(model)
    tree = _one_tree(model)
    lines = [f"all rows: {outcome(tree, 0)}"]
    for node, rails in _walk(tree):
        lines.append(f"{rails}{step_in_words(tree, node)}: {outcome(tree, node)}")
    return "\n".join(lines)


def to_rich(model: Model) -> RenderableType:
    """A tree for the terminal, leaves in bold and released counts dimmed; or tables with bars."""
    if isinstance(model, AdditiveModel):
        from bocage.model.export.additive_text import additive_rich  # noqa: PLC0415 - it draws rules too

        return additive_rich(model)
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
