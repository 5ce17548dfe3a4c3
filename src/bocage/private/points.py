"""A point system, columns, points, threshold and labels at once, from one draw among all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Question
from bocage.private import needs
from bocage.private.patterns import top_of
from bocage.private.query import Fit, Place, Terms
from bocage.private.systems import MOST_SUM, Family, Sheet, Systems
from bocage.private.tempered import rates_of, tempered
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.mechanisms import Walk

MOST_SETS = 2**18
MOST_CELLS = 32  # of a column


@dataclass(frozen=True)
class DrawnPoints(Fit[Sheet]):
    """One of all point systems.

    The score of a system is the number of rows that it predicts right. Before any row is seen, all numbers of
    columns up to the most are equally likely, and all systems of so many columns. A system of no column
    predicts one label. One of some columns has one of their patterns each, see
    :func:`~bocage.private.patterns.patterns_of`, a threshold from 1 to the most points that one
    can have, and two labels in the order of the schema (patterns with points exchanged are there too).

    Privacy
    -------
    One more record raises the score of every system by 0 or 1, whatever the others are: monotone,
    range 1. So the exponential mechanism with rate epsilon is epsilon-DP without a factor 2, for columns,
    points, threshold and labels together. The set of systems and the prior depend on schema and parameters
    alone. The draw is exact: see :mod:`bocage.mechanisms.walk`. Systems are counted in integers; sums of
    their weights are rounded by less than 2**-50 (rate * rows + systems) altogether, and floats only
    propose. At a large epsilon the rate is drawn with the system, see
    :func:`~bocage.private.tempered.tempered`. What is next to impossible is made likelier to be proposed, never less likely.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    systems: Systems
    label: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"points of up to {self.systems.most} columns for {self.label}"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in the order in which they are read."""
        return (*(block.columns[0] for block in self.systems.blocks), self.label)

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=self.names)

    def check(self, terms: Terms, place: Place) -> None:
        if place.cells.nodes:  # all rows are read
            raise PlanError("points are given to a whole table, before it is split.")
        schema, blocks, most = terms.schema, self.systems.blocks, self.systems.most
        for block in blocks:
            block.check(schema)
        if any(len(block.columns) > 1 for block in blocks) or len({*self.names}) <= len(blocks):
            raise PlanError("single columns other than the label give points, each once.")
        if any(block.size > MOST_CELLS for block in blocks):
            raise PlanError(f"a column that gives points has {MOST_CELLS} cells at most.")
        tops = [top_of(own) for own in self.family(schema).patterns if own]
        if not 1 <= most <= len(tops):
            raise PlanError(f"1 to {len(tops)} columns give points, not {most}.")
        if sum(sorted(tops)[-most:]) > MOST_SUM:
            raise PlanError(f"the points of a system add up to {MOST_SUM} at most.")
        if sum(comb(len(tops), size) for size in range(most + 1)) > MOST_SETS:
            raise PlanError(f"one of {MOST_SETS} sets of columns gives points at most.")
        self.question(place).check(schema)

    def family(self, schema: Schema) -> Family:
        return Family.of(self.systems, schema, self.label)

    def rehearse(self, noise: Noise) -> None:
        needs.walks(noise)

    def run(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise
    ) -> Sheet:
        return noise.walk(*self.proposal(read, terms))

    def proposal(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> tuple[Walk[Sheet], Fraction, float]:
        """A walk, its rate, and about the logarithm of the sum over all systems."""
        from bocage.private.cells import cells_of  # noqa: PLC0415 - a compiler
        from bocage.private.visiting import Visited  # noqa: PLC0415 - likewise

        schema, rate = terms.schema, terms.rate(1, self.epsilon)
        family = self.family(schema)
        cells, labels = cells_of(read, self.systems.blocks, schema)
        rates = rates_of(rate)
        table = Visited(family, cells, labels, tuple(map(float, rates)))

        def propose(one: Fraction) -> tuple[Walk[Sheet], Fraction, float]:
            at = rates.index(one)
            return partial(table.walk, at), one, float(np.logaddexp.reduce(table.weights[at]))

        return tempered(propose, len(labels), family.labels, rate)
