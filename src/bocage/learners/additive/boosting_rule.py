"""By which tables an additive model is corrected, and how often: a public rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from bocage.learners.base import label_of
from bocage.learners.discretization import Spreads
from bocage.model import Term
from bocage.private import Block, IntArray
from bocage.private.objective.boosting import MOST_LABELS
from bocage.private.objective.interactions import Interactions
from bocage.schema import Attribute, Categorical, Schema

MOST_SHARE = 0.6  # of epsilon for all corrections
FIRST = 1000  # records times epsilon for the first of them, for each label but one
GROWTH = 1.5  # how much more each has than the one before: what is plain needs little
FED = 150  # records times epsilon for each parameter of the model, without which none is drawn
MOST_ROUNDS = 12
SURE = 0.5  # epsilon of one of them at most: with more, it learns labels by heart that are chance
CELLS, MOST_CELLS = 4, 256  # of a numeric attribute; of a table
MOST_CHOICES = 2**14  # of columns that a table is drawn from
# Times that a row is counted, if so many columns are chosen freely: for all tables, or for as many as that allows.
WORKS = {3: 2**33, 2: 2**30}
EXACT = 2**38  # half of what the sums of a draw bear: the number of rows is noisy


@dataclass(frozen=True)
class BoostingRule:
    """Which tables may be drawn, and what is paid for each.

    Attributes
    ----------
    blocks
        The attributes that tables may have.
    columns
        How many of them are chosen freely; a table may have those of one before it and one more.
    shares
        How epsilon is shared: by the tables that are drawn, one after another, and the model that they
        correct. Empty if none is drawn.
    """

    blocks: tuple[Block, ...] = ()
    columns: int = 0
    shares: tuple[int, ...] = ()

    @classmethod
    def of(cls, schema: Schema, blocks: list[Block], rows: int, epsilon: float, spreads: Spreads) -> BoostingRule:
        """What is worth a try on top of the tables of single attributes."""
        labels, support = label_of(schema).cells, rows * epsilon
        numbers = sum(block.size - 1 for block in blocks) * (labels - 1)
        single = [_single(schema[block.columns[0]], spreads) for block in blocks]
        fit = tuple(block for block in single if 1 < block.size <= MOST_CELLS)
        if labels > MOST_LABELS or support < FED * numbers or not fit:
            return cls()
        wanted = _wanted(FIRST * (labels - 1), support, max(int(SURE * rows), 1))
        for columns, work in WORKS.items():
            most = min(columns, len(fit))
            if sum(comb(len(fit), count) for count in range(1, most + 1)) > MOST_CHOICES:
                continue
            sizes = tuple(block.size for block in fit)
            choices = len(Interactions(sizes, most, MOST_CELLS).choices)
            shares = wanted[: work // (rows * choices)]
            grown = choices + len(shares) * len(fit)  # with those that may come from tables before
            exact = (MOST_CELLS + grown + 32) * support <= EXACT
            if shares and exact and (most < 3 or shares == wanted):
                return cls(fit, most, (*shares, int(support) - sum(shares)))
        return cls()

    def terms(self, drawn: Sequence[tuple[tuple[int, ...], IntArray]]) -> list[Term]:
        """What was drawn, tables of the same attributes added up."""
        tables: dict[tuple[int, ...], IntArray] = {}
        for places, scores in drawn:
            tables[places] = tables[places] + scores if places in tables else scores
        return [self._term(*table) for table in sorted(tables.items()) if table[1].any()]

    def _term(self, places: tuple[int, ...], scores: IntArray) -> Term:
        blocks = [self.blocks[i] for i in places]
        cuts = tuple(block.cuts[0] if block.cuts else () for block in blocks)
        columns = tuple(block.columns[0] for block in blocks)
        cells = tuple(block.size for block in blocks)
        return Term(columns, cells, scores, cuts if any(cuts) else ())


def _wanted(first: int, support: float, most: int) -> list[int]:
    """The records times epsilon of the tables, as many as the budget is enough for; `most` at most."""
    shares = [round(first * GROWTH**i) for i in range(MOST_ROUNDS)]
    while sum(shares) > MOST_SHARE * support:
        shares.pop()
    return [min(share, most) for share in shares]


def _single(column: Attribute, spreads: Spreads) -> Block:
    cells = column.cells if isinstance(column, Categorical) else min(CELLS, column.cells)
    cuts = spreads.cuts(column.name, cells)
    return Block((column.name,), (cells,), (cells,), (cuts,) if cuts else ())
