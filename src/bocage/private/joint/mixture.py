"""A tree or a score, whichever: one draw among all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise, Proposed
from bocage.plan import Question
from bocage.private.joint.score.family import Score
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.joint.tree.sampler import DrawnTrees
from bocage.private.joint.tree.space import Drawn
from bocage.private.preconditions import check_whole
from bocage.private.query import Fit, Place, Terms
from bocage.private.transcript import Used

if TYPE_CHECKING:
    from bocage.mechanisms import Choices, Proposal

Read = Callable[[], Iterator[NDArray[np.uint16]]]
Outcome = Drawn | Score
MOST_FAVOR = 512


@dataclass(frozen=True)
class OneOf(Fit[Outcome]):
    """What :class:`DrawnTrees` of one cell, or one of some :class:`DrawnScores` would draw.

    Before any row is seen, a tree is 2**favor times as likely as each of the others.

    Privacy
    -------
    The scores of all are the rows predicted right: monotone, range 1, over the outcomes of all
    together. So one exponential mechanism with rate epsilon among them all costs epsilon, and the
    choice between the kinds costs nothing more. How likely each kind is beforehand is public.
    """

    trees: DrawnTrees
    others: tuple[DrawnScores[Any], ...]
    favor: int = 0

    @property
    def epsilon(self) -> Epsilon:  # type: ignore[override] # it follows from the others
        return self.trees.epsilon

    @property
    def fits(self) -> tuple[DrawnTrees | DrawnScores[Any], ...]:
        return (self.trees, *self.others)

    def words(self) -> str:
        return ", or ".join(fit.words() for fit in self.fits)

    def uses(self, terms: Terms) -> Sequence[Used]:
        return self.trees.uses(terms)

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for fit in self.fits for name in fit.names))

    def check(self, terms: Terms, place: Place) -> None:
        if self.trees.cells.count != 1 or {fit.epsilon for fit in self.fits} != {self.epsilon}:
            raise PlanError("one of several is drawn for one cell, all for the same epsilon.")
        if len({fit.label for fit in self.fits}) > 1:
            raise PlanError("one of several is drawn for the same label.")
        if not 0 <= self.favor <= MOST_FAVOR:
            raise PlanError(f"trees are favored by 0 to {MOST_FAVOR}, not {self.favor}.")
        check_whole(place, "one of several")
        for fit in self.fits:
            fit.check(terms, place)
        self.question(place).check(terms.schema)

    def rehearse(self, noise: Noise) -> None:
        self.trees.rehearse(noise)

    def run(self, read: Read, terms: Terms, noise: Noise) -> Outcome:
        proposals = self.proposals(read, terms)
        shares = [2**self.favor] + [1] * len(self.others)
        totals = np.array([total + log(share) for (*_, total), share in zip(proposals, shares, strict=True)])

        def proposal(choices: Choices) -> Proposed[Outcome]:
            place = choices.choose(totals)
            proposed = proposals[place][0](choices)
            odds, out_of = proposed.odds
            return Proposed(proposed.outcome, proposed.score, (shares[place] * odds, sum(shares) * out_of))

        total = float(np.logaddexp.reduce(totals)) - log(sum(shares))
        return noise.draw_by_rejection(proposal, proposals[0][1], total)

    def proposals(self, read: Read, terms: Terms) -> list[tuple[Proposal[Any], Fraction, float]]:
        """A proposal, its rate and about the logarithm of the sum, for each kind."""
        batches = [*read()]

        def reader(names: tuple[str, ...]) -> Read:
            lines = [self._names.index(name) for name in names]
            return lambda: (batch[lines] for batch in batches)

        return [fit.proposal(reader(fit.names), terms) for fit in self.fits]
