"""Which ladders are drawn among, a public rule, and the tree that one of them is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import comb

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.cutting import Spreads
from bocage.learners.pointing import block_of
from bocage.model.runs import starts_of
from bocage.private import Block, Drawn, Ladder, Ladders
from bocage.private.climbs import MOST_FRAMES, MOST_SYSTEMS
from bocage.private.tempered import rates_of
from bocage.schema import Categorical, Schema

# How many attributes may give points, and how many each at most: the first that the work allows.
SIZES = ((3, 3), (2, 4), (2, 3), (2, 2), (2, 1), (1, 3), (1, 1))
WORK = 2.2e9  # about as many nanoseconds of one core
LEAVES = 1024  # combinations of cells
WIDEST = 32  # values of an attribute


def ladders_of(
    schema: Schema,
    names: Sequence[str],
    rows: int,
    epsilon: Epsilon,
    spreads: Spreads,
    *,
    leaves: int = LEAVES,
) -> Ladders | None:
    """Ladders of as many attributes and points as the work allows; None if it allows none.

    As a tree, one of them has so many leaves at most.
    """
    labels, rates = label_of(schema).cells, len(rates_of(epsilon.fraction))
    blocks = tuple(block_of(schema[name], spreads) for name in names)
    blocks = tuple(block for block in blocks if 1 < block.size <= WIDEST)
    for most, top in SIZES:
        k = len(blocks)
        if most > k or comb(k, most) * max(k - most, 1) > MOST_FRAMES:
            continue
        found = Ladders(blocks, most, top, min(leaves, LEAVES))
        if found.kinds and _work(found, rows, labels, rates) <= WORK:
            return found
    return None


def _work(ladders: Ladders, rows: int, labels: int, rates: int) -> float:
    """About the nanoseconds for all of them."""
    whole = 0.0
    for frame in (frame for frames in ladders.kinds for frame in frames):
        systems = ladders.systems(frame)
        if systems > MOST_SYSTEMS:
            return float("inf")
        gates, folded = ladders.gates(frame), ladders.blocks[frame.columns[-1]].size
        numbers = gates * ladders.rungs(frame) * labels
        each = 60 + 0.15 * numbers * folded + rates * (30 + 40 * gates + 2.5 * numbers)
        whole += systems * each + rows * (6 + 2 * len(frame.columns)) + 50_000
    return whole


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
    starts = starts_of(column, block.size, block.cuts[0] if block.cuts else ())
    runs = [
        list(run)
        for _, run in groupby(zip((0, *starts), children, strict=True), lambda one: one[1])
    ]
    return _cut(name, [run[0] for run in runs])


def _cut(name: str, runs: Sequence[tuple[int, Drawn]]) -> Drawn:
    """Runs of codes, by where each begins, as splits at thresholds."""
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    halves = _cut(name, runs[:middle]), _cut(name, runs[middle:])
    return Drawn(-1, (name, runs[middle][0]), halves)
