"""How many rows each of all point systems predicts right: compiled loops over systems and rows.

A point system gives each cell of some columns a few points, and predicts by whether their sum reaches a
threshold. Which cells have how many points is one of a few public *patterns* of each column. All systems of
a set of columns are visited, a column after another. The first columns add points to every row. Then rows
are counted by sum and by cells of the columns that are left, and these are *folded*: with the points of its
cells, the counts of one column are moved and added up. So most systems take no look at a row, and the last
column gives all thresholds at once.

Counts are *lines* of `WIDTH` numbers, one for each sum, for each combination of cells and each label. With
two labels there is one line for both, the rows of the first less those of the second, which is all that matters.

The same arguments go through all loops: `columns` those of the set, `first` how many of them add points to
rows; `points` by column, pattern and cell; a line of `facts` has a column's number of patterns and of cells; one
of `pairs` the line of the label below a threshold, that of the label above (or -1 where the first says both), and
how many rows have that; `span` is the highest threshold.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from typing import Any

import numpy as np

from bocage.engine.codes.kernels import compiled
from bocage.private.joint.score.family import MOST_SUM, WIDTH


@compiled
def add_up(codes: Any, columns: Any, points: Any, digits: Any, level: int, sums: Any) -> None:
    """The sums of each row with one more column."""
    own, line = points[columns[level], digits[level]], codes[columns[level]]
    before, after = sums[level], sums[level + 1]
    for i in range(len(line)):
        after[i] = before[i] + own[line[i]]


@compiled
def count_rows(
    codes: Any, labels: Any, signs: Any, columns: Any, first: int, facts: Any, lines: int, sums: Any,
    found: Any,
) -> None:  # fmt: skip
    """Rows by the cells of all columns from `first` on, label and sum."""
    rows = len(labels)
    places = np.zeros(rows, np.int32)
    for level in range(first, len(columns)):
        line, cells = codes[columns[level]], np.int32(facts[columns[level], 1])
        for i in range(rows):
            places[i] = places[i] * cells + line[i]
    found[:] = 0
    own = sums[first]
    for i in range(rows):
        found[places[i] * lines + labels[i], own[i]] += signs[i]


@compiled
def fold(given: Any, cells: int, points: Any, found: Any) -> None:
    """Counts without their first column, whose cells have these points."""
    size = len(found)
    for line in range(size):
        there = found[line]
        there[:] = 0
        for v in range(cells):
            here, more = given[v * size + line], points[v]
            if more == 0:  # a constant to be moved by is faster than a variable
                for t in range(MOST_SUM):
                    there[t] += here[t]
            elif more == 1:
                for t in range(MOST_SUM):
                    there[t + 1] += here[t]
            else:
                for t in range(MOST_SUM):
                    there[t + 2] += here[t]


@compiled
def last_column(
    given: Any, facts: Any, points: Any, lines: int, pairs: Any, span: int, upto: Any, lost: Any, most: int,
    tally: Any,
) -> float:  # fmt: skip
    """All systems of the last column: by pattern, pair of labels and threshold.

    Those that predict so many rows right are counted in `tally`; if that is empty, the sum of
    lost[most - right] is found. `upto` has room for lines of `WIDTH` + 2, of which the first 3 numbers are 0.
    """
    patterns, cells, counting, whole = facts[0], facts[1], len(tally) > 0, 0.0
    for line in range(cells * lines):
        own, here, rows = given[line], upto[line], np.int32(0)
        for t in range(span):
            rows += own[t]
            here[t + 3] = rows
    for q in range(patterns):
        for p in range(len(pairs)):
            below, above, start = pairs[p]
            for t in range(span):
                right = start
                for v in range(cells):
                    place = np.uint64(t + 3 - points[q, v])  # unsigned: no check for negative ones
                    right += upto[v * lines + below, place]
                    if above >= 0:
                        right -= upto[v * lines + above, place]
                if counting:
                    tally[np.uint64(right)] += 1
                else:
                    whole += lost[np.uint64(most - right)]
    return whole


@compiled
def visit(
    codes: Any, labels: Any, signs: Any, columns: Any, first: int, points: Any, facts: Any, lines: int,
    pairs: Any, span: int, lost: Any, most: int, tally: Any, parts: Any,
) -> None:  # fmt: skip
    """Visit all systems of the columns.

    `tally` counts how many predict so many rows right. If it is empty, `parts` has for each choice of
    patterns of all columns but the last the sum of lost[most - right].
    """
    last = len(columns) - 1
    digits, sums = np.zeros(last + 1, np.int64), np.zeros((first + 1, len(labels)), np.uint8)
    sizes = np.ones(last + 2, np.int64)  # lines of all columns from one on
    sizes[last + 1] = lines
    for level in range(last, -1, -1):
        sizes[level] = sizes[level + 1] * facts[columns[level], 1]
    counts = np.empty((last + 1, sizes[first], WIDTH), np.int32)
    upto = np.zeros((sizes[last], WIDTH + 2), np.int32)
    whole_counts = counts[first, : sizes[first]]
    if first == 0:
        count_rows(codes, labels, signs, columns, first, facts, lines, sums, whole_counts)
    level = part = 0
    while level >= 0:
        for at in range(level, last):
            own = points[columns[at], digits[at]]
            if at >= first:
                below = counts[at + 1, : sizes[at + 1]]
                fold(counts[at, : sizes[at]], facts[columns[at], 1], own, below)
            else:
                add_up(codes, columns, points, digits, at, sums)
                if at == first - 1:
                    count_rows(
                        codes, labels, signs, columns, first, facts, lines, sums, whole_counts
                    )
        own_facts, own_points = facts[columns[last]], points[columns[last]]
        found = last_column(
            counts[last, : sizes[last]], own_facts, own_points, lines, pairs, span, upto, lost, most, tally
        )  # fmt: skip
        if len(parts):
            parts[part] = found
        part += 1
        level = last - 1
        while level >= 0:
            digits[level] += 1
            if digits[level] < facts[columns[level], 0]:
                break
            digits[level] = 0
            level -= 1


@compiled
def weigh(
    codes: Any, labels: Any, signs: Any, sets: Any, firsts: Any, points: Any, facts: Any, lines: int,
    pairs: Any, spans: Any, rates: Any, found: Any, best: Any,
) -> None:  # fmt: skip
    """For each rate and set of columns the logarithm of the sum of exp(rate * rows right) over all systems of the
    set, and for each set the most rows that one predicts right."""
    tally = np.zeros(len(labels) + 1, np.int64)
    none, lost = np.empty(0), np.empty(0)
    for s in range(len(sets)):
        tally[:] = 0
        visit(
            codes, labels, signs, sets[s], firsts[s], points, facts, lines, pairs, spans[s], lost, 0,
            tally, none,
        )  # fmt: skip
        top = len(labels)
        while tally[top] == 0:
            top -= 1
        best[s] = top
        for r in range(len(rates)):
            whole = 0.0
            for right in range(top + 1):
                if tally[right]:
                    whole += tally[right] * np.exp(rates[r] * (right - top))
            found[r, s] = rates[r] * top + np.log(whole)
