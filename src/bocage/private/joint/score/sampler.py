"""A point system, columns, points, threshold and labels at once, from one draw among all of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import PlanError
from bocage.private.joint.sampler import DrawnOnce
from bocage.private.joint.score.family import MOST_SUM, Family, Sheet, Systems
from bocage.private.joint.score.patterns import top_of
from bocage.private.preconditions import PRIOR
from bocage.private.query import Place, Terms
from bocage.private.terms import Block
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.private.joint.score.space import Visited

MOST_SETS = 2**18
MOST_CELLS = 32  # of a column


@dataclass(frozen=True)
class DrawnPoints(DrawnOnce[Sheet]):
    """One of all point systems.

    The score of a system is the number of rows that it predicts right. Before any row is seen, all numbers of
    columns up to the most are equally likely, and all systems of so many columns. A system of no column
    predicts one label. One of some columns has one of their patterns each, see
    :func:`~bocage.private.joint.score.patterns.patterns_of`, a threshold from 1 to the most points that one
    can have, and two labels in the order of the schema (patterns with points exchanged are there too).

    Privacy
    -------
    One more record raises the score of every system by 0 or 1, whatever the others are: monotone,
    range 1. So the exponential mechanism with rate epsilon is epsilon-DP without a factor 2, for columns,
    points, threshold and labels together. The set of systems and the prior depend on schema and parameters
    alone. The draw is exact: see :mod:`bocage.mechanisms.selection.by_rejection`. Systems are counted in integers; sums of
    their weights are rounded by less than 2**-50 (rate * rows + systems) altogether, which is added to the total
    that a walk claims, and floats only propose. At a large epsilon the rate is drawn with the system, see
    :func:`~bocage.private.joint.temperature.tempered`. What is next to impossible is made likelier to be proposed, never less likely.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    systems: Systems

    def words(self) -> str:
        return f"points of up to {self.systems.most} columns for {self.label}"

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.systems.blocks

    def check(self, terms: Terms, place: Place) -> None:
        super().check(terms, place)
        most = self.systems.most
        if any(block.size > MOST_CELLS for block in self.blocks):
            raise PlanError(f"a column that gives points has {MOST_CELLS} cells at most.")
        tops = [top_of(own) for own in self.family(terms.schema).patterns if own]
        if not 1 <= most <= len(tops):
            raise PlanError(f"1 to {len(tops)} columns give points, not {most}.")
        if sum(sorted(tops)[-most:]) > MOST_SUM:
            raise PlanError(f"the points of a system add up to {MOST_SUM} at most.")
        if sum(comb(len(tops), size) for size in range(most + 1)) > MOST_SETS:
            raise PlanError(f"one of {MOST_SETS} sets of columns gives points at most.")
        self.check_off(terms)

    def off(self, most: Fraction | int, schema: Schema) -> float:
        patterns = sorted((len(own) for own in self.family(schema).patterns if own), reverse=True)
        labels = schema[self.label].cells
        systems = prod(patterns[: self.systems.most]) * MOST_SUM * labels**2
        return float(most + systems + PRIOR) * 2.0**-50

    def family(self, schema: Schema) -> Family:
        return Family.of(self.systems, schema, self.label)

    def weigh(
        self,
        cells: NDArray[np.uint8],
        labels: NDArray[Any],
        schema: Schema,
        rates: tuple[float, ...],
    ) -> Visited:
        from bocage.private.joint.score.space import Visited  # noqa: PLC0415 - a compiler

        return Visited(self.family(schema), cells, labels, rates)
