"""Schemas, trees and records as Hypothesis makes them, and what a tree means in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bocage.engine.reference import code_of
from bocage.model import AdditiveModel, Certificate, Forest, PlanLine, Term, Tree, TreeBuilder
from bocage.plan.splits import alone
from bocage.schema import Attribute, Categorical, Numeric, Schema

NAMES = ["age", 'say "hi"', "capital-gain", "__proto__", "constructor", "Größe", "select", "a'b"]
TEXTS = [
    "a",
    "b",
    "it's",
    "",
    "\\",
    '"',
    "%s",
    "null",
    "true",
    "1",
    "🌲",
    "</script>",
    " a",
    "A",
    "\n",
]
GRIDS = [
    {"lower": 0, "upper": 100, "step": 1},
    {"lower": -2, "upper": 3, "step": Fraction(1, 3)},
    {"lower": 0, "upper": 1, "cells": 5},
    {"lower": Fraction(1, 10), "upper": Fraction(7, 10), "cells": 7},
    {"lower": -(10**6), "upper": 10**6, "cells": 1024},
    {"lower": -(10**15), "upper": 10**15, "cells": 3},
    {"lower": 0, "upper": Fraction(1, 10**12), "cells": 4},
    {"lower": 5, "upper": 6, "cells": 1},
]


def schema_of(*attributes: Attribute, labels: tuple[str, ...] = ("no", "yes")) -> Schema:
    return Schema("people", attributes, Categorical("label", labels))


def certificate_of(schema: Schema, epsilon: str | None = "0.75") -> Certificate:
    plan = (
        PlanLine(0, "which column", "permute-and-flip", "0.5"),
        PlanLine(1, "label counts of every leaf", "discrete Laplace", "0.25", 5),
    )
    return Certificate("DiffPID3", "max", epsilon, "add or remove one row", schema.name, schema.fingerprint, plan)


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    if draw(st.booleans()):
        values = draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4, unique=True))
        missing, outside = (draw(st.none() | st.sampled_from(values)) for _ in range(2))
        marker = draw(st.sampled_from([None, "?", missing]))
        return Categorical(name, tuple(values), missing, outside, marker)
    grid: dict[str, Any] = draw(st.sampled_from(GRIDS))
    missing = draw(st.sampled_from([None, grid["lower"], grid["upper"]]))
    return Numeric(name, missing=missing, clamp=draw(st.booleans()), **grid)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    labels = draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4, unique=True))
    return schema_of(*(draw(attributes(name)) for name in names), labels=tuple(labels))


@st.composite
def trees(draw: st.DrawFn, schema: Schema, *, counted: bool = False) -> Tree:
    """Any tree; with counts at every leaf if `counted`."""
    labels = schema.categorical("label").cells
    counts = st.lists(st.integers(-5, 9), min_size=labels, max_size=labels)
    builder = TreeBuilder(schema)
    open_nodes = [builder.root]
    for _ in range(draw(st.integers(0, 6))):
        node = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        column = schema.attributes[draw(st.integers(0, len(schema.attributes) - 1))]
        cut = None
        if column.cells > 10 or (column.cells > 1 and draw(st.booleans())):
            cut = draw(st.integers(1, column.cells - 1))
        elif isinstance(column, Categorical) and draw(st.booleans()):
            cut = alone(draw(st.integers(0, column.cells - 1)))  # one value against the rest
        open_nodes += builder.split(node, column.name, cut)
        if draw(st.booleans()):
            builder.counts(node, draw(counts))
        if draw(st.booleans()):
            builder.total(node, draw(st.integers(-9, 9)))
    for node in open_nodes:
        has_counts = counted or draw(st.booleans())
        if has_counts:
            builder.counts(node, draw(counts))
        if not has_counts or draw(st.integers(0, 3)) == 0:
            builder.label(node, draw(st.integers(0, labels - 1)))
    return builder.freeze(certificate_of(schema))


@st.composite
def forests(draw: st.DrawFn, schema: Schema) -> Forest:
    voting = draw(st.sampled_from(["counts", "confidence", "majority"]))
    counted = voting == "counts"
    grown = draw(st.lists(trees(schema, counted=counted), min_size=1, max_size=3))
    return Forest(tuple(grown), voting, certificate_of(schema))


@st.composite
def additives(draw: st.DrawFn, schema: Schema) -> AdditiveModel:
    """Tables of one column or two, with few different scores, so that sums are often equal."""
    labels = schema.categorical("label").cells
    terms = []
    for _ in range(draw(st.integers(1, 4))):
        used = st.lists(st.sampled_from(schema.attributes), min_size=1, max_size=2, unique=True)
        columns = draw(used)
        cells = tuple(
            column.cells if isinstance(column, Categorical) else draw(st.integers(1, min(column.cells, 9)))
            for column in columns
        )
        size = math.prod(cells)
        scores = draw(st.lists(st.integers(-2, 2), min_size=size * labels, max_size=size * labels))
        names = tuple(column.name for column in columns)
        cuts = tuple(draw(_cuts(column, n)) for column, n in zip(columns, cells, strict=True))
        table = 700 * np.array(scores).reshape(size, labels)
        terms.append(Term(names, cells, table, cuts if any(cuts) else ()))
    intercept = draw(st.lists(st.integers(-900, 900), min_size=labels, max_size=labels))
    return AdditiveModel(schema, np.array(intercept), tuple(terms), certificate_of(schema))


def _cuts(column: Attribute, cells: int) -> st.SearchStrategy[tuple[int, ...]]:
    """None for runs of equal length, or where each cell but the first begins."""
    if isinstance(column, Categorical) or cells == 1:
        return st.just(())
    starts = st.lists(st.integers(1, column.cells - 1), min_size=cells - 1, max_size=cells - 1, unique=True)
    return st.just(()) | starts.map(lambda found: tuple(sorted(found)))


@st.composite
def models(draw: st.DrawFn) -> Tree | Forest:
    schema = draw(schemas())
    return draw(st.one_of(trees(schema), forests(schema)))


def any_models() -> st.SearchStrategy[Tree | Forest | AdditiveModel]:
    return models() | schemas().flatmap(additives)


def values(column: Attribute) -> st.SearchStrategy[Any]:
    """Values of a column: inside, on an edge, beside it, far outside, missing."""
    if isinstance(column, Categorical):
        return st.none() | st.sampled_from([*column.values, *TEXTS, "?", "zzz"])
    exact = st.integers(0, 2 * column.cells).map(lambda half: float(column.lower + half * column.width / 2))
    beside = st.tuples(exact, st.sampled_from([-math.inf, math.inf])).map(lambda pair: math.nextafter(*pair))
    odd = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e308, -1e308])
    return st.none() | exact | beside | odd | st.floats()


def records(schema: Schema) -> st.SearchStrategy[list[dict[str, Any]]]:
    record = st.fixed_dictionaries({c.name: values(c) for c in schema.attributes})
    return st.lists(record, min_size=1, max_size=12)


def table_of(schema: Schema, rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {c.name: [row[c.name] for row in rows] for c in schema.attributes}


def node_of(tree: Tree, record: Mapping[str, Any]) -> int:
    """The node that a record reaches, one value at a time."""
    node = 0
    while tree.column[node] >= 0:
        column = tree.schema.attributes[tree.column[node]]
        code = code_of(column, record[column.name])
        if code < 0:
            return node
        cut = tree.threshold[node]
        beyond = int(code >= cut) if cut >= 0 else code if cut == -1 else int(code != -2 - cut)
        node = int(tree.first_child[node]) + beyond
    return node


def _totals(model: AdditiveModel, record: Mapping[str, Any]) -> list[int]:
    """The sums of scores, one value at a time."""
    totals = model.intercept.tolist()
    for term in model.terms:
        cell = 0
        cuts = term.cuts or ((),) * len(term.columns)
        for name, cells, starts in zip(term.columns, term.cells, cuts, strict=True):
            column = model.schema[name]
            code = code_of(column, record[name])
            own = sum(code >= start for start in starts) if starts else code * cells // column.cells
            cell = -1 if code < 0 or cell < 0 else cell * cells + own
        if cell >= 0:
            totals = [t + s for t, s in zip(totals, term.scores[cell].tolist(), strict=True)]
    return totals


def prediction_of(model: Tree | Forest | AdditiveModel, record: Mapping[str, Any]) -> str:
    """The label that a model means for a record."""
    names = model.label_attribute.values
    if isinstance(model, AdditiveModel):
        totals = _totals(model, record)
        return names[totals.index(max(totals))]
    if isinstance(model, Tree):
        return names[model.label[node_of(model, record)]]
    sums = [0.0] * len(names)
    for tree in model.trees:
        node = node_of(tree, record)
        for label, vote in enumerate(_votes(tree, node, model.voting)):
            sums[label] += vote
    return names[sums.index(max(sums))]


def _votes(tree: Tree, node: int, voting: str) -> list[float]:
    counts = _counts(tree, node)
    label = int(tree.label[node])
    if voting == "counts":
        assert counts is not None
        return [float(count) for count in counts]
    weight = 1.0
    if voting == "confidence" and counts is not None:
        clamped = [max(count, 0) for count in counts]
        weight = max(clamped) / sum(clamped) if sum(clamped) else 0.0
    return [weight if code == label else 0.0 for code in range(tree.counts.shape[1])]


def _counts(tree: Tree, node: int) -> list[int] | None:
    if tree.has_counts[node]:
        return list(map(int, tree.counts[node]))
    below = [counts for child in tree.children(node) if (counts := _counts(tree, child))]
    return [sum(column) for column in zip(*below, strict=True)] if below else None
