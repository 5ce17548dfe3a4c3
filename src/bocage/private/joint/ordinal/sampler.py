"""A ladder, columns, points and the labels of all rungs at once, from one draw among all of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import PlanError
from bocage.private.joint.ordinal.family import Ladder, Ladders
from bocage.private.joint.sampler import DrawnOnce
from bocage.private.preconditions import PRIOR
from bocage.private.query import Place, Terms
from bocage.private.terms import Block
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.private.joint.ordinal.space import Climbed

MOST_FRAMES, MOST_SYSTEMS, MOST_LEAVES = 2**16, 2**20, 2**13
MOST_SETS = 2**20  # of columns, before those with too many cells are left out


@dataclass(frozen=True)
class DrawnLadders(DrawnOnce[Ladder]):
    """One of all ladders.

    The score of a ladder is the number of rows that it predicts right. Before any row is seen, all numbers of
    columns up to the most, with a gate and without, are equally likely, and then all choices of columns, gate and
    points (see :func:`~bocage.private.joint.ordinal.family.climbs`: points never fall along the declared order of the
    values, or never rise). In each cell of the gate the lowest rung has any label, and every further one that of
    the rung below with probability 3/4, or any other.

    Privacy
    -------
    One more record raises the score of every ladder by 0 or 1, whatever the others are: monotone, range 1. So
    the exponential mechanism with rate epsilon is epsilon-DP without a factor 2, for columns, gate, points and labels
    together. The set of ladders and the prior depend on schema and parameters alone. The draw is exact: see
    :mod:`bocage.mechanisms.selection.by_rejection`. Rows are counted in integers; the weight of points is a sum of rungs, rounded by
    less than 2**-50 (rate * rows + rungs * labels), which is added to the total that a walk claims, and floats only propose. At a large epsilon the rate is drawn with
    the ladder, see :func:`~bocage.private.joint.temperature.tempered`.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    ladders: Ladders

    def words(self) -> str:
        return f"a ladder of up to {self.ladders.most} columns for {self.label}"

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.ladders.blocks

    def check(self, terms: Terms, place: Place) -> None:
        super().check(terms, place)
        own = self.ladders
        if own.most < 1 or own.top < 1 or own.leaves > MOST_LEAVES:
            raise PlanError(
                f"a ladder has a column and a point at least, and {MOST_LEAVES} cells at most."
            )
        able = sum(block.size > 1 for block in own.blocks)
        sets = sum(comb(able, size) for size in range(1, min(own.most, able) + 1))
        frames = [frame for kind in own.kinds for frame in kind] if sets * able <= MOST_SETS else []
        if not 1 <= len(frames) <= MOST_FRAMES or max(map(own.systems, frames)) > MOST_SYSTEMS:
            raise PlanError(
                f"ladders are of 1 to {MOST_FRAMES} choices of columns, each with {MOST_SYSTEMS} "
                "choices of points at most."
            )
        self.check_off(terms)

    def off(self, most: Fraction | int, schema: Schema) -> float:
        rungs = 1 + self.ladders.top * self.ladders.most
        return float(most + rungs * schema[self.label].cells + PRIOR) * 2.0**-50

    def weigh(
        self,
        cells: NDArray[np.uint8],
        labels: NDArray[Any],
        schema: Schema,
        rates: tuple[float, ...],
    ) -> Climbed:
        from bocage.private.joint.ordinal.space import Climbed  # noqa: PLC0415 - a compiler

        return Climbed(self.ladders, cells, labels, schema[self.label].cells, rates)
