"""A model as a JavaScript module, to predict on a person's own machine: no request leaves it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import ModelError
from bocage.model.additive.model import UNIT, AdditiveModel
from bocage.model.base import Model
from bocage.model.tree.forest import Forest
from bocage.model.tree.tree import Tree
from bocage.schema import Attribute, Categorical

_ENCODE = """
function codeOf(column, value) {
  if (value === null || value === undefined) return column.missing;
  if (column.index) {
    let text = value;
    if (typeof value === "boolean") text = String(value);
    else if (typeof value === "bigint" || Number.isInteger(value)) text = BigInt(value).toString();
    else if (typeof value !== "string") {
      throw new TypeError(`${column.name} is text, a whole number or a boolean`);
    }
    if (text === column.marker) return column.missing;
    return column.index.has(text) ? column.index.get(text) : column.outside;
  }
  const x = typeof value === "bigint" ? Number(value) : value;
  if (typeof x !== "number") throw new TypeError(`${column.name} is a number`);
  if (Number.isNaN(x)) return column.missing;
  if (!column.clamp && (x < column.lower || x > column.upper)) return -1;
  const inside = Math.min(Math.max(x, column.lower), column.upper);
  return Math.min(Math.floor((inside - column.lower) * column.perUnit + column.shift), column.last);
}

function encode(record) {
  return columns.map((c) => codeOf(c, Object.hasOwn(record, c.name) ? record[c.name] : null));
}

// The node that a record reaches; a code of -1 stops at the node that asks for it.
function reach(tree, codes) {
  let node = 0;
  while (tree.column[node] >= 0) {
    const code = codes[tree.column[node]];
    if (code < 0) break;
    const cut = tree.threshold[node];
    if (cut === -1) node = tree.first[node] + code;
    else node = tree.first[node] + ((cut < 0 ? code === -2 - cut : code < cut) ? 0 : 1);
  }
  return node;
}

function largest(numbers) {
  return numbers.reduce((best, number, i) => (number > numbers[best] ? i : best), 0);
}

function shares(weights, decision) {
  const positive = weights.map((weight) => Math.max(weight, 0));
  const whole = positive.reduce((sum, weight) => sum + weight, 0);
  return positive.map((weight, i) => (whole > 0 ? weight / whole : i === decision ? 1 : 0));
}
"""

_TREE = """
/** The predicted label of a record: an object from column names to values. */
export function predict(record) {
  return labels[trees[0].label[reach(trees[0], encode(record))]];
}

/** The share of every label, in the order of `labels`. */
export function predictProba(record) {
  const node = reach(trees[0], encode(record));
  return shares(trees[0].weights[trees[0].weight[node]], trees[0].label[node]);
}
"""

_FOREST = """
function votes(record) {
  const codes = encode(record);
  const sums = labels.map(() => 0);
  for (const tree of trees) {
    const cast = tree.weights[tree.weight[reach(tree, codes)]];
    for (let i = 0; i < sums.length; i += 1) sums[i] += cast[i];
  }
  return sums;
}

/** The predicted label of a record: an object from column names to values. */
export function predict(record) {
  return labels[largest(votes(record))];
}

/** The share of every label, in the order of `labels`. */
export function predictProba(record) {
  const sums = votes(record);
  return shares(sums, largest(sums));
}
"""


_ADDITIVE = """
function sums(record) {
  const codes = encode(record);
  const totals = intercept.slice();
  for (const term of terms) {
    let cell = 0;
    for (let i = 0; i < term.columns.length && cell >= 0; i += 1) {
      const code = codes[term.columns[i]];
      const own = term.cuts.length && term.cuts[i].length
        ? term.cuts[i].filter((cut) => cut <= code).length
        : Math.floor((code * term.cells[i]) / term.codes[i]);
      cell = code < 0 ? -1 : cell * term.cells[i] + own;
    }
    if (cell >= 0) for (let l = 0; l < totals.length; l += 1) totals[l] += term.scores[cell][l];
  }
  return totals;
}

/** The predicted label of a record: an object from column names to values. */
export function predict(record) {
  return labels[largest(sums(record))];
}

