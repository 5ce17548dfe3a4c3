"""The weights of all scores of some columns: compiled loops, which mostly take no look at a row.

All points of a frame are visited, a column after another. The first columns add points to every
row, if all together have too many combinations of cells. Then rows are counted by the cells of the
columns that are left, and by rung, cell of the gate and label. These counts are *folded*, a column
after another: moved up by the points of its cells and added up. A line of counts is one combination
of the cells that are left. In it, rung by rung, cells of the gate and labels are neighbors, so that
a point moves a line by `step` numbers.

Two laws of labels end a visit, see `bocage.private.joint.score.family.Family`:

A *chain*, where all columns are folded. The sum over all labels of all rungs is a product of small
sums from rung to rung, for each cell of the gate, in logarithms.

A *threshold*, where the last column is not folded: its patterns and all thresholds are found at
once from counts up to each rung. Rows that are predicted right are whole numbers, so that scores
are counted by them, for all rates together. Of two labels, only the rows of the first less those of
the second matter, so that there is one count for both.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bocage.engine.codes.kernels import compiled
from bocage.private.joint.score.family import MOST, STAY

_STAY = STAY[0] / STAY[1]
_SMALL = 1e-100
_LEAST = 1e-300  # what a weight is taken for if it is too small for a float
_SHIFT = MOST + 1


class Table(NamedTuple):
    """What all visits share.

    Attributes
    ----------
    cells
        By column and row.
    lines, signs
        Of each row, which of a rung's counts it is in, and 1 or -1: what it adds there.
    step
        How many counts a rung has, for each cell of the gate.
    points
        By column, pattern and cell.
    sizes
        How many cells each column has.
    classes
        How many labels.
    pairs
        For each two labels at a threshold the count of the one below, that of the one above (or -1
        where the first says both), and how many rows have that. None of a chain.
    """

    cells: Any
    lines: Any
    signs: Any
    step: int
    points: Any
    sizes: Any
    classes: int
    pairs: Any


@compiled
def combinations(sizes: Any, columns: Any) -> Any:
    """Combinations of cells of all columns from one on."""
    lines = np.ones(len(columns) + 1, np.int64)
    for level in range(len(columns) - 1, -1, -1):
        lines[level] = lines[level + 1] * sizes[columns[level]]
    return lines


@compiled
def highest(points: Any, cells: int) -> int:
    """The most points of these cells."""
    most = 0
    for cell in range(cells):
        most = max(most, points[cell])
    return most


@compiled
def add_up(cells: Any, points: Any, before: Any, after: Any) -> None:
    """The rung of each row with one more column."""
    for i in range(len(cells)):
        after[i] = before[i] + points[cells[i]]


@compiled
def count_rows(table: Any, columns: Any, gate: int, rungs: Any, step: int, counts: Any) -> None:
    """Rows by the cells of the columns, rung, cell of the gate (-1 for none) and label."""
    rows = len(table.lines)
    places = np.zeros(rows, np.int32)
    for column in columns:
        codes, size = table.cells[column], np.int32(table.sizes[column])
        for i in range(rows):
            places[i] = places[i] * size + codes[i]
    counts[:] = 0
    for i in range(rows):
        line = table.lines[i] + (table.step * table.cells[gate, i] if gate >= 0 else 0)
        counts[places[i], rungs[i] * step + line] += table.signs[i]


@compiled
def fold(given: Any, wide: int, cells: int, points: Any, step: int, reach: int, folded: Any) -> None:
    """Counts without their first column, whose cells have these points, into the first lines of `folded`.

    A line has `wide` numbers so far, and `reach` of them then.
    """
    size = len(folded)
    for line in range(size):
        into = folded[line]
        into[:reach] = 0
        for cell in range(cells):
            move = points[cell] * step
            here, there = given[cell * size + line, :wide], into[move : move + wide]
            for t in range(wide):
                there[t] += here[t]


@compiled
def chain(line: Any, rungs: int, first: int, step: int, rate: float, lost: Any, work: Any) -> float:
    """The logarithm of the sum over all labels of all rungs, for one cell of the gate.

    Its counts begin at `first` on the lowest rung, and `step` numbers further on each other one.
    `lost` has exp(-rate * i) for every i, and `work` room for a number for each label.
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
def chains(line: Any, rungs: int, step: int, rate: float, lost: Any, work: Any) -> float:
    """The same for all cells of the gate together."""
    total = 0.0
    for first in range(0, step, len(work)):
        total += chain(line, rungs, first, step, rate, lost, work)
    return total


@compiled
def count_up(counts: Any, cells: int, step: int, rungs: int, top: int, upto: Any) -> None:
    """Counts of the last column up to each rung."""
    for cell in range(cells):
        for line in range(step):
            here, rows = upto[cell * step + line], np.int32(0)
            for t in range(top):
                if t < rungs:
                    rows += counts[cell, t * step + line]
                here[t + _SHIFT] = rows


@compiled
def thresholds(table: Any, upto: Any, column: int, offered: int, top: int, lost: Any, most: int, tally: Any) -> float:
    """All scores of the last column: by pattern, pair of labels and threshold.

    Those that predict so many rows right are counted in `tally`; if that is empty, the sum of
    lost[most - right] is found. Lines of `upto` have `top` + 3 numbers, of which the first 3 are 0.
    """
    cells, step, counting, whole = table.sizes[column], table.step, len(tally) > 0, 0.0
    for pattern in range(offered):
        points = table.points[column, pattern]
        for p in range(len(table.pairs)):
            below, above, start = table.pairs[p]
            for t in range(top):
                right = start
                for cell in range(cells):
                    rung = np.uint64(t + _SHIFT - points[cell])  # unsigned, as above
                    right += upto[cell * step + below, rung]
                    if above >= 0:
                        right -= upto[cell * step + above, rung]
                if counting:
                    tally[np.uint64(right)] += 1
                else:
                    whole += lost[np.uint64(most - right)]
    return whole


