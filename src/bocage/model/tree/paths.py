"""The way from the root to a node as conditions on columns, tests of one column taken together."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from bocage.model.tree.tree import Tree
from bocage.plan import Predicate, to_text
from bocage.plan.predicate import And, Compare, OneOf, Or
from bocage.plan.splits import code_alone
from bocage.schema import Attribute, Categorical, number

Codes = range | tuple[int, ...]  # that a test accepts, in rising order
Accepted = dict[str, Codes]  # for each column tested
SHOWN = 3  # values of a list that are written out


def edge(tree: Tree, node: int) -> tuple[str, Codes]:
    """The test that leads from its parent to a node: a column and the codes that it accepts."""
    parent = int(tree.parent[node])
    attribute = tree.schema.attributes[tree.column[parent]]
    position, at = node - int(tree.first_child[parent]), int(tree.threshold[parent])
    if at == -1:
        return attribute.name, range(position, position + 1)
    code = code_alone(at)
    if code is None:
        return attribute.name, range(at) if position == 0 else range(at, attribute.cells)
    if position == 0:
        return attribute.name, range(code, code + 1)
    return attribute.name, tuple(other for other in range(attribute.cells) if other != code)


def path(tree: Tree, node: int) -> Accepted:
    """All tests from the root to a node, those nearest to the root first."""
    steps = []
    while node > 0:
        steps.append(edge(tree, node))
        node = int(tree.parent[node])
    accepted: Accepted = {}
    for name, codes in reversed(steps):
        accepted[name] = _both(accepted[name], codes) if name in accepted else codes
    return accepted


def _both(first: Codes, second: Codes) -> Codes:
    if isinstance(first, range) and isinstance(second, range):
        return range(max(first.start, second.start), min(first.stop, second.stop))
    return tuple(code for code in first if code in second)


def _ends(codes: Codes) -> tuple[int, int]:
    """The first code of a numeric column and the one behind the last, also of none at all."""
    return (codes.start, codes.stop) if isinstance(codes, range) else (codes[0], codes[-1] + 1)


def condition(attribute: Attribute, codes: Codes) -> list[Predicate]:
    """The codes that are accepted as a filter on the column."""
    name = attribute.name
    if isinstance(attribute, Categorical):
        values = tuple(attribute.values[code] for code in codes)
        if not values:
            return [Or(())]
        return [Compare(name, "=", values[0]) if len(values) == 1 else OneOf(name, values)]
    low, high = _ends(codes)
    if attribute.step is not None and high == low + 1:
        return [Compare(name, "=", attribute.edge(low))]
    above = [Compare(name, ">=", attribute.edge(low))] if low > 0 else []
    below = [Compare(name, "<", attribute.edge(high))] if high < attribute.cells else []
    return [*above, *below]


def predicate(tree: Tree, node: int) -> Predicate:
    """The filter that the rows of a node pass: usable in `PrivateTable.where`."""
    parts = [part for name, codes in path(tree, node).items() for part in condition(tree.schema[name], codes)]
    return And(tuple(parts))


def leaf_names(tree: Tree) -> tuple[str, ...]:
    """What each leaf is about. Leaves that no row can reach may share a filter: then with number."""
    names = [to_text(predicate(tree, leaf)) for leaf in tree.leaves]
    often = Counter(names)
    return tuple(
        name if often[name] == 1 else f"{name} (leaf {leaf})" for name, leaf in zip(names, tree.leaves, strict=True)
    )


def in_words(attribute: Attribute, codes: Codes) -> str:
    """Codes for people: ``age < 35``, ``20 ≤ age < 35``, ``job is farmer``, ``job is not farmer``."""
    name = attribute.name
    if not codes:
        return f"no {name} is left"
    if isinstance(attribute, Categorical):
        values = [attribute.values[code] for code in codes]
        if len(values) == 1:
            return f"{name} is {values[0] or repr('')}"
        others = [v for code, v in enumerate(attribute.values) if code not in codes]
        if isinstance(codes, tuple) and len(others) <= min(SHOWN, len(values)):
            return f"{name} is not {' or '.join(v or repr('') for v in others)}"
        more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
        return f"{name} in {', '.join(values[:SHOWN])}{more}"
    low, high = _ends(codes)
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
    return in_words(tree.schema[name], path(tree, node)[name])
