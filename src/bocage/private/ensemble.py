"""The counts of many public partitions of the same rows, in one scan and one release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bocage.epsilon import Epsilon
from bocage.mechanisms import Noise
from bocage.plan import Cells, Question, Tally
from bocage.private.answer import Answer
from bocage.private.query import IntArray, Place, Query, Terms, laplace_answer


@dataclass(frozen=True)
class Ensemble(Query):
    """The label counts of every cell of several routers: the leaf vectors of several trees.

    Without a label, the rows of each cell are counted.

    Privacy
    -------
    A record is in one cell of each router at most, so that adding or removing it changes as many
    counts by one as there are routers: that is the sensitivity of all counts together.
    """

    routers: tuple[Cells, ...]
    label: str | None
    epsilon: Epsilon

    def words(self) -> str:
        return f"leaf counts of {len(self.routers)} trees"

    def describe(self) -> dict[str, Any]:
        routers = [
            [[type(node).__name__, *vars(node).values()] for node in router.nodes]
            for router in self.routers
        ]
        facts = {"label": self.label, "epsilon": str(self.epsilon)}
        return {"ask": "ensemble", "routers": routers, **facts}

    def question(self, place: Place) -> Question:
        return self.questions(place)[0]

    def questions(self, place: Place) -> list[Question]:
        return [Question(router, place.where, self.label) for router in self.routers]

    def gather(self, tallies: list[Tally]) -> Tally:
        return Tally(np.concatenate([tally.totals for tally in tallies]), {}, {})

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> list[IntArray]:
        """For each router noisy counts of shape (cells, labels)."""
        scale = terms.scale(len(self.routers), self.epsilon)
        noisy = tally.totals + noise.laplace(scale, tally.totals.size).reshape(tally.totals.shape)
        starts = np.cumsum([router.count for router in self.routers])[:-1]
        return np.split(noisy, starts)

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        scale = terms.scale(len(self.routers), self.epsilon)
        return laplace_answer(self, terms, place.keys, scale=scale)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        scale = terms.scale(len(self.routers), self.epsilon)
        noisy = [n for counts in self.draw(tally, terms, noise) for n in counts.ravel().tolist()]
        keys = [str(i) for i in range(len(noisy))]
        return laplace_answer(self, terms, keys, scale=scale, noisy=noisy)