/** The share of every label, in the order of `labels`. */
export function predictProba(record) {
  const totals = sums(record);
  const top = Math.max(...totals);
  const weights = totals.map((total) => Math.exp((total - top) / unit));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / whole);
}
"""


def to_javascript(model: Model) -> str:
    """An ES module that exports ``labels``, ``predict(record)`` and ``predictProba(record)``.

    It depends on nothing and contains the model as data. A missing property, ``null`` and ``NaN``
    are missing values; text where a number belongs is a ``TypeError``.
    """
    columns = [_column(model.schema[name]) for name in model.columns]
    data: dict[str, Any]
    if isinstance(model, Tree):
        data, tail = {"trees": [_tree(model, model, _weights(model))]}, _TREE
    elif isinstance(model, Forest):
        pairs = zip(model.trees, model.votes, strict=True)
        data, tail = {"trees": [_tree(tree, model, votes) for tree, votes in pairs]}, _FOREST
    elif isinstance(model, AdditiveModel):
        data, tail = _additive(model), _ADDITIVE
    else:
        raise ModelError(f"a {type(model).__name__} cannot be written as JavaScript.")
    lines = [f"// {_ascii(line)}" for line in model.certificate.statement().splitlines()]
    return "\n".join(
        [
            *lines,
            "",
            f"export const labels = {_json(list(model.label_attribute.values))};",
            f"const columns = {_json(columns)};",
            *(f"const {name} = {_json(value)};" for name, value in data.items()),
            "for (const c of columns) if (c.values) c.index = new Map(c.values.map((v, i) => [v, i]));",
            _ENCODE.strip(),
            tail,
        ]
    )


def _weights(tree: Tree) -> NDArray[np.int64]:
    """What `Tree.shares` is made of: positive counts of the node or of its nearest ancestor."""
    weights = np.where(tree.has_counts[:, None], np.maximum(tree.counts, 0), 0)
    for node in range(1, len(tree)):  # parents come first
        if not weights[node].any():
            weights[node] = weights[tree.parent[node]]
    return weights


def _tree(tree: Tree, model: Model, weights: NDArray[np.int64] | NDArray[np.float64]) -> dict[str, Any]:
    position = {name: i for i, name in enumerate(model.columns)}
    column = [position.get(attribute.name, -1) for attribute in tree.schema.attributes]
    different, number = np.unique(weights, axis=0, return_inverse=True)
    return {
        "column": [-1 if c < 0 else column[c] for c in tree.column.tolist()],
        "threshold": tree.threshold.tolist(),
        "first": tree.first_child.tolist(),
        "label": tree.label.tolist(),
        "weights": different.tolist(),
        "weight": number.reshape(-1).tolist(),
    }


def _additive(model: AdditiveModel) -> dict[str, Any]:
    """The constants that the sums above read."""
    position = {name: i for i, name in enumerate(model.columns)}
    terms = [
        {
            "columns": [position[name] for name in term.columns],
            "cells": list(term.cells),
            "cuts": [list(cuts) for cuts in term.cuts],
            "codes": [model.schema[name].cells for name in term.columns],
            "scores": term.scores.tolist(),
        }
        for term in model.terms
    ]
    return {"unit": UNIT, "intercept": model.intercept.tolist(), "terms": terms}


def _column(column: Attribute) -> dict[str, Any]:
    shared = {"name": column.name, "missing": column.missing_code}
    if isinstance(column, Categorical):
        return {
            **shared,
            "values": list(column.values),
            "outside": column.outside_code,
            "marker": column.marker,
        }
    return {
        **shared,
        "lower": float(column.lower),
        "upper": float(column.upper),
        "perUnit": column.per_unit,
        "shift": column.shift,
        "last": column.cells - 1,
        "clamp": column.clamp,
    }


def _json(value: Any) -> str:
    """ASCII only, and no ``<``: a page may hold the module inside a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _ascii(line: str) -> str:
    return line.encode("ascii", "backslashreplace").decode().replace("<", "\\x3c")
