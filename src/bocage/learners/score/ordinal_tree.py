"""A ladder that was released, as the tree that it is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from bocage.model.bins import starts_of
from bocage.private import Block, Drawn, DrawnOrdinalScore
from bocage.schema import Categorical, Schema


def tree_of(ladder: DrawnOrdinalScore, schema: Schema) -> Drawn:
    """The tree that predicts what the ladder does: by its gate, then by the columns of most points."""
    columns = sorted(ladder.points, key=lambda one: -max(one[1]))
    ahead = [{0}]  # the points that the columns from one on may add, the last one first
    for _, points in reversed(columns):
        ahead.insert(0, {more + own for more in ahead[0] for own in points})

    def below(labels: Sequence[int], points: int, place: int) -> Drawn:
        if len(found := {labels[points + more] for more in ahead[place]}) == 1:
            return Drawn(found.pop())
        block, own = columns[place]
        return _split(block, [below(labels, points + more, place + 1) for more in own], schema)

    parts = [below(labels, 0, 0) for labels in ladder.labels]
    return parts[0] if ladder.gate is None else _split(ladder.gate, parts, schema)


def _split(block: Block, children: Sequence[Drawn], schema: Schema) -> Drawn:
    """What is below each cell of a column; a split only where that differs."""
    if all(child == children[0] for child in children):
        return children[0]
    (name,) = block.columns
    column = schema[name]
    if isinstance(column, Categorical):
        return Drawn(-1, (name, None), tuple(children))
    runs = [
        list(run)
        for _, run in groupby(zip(edges(block, schema), children, strict=False), lambda one: one[1])
    ]
    return _cut(name, [run[0] for run in runs])


def _cut(name: str, runs: Sequence[tuple[int, Drawn]]) -> Drawn:
    """Runs of codes, by where each begins, as splits at thresholds."""
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    halves = _cut(name, runs[:middle]), _cut(name, runs[middle:])
    return Drawn(-1, (name, runs[middle][0]), halves)


def edges(block: Block, schema: Schema) -> tuple[int, ...]:
    """The codes at which the cells of a column begin, and where the last one ends."""
    column = schema[block.columns[0]]
    starts = starts_of(column, block.size, block.cuts[0] if block.cuts else ())
    return (0, *starts, column.cells)
