"""Which ladders are drawn among: a public rule."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, inf

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.discretization import Spreads
from bocage.learners.score.scorecard_rule import block_of
from bocage.private import OrdinalScores
from bocage.private.joint.score.family import MOST_SYSTEMS
from bocage.private.joint.temperature import rates_of
from bocage.schema import Schema

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
) -> OrdinalScores | None:
    """OrdinalScores of as many attributes and points as the work allows; None if it allows none.

    As a tree, one of them has so many leaves at most.
    """
    labels, rates = label_of(schema).cells, len(rates_of(epsilon.fraction))
    blocks = tuple(block_of(schema[name], spreads) for name in names)
    blocks = tuple(block for block in blocks if 1 < block.size <= WIDEST)
    for most, top in SIZES:
        if not 0 < _frames(len(blocks), most) * _frame_work(rows, most) <= WORK:
            continue
        found = OrdinalScores(blocks, most, top, min(leaves, LEAVES))
        if found.kinds and _work(found, rows, labels, rates) <= WORK:
            return found
    return None


def _frames(blocks: int, most: int) -> int:
    """How many choices of columns have the most of them, and a gate if there is one left."""
    return comb(blocks, most) * max(blocks - most, 1)


def _frame_work(rows: int, columns: int) -> int:
    """About the nanoseconds for one choice of columns, before any points."""
    return 50_000 + rows * (6 + 2 * columns)


def _work(ladders: OrdinalScores, rows: int, labels: int, rates: int) -> float:
    """About the nanoseconds for all of them, or more than enough."""
    whole = 0.0
    for frame in (frame for frames in ladders.kinds for frame in frames):
        systems = ladders.systems(frame)
        gates, folded = ladders.gates(frame), ladders.blocks[frame.columns[-1]].size
        numbers = gates * ladders.rungs(frame) * labels
        each = 60 + 0.15 * numbers * folded + rates * (30 + 40 * gates + 2.5 * numbers)
        whole += systems * each + _frame_work(rows, len(frame.columns))
        if whole > WORK or systems > MOST_SYSTEMS:
            return inf
    return whole
