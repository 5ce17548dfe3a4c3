"""Additive models as JSON."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from bocage.documents.entries import Entries
from bocage.errors import ModelError
from bocage.model.additive.model import MOST_SCORE, MOST_TERMS, UNIT, AdditiveModel, Term
from bocage.model.bins import Cuts
from bocage.model.certificate.certificate import Certificate
from bocage.model.tree import shape
from bocage.schema import Schema
from bocage.schema.attribute import MOST_CELLS

_read = Entries(ModelError)

FORMAT = "bocage.additive"
KEYS = ("unit", "intercept", "terms")


def terms_to_dict(model: AdditiveModel) -> dict[str, Any]:
    """What stands beside the head of the document."""
    terms = [
        {
            "columns": list(term.columns),
            "cells": list(term.cells),
            "scores": term.scores.tolist(),
            **({"cuts": [list(cuts) for cuts in term.cuts]} if has_cuts(model) else {}),
        }
        for term in model.terms
    ]
    return {"unit": UNIT, "intercept": model.intercept.tolist(), "terms": terms}


def has_cuts(model: AdditiveModel) -> bool:
    """Whether a term has cells that are not of equal length: older programs do not read these."""
    return any(term.cuts for term in model.terms)


def says_cuts(terms: Any) -> bool:
    """Whether the terms of a document have cuts; then all of them do."""
    return isinstance(terms, list) and any(isinstance(t, dict) and "cuts" in t for t in terms)


def model_of(
    document: dict[str, Any], schema: Schema, certificate: Certificate, *, cuts: bool
) -> AdditiveModel:
    """Read what `terms_to_dict` wrote, each term with its cuts if the version has them."""
    labels = shape.labels(schema)
    _read.integer(document["unit"], UNIT, UNIT, '"unit"')
    intercept = _scores(document["intercept"], labels, '"intercept"')
    terms = []
    for entry in _read.items(document["terms"], '"terms"', most=MOST_TERMS):
        _read.fields(entry, ("columns", "cells", "scores", *(["cuts"] if cuts else [])), "a term")
        names = _read.items(entry["columns"], '"columns"', most=len(schema.attributes))
        columns = tuple(_read.text(name, "a column of a term") for name in names)
        cells = tuple(
            _read.integer(cell, 1, shape.MOST_ENTRIES, "a number of cells")
            for cell in _read.items(entry["cells"], '"cells"', most=len(columns))
        )
        rows = _read.items(entry["scores"], '"scores"')
        if not cells or len(rows) != prod(cells) or len(rows) * labels > shape.MOST_ENTRIES:
            raise ModelError(f"a term has {len(rows)} lines of scores for {prod(cells)} cells.")
        scores = [_scores(row, labels, 'an entry of "scores"') for row in rows]
        own = tuple(
            _cuts(one) for one in _read.items(entry.get("cuts", []), '"cuts"', most=len(columns))
        )
        terms.append(Term(columns, cells, np.array(scores, np.int64), own))
    return AdditiveModel(schema, np.array(intercept, np.int64), tuple(terms), certificate)


def _scores(value: Any, labels: int, what: str) -> list[int]:
    row = _read.items(value, what)
    if len(row) != labels:
        raise ModelError(f"{what} has {len(row)} scores for {labels} labels.")
    return [_read.integer(score, -MOST_SCORE, MOST_SCORE, "a score") for score in row]


def _cuts(value: Any) -> Cuts:
    codes = _read.items(value, 'an entry of "cuts"', most=MOST_CELLS)
    return tuple(_read.integer(code, 1, MOST_CELLS, "a cut") for code in codes)
