"""Compiled loops over codes. They hold no Python lock, so that threads share the cores.

Codes stand in two matrices, one row per column: ``narrow`` (uint8) and ``wide`` (uint16). Column c is
``narrow[c]``, or ``wide[c - len(narrow)]``. Loops run over strips that stay in the first-level cache:
first every row of a strip gets its *slot* (cell and label), then each column is counted by slot.
Rows that are in no cell go to one more cell at the end, which nobody reads.
"""

# ruff: noqa: PLR0917 - compiled loops take arrays by position, and no objects
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from bocage.engine.codes.compiled_question import DE_BRUIJN
from bocage.plan import OUTSIDE

F = TypeVar("F", bound=Callable[..., Any])
STRIP = 8192
_MULTIPLIER = np.uint64(DE_BRUIJN)
NOWHERE = np.int32(OUTSIDE)
_TOP_SIX = np.uint64(58)


def compiled(function: F) -> F:
    """Compile on first use, and store the result where that is possible."""
    try:
        return cast("F", numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no directory is writable: compile again in every process
        return cast("F", numba.njit(nogil=True)(function))


@compiled
def count(
    narrow: Any, wide: Any, low: Any, high: Any, route: Any, walk: Any, label: Any, labels: Any,
    packs: Any, counters: Any, summed: Any, sums: Any,
) -> None:  # fmt: skip
    """Count rows low..high; see `compiled_question.CompiledQuestion` for what the arguments hold."""
    slots = np.empty(STRIP, np.uint32)
    paths = np.empty(STRIP, np.uint64)
    keys = np.empty(STRIP, np.uint32)
    outside = walk[3]
    for start in range(low, high, STRIP):
        stop = min(start + STRIP, high)
        if outside < 0:
            _by_masks(narrow, wide, start, stop, route, paths, slots)
        else:
            _by_walking(narrow, wide, start, stop, walk, slots)
        if label >= len(narrow):
            _with_label(wide[label - len(narrow), start:stop], labels, slots)
        elif label >= 0:
            _with_label(narrow[label, start:stop], labels, slots)
        _count_packs(narrow, wide, start, stop, packs, slots, keys, counters)
        _sum_columns(narrow, wide, start, stop, summed, slots, sums)


@compiled
def _count_packs(
    narrow: Any, wide: Any, start: Any, stop: Any, packs: Any, slots: Any, keys: Any, counters: Any
) -> None:
    for p in range(len(packs)):
        first, second, size, other_size, begin, end = packs[p]
        bins = counters[begin:end]
        if second >= 0:
            one, two = narrow[first, start:stop], narrow[second, start:stop]
            _pair(one, two, size, other_size, slots, keys, bins)
        elif first < len(narrow):
            _single(narrow[first, start:stop], size, slots, keys, bins)
        else:
            _single(wide[first - len(narrow), start:stop], size, slots, keys, bins)


@compiled
def _sum_columns(narrow: Any, wide: Any, start: Any, stop: Any, summed: Any, slots: Any, sums: Any) -> None:
    for s in range(len(summed)):
        column = summed[s]
        if column < 0:
            for i in range(stop - start):
                sums[s, np.intp(slots[i])] += 1
        elif column < len(narrow):
            _sum(narrow[column, start:stop], slots, sums[s])
        else:
            _sum(wide[column - len(narrow), start:stop], slots, sums[s])


@compiled
def _by_masks(narrow: Any, wide: Any, start: Any, stop: Any, route: Any, paths: Any, slots: Any) -> None:
    """Each column leaves the paths that its code allows; at most one remains, as one bit."""
    columns, offsets, masks, cells = route
    for i in range(stop - start):
        paths[i] = masks[0]
    for c in range(len(columns)):
        column = columns[c]
        allowed = masks[offsets[c] : offsets[c + 1]]
        if column < len(narrow):
            _allow(narrow[column, start:stop], allowed, paths)
        else:
            _allow(wide[column - len(narrow), start:stop], allowed, paths)
    for i in range(stop - start):
        slots[i] = cells[(paths[i] * _MULTIPLIER) >> _TOP_SIX]


@compiled
def _allow(codes: Any, allowed: Any, paths: Any) -> None:
    for i in range(len(codes)):
        paths[i] &= allowed[codes[i]]


# Unsigned indices spare a test for Python's negative ones, which costs a third of this loop.
@compiled
def _by_walking(narrow: Any, wide: Any, start: Any, stop: Any, walk: Any, slots: Any) -> None:
    """Each row goes from node to node until its target is a cell."""
    root, nodes, tables, outside = walk
    split = np.uint64(len(narrow))
    for row in range(start, stop):
        i = np.uint64(row)
        target = np.int32(root)
        while target >= 0:
            node = np.uint64(target)
            column = np.uint64(nodes[node, 0])
            code = np.int32(narrow[column, i]) if column < split else np.int32(wide[column - split, i])
            threshold = nodes[node, 1]
            if threshold > 0:
                target = nodes[node, np.uint64(2) + np.uint64(code >= threshold)]
            else:
                target = tables[np.uint64(nodes[node, 2]) + np.uint64(code)]
        slots[row - start] = outside if target == NOWHERE else ~target


@compiled
def _with_label(codes: Any, labels: Any, slots: Any) -> None:
    size = np.uint32(labels)
    for i in range(len(codes)):
        slots[i] = slots[i] * size + np.uint32(codes[i])


# The keys are computed apart from the counting, because only then does the compiler vectorise them.
@compiled
def _single(codes: Any, size: Any, slots: Any, keys: Any, bins: Any) -> None:
    width = np.uint32(size)
    for i in range(len(codes)):
        keys[i] = slots[i] * width + np.uint32(codes[i])
    for i in range(len(codes)):
        bins[np.uint64(keys[i])] += 1


# Two columns with few codes share their counters: half as many increments, and the counts of each
# are sums over the other.
@compiled
def _pair(first: Any, second: Any, first_size: Any, second_size: Any, slots: Any, keys: Any, bins: Any) -> None:
    a, b = np.uint32(first_size), np.uint32(second_size)
    for i in range(len(first)):
        keys[i] = (slots[i] * a + np.uint32(first[i])) * b + np.uint32(second[i])
    for i in range(len(first)):
        bins[np.uint64(keys[i])] += 1


@compiled
def _sum(codes: Any, slots: Any, totals: Any) -> None:
    for i in range(len(codes)):
        totals[np.intp(slots[i])] += np.int64(codes[i])


@compiled
def grid(
    numbers: Any,
    lower: Any,
    upper: Any,
    per_unit: Any,
    shift: Any,
    last: Any,
    missing: Any,
    clamp: Any,
    codes: Any,
    dropped: Any,
) -> None:
    """Cells of numbers on a grid, in the order of operations that `Numeric` prescribes."""
    for i in range(len(numbers)):
        x = np.float64(numbers[i])
        if np.isnan(x):
            cell = missing
        elif not clamp and not (lower <= x <= upper):
            cell = -1
        else:
            x = min(max(x, lower), upper)
            cell = min(np.int64(np.floor((x - lower) * per_unit + shift)), last)
        if cell < 0:
            dropped[i] = True
            cell = 0
        codes[i] = cell


@compiled
def look_up(places: Any, base: Any, table: Any, beyond: Any, codes: Any, dropped: Any) -> None:
    """``codes[i] = table[places[i] - base]``, or `beyond` where the table does not reach."""
    low, high = base, base + len(table) - 1
    for i in range(len(places)):
        place = places[i]
        code = table[np.int64(place) - base] if low <= place <= high else beyond
        if code < 0:
            dropped[i] = True
            code = 0
        codes[i] = code


@compiled
def well_formed(text: Any, goes: Any, fields: Any) -> Any:
    """Whether these bytes are whole records of so many fields; see `grammar` for the states."""
    state, held = 0, 1
    for i in range(len(text)):
        before = state
        state = goes[before, text[i]]
        if state <= 1:
            if state == 1:
                held += 1
            else:
                empty = fields > 1 and (before == 0 or before == 6)  # noqa: PLR1714 - sets compile slowly
                if held != fields and not empty:
                    return False
                held = 1
    return state == 0 or (state in (1, 2, 4) and held == fields)
