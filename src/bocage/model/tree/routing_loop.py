"""The loop that :mod:`bocage.model.tree.routing` compiles. It is valid Python too, only slow."""

from __future__ import annotations

from typing import Any


def walk(  # noqa: PLR0917 - compiled loops take arrays by position, and no objects
    matrix: Any, low: Any, high: Any, row: Any, threshold: Any, target: Any, multiway: Any,
    reached: Any,
) -> None:  # fmt: skip
    """Send rows low..high from the root to where they end."""
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
