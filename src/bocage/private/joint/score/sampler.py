"""A score, its columns, points and labels at once, from one draw among all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Question
from bocage.private import capabilities
from bocage.private.joint.score.family import S, Scores
from bocage.private.joint.temperature import rates_of, tempered
from bocage.private.preconditions import (
    MOST_CELLS,
    PRIOR,
    check_labels,
    check_off,
    check_whole,
    rows_at_most,
)
from bocage.private.query import EXPONENTIAL, Fit, Place, Terms
from bocage.private.terms import Block
from bocage.private.transcript import Used
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.mechanisms import Proposal


@dataclass(frozen=True)
class DrawnScores(Fit[S]):
    """One of all scores of one kind, by how many rows of the table it predicts right.

    Before any row is seen, all numbers of columns up to the most are equally likely: those of an
    ordinal score with a gate and without, and of a scorecard none as well, which predicts one
    label. Then all choices of columns, gate and points are, with all thresholds and pairs of
    labels, or with a chain of labels along the rungs; see
    :class:`~bocage.private.joint.score.family.Family`.

    Privacy
    -------
    One more record raises the number of rows that a score predicts right by 0 or 1, whatever the
    others are: monotone, range 1. So the exponential mechanism with rate epsilon is epsilon-DP
    without a factor 2, for columns, gate, points, thresholds and labels together. The set of scores
    and the prior depend on schema and parameters alone. The draw is exact: see
    :mod:`bocage.mechanisms.selection.rejection_sampling`. Rows and scorecards are counted in integers.
    The weight of a frame is a sum over all scorecards, that of points a sum of rungs. Such sums are
    rounded by less than 2**-50 (rate * rows + summands) altogether, where summands are scorecards,
    or rungs * labels. So much is added to the total that a proposal claims, and floats only propose.
    What is next to impossible is made likelier to be proposed, never less likely. At a large
    epsilon the rate is drawn with the score, see
    :func:`~bocage.private.joint.temperature.tempered`.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    label: str
    epsilon: Epsilon
    scores: Scores[S]

    def words(self) -> str:
        return self.scores.words(self.label)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.scores.blocks

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in the order in which they are read."""
        return (*(block.columns[0] for block in self.blocks), self.label)

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(EXPONENTIAL, (self.epsilon.fraction,), bounded=True)]

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=self.names)

    def check(self, terms: Terms, place: Place) -> None:
        check_whole(place, self.words())
        check_labels(terms.schema[self.label].cells, self.words())
        for block in self.blocks:
            block.check(terms.schema)
            if block.size > MOST_CELLS:
                raise PlanError(f"{self.words()}: a column has {MOST_CELLS} cells at most.")
        single = all(len(block.columns) == 1 for block in self.blocks)
        if not single or len({*self.names}) <= len(self.blocks):
            raise PlanError(f"{self.words()}: single columns other than the label, each once.")
        self.question(place).check(terms.schema)
        self.scores.check(terms.schema)
        largest = max(rates_of(terms.rate(1, self.epsilon)))
        check_off(self.off(largest * rows_at_most(terms.schema), terms.schema), self.words())

    def off(self, most: Fraction | int, schema: Schema) -> float:
        """How far sums over all scores are off at most, if rate * rows is this."""
        summands = self.scores.summands(schema, schema[self.label].cells)
        return float(most + summands + PRIOR) * 2.0**-50

    def rehearse(self, noise: Noise) -> None:
        capabilities.draws_by_rejection(noise)

    def run(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise) -> S:
        return noise.draw_by_rejection(*self.proposal(read, terms))

    def proposal(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> tuple[Proposal[S], Fraction, float]:
        """A proposal, its rate, and about the logarithm of the sum over all scores."""
        from bocage.private.joint.score.space import Space  # noqa: PLC0415 - a compiler
        from bocage.private.term_rows import cells_of  # noqa: PLC0415 - a compiler

        rate, schema = terms.rate(1, self.epsilon), terms.schema
        cells, labels = cells_of(read, self.blocks, schema)
        rates = rates_of(rate)
        space = Space(self.scores.family(schema, self.label), cells, labels, tuple(map(float, rates)))

        def propose(rate: Fraction) -> tuple[Proposal[S], Fraction, float]:
            at = rates.index(rate)
            total = float(np.logaddexp.reduce(space.weights[at]))
            # It proposes such scores as the family has.
            proposal = cast("Proposal[S]", partial(space.propose, at))
            return proposal, rate, total + self.off(rate * len(labels), schema)

        return tempered(propose, len(labels), schema[self.label].cells, rate)
