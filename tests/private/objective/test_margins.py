"""Rows by margin: the compiled loops against sums that are plain to see, however rows and blocks are shared out."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest

from bocage.private.objective.margins import MarginRows, corrected
from bocage.private.terms import Block, Design
from bocage.schema import Categorical, Schema

SIZES, LABELS, STEPS = (3, 2, 4, 3, 2), 3, np.array([512, 2048])
NAMES = tuple("abcde")
SCHEMA = Schema(
    "t",
    tuple(Categorical(n, tuple(map(str, range(s)))) for n, s in zip(NAMES, SIZES, strict=True)),
    Categorical("label", ("x", "y", "z")),
)
CHOICES = [one for count in range(1, 5) for one in combinations(range(5), count)]


def rows_of(rng, batches):
    """Batches of an odd number of rows, with the label last."""
    sizes = (*SIZES, LABELS)
    return [np.stack([rng.integers(0, s, rows) for s in sizes]).astype(np.uint16) for rows in batches]


def lines_of(choices):
    """As `margins` has them: columns after as many times -1 as there is room, and where cells begin."""
    lines, start = [], 0
    for one in choices:
        lines.append((*[-1] * (4 - len(one)), *one, start))
        start += prod(SIZES[i] for i in one)
    return np.array(lines, np.int64), start


def right_by_hand(codes, scores, choice):
    """For each cell of a choice of columns and each change, the rows that are right with it."""
    found = np.zeros((prod(SIZES[i] for i in choice), 1 + LABELS * len(STEPS)))
    for row in codes.T.tolist():
        cell = 0
        for i in choice:
            cell = cell * SIZES[i] + row[i]
        sums = np.sum([table[row[i]] for i, table in enumerate(scores)], axis=0)
        for change in range(found.shape[1]):
            raised = sums.copy()
            if change:
                label, step = divmod(change - 1, len(STEPS))
                raised[label] += STEPS[step]
            found[cell, change] += int(raised.argmax()) == row[-1]
    return found


@pytest.mark.parametrize("keep_bytes", [0, 2**29])
@pytest.mark.parametrize("parts", [1, 3, 30])
@pytest.mark.parametrize("batches", [(), (5,), (37, 1, 90)])
def test_right_rows_are_those_counted_by_hand(batches, parts, keep_bytes):
    rng = np.random.default_rng(sum(batches))
    read = rows_of(rng, batches)
    blocks = tuple(Block((n,), (s,), (s,)) for n, s in zip(NAMES, SIZES, strict=True))
    rows = MarginRows(lambda: iter(read), Design(blocks, LABELS), SCHEMA, keep_bytes=keep_bytes)
    scores = [rng.integers(-4, 5, (size, LABELS)) * 256 for size in SIZES]
    terms = np.array([(i, start) for i, start in enumerate(np.cumsum([0, *SIZES[:-1]]))])
    by_label = np.ascontiguousarray(np.concatenate(scores).T)
    margins = rows.margins(terms, by_label, np.zeros(LABELS, np.int64), STEPS)
    shared = [part for part in np.array_split(np.arange(len(CHOICES)), parts) if len(part)]
    groups = [lines_of([CHOICES[i] for i in part]) for part in shared]
    found = np.concatenate(list(rows.right(margins, groups, corrected(LABELS, len(STEPS)))))
    codes = np.concatenate([np.zeros((6, 0), np.uint16), *read], axis=1)
    wanted = np.concatenate([right_by_hand(codes, scores, one) for one in CHOICES])
    assert (found == wanted).all()
