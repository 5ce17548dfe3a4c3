"""An additive model for other programs: SQL and JavaScript that add up the same whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bocage.model.additive.model import UNIT, AdditiveModel, Term
from bocage.model.export.edges import edge
from bocage.schema import Attribute, Categorical

JAVASCRIPT = """
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


def javascript_data(model: AdditiveModel) -> dict[str, Any]:
    """The constants that the JavaScript above reads."""
    place = {name: i for i, name in enumerate(model.columns)}
    terms = [
        {
            "columns": [place[name] for name in term.columns],
            "cells": list(term.cells),
            "cuts": [list(cuts) for cuts in term.cuts],
            "codes": [model.schema[name].cells for name in term.columns],
            "scores": term.scores.tolist(),
        }
        for term in model.terms
    ]
    return {"unit": UNIT, "intercept": model.intercept.tolist(), "terms": terms}


def sql_cells(
    model: AdditiveModel,
    aliases: Mapping[str, str],
    text_literal: Callable[[str], str],
    double: Callable[[float], str],
) -> list[str]:
    """The cell of each term, counted from 1, as SQL; NULL where a column has no code."""
    return [
        " + ".join(_positions(model, term, aliases, text_literal, double)) for term in model.terms
    ]


def _positions(
    model: AdditiveModel,
    term: Term,
    aliases: Mapping[str, str],
    text_literal: Callable[[str], str],
    double: Callable[[float], str],
) -> Sequence[str]:
    """Addends of the position of a row's cell; NULL where a column has no code."""
    parts: list[str] = []
    stride = len(term.scores)
    for name, cells, table in zip(term.columns, term.cells, term.lookup(model.schema), strict=True):
        stride //= cells
        first = 1 if not parts else 0
        values = [first + stride * cell for cell in table.tolist()]
        parts.append(_case(model.schema[name], aliases[name], values, text_literal, double))
    return parts


def _case(
    column: Attribute,
    x: str,
    values: list[int],
    text_literal: Callable[[str], str],
    double: Callable[[float], str],
) -> str:
    if isinstance(column, Categorical):
        pairs = zip(column.values, values, strict=True)
        whens = [f"WHEN {text_literal(value)} THEN {number}" for value, number in pairs]
        return f"CASE {x} {' '.join(whens)} END"
    changes = [code for code in range(1, column.cells) if values[code] != values[code - 1]]
    whens = [f"WHEN {x} < {double(edge(column, c))} THEN {values[c - 1]}" for c in changes]
    return f"CASE {' '.join(whens)} WHEN {x} IS NOT NULL THEN {values[-1]} END"
