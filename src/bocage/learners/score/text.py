"""What a score says in words: a sentence for each column, and one for what they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from bocage.learners.base import label_of
from bocage.model.bins import starts_of
from bocage.model.tree.paths import in_words
from bocage.private import Block, DrawnOrdinalScore, DrawnScorecard
from bocage.schema import Schema


def ordinal_score_in_words(drawn: DrawnOrdinalScore, schema: Schema) -> Iterator[str]:
    """How many points there are for what, and the label of each sum."""
    yield "The tree is a ladder: points add up, and their sum decides."
    yield from _columns(drawn.points, schema)
    most = sum(max(points) for _, points in drawn.points)
    where = [""]
    if (gate := drawn.gate) is not None:
        column = schema[gate.columns[0]]
        where = [f"Where {in_words(column, cell)}: " for cell in _cells(gate, schema)]
    for place, labels in zip(where, drawn.labels, strict=True):
        rungs = groupby(range(most + 1), labels.__getitem__)
        said = (f"{_range(list(run))} {label_of(schema).values[label]}" for label, run in rungs)
        yield f"{place}{', '.join(said)}."


def scorecard_in_words(card: DrawnScorecard, schema: Schema) -> Iterator[str]:
    """How many points there are for what, and from how many on the label is another."""
    low, high = (label_of(schema).values[label] for label in card.labels)
    if not card.points:
        yield f"One label for all rows: {high}."
        return
    yield f"The model is a point system: {high} from {_range([card.threshold])} on, else {low}."
    yield from _columns(card.points, schema)


def _columns(given: Sequence[tuple[Block, Sequence[int]]], schema: Schema) -> Iterator[str]:
    """What each column gives, cells with as many points together."""
    for block, points in given:
        said = []
        cells = zip(points, _cells(block, schema), strict=True)
        for own, run in groupby(cells, lambda one: one[0]):
            codes = [cell for _, cell in run]
            here = range(codes[0].start, codes[-1].stop)
            said.append(f"{own} if {in_words(schema[block.columns[0]], here)}")
        yield f"Points: {', '.join(said)}."


def _cells(block: Block, schema: Schema) -> list[range]:
    return [range(*pair) for pair in pairwise(edges(block, schema))]


def edges(block: Block, schema: Schema) -> tuple[int, ...]:
    """The codes at which the cells of a column begin, and where the last one ends."""
    column = schema[block.columns[0]]
    starts = starts_of(column, block.size, block.cuts[0] if block.cuts else ())
    return (0, *starts, column.cells)


def _range(rungs: Sequence[int]) -> str:
    first, last = rungs[0], rungs[-1]
    if first == last:
        return "1 point" if first == 1 else f"{first} points"
    return f"{first} to {last} points"
