"""A ladder that was released: the tree that it is, and what it says in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from bocage.learners.base import label_of
from bocage.model.paths import in_words
from bocage.model.runs import starts_of
from bocage.private import Block, Drawn, Ladder
from bocage.schema import Categorical, Schema


def tree_of(ladder: Ladder, schema: Schema) -> Drawn:
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
        for _, run in groupby(
            zip(_edges(block, schema), children, strict=False), lambda one: one[1]
        )
    ]
    return _cut(name, [run[0] for run in runs])


def _cut(name: str, runs: Sequence[tuple[int, Drawn]]) -> Drawn:
    """Runs of codes, by where each begins, as splits at thresholds."""
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    halves = _cut(name, runs[:middle]), _cut(name, runs[middle:])
    return Drawn(-1, (name, runs[middle][0]), halves)


def _edges(block: Block, schema: Schema) -> tuple[int, ...]:
    """The codes at which the cells of a column begin, and where the last one ends."""
    column = schema[block.columns[0]]
    starts = starts_of(column, block.size, block.cuts[0] if block.cuts else ())
    return (0, *starts, column.cells)


def words_of(ladder: Ladder, schema: Schema) -> Iterator[str]:
    """How many points there are for what, and what they add up to, a sentence each."""
    yield "The tree is a ladder: points add up, and their sum decides."
    for block, points in ladder.points:
        given = []
        for own, run in groupby(
            zip(points, _cells(block, schema), strict=True), lambda one: one[0]
        ):
            cells = [cell for _, cell in run]
            codes = range(cells[0].start, cells[-1].stop)
            given.append(f"{own} if {in_words(schema[block.columns[0]], codes)}")
        yield f"Points: {', '.join(given)}."
    most = sum(max(points) for _, points in ladder.points)
    where = [""]
    if (gate := ladder.gate) is not None:
        column = schema[gate.columns[0]]
        where = [f"Where {in_words(column, cell)}: " for cell in _cells(gate, schema)]
    for place, labels in zip(where, ladder.labels, strict=True):
        rungs = groupby(range(most + 1), labels.__getitem__)
        said = (f"{_range(list(run))} {label_of(schema).values[label]}" for label, run in rungs)
        yield f"{place}{', '.join(said)}."


def _cells(block: Block, schema: Schema) -> list[range]:
    return [range(*pair) for pair in pairwise(_edges(block, schema))]


def _range(rungs: Sequence[int]) -> str:
    first, last = rungs[0], rungs[-1]
    if first == last:
        return "1 point" if first == 1 else f"{first} points"
    return f"{first} to {last} points"
