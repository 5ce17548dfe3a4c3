"""How many pairs of attributes an additive model can afford, and which: a public rule."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, isqrt, log, sqrt
from statistics import median_low

from bocage.learners.base import label_of
from bocage.learners.cutting import Spreads
from bocage.private import Block
from bocage.private.design import MOST_CURVATURE
from bocage.schema import Categorical, Schema

PAIR_SHARES = (
    10,
    10,
    80,
)  # per cent: tables that show what is missing, the choice of pairs, all tables
SUPPORT = 150  # records times epsilon for each parameter, those of pairs included
MOST_PAIRS = 12
CELLS = 4  # of a numeric attribute in a pair
MOST_CANDIDATES = 1000
NOISE = {2: 0.03, 3: 0.01}  # of the rows that the noise of a choice may be worth, by labels
LEAST = 0.01  # of the rows that a pair must explain
_CURVATURE = 0.15  # mean of p (1-p), about


@dataclass(frozen=True)
class Pairing:
    """Candidates and how many of them may be chosen.

    Attributes
    ----------
    handicaps
        For each candidate the size of the sums that chance alone leaves in its cells.
    """

    pairs: tuple[Block, ...]
    handicaps: tuple[int, ...]
    least: int
    most: int

    @classmethod
    def of(
        cls, schema: Schema, blocks: list[Block], rows: int, epsilon: float, spreads: Spreads
    ) -> Pairing:
        """What is worth a try beside the tables of single attributes."""
        labels, none = label_of(schema).cells, cls((), (), 0, 0)
        columns = [schema[block.columns[0]] for block in blocks]
        if labels not in NOISE or comb(len(columns), 2) > MOST_CANDIDATES:
            return none
        cuts = [spreads.cuts(c.name, min(CELLS, c.cells)) for c in columns]
        sizes = [c.cells if isinstance(c, Categorical) else min(CELLS, c.cells) for c in columns]
        spare = rows * epsilon / SUPPORT / (labels - 1) - sum(block.size - 1 for block in blocks)
        room = isqrt(MOST_CURVATURE) // (labels - 1) - sum(sum(b.levels) for b in blocks) - 1
        pairs = []
        for i, j in combinations(range(len(columns)), 2):
            cells, size = (sizes[i], sizes[j]), sizes[i] * sizes[j]
            if 0 < _numbers(cells) <= spare / 4 and size <= room // MOST_PAIRS:
                names, own = (columns[i].name, columns[j].name), (cuts[i], cuts[j])
                pairs.append(Block(names, cells, (size,), own if any(own) else ()))
        if not pairs:
            return none
        choose = epsilon * PAIR_SHARES[1] / sum(PAIR_SHARES)
        noise = 2 * log(max(len(pairs), 2)) / choose  # of one place alone, in records
        middle = median_low(_numbers(block.cells) for block in pairs)
        fair = int(NOISE[labels] * rows / noise)
        most = min(MOST_PAIRS, len(pairs), int(spare / middle), fair)
        chance = [ceil(0.8 * sqrt(rows * _CURVATURE * b.size) * labels / 2) for b in pairs]
        return cls(tuple(pairs), tuple(chance), ceil(LEAST * rows + most * noise), most)


def _numbers(cells: tuple[int, ...]) -> int:
    """What a table of two attributes adds to those of one each."""
    return (cells[0] - 1) * (cells[1] - 1)
