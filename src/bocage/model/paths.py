"""The way from the root to a node as conditions on columns, tests of one column taken together."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from bocage.model.tree import Tree
from bocage.plan import Predicate, to_text
from bocage.plan.predicate import And, Compare, OneOf, Or
from bocage.schema import Attribute, Categorical, number

Ranges = dict[
    str, tuple[int, int]
]  # for each column tested: codes from the first to before the last
SHOWN = 3  # values of a list that are written out


def edge(tree: Tree, node: int) -> tuple[str, int, int]:
    """The test that leads from its parent to a node: a column and the codes that it accepts."""
    parent = int(tree.parent[node])
    attribute = tree.schema.attributes[tree.column[parent]]
    position, cut = node - int(tree.first_child[parent]), int(tree.threshold[parent])
    if cut < 0:
        return attribute.name, position, position + 1
    return (attribute.name, 0, cut) if position == 0 else (attribute.name, cut, attribute.cells)


def path(tree: Tree, node: int) -> Ranges:
    """All tests from the root to a node, those nearest to the root first."""
    steps = []
    while node > 0:
        steps.append(edge(tree, node))
        node = int(tree.parent[node])
    ranges: Ranges = {}
    for name, low, high in reversed(steps):
        before = ranges.get(name, (0, tree.schema[name].cells))
        ranges[name] = max(low, before[0]), min(high, before[1])
    return ranges


def condition(attribute: Attribute, low: int, high: int) -> list[Predicate]:
    """A range of codes as a filter on the column."""
    name = attribute.name
    if isinstance(attribute, Categorical):
        values = attribute.values[low:high]
        if not values:
            return [Or(())]
        return [Compare(name, "=", values[0]) if len(values) == 1 else OneOf(name, values)]
    if attribute.step is not None and high == low + 1:
        return [Compare(name, "=", attribute.edge(low))]
    above = [Compare(name, ">=", attribute.edge(low))] if low > 0 else []
    below = [Compare(name, "<", attribute.edge(high))] if high < attribute.cells else []
    return [*above, *below]


def predicate(tree: Tree, node: int) -> Predicate:
    """The filter that the rows of a node pass: usable in `PrivateTable.where`."""
    parts = [
        part
        for name, (low, high) in path(tree, node).items()
        for part in condition(tree.schema[name], low, high)
    ]
    return And(tuple(parts))


def leaf_names(tree: Tree) -> tuple[str, ...]:
    """What each leaf is about. Leaves that no row can reach may share a filter: then with number."""
    names = [to_text(predicate(tree, leaf)) for leaf in tree.leaves]
    often = Counter(names)
    return tuple(
        name if often[name] == 1 else f"{name} (leaf {leaf})"
        for name, leaf in zip(names, tree.leaves, strict=True)
    )


def in_words(attribute: Attribute, low: int, high: int) -> str:
    """A range of codes for people: ``age < 35``, ``20 ≤ age < 35``, ``job is farmer``."""
    name = attribute.name
    if low >= high:
        return f"no {name} is left"
    if isinstance(attribute, Categorical):
        values = attribute.values[low:high]
        if len(values) == 1:
            return f"{name} is {values[0] or repr('')}"
        more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
        return f"{name} in {', '.join(values[:SHOWN])}{more}"
    start, end = _brief(attribute.edge(low)), _brief(attribute.edge(high))
    if attribute.step is not None and high == low + 1:
        return f"{name} is {start}"
    if low > 0 and high < attribute.cells:
        return f"{start} ≤ {name} < {end}"
    return f"{name} < {end}" if high < attribute.cells else f"{name} ≥ {start}"


def _brief(value: Fraction) -> str:
    """A number for people; `predicate` has it exactly."""
    text = number(value)
    return text if value.denominator == 1 or len(text) <= 8 else f"{float(value):.6g}"


def step_in_words(tree: Tree, node: int) -> str:
    """The test that leads to a node, together with earlier tests of the same column."""
    name = edge(tree, node)[0]
    return in_words(tree.schema[name], *path(tree, node)[name])
