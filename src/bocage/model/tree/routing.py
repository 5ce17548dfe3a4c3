"""The way of rows through a tree: level by level in NumPy, or compiled where there is much to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Indices = NDArray[np.intp]  # what NumPy wants for an index
BLOCK = 2**15  # rows that are routed together: their codes stay in the processor's cache
# Rows times levels from which on it pays to load a compiler: about a second of NumPy.
MUCH = 2**25


@dataclass(frozen=True)
class Steps:
    """For every node: row of the matrix of codes, threshold, first target, a child for every code.

    A leaf sends a row to itself. A threshold below 0 stands for one code against the rest.
    """

    depth: int
    row: Indices
    threshold: Ints
    target: Indices
    multiway: NDArray[np.bool_]


def route(steps: Steps, matrix: Ints, *, much: bool = False) -> Ints:
    """The node that every row reaches: a leaf, or an inner node that tests a code of -1.

    Parameters
    ----------
    matrix
        One row for each column, one column for each row of the table.
    much
        Whether this is part of a larger work, worth a compiled loop.
    """
    rows = matrix.shape[1]
    reached = np.zeros(rows, np.int32)
    if steps.depth == 0:
        return reached
    if much or rows * steps.depth >= MUCH:
        _compiled(steps, matrix, reached)
        return reached
    for start in range(0, rows, BLOCK):
        block = np.ascontiguousarray(matrix[:, start : start + BLOCK])
        reached[start : start + BLOCK] = _level_by_level(steps, block)
    return reached


def _level_by_level(steps: Steps, matrix: Ints) -> Indices:
    rows = matrix.shape[1]
    flat, column = matrix.ravel(), np.arange(rows)
    start = steps.row * rows
    multiway = steps.multiway if steps.multiway.any() else None
    alone = bool((steps.threshold < 0).any())
    node = np.zeros(rows, np.intp)
    for _ in range(steps.depth):
        code = flat[start[node] + column]
        threshold = steps.threshold[node]
        beyond: NDArray[Any] = code >= threshold
        if alone:
            beyond = np.where(threshold < 0, code != -2 - threshold, beyond)
        if multiway is not None:
            beyond = np.where(multiway[node], code, beyond)
        goal = steps.target[node] + beyond
        node = np.where(code < 0, node, goal)
    return node


def _compiled(steps: Steps, matrix: Ints, reached: Ints) -> None:
    """All cores walk the rows of their share; the loop holds no Python lock."""
    loop = _compiled_loop()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    edges = np.linspace(0, matrix.shape[1], (cores or 1) + 1).astype(int).tolist()

    def share(span: tuple[int, int]) -> None:
        low, high = span
        loop(
            matrix, low, high, steps.row, steps.threshold, steps.target, steps.multiway, reached
        )  # fmt: skip

    with ThreadPoolExecutor(len(edges) - 1) as pool:
        list(pool.map(share, pairwise(edges)))


def descend(  # noqa: PLR0917 - compiled loops take arrays by position, and no objects
    matrix: Any, low: Any, high: Any, row: Any, threshold: Any, target: Any, multiway: Any,
    reached: Any,
) -> None:  # fmt: skip
    """Send rows low..high from the root to where they end. Compiled where there is much to do."""
    for i in range(low, high):
        node = 0
        while target[node] != node:
            code = matrix[row[node], i]
            if code < 0:
                break
            if multiway[node]:
                node = target[node] + code
            elif threshold[node] < 0:
                node = target[node] + (code != -2 - threshold[node])
            elif code < threshold[node]:
                node = target[node]
            else:
                node = target[node] + 1
        reached[i] = node


@cache
def _compiled_loop() -> Callable[..., None]:
    import numba  # noqa: PLC0415 - few rows load no compiler

    try:
        loop = numba.njit(cache=True, nogil=True)(descend)
    except RuntimeError:  # no directory is writable: compile again in every process
        loop = numba.njit(nogil=True)(descend)
    return cast("Callable[..., None]", loop)
