"""What would make a row right: compiled loops of the tables that mend an additive model.

A table may raise one label by one of a few public steps. A row that the model gets wrong is mended by raising its
own label by enough, and by nothing else; one that it gets right stays so unless another label is raised by
too much. So all that matters about a row is a small number, its *verdict*. With S steps and K labels, of label y:

- wrong: which step is the first that mends it, or S if none does;
- right: S + 1, plus for each other label how many of its steps the row would bear, as digits to the base S + 1.

Verdicts of the next label begin where those of y end. Scores are whole numbers, and of equal ones the first
label is predicted: nothing here is rounded.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.engine.kernels import compiled

_STRIP = 2048


def verdicts_of(labels: int, steps: int) -> int:
    """How many verdicts there are."""
    return int(labels * (steps + 1 + (steps + 1) ** (labels - 1)))


def mended(labels: int, steps: int) -> NDArray[np.float64]:
    """1 where a row of a verdict is right under a change, else 0.

    The changes are none at all, then each label with each step.
    """
    lines = []
    for own in range(labels):
        for first in range(steps + 1):
            line = np.zeros((labels, steps))
            line[own, first:] = 1
            lines.append([0, *line.ravel()])
        for borne in product(range(steps + 1), repeat=labels - 1):
            line = np.ones((labels, steps))
            others = [label for label in range(labels) if label != own]
            for label, count in zip(others, reversed(borne), strict=True):
                line[label, count:] = 0
            lines.append([1, *line.ravel()])
    return np.array(lines, np.float64)


@compiled
def _add_up(cells: Any, start: Any, terms: Any, tables: Any, scores: Any) -> None:
    """Add to the scores, a line for each label, those of the rows from `start` on in all terms."""
    for t in range(len(terms)):
        first, second, size, place = terms[t]
        for label in range(len(scores)):
            line = scores[label]
            if second < 0:
                for i in range(len(line)):
                    line[i] += tables[label, place + cells[first, start + i]]
            else:
                for i in range(len(line)):
                    cell = np.int64(cells[first, start + i]) * size + cells[second, start + i]
                    line[i] += tables[label, place + cell]


@compiled
def judge(
    cells: Any, labels: Any, terms: Any, tables: Any, intercept: Any, steps: Any, found: Any
) -> None:
    """The verdict of each row.

    A line of `terms` has one or two lines of `cells` (else -1), the cells of the second, and where its
    scores begin in each line of `tables`, which there is one of for each label.
    """
    classes, base = len(intercept), len(steps) + 1
    for start in range(0, len(labels), _STRIP):
        size = min(_STRIP, len(labels) - start)
        scores = np.empty((classes, size), np.int64)
        for label in range(classes):
            scores[label] = intercept[label]
        _add_up(cells, start, terms, tables, scores)
        for i in range(size):
            own, worst, borne, digit = np.int64(labels[start + i]), np.int64(2**62), 0, 1
            for label in range(classes):
                if label != own:
                    lead = scores[own, i] - scores[label, i] - (label < own)
                    worst = min(worst, lead)
                    for step in steps:
                        borne += digit * (lead >= step)
                    digit *= base
            if worst < 0:
                borne = -base
                for step in steps:
                    borne += worst + step < 0
            found[start + i] = own * (base + digit) + base + borne


@compiled
def count_verdicts(cells: Any, verdicts: Any, pairs: Any, width: Any, counts: Any) -> None:
    """Add each row to the counters of its cell of every pair; a line of `pairs` is as one of `terms`.

    Rows take turns with two sets of counters: neighbors are often alike, and adding to what was
    just written waits for it.
    """
    rows = len(verdicts)
    keys = np.empty((len(cells), rows), np.uint16)  # of the last column of a pair
    known = np.zeros(len(cells), np.bool_)
    for p in range(len(pairs)):
        first, second, size, start = pairs[p]
        last = first if second < 0 else second
        if not known[last]:
            known[last] = True
            for i in range(rows):
                keys[last, i] = cells[last, i] * width + verdicts[i]
        there, line = counts[:, start * width :], keys[last]
        if second < 0:
            for i in range(rows):
                there[i & 1, line[i]] += 1
        else:
            other, step = cells[first], size * width
            for i in range(rows):
                there[i & 1, other[i] * step + line[i]] += 1
