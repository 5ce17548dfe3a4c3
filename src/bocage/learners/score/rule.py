"""Which scores are drawn among: public rules, by what work and data allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf, log

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.learners.discretization import Spreads
from bocage.private import Block, OrdinalScores, Scorecards
from bocage.private.joint.score.family import (
    MOST,
    MOST_CARD_CELLS,
    MOST_CHOICES,
    MOST_SETS,
    MOST_SUM,
    patterns_of,
    top_of,
)
from bocage.private.joint.temperature import rates_of
from bocage.schema import Attribute, Categorical, Schema

CELLS = 4  # of a numeric attribute
# Of an ordinal score: how many attributes may give points, and how many each at most. The first that
# the work allows.
SIZES = ((3, 3), (2, 4), (2, 3), (2, 2), (2, 1), (1, 3), (1, 1))
ORDINAL_WORK = 2.2e9  # about as many nanoseconds of one core
LEAVES = 1024  # combinations of cells
# Of scorecards: about as many nanoseconds of one core, and where all attributes may give points.
CARD_WORK, CARD_WORK_OF_ALL = 1e9, 8e9
# Records times epsilon for each unit of the logarithm of their number, with rich patterns, and at least:
# the number of records is noisy.
WORTH, RICH, FEWEST = 0.5, 2, 10


def ordinal_scores_of(
    schema: Schema,
    names: Sequence[str],
    rows: int,
    epsilon: Epsilon,
    spreads: Spreads,
    *,
    leaves: int = LEAVES,
) -> OrdinalScores | None:
    """Ordinal scores of as many attributes and points as the work allows; None if it allows none.

    As a tree, one of them has so many leaves at most.
    """
    labels, rates = label_of(schema).cells, len(rates_of(epsilon.fraction))
    blocks = _blocks(schema, names, spreads)
    for most, top in SIZES:
        if not 0 < _frames(len(blocks), most) * _frame_work(rows, most) <= ORDINAL_WORK:
            continue
        scores = OrdinalScores(blocks, most, top, min(leaves, LEAVES))
        if scores.kinds and _work(scores, rows, labels, rates) <= ORDINAL_WORK:
            return scores
    return None


def scorecards_of(
    schema: Schema, names: Sequence[str], rows: int, epsilon: float, spreads: Spreads
) -> Scorecards | None:
    """Scorecards of as many attributes as work and data allow, with rich patterns where so many may
    have them; None if no attribute has few enough values.
    """
    if not (blocks := _blocks(schema, names, spreads)):
        return None
    rich, plain = (_Extent.of(schema, blocks, rows, epsilon, rich=rich) for rich in (True, False))
    most, fewer = plain.most(WORTH), rich.most(RICH)
    return Scorecards(blocks, most, rich=fewer >= most)


def _blocks(schema: Schema, names: Sequence[str], spreads: Spreads) -> tuple[Block, ...]:
    """The columns that may give points, with few cells each."""
    blocks = (_block(schema[name], spreads) for name in names)
    return tuple(block for block in blocks if 1 < block.size <= MOST_CARD_CELLS)


def _block(column: Attribute, spreads: Spreads) -> Block:
    """Values, or runs of codes."""
    cells = column.cells if isinstance(column, Categorical) else min(CELLS, column.cells)
    cuts = spreads.cuts(column.name, cells)
    return Block((column.name,), (cells,), (cells,), (cuts,) if cuts else ())


def _frames(blocks: int, most: int) -> int:
    """How many choices of columns have the most of them, and a gate if there is one left."""
    return comb(blocks, most) * max(blocks - most, 1)


def _frame_work(rows: int, columns: int) -> int:
    """About the nanoseconds for one choice of columns, before any points."""
    return 50_000 + rows * (6 + 2 * columns)


def _work(scores: OrdinalScores, rows: int, labels: int, rates: int) -> float:
    """About the nanoseconds for all of them, or more than enough."""
    whole = 0.0
    for frame in (frame for frames in scores.kinds for frame in frames):
        choices = scores.choices(frame)
        gates, folded = scores.gates(frame), scores.blocks[frame.columns[-1]].size
        numbers = gates * scores.rungs(frame) * labels
        each = 60 + 0.15 * numbers * folded + rates * (30 + 40 * gates + 2.5 * numbers)
        whole += choices * each + _frame_work(rows, len(frame.columns))
        if whole > ORDINAL_WORK or choices > MOST_CHOICES:
            return inf
    return whole


@dataclass(frozen=True)
class _Extent:
    """How many attributes may give points: what is public about it."""

    rows: int
    support: float  # rows times epsilon
    lines: int
    pairs: int
    sizes: list[tuple[int, int]]  # patterns and cells of each attribute, fewest patterns first
    sums: list[int]  # most points of each, most first

    @classmethod
    def of(cls, schema: Schema, blocks: Sequence[Block], rows: int, epsilon: float, *, rich: bool) -> _Extent:
        every = [patterns_of(schema[b.columns[0]], b.size, rich=rich) for b in blocks]
        labels = label_of(schema).cells
        return cls(
            rows,
            max(rows * epsilon, FEWEST),
            1 if labels == 2 else labels,
            labels * (labels - 1) // 2,
            sorted((len(own), len(own[0])) for own in every),
            sorted(map(top_of, every), reverse=True),
        )

    def most(self, worth: float) -> int:
        """As many as are of use and the work allows, one at least."""
        columns, spent, sets = 1, 0.0, 0.0
        for size in range(1, len(self.sizes) + 1):
            work, scorecards, more = self._work(size)
            spent, sets = spent + work, sets + more
            fits = spent <= CARD_WORK_OF_ALL and sets <= MOST_SETS and sum(self.sums[:size]) <= MOST_SUM
            if not fits or log(scorecards) * worth > self.support:
                break
            if spent <= CARD_WORK or size == len(self.sizes):
                columns = size
        return columns

    def _work(self, size: int) -> tuple[float, float, float]:
        """About the nanoseconds for all scorecards of so many attributes, their number, and that of sets."""
        chosen = [
            (1.0, 1.0),
            *[(0.0, 0.0)] * size,
        ]  # patterns and sets of so many attributes so far
        work, span = 0.0, min(MOST * size, MOST_SUM)
        for patterns, cells in self.sizes:
            groups, sets = chosen[size - 1]
            each = 11 * self.lines * cells**2 + 3 * patterns * self.pairs * span * cells
            work += groups * each + sets * self.rows * (size + 2)
            for i in range(size, 0, -1):
                more, other = chosen[i - 1]
                chosen[i] = (chosen[i][0] + more * patterns, chosen[i][1] + other)
        return work, chosen[size][0] * span * self.pairs, chosen[size][1]
