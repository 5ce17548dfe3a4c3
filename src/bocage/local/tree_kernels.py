"""Compiled loops: counting, splitting by the Gini index, and parting records, without Python's lock.

Records are rows of a matrix of small codes. A node is a stretch of an array of row numbers.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
GOLDEN = 0.6180339887498949


def compiled(function: Function) -> Function:
    """Compile on first use, and store the result where that is possible."""
    try:
        return cast("Function", numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no directory is writable: compile again in every process
        return cast("Function", numba.njit(nogil=True)(function))


@compiled
def count_answers(answers: Any, column: Any, groups: Any, rows: Any, lowest: Any, table: Any) -> None:
    """Count the answers of some rows by group."""
    for i in range(len(rows)):
        row = rows[i]
        table[groups[row], answers[row, column] - lowest] += 1


@compiled
def associate(
    answers: Any, column: Any, groups: Any, rows: Any, lowest: Any,
    first: Any, size: Any, line: Any, bounds: Any, codes: Any,
) -> None:  # fmt: skip
    """Give every record an interval, so that as many lie in each as were estimated.

    Records of one group that sent the same answer share the stretch ``first .. first + size`` of a
    line. They take its places in strides of about the golden part of it, so that what stands first
    in the file does not stand first on the line. The bounds of the line say the interval.
    """
    place = np.full(size.shape, -1, np.int64)
    stride = np.zeros(size.shape, np.int64)
    for i in range(len(rows)):
        row = rows[i]
        group, answer = groups[row], answers[row, column] - lowest
        if place[group, answer] < 0:
            place[group, answer] = 0
            stride[group, answer] = _stride(size[group, answer])
        at = first[group, answer] + place[group, answer] + 0.5
        place[group, answer] = (place[group, answer] + stride[group, answer]) % size[group, answer]
        ends = bounds[line[group, answer]]
        low, high = 0, len(ends) - 1
        while low < high:  # the first interval that ends after the place
            middle = (low + high) // 2
            if ends[middle] > at:
                high = middle
            else:
                low = middle + 1
        codes[row, column] = low


@compiled
def _stride(size: Any) -> Any:
    """A step that visits all places of a ring, and neighbors late."""
    step = max(1, int(GOLDEN * size))
    while True:
        a, b = step, size
        while b:
            a, b = b, a % b
        if a == 1:
            return step
        step += 1


@compiled
def count_codes(codes: Any, labels: Any, rows: Any, low: Any, high: Any, offset: Any, table: Any) -> None:
    """Class counts of every code of every column: line ``offset[column] + code`` of the table."""
    table[:] = 0
    for i in range(low, high):
        row = rows[i]
        label = labels[row]
        for column in range(codes.shape[1]):
            table[offset[column] + codes[row, column], label] += 1


@compiled
def best_split(table: Any, offset: Any, multiway: Any, totals: Any, sums: Any) -> Any:
    """The column and the cut with the lowest Gini index: (-1, -1) if none is better than no split.

    A cut c parts the codes below c from the others; a multiway column has a child for every code
    and the cut -1. The lowest Gini index is the largest sum of squares over size of the children.
    """
    whole = 0
    squares = 0.0
    for label in range(len(totals)):
        whole += totals[label]
        squares += float(totals[label]) ** 2
    best = squares / whole * (1 + 1e-12)
    split_column, at = -1, -1
    for column in range(len(multiway)):
        start, stop = offset[column], offset[column + 1]
        if multiway[column]:
            score, cut = _purity(table, start, stop), -1
        else:
            score, cut = _best_cut(table, start, stop, totals, sums)
        if score > best:
            best, split_column, at = score, column, cut
    return split_column, at


@compiled
def _purity(table: Any, start: Any, stop: Any) -> Any:
    score = 0.0
    for line in range(start, stop):
        size, squares = 0, 0.0
        for label in range(table.shape[1]):
            size += table[line, label]
            squares += float(table[line, label]) ** 2
        if size:
            score += squares / size
    return score


@compiled
def _best_cut(table: Any, start: Any, stop: Any, totals: Any, sums: Any) -> Any:
    best, at = -1.0, -1
    sums[:] = 0
    left, whole = 0, totals.sum()
    for line in range(start, stop - 1):
        size = 0
        for label in range(len(totals)):
            sums[label] += table[line, label]
            size += table[line, label]
        left += size
        if size == 0 or left == whole:
            continue
        below, above = 0.0, 0.0
        for label in range(len(totals)):
            below += float(sums[label]) ** 2
            above += float(totals[label] - sums[label]) ** 2
        score = below / left + above / (whole - left)
        if score > best:
            best, at = score, line - start + 1
    return best, at


@compiled
def part(codes: Any, rows: Any, low: Any, high: Any, column: Any, cut: Any, ends: Any, spare: Any) -> None:
    """Sort a stretch of rows by child, in their order; `ends` gets where each child ends."""
    ends[:] = 0
    for i in range(low, high):
        code = codes[rows[i], column]
        ends[code if cut < 0 else int(code >= cut)] += 1
    start = low
    for child in range(len(ends)):
        size = ends[child]
        ends[child] = start
        start += size
    for i in range(low, high):
        row = rows[i]
        code = codes[row, column]
        child = code if cut < 0 else int(code >= cut)
        spare[ends[child]] = row
        ends[child] += 1
    for i in range(low, high):
        rows[i] = spare[i]


@compiled
def grow(
    codes: Any, labels: Any, rows: Any, offset: Any, multiway: Any, classes: Any,
    fewest: Any, most_depth: Any, floor: Any, constant: Any,
) -> Any:  # fmt: skip
    """Grow a whole tree. A node is split while pruning could keep the split: see `trees.floor_bits`.

    Returns
    -------
    column, cut, first_child, counts
        By node; parents come before their children, which are neighbors. A leaf has column -1.
    """
    nodes = np.full((1024, 6), -1, np.int64)  # column, cut, first child, depth, begin, end
    counts = np.zeros((1024, classes), np.int64)
    table = np.zeros((offset[-1], classes), np.int64)
    sums = np.zeros(classes, np.int64)
    spare = np.empty_like(rows)
    nodes[0, 3:] = 0, 0, len(rows)
    _count_labels(labels, rows, nodes[0], counts[0])
    size = 1
    stack = [0]  # depth first: a parent's rows are still in the cache when its children are counted
    while len(stack) > 0:
        node = stack.pop()
        low, high = nodes[node, 4], nodes[node, 5]
        if high - low < fewest or nodes[node, 3] >= most_depth:
            continue
        if _bits(counts[node], constant) <= floor:
            continue
        count_codes(codes, labels, rows, low, high, offset, table)
        column, cut = best_split(table, offset, multiway, counts[node], sums)
        if column < 0:
            continue
        children = 2 if cut >= 0 else offset[column + 1] - offset[column]
        while size + children > len(nodes):
            nodes, counts = _wider(nodes, -1), _wider(counts, 0)
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = column, cut, size
        ends = np.empty(children, np.int64)
        part(codes, rows, low, high, column, cut, ends, spare)
        for child in range(children):
            nodes[size, 3] = nodes[node, 3] + 1
            nodes[size, 4] = low if child == 0 else ends[child - 1]
            nodes[size, 5] = ends[child]
            _count_labels(labels, rows, nodes[size], counts[size])
            stack.append(size)
            size += 1
    return nodes[:size, 0], nodes[:size, 1], nodes[:size, 2], counts[:size]


@compiled
def _count_labels(labels: Any, rows: Any, node: Any, counts: Any) -> None:
    for i in range(node[4], node[5]):
        counts[labels[rows[i]]] += 1


@compiled
def _bits(counts: Any, constant: Any) -> Any:
    """`mdl.leaf_bits` of one node."""
    size = counts.sum()
    bits = constant + (len(counts) - 1) / 2 * np.log2(size / 2)
    for count in counts:
        if count:
            bits += count * np.log2(size / count)
    return bits


@compiled
def _wider(array: Any, empty: Any) -> Any:
    wider = np.full((2 * len(array), array.shape[1]), empty, np.int64)
    wider[: len(array)] = array
    return wider
