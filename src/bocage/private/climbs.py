"""A ladder, columns, points and the labels of all rungs at once, from one draw among all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Question
from bocage.private import needs
from bocage.private.ladders import Ladder, Ladders
from bocage.private.query import Fit, Place, Terms
from bocage.private.tempered import rates_of, tempered

if TYPE_CHECKING:
    from bocage.mechanisms import Walk

MOST_FRAMES, MOST_SYSTEMS, MOST_LEAVES = 2**15, 2**20, 2**13


@dataclass(frozen=True)
class DrawnLadders(Fit[Ladder]):
    """One of all ladders.

    The score of a ladder is the number of rows that it predicts right. Before any row is seen, all numbers of
    columns up to the most, with a gate and without, are equally likely, and then all choices of columns, gate and
    points (see :func:`~bocage.private.ladders.climbs`: points never fall along the declared order of the
    values, or never rise). In each cell of the gate the lowest rung has any label, and every further one that of
    the rung below with probability 3/4, or any other.

    Privacy
    -------
    One more record raises the score of every ladder by 0 or 1, whatever the others are: monotone, range 1. So
    the exponential mechanism with rate epsilon is epsilon-DP without a factor 2, for columns, gate, points and labels
    together. The set of ladders and the prior depend on schema and parameters alone. The draw is exact: see
    :mod:`bocage.mechanisms.walk`. Rows are counted in integers; the weight of points is a sum of rungs, rounded by
    less than 2**-50 (rate * rows + rungs * labels), and floats only propose. At a large epsilon the rate is drawn with
    the ladder, see :func:`~bocage.private.tempered.tempered`.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    ladders: Ladders
    label: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"a ladder of up to {self.ladders.most} columns for {self.label}"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in the order in which they are read."""
        return (*(block.columns[0] for block in self.ladders.blocks), self.label)

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=self.names)

    def check(self, terms: Terms, place: Place) -> None:
        if place.cells.nodes:  # all rows are read
            raise PlanError("a ladder is drawn for a whole table, before it is split.")
        schema, own = terms.schema, self.ladders
        for block in own.blocks:
            block.check(schema)
        if any(len(b.columns) > 1 for b in own.blocks) or len({*self.names}) <= len(own.blocks):
            raise PlanError("single columns other than the label make a ladder, each once.")
        if schema[self.label].cells < 2:
            raise PlanError("a ladder tells two labels apart, or more.")
        if own.most < 1 or own.top < 1 or own.leaves > MOST_LEAVES:
            raise PlanError(
                f"a ladder has a column and a point at least, and {MOST_LEAVES} cells at most."
            )
        frames = [frame for kind in own.kinds for frame in kind]
        if not 1 <= len(frames) <= MOST_FRAMES or max(map(own.systems, frames)) > MOST_SYSTEMS:
            raise PlanError(
                f"ladders are of 1 to {MOST_FRAMES} choices of columns, each with {MOST_SYSTEMS} "
                "choices of points at most."
            )
        self.question(place).check(schema)

    def rehearse(self, noise: Noise) -> None:
        needs.walks(noise)

    def run(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise
    ) -> Ladder:
        return noise.walk(*self.proposal(read, terms))

    def proposal(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> tuple[Walk[Ladder], Fraction, float]:
        """A walk, its rate, and about the logarithm of the sum over all ladders."""
        from bocage.private.cells import cells_of  # noqa: PLC0415 - a compiler
        from bocage.private.climbing import Climbed  # noqa: PLC0415 - likewise

        rate, classes = terms.rate(1, self.epsilon), terms.schema[self.label].cells
        cells, labels = cells_of(read, self.ladders.blocks, terms.schema)
        rates = rates_of(rate)
        table = Climbed(self.ladders, cells, labels, classes, tuple(map(float, rates)))

        def propose(one: Fraction) -> tuple[Walk[Ladder], Fraction, float]:
            at = rates.index(one)
            return partial(table.walk, at), one, float(np.logaddexp.reduce(table.weights[at]))

        return tempered(propose, len(labels), classes, rate)
