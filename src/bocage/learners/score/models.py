"""A drawn score as the model that it is: an ordinal score is a tree, a scorecard an additive model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.score.text import edges, scorecard_in_words
from bocage.model import AdditiveModel, Certificate, Term
from bocage.model.additive.model import UNIT
from bocage.private import (
    Block,
    Drawn,
    DrawnOrdinalScore,
    DrawnScorecard,
    IntArray,
    OpenCells,
    ScoredCounts,
)
from bocage.schema import Categorical, Schema

SLOPES = [2 ** (i / 4) for i in range(-16, 9)]  # of the log-odds, for each point
SLOPE = 1.0  # ... where nothing is known
OTHERS = 4  # by how much the log-odds of labels that are never predicted are less than nothing


def tree_of(score: DrawnOrdinalScore, schema: Schema) -> Drawn:
    """The tree that predicts what the score does: by its gate, then by the columns of most points."""
    columns = sorted(score.points, key=lambda one: -max(one[1]))
    ahead = [{0}]  # the points that the columns from one on may add, the last one first
    for _, points in reversed(columns):
        ahead.insert(0, {more + own for more in ahead[0] for own in points})

    def below(labels: Sequence[int], points: int, place: int) -> Drawn:
        if len(predicted := {labels[points + more] for more in ahead[place]}) == 1:
            return Drawn(predicted.pop())
        block, own = columns[place]
        return _split(block, [below(labels, points + more, place + 1) for more in own], schema)

    parts = [below(labels, 0, 0) for labels in score.labels]
    return parts[0] if score.gate is None else _split(score.gate, parts, schema)


def _split(block: Block, children: Sequence[Drawn], schema: Schema) -> Drawn:
    """What is below each cell of a column; a split only where that differs."""
    if all(child == children[0] for child in children):
        return children[0]
    (name,) = block.columns
    column = schema[name]
    if isinstance(column, Categorical):
        return Drawn(-1, (name, None), tuple(children))
    runs = [list(run) for _, run in groupby(zip(edges(block, schema), children, strict=False), lambda one: one[1])]
    return _cut(name, [run[0] for run in runs])


def _cut(name: str, runs: Sequence[tuple[int, Drawn]]) -> Drawn:
    """Runs of codes, by where each begins, as splits at thresholds."""
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    halves = _cut(name, runs[:middle]), _cut(name, runs[middle:])
    return Drawn(-1, (name, runs[middle][0]), halves)


def counted_additive_of(
    cells: OpenCells, card: DrawnScorecard, spare: Epsilon | None, certificate: Certificate
) -> AdditiveModel:
    """The model of a released scorecard; what is spare counts the rows by its points."""
    label = label_of(cells.schema).name
    counts = None if spare is None else cells.fit(ScoredCounts(card, label, spare))
    return additive_of(cells.schema, card, counts, certificate)


def additive_of(
    schema: Schema, card: DrawnScorecard, counts: IntArray | None, certificate: Certificate
) -> AdditiveModel:
    """The scorecard as an additive model: it predicts the same, with log-odds that its counts tell.

    Its certificate has the points in words.
    """
    low, high = card.labels
    labels = label_of(schema).cells
    slope = round(_slope(card, counts) * UNIT / 2) * 2  # even: half of it is a whole number
    intercept = np.full(labels, -OTHERS * UNIT)
    intercept[[low, high]] = 0
    terms = []
    for block, points in card.points:
        scores = np.zeros((block.size, labels), np.int64)
        scores[:, high] = slope * np.array(points)
        terms.append(Term(block.columns, block.cells, scores, block.cuts))
    if terms:
        intercept[high] = slope // 2 - slope * card.threshold
    else:  # one label for all
        first = schema.attributes[0]
        cells = first.cells if isinstance(first, Categorical) else 1
        terms = [Term((first.name,), (cells,), np.zeros((cells, labels), np.int64))]
    notes = (*certificate.notes, *scorecard_in_words(card, schema))
    return AdditiveModel(schema, intercept, tuple(terms), replace(certificate, notes=notes))


def _slope(card: DrawnScorecard, counts: IntArray | None) -> float:
    """What a point adds to the log-odds: as the counts of rows by points are likeliest."""
    if counts is None or not card.points:
        return SLOPE
    low, high = (np.maximum(counts[:, label], 0) for label in card.labels)
    away = np.arange(len(counts)) - card.threshold + 0.5

    def likely(slope: float) -> float:
        odds = slope * away
        return -float(high @ np.logaddexp(0, -odds) + low @ np.logaddexp(0, odds))

    return max(SLOPES, key=likely)