@compiled
def add_weight(weight: float, best: Any, sums: Any, r: int) -> None:
    """One more summand of exp(best[r]) * sums[r], of which only the logarithm is small enough for a float."""
    if weight > best[r]:
        sums[r] = sums[r] * np.exp(best[r] - weight) + 1.0
        best[r] = weight
    else:
        sums[r] += np.exp(weight - best[r])


@compiled
def weigh_tally(tally: Any, rates: Any, best: Any, sums: Any) -> int:
    """The sum over scores that were counted by rows predicted right, and the most of these."""
    most = len(tally) - 1
    while tally[most] == 0:
        most -= 1
    for r in range(len(rates)):
        best[r] = rates[r] * most
        for right in range(most + 1):
            if tally[right]:
                sums[r] += tally[right] * np.exp(rates[r] * (right - most))
    return most


@compiled
def advance(digits: Any, offered: Any) -> int:
    """The next choice of patterns, the last column fastest: the first column that changes, or -1 after the last."""
    level = len(digits) - 1
    while level >= 0:
        digits[level] += 1
        if digits[level] < offered[level]:
            return level
        digits[level] = 0
        level -= 1
    return -1


@compiled
def add_columns(
    table: Any, columns: Any, first: int, gate: int, step: int, level: int, digits: Any, rungs: Any,
    added: Any, counts: Any,
) -> None:  # fmt: skip
    """From one column on, add up the points of rows, and count them when that is done."""
    for at in range(level, first):
        points, cells = table.points[columns[at], digits[at]], table.sizes[columns[at]]
        rungs[at + 1] = rungs[at] + highest(points, cells)
        add_up(table.cells[columns[at]], points, added[at], added[at + 1])
    count_rows(table, columns[first:], gate, added[first], step, counts[first])


@compiled
def visit(
    table: Any, columns: Any, offered: Any, gate: int, first: int, top: int, rates: Any, lost: Any, most: int,
    weights: Any, every: Any,
) -> int:  # fmt: skip
    """Visit all points of a frame.

    The first of the columns add points to rows, each column is `offered` so many patterns, and
    `top` is the highest rung. Into `weights` goes for each rate the logarithm of the sum over all
    scores. If `every` has room, the logarithm for each choice of points that is visited goes there
    instead, at the only rate; with a threshold `most` are the rows that the best score predicts
    right, which is what is returned.
    """
    given, rows, chained = len(columns), len(table.lines), len(table.pairs) == 0
    deep = given - int(not chained)  # columns that are visited one after another
    step = table.step * (table.sizes[gate] if gate >= 0 else 1)
    lines = combinations(table.sizes, columns)
    counts = np.empty((deep + 1, lines[first], (1 + top) * step), np.int32)
    added = np.zeros((first + 1, rows), np.uint8)
    upto = np.zeros((0 if chained else lines[deep] * step, top + _SHIFT), np.int32)
    tally = np.zeros(0 if chained or len(every) else rows + 1, np.int64)
    digits, rungs = np.zeros(deep, np.int64), np.ones(deep + 1, np.int64)
    work, best, sums = np.zeros(table.classes), np.full(len(rates), -np.inf), np.zeros(len(rates))
    if first == 0:
        count_rows(table, columns, gate, added[0], step, counts[0])
    level = number = 0
    while level >= 0:
        if level < first:
            add_columns(table, columns, first, gate, step, level, digits, rungs, added, counts)
        for at in range(max(level, first), deep):
            points, cells = table.points[columns[at], digits[at]], table.sizes[columns[at]]
            rungs[at + 1] = rungs[at] + highest(points, cells)
            wide, reach = rungs[at] * step, rungs[at + 1] * step
            fold(counts[at], wide, cells, points, step, reach, counts[at + 1, : lines[at + 1]])
        if chained:
            for r in range(len(rates)):
                weight = chains(counts[deep, 0], rungs[deep], step, rates[r], lost[r], work)
                add_weight(weight, best, sums, r)
        else:
            column, cells = columns[deep], table.sizes[columns[deep]]
            count_up(counts[deep], cells, step, rungs[deep], top, upto)
            whole = thresholds(table, upto, column, offered[deep], top, lost[0], most, tally)
            weight = np.log(max(whole, _LEAST))
        if len(every):
            every[number] = weight
        number += 1
        level = advance(digits, offered)
    if len(tally):
        most = weigh_tally(tally, rates, best, sums)
    for r in range(len(weights)):
        weights[r] = best[r] + np.log(sums[r])
    return most


@compiled
def weigh(
    table: Any,
    columns: Any,
    offered: Any,
    facts: Any,
    rates: Any,
    lost: Any,
    weights: Any,
    best: Any,
) -> None:
    """Visit frames; a line of `facts` has a frame's number of columns, gate, `first` and `top`.

    A frame without columns is left out.
    """
    for f in range(len(facts)):
        given, gate, first, top = facts[f]
        if given:
            best[f] = visit(
                table, columns[f, :given], offered[f, :given], gate, first, top, rates, lost, 0,
                weights[f], np.empty(0),
            )  # fmt: skip
