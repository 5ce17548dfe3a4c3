"""A tree or a point system, whichever: one draw among all of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise, Walked
from bocage.plan import Question
from bocage.private.ground import Drawn
from bocage.private.points import DrawnPoints
from bocage.private.query import Fit, Place, Terms
from bocage.private.systems import Sheet
from bocage.private.trees import DrawnTrees

if TYPE_CHECKING:
    from bocage.mechanisms import Steps

Read = Callable[[], Iterator[NDArray[np.uint16]]]


@dataclass(frozen=True)
class TreeOrPoints(Fit["Drawn | Sheet"]):
    """What :class:`DrawnTrees` of one cell or :class:`DrawnPoints` would draw.

    Before any row is seen, both are equally likely.

    Privacy
    -------
    The scores of both are the rows predicted right: monotone, range 1, over the outcomes of both together. So
    one exponential mechanism with rate epsilon among them all costs epsilon, and the choice between the
    two costs nothing more.
    """

    trees: DrawnTrees
    points: DrawnPoints

    @property
    def epsilon(self) -> Epsilon:  # type: ignore[override] # it follows from the others
        return self.points.epsilon

    def words(self) -> str:
        return f"{self.trees.words()}, or {self.points.words()}"

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.trees.names, *self.points.names)))

    def check(self, terms: Terms, place: Place) -> None:
        if self.trees.cells.count != 1 or self.trees.epsilon != self.points.epsilon:
            raise PlanError("a tree or points are drawn for one cell, both for the same epsilon.")
        if self.trees.label != self.points.label:
            raise PlanError("a tree and points are drawn for the same label.")
        self.trees.check(terms, place)
        self.points.check(terms, place)
        self.question(place).check(terms.schema)

    def rehearse(self, noise: Noise) -> None:
        self.points.rehearse(noise)

    def run(self, read: Read, terms: Terms, noise: Noise) -> Drawn | Sheet:
        batches, fits = [*read()], (self.trees, self.points)
        proposals = [fit.proposal(self._reader(batches, fit.names), terms) for fit in fits]
        totals = np.array([total for _, _, total in proposals])

        def walk(steps: Steps) -> Walked[Drawn | Sheet]:
            found = proposals[steps.choose(totals)][0](steps)
            odds, out_of = found.odds
            return Walked(found.outcome, found.score, (odds, 2 * out_of))

        return noise.walk(walk, proposals[0][1], float(np.logaddexp.reduce(totals)) - log(2))

    def _reader(self, batches: list[NDArray[np.uint16]], names: tuple[str, ...]) -> Read:
        """The rows with the columns of one of the two."""
        lines = [self._names.index(name) for name in names]
        return lambda: (batch[lines] for batch in batches)
