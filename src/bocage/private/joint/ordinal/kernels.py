"""The weights of all ladders of some columns: compiled loops, which mostly take no look at a row.

Rows are counted by the cells of the columns and the gate, and by label. The counts of one column after another
are *folded*: moved up by the points of its cells and added up, so that what is left are counts by cell of the gate,
rung and label. A line of counts is one combination of cells that are left; in it, rung by rung, the labels
are neighbors, so that a point moves a line by the number of labels.

The labels of the rungs are a chain: the first is any of `labels`, the next one the same with probability 3/4, or any
other. So the sum over all labels of all rungs is a product of small sums from rung to rung, for each cell of the gate.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from typing import Any

import numpy as np

from bocage.engine.codes.kernels import compiled
from bocage.private.joint.ordinal.family import STAY

_STAY = STAY[0] / STAY[1]
_SMALL = 1e-100


@compiled
def count_cells(
    codes: Any, marks: Any, columns: Any, gate: int, facts: Any, classes: int, found: Any
) -> None:
    """Rows by the cells of the columns, and by cell of the gate (-1 for none) and label."""
    places, rows = np.zeros(len(marks), np.int32), len(marks)
    for column in columns:
        line, cells = codes[column], np.int32(facts[column])
        for i in range(rows):
            places[i] = places[i] * cells + line[i]
    for i in range(rows):
        found[places[i], marks[i] + (classes * codes[gate, i] if gate >= 0 else 0)] += 1


@compiled
def fold(given: Any, wide: int, cells: int, points: Any, step: int, found: Any) -> None:
    """Counts without their first column, whose cells have these points.

    A line has `wide` numbers so far, and `step` on each rung.
    """
    size = len(found)
    found[:] = 0
    for cell in range(cells):
        move = points[cell] * step
        for line in range(size):
            here, there = given[cell * size + line, :wide], found[line, move : move + wide]
            for t in range(wide):
                there[t] += here[t]


@compiled
def chain(line: Any, rungs: int, first: int, step: int, rate: float, lost: Any, work: Any) -> float:
    """The logarithm of the sum over all labels of all rungs, for one cell of the gate.

    Its counts begin at `first` on the lowest rung, and `step` numbers further on each other one. `lost` has
    exp(-rate * i) for every i, and `work` room for a number for each label.
    """
    classes = len(work)
    other = (1.0 - _STAY) / (classes - 1)
    keep, more = 1.0, 0.0  # from the rung below, and from all labels there
    total, whole, tops, start = 0.0, 1.0, 0, np.uint64(first)
    for label in range(classes):
        work[label] = 1.0 / classes
    for _ in range(rungs):
        most = line[start]
        for label in range(1, classes):
            most = max(most, line[start + np.uint64(label)])  # unsigned: no check for negative ones
        tops += most
        whole = 0.0
        for label in range(classes):
            fewer = np.uint64(most - line[start + np.uint64(label)])
            work[label] = (work[label] * keep + more) * lost[fewer]
            whole += work[label]
        if whole < _SMALL:
            total += np.log(whole)
            for label in range(classes):
                work[label] /= whole
            whole = 1.0
        keep, more = _STAY - other, whole * other
        start += np.uint64(step)
    return float(total + rate * tops + np.log(whole))


@compiled
def weigh(line: Any, rungs: int, step: int, rate: float, lost: Any, work: Any) -> float:
    """The same for all cells of the gate together."""
    total = 0.0
    for first in range(0, step, len(work)):
        total += chain(line, rungs, first, step, rate, lost, work)
    return total


@compiled
def visit(
    codes: Any, marks: Any, columns: Any, gate: int, facts: Any, points: Any, patterns: Any, top: int,
    classes: int, rates: Any, lost: Any, found: Any, every: Any,
) -> None:  # fmt: skip
    """Visit all points of a frame.

    `points` are by column, pattern and cell, `patterns` how many of them a column has, `facts` how many cells. Into
    `found` goes for each rate the logarithm of the sum over all points, into `every` that of each at the
    first rate, if it has room.
    """
    given = len(columns)
    step = classes * (facts[gate] if gate >= 0 else 1)
    sizes = np.ones(given + 1, np.int64)  # lines of all columns from one on
    for level in range(given - 1, -1, -1):
        sizes[level] = sizes[level + 1] * facts[columns[level]]
    counts = np.zeros((given + 1, sizes[0], (1 + top * given) * step), np.int32)
    count_cells(codes, marks, columns, gate, facts, classes, counts[0])
    digits, work = np.zeros(given, np.int64), np.zeros(classes)
    rungs = np.ones(given + 1, np.int64)  # that the columns before one reach
    best, sums = np.full(len(rates), -np.inf), np.zeros(len(rates))
    level = number = 0
    while level >= 0:
        for at in range(level, given):
            own, cells = points[at, digits[at]], facts[columns[at]]
            rungs[at + 1] = rungs[at] + max(own[0], own[cells - 1])
            below = counts[at + 1, : sizes[at + 1], : rungs[at + 1] * step]
            fold(counts[at], rungs[at] * step, cells, own, step, below)
        line = counts[given, 0]
        for r in range(len(rates)):
            weight = weigh(line, rungs[given], step, rates[r], lost[r], work)
            if weight > best[r]:
                sums[r] = sums[r] * np.exp(best[r] - weight) + 1.0
                best[r] = weight
            else:
                sums[r] += np.exp(weight - best[r])
            if r == 0 and len(every):
                every[number] = weight
        number += 1
        level = given - 1
        while level >= 0:
            digits[level] += 1
            if digits[level] < patterns[level]:
                break
            digits[level] = 0
            level -= 1
    for r in range(len(rates)):
        found[r] = best[r] + np.log(sums[r])
