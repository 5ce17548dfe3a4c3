"""By which tables of one and two attributes an additive model is mended, and how often: a public rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from bocage.learners.base import label_of
from bocage.learners.cutting import Spreads
from bocage.model import Term
from bocage.private import Block, IntArray
from bocage.private.mending import MOST_LABELS
from bocage.schema import Attribute, Categorical, Schema

MOST_SHARE = 0.6  # of epsilon for all tables that mend
FIRST = 1000  # records times epsilon for the first of them
GROWTH = 1.5  # how much more each has than the one before: what is plain needs little
FED = 150  # records times epsilon for each parameter of the model, without which none is drawn
MOST_ROUNDS = 12
CELLS, MOST_CELLS = 4, 128  # of a numeric attribute; of a table
MOST_PAIRS = 1000
WORK = 2**30  # times that a row is counted
EXACT = 2**26  # records times epsilon that the draws bear, with room for a noisy number of rows


@dataclass(frozen=True)
class Pairing:
    """Which tables may be drawn, and what is paid for each.

    Attributes
    ----------
    shares
        How epsilon is shared: by the tables that are drawn, one after another, and the model that they
        mend. Empty if none is drawn.
    """

    blocks: tuple[Block, ...] = ()
    shares: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, schema: Schema, blocks: list[Block], rows: int, epsilon: float, spreads: Spreads
    ) -> Pairing:
        """What is worth a try on top of the tables of single attributes."""
        labels, support = label_of(schema).cells, rows * epsilon
        numbers = sum(block.size - 1 for block in blocks) * (labels - 1)
        small = labels <= MOST_LABELS and comb(len(blocks), 2) <= MOST_PAIRS
        if not small or not FED * numbers <= support <= EXACT:
            return cls()
        single = [_single(schema[block.columns[0]], spreads) for block in blocks]
        pairs = [_pair(one, other) for one, other in combinations(single, 2)]
        fit = tuple(block for block in (*single, *pairs) if 1 < block.size <= MOST_CELLS)
        if not fit:
            return cls()
        most = min(MOST_ROUNDS, WORK // (rows * len(fit)))
        rounds = [round(FIRST * GROWTH**i) for i in range(most)]
        while sum(rounds) > MOST_SHARE * support:
            rounds.pop()
        return cls(fit, (*rounds, int(support) - sum(rounds))) if rounds else cls()

    def terms(self, drawn: Sequence[tuple[int, IntArray]]) -> list[Term]:
        """What was drawn, those of the same attributes added up."""
        found: dict[int, IntArray] = {}
        for place, scores in drawn:
            found[place] = found[place] + scores if place in found else scores
        blocks = [(self.blocks[place], scores) for place, scores in sorted(found.items())]
        return [Term(b.columns, b.cells, scores, b.cuts) for b, scores in blocks if scores.any()]


def _single(column: Attribute, spreads: Spreads) -> Block:
    cells = column.cells if isinstance(column, Categorical) else min(CELLS, column.cells)
    cuts = spreads.cuts(column.name, cells)
    return Block((column.name,), (cells,), (cells,), (cuts,) if cuts else ())


def _pair(one: Block, other: Block) -> Block:
    cells = one.cells + other.cells
    cuts = (one.cuts or ((),)) + (other.cuts or ((),))
    return Block(
        one.columns + other.columns, cells, (one.size * other.size,), cuts if any(cuts) else ()
    )
