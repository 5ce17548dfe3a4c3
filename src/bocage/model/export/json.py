"""Models as JSON files. A file is data: reading one runs nothing, and gives a whole model or none."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from reprlib import repr as short
from typing import Any

import numpy as np

from bocage.documents import reading
from bocage.documents.entries import Entries
from bocage.documents.files import read_bytes, write_whole
from bocage.documents.reading import OWN, Limits, Unreadable
from bocage.errors import ModelError, SchemaError
from bocage.model.additive.model import MOST_SCORE, MOST_TERMS, UNIT, AdditiveModel, Term
from bocage.model.base import Model
from bocage.model.bins import Cuts
from bocage.model.certificate.certificate import Certificate
from bocage.model.tree import shape
from bocage.model.tree.forest import MOST_TREES, Forest
from bocage.model.tree.tree import Tree
from bocage.schema import Schema
from bocage.schema.attribute import MOST_CELLS

_read = Entries(ModelError)

VERSION = 1
WITH_VALUES = 2  # a node may part one value from the rest; written only where one does
WITH_CUTS = 3  # a term may have cells of unequal length; likewise
LARGEST_FILE = 2**24  # bytes; the largest forests that a learner chooses by itself have 5 million
WITH_RELEASES = 4  # a certificate lists what was released; what else a model has, it may have too
_HEAD = ("format", "version", "schema", "certificate")
_NODES = ("column", "threshold", "label", "counts", "total")
_MORE = {
    "bocage.tree": _NODES,
    "bocage.forest": ("voting", "trees"),
    "bocage.additive": ("unit", "intercept", "terms"),
}


def to_dict(model: Model) -> dict[str, Any]:
    """A model as plain data, ready for JSON."""
    head = {
        "version": _version(model),
        "schema": model.schema.to_dict(),
        "certificate": model.certificate.to_dict(),
    }
    if isinstance(model, Tree):
        return {"format": "bocage.tree", **head, **_nodes(model)}
    if isinstance(model, Forest):
        trees = [{**_nodes(tree), "certificate": _own_certificate(tree, model)} for tree in model.trees]
        return {"format": "bocage.forest", **head, "voting": model.voting, "trees": trees}
    if isinstance(model, AdditiveModel):
        return {"format": "bocage.additive", **head, **_terms(model)}
    raise ModelError(f"a {type(model).__name__} is no model that can be written.")


def from_dict(document: Any) -> Tree | Forest | AdditiveModel:
    """Read what `to_dict` wrote; refuse anything else."""
    if not isinstance(document, dict):
        raise ModelError(f"a model is an object, not {short(document)}.")
    kind = document.get("format")
    if not isinstance(kind, str) or kind not in _MORE:
        raise ModelError(f'this is no model: its "format" is {short(kind)}.')
    version = document.get("version")
    if type(version) is not int or not VERSION <= version <= WITH_RELEASES:
        raise ModelError(
            f"the model has format version {short(version)}; this program reads versions {VERSION} to {WITH_RELEASES}."
        )
    _read.fields(document, (*_HEAD, *_MORE[kind]), "a model")
    schema = _schema(document["schema"])
    certificate = Certificate.from_dict(document["certificate"])
    if kind == "bocage.tree":
        return _tree(document, schema, certificate, version)
    if kind == "bocage.additive":
        cuts = version == WITH_CUTS or (version == WITH_RELEASES and _says_cuts(document["terms"]))
        return _additive(document, schema, certificate, cuts=cuts)
    trees = []
    for entry in _read.items(document["trees"], '"trees"', most=MOST_TREES):
        _read.fields(entry, (*_NODES, "certificate"), "a tree")
        made = entry["certificate"]
        made = certificate if made is None else Certificate.from_dict(made)
        trees.append(_tree(entry, schema, made, version))
    voting: Any = _read.text(document["voting"], '"voting"')  # the forest knows which there are
    return Forest(tuple(trees), voting, certificate)


def save(model: Model, path: str | Path) -> None:
    """Write a model to a file: all of it or nothing, also if the machine stops in between."""
    path = Path(path)
    # Not canonical: the format comes first, where a reader looks for it.
    text = json.dumps(to_dict(model), separators=(",", ":"))
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise ModelError(f"the model cannot be written to {path}: {error.strerror}.") from None


def load(path: str | Path, *, largest: int = LARGEST_FILE) -> Tree | Forest | AdditiveModel:
    """Read a model from a file that `save` wrote; refuse anything else.

    A file of more than `largest` bytes is refused unread, and so is one whose values would take more
    than five times as much memory: give more for a large model that you trust.
    """
    path = Path(path)
    limits = Limits(bytes=largest, memory=5 * largest)
    try:
        return from_dict(parse(read_bytes(path, limits), limits))
    except OSError as error:
        raise ModelError(f"model file {path} cannot be read: {error.strerror}.") from None
    except Unreadable as error:
        raise ModelError(
            f"model file {path} is too large: {error.problem}. If you trust it, give load more as largest."
        ) from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def parse(content: bytes, limits: Limits = OWN) -> Any:
    """JSON, strictly: see `bocage.documents.reading`."""
    try:
        return reading.parse(content, limits)
    except Unreadable as error:
        where = f"line {error.line}: " if error.line else ""
        raise ModelError(f"this is no model: {where}{error.problem}.") from None


def _own_certificate(tree: Tree, forest: Forest) -> dict[str, Any] | None:
    return None if tree.certificate == forest.certificate else tree.certificate.to_dict()


def _nodes(tree: Tree) -> dict[str, Any]:
    return {
        "column": tree.column.tolist(),
        "threshold": tree.threshold.tolist(),
        "label": tree.label.tolist(),
        "counts": _released(tree.counts.tolist(), tree.has_counts),
        "total": _released(tree.total.tolist(), tree.has_total),
    }


def _released(values: list[Any], has: Any) -> list[Any]:
    return [value if released else None for value, released in zip(values, has.tolist(), strict=True)]


def _schema(document: Any) -> Schema:
    try:
        return Schema.from_dict(document)
    except SchemaError as error:
        raise ModelError(f"the schema in the model: {error}") from None


def _version(model: Model) -> int:
    """The lowest version that has what the model needs: older programs read as much as they can."""
    if any(line.rho is not None for line in model.certificate.plan):
        return WITH_RELEASES
    if isinstance(model, AdditiveModel):
        return WITH_CUTS if _has_cuts(model) else VERSION
    trees = model.trees if isinstance(model, Forest) else (model,)
    values = any(isinstance(tree, Tree) and tree.threshold.min() < -1 for tree in trees)
    return WITH_VALUES if values else VERSION


def _tree(document: dict[str, Any], schema: Schema, certificate: Certificate, version: int) -> Tree:
    labels = shape.labels(schema)
    highest = 2**31 - 1
    column = _numbers(document, "column", -1, highest)
    nodes = len(column)
    if nodes * labels > shape.MOST_ENTRIES:
        raise ModelError(f"the tree has more than {shape.MOST_ENTRIES} counts.")
    counts = _optional(document, "counts", nodes, lambda row: _row(row, labels))
    total = _optional(document, "total", nodes, _count)
    return Tree(
        schema,
        np.array(column),
        np.array(_numbers(document, "threshold", -1 if version == VERSION else -highest, highest)),
        np.array(_numbers(document, "label", 0, highest)),
        np.array([[0] * labels if row is None else row for row in counts], np.int64),
        np.array([row is not None for row in counts], bool),
        np.array([0 if value is None else value for value in total], np.int64),
        np.array([value is not None for value in total], bool),
        certificate,
    )


def _numbers(document: dict[str, Any], key: str, low: int, high: int) -> list[int]:
    values = _read.items(document[key], f'"{key}"', most=shape.MOST_NODES)
    return [_read.integer(value, low, high, f'an entry of "{key}"') for value in values]


def _optional(document: dict[str, Any], key: str, nodes: int, read: Callable[[Any], Any]) -> list[Any]:
    values = _read.items(document[key], f'"{key}"')
    if len(values) != nodes:
        raise ModelError(f'"{key}" has {len(values)} entries for {nodes} nodes.')
    return [None if value is None else read(value) for value in values]


def _row(value: Any, labels: int) -> list[int]:
    row = _read.items(value, 'an entry of "counts"')
    if len(row) != labels:
        raise ModelError(f"a node has {len(row)} counts for {labels} labels.")
    return [_count(count) for count in row]


def _count(value: Any) -> int:
    return _read.integer(value, -shape.MOST_COUNT, shape.MOST_COUNT, "a released count")


def _terms(model: AdditiveModel) -> dict[str, Any]:
    """What stands beside the head of the document."""
    terms = [
        {
            "columns": list(term.columns),
            "cells": list(term.cells),
            "scores": term.scores.tolist(),
            **({"cuts": [list(cuts) for cuts in term.cuts]} if _has_cuts(model) else {}),
        }
        for term in model.terms
    ]
    return {"unit": UNIT, "intercept": model.intercept.tolist(), "terms": terms}


def _has_cuts(model: AdditiveModel) -> bool:
    """Whether a term has cells that are not of equal length: older programs do not read these."""
    return any(term.cuts for term in model.terms)


def _says_cuts(terms: Any) -> bool:
    """Whether the terms of a document have cuts; then all of them do."""
    return isinstance(terms, list) and any(isinstance(t, dict) and "cuts" in t for t in terms)


def _additive(document: dict[str, Any], schema: Schema, certificate: Certificate, *, cuts: bool) -> AdditiveModel:
    """Read what `_terms` wrote, each term with its cuts if the version has them."""
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
        term_cuts = tuple(_cuts(codes) for codes in _read.items(entry.get("cuts", []), '"cuts"', most=len(columns)))
        terms.append(Term(columns, cells, np.array(scores, np.int64), term_cuts))
    return AdditiveModel(schema, np.array(intercept, np.int64), tuple(terms), certificate)


def _scores(value: Any, labels: int, what: str) -> list[int]:
    row = _read.items(value, what)
    if len(row) != labels:
        raise ModelError(f"{what} has {len(row)} scores for {labels} labels.")
    return [_read.integer(score, -MOST_SCORE, MOST_SCORE, "a score") for score in row]


def _cuts(value: Any) -> Cuts:
    codes = _read.items(value, 'an entry of "cuts"', most=MOST_CELLS)
    return tuple(_read.integer(code, 1, MOST_CELLS, "a cut") for code in codes)
