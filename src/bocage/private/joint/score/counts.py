"""Rows by the points that a released scorecard gives them, and by label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Question
from bocage.private.count import MOST_COUNTS
from bocage.private.joint.score.family import DrawnScorecard
from bocage.private.preconditions import check_whole
from bocage.private.query import LAPLACE, Fit, IntArray, Place, Terms
from bocage.private.transcript import Used


@dataclass(frozen=True)
class ScoredCounts(Fit[IntArray]):
    """Noisy counts of shape (sums, labels), from no point to all points that a scorecard can give.

    Privacy
    -------
    The scorecard is released, so that a record has one sum and one label: it is in one of the
    counts, whatever the others are. Sensitivity 1, discrete Laplace.
    """

    card: DrawnScorecard
    label: str
    epsilon: Epsilon

    def words(self) -> str:
        return f"rows by points and {self.label}"

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(LAPLACE, (self.epsilon.fraction,))]

    def question(self, place: Place) -> Question:
        names = (block.columns[0] for block, _ in self.card.points)
        return Question(place.cells, place.where, columns=(*names, self.label))

    def check(self, terms: Terms, place: Place) -> None:
        check_whole(place, self.words())
        terms.scale(1, self.epsilon)
        for block, points in self.card.points:
            block.check(terms.schema)
            if len(block.columns) > 1 or len(points) != block.size or min(points) < 0:
                raise PlanError("a scorecard has points for each cell of single columns.")
        self.question(place).check(terms.schema)
        if prod(self._shape(terms)) > MOST_COUNTS:
            raise PlanError(f"at most {MOST_COUNTS} counts can be asked for at once.")

    def _shape(self, terms: Terms) -> tuple[int, int]:
        """Sums from no point on, by labels."""
        sums = 1 + sum(max(own) for _, own in self.card.points)
        return sums, terms.schema[self.label].cells

    def rehearse(self, noise: Noise) -> None:
        """Every provider has this noise."""

    def run(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise) -> IntArray:
        schema, points = terms.schema, self.card.points
        given = [np.array(own)[block.lookup(schema)[0]] for block, own in points]
        shape = self._shape(terms)
        counts = np.zeros(shape, np.int64)
        for batch in read():
            sums = np.zeros(batch.shape[1], np.int64)
            for own, codes in zip(given, batch[:-1], strict=True):
                sums += own[codes]
            np.add.at(counts, (sums, batch[-1]), 1)
        noisy = noise.laplace(terms.scale(1, self.epsilon), counts.size)
        return counts + noisy.reshape(shape)
