"""The counts of many public partitions of the same rows, in one scan and one release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Cells, Question, Tally
from bocage.private.answer import Answer
from bocage.private.query import LAPLACE, IntArray, Place, StorableQuery, Terms, laplace_answer
from bocage.private.transcript import Used
from bocage.schema import Schema


@dataclass(frozen=True)
class Ensemble(StorableQuery[list[IntArray]]):
    """The label counts of every cell of several routers: the leaf vectors of several trees.

    Without a label, the rows of each cell are counted.

    Privacy
    -------
    A record is in one cell of each router at most, so that adding or removing it changes as many
    counts by one as there are routers at most: that is the sensitivity of all counts together, also
    where routers leave rows outside, because no count is derived from another.
    """

    routers: tuple[Cells, ...]
    label: str | None
    epsilon: Epsilon

    def words(self) -> str:
        many = len(self.routers)
        return f"{self.label or 'row'} counts of {many} partition{'s' if many > 1 else ''}"

    def describe(self) -> dict[str, Any]:
        routers = [router.to_json() for router in self.routers]
        facts = {"label": self.label, "epsilon": str(self.epsilon)}
        return {"ask": "ensemble", "routers": routers, **facts}

    def question(self, place: Place) -> Question:
        return self.questions(place)[0]

    def check(self, terms: Terms, place: Place) -> None:
        if place.cells.nodes:  # the routers count all rows, whoever pays for a part of them
            raise PlanError(f"{self.words()}: of a whole table, before it is split.")
        if not self.routers:
            raise PlanError("an ensemble counts the cells of a router at least.")
        super().check(terms, place)

    def at_once(self, schema: Schema, place: Place) -> int:
        return place.cells.count

    def questions(self, place: Place) -> list[Question]:
        return [Question(router, place.where, self.label) for router in self.routers]

    def gather(self, tallies: list[Tally]) -> Tally:
        return Tally(np.concatenate([tally.totals for tally in tallies]), {}, {})

    def uses(self, terms: Terms) -> Sequence[Used]:
        trees = len(self.routers)
        return [Used(LAPLACE, (self.epsilon.fraction / trees,) * trees)]

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> list[IntArray]:
        """For each router noisy counts of shape (cells, labels)."""
        scale = terms.scale(len(self.routers), self.epsilon)
        noisy = tally.totals + noise.laplace(scale, tally.totals.size).reshape(tally.totals.shape)
        return self.by_router(noisy)

    def by_router(self, counts: IntArray) -> list[IntArray]:
        """The counts of all cells, by the router that they are of."""
        return np.split(counts, np.cumsum([router.count for router in self.routers])[:-1])

    def to_bytes(self, drawn: list[IntArray]) -> bytes:
        return np.concatenate(drawn).astype("<i8").tobytes()

    def from_bytes(self, body: bytes) -> list[IntArray]:
        cells = sum(router.count for router in self.routers)
        return self.by_router(np.frombuffer(body, "<i8").astype(np.int64).reshape(cells, -1))

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        scale = terms.scale(len(self.routers), self.epsilon)
        return laplace_answer(self, terms, place.keys, scale=scale)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        scale = terms.scale(len(self.routers), self.epsilon)
        noisy = [n for counts in self.draw(tally, terms, noise) for n in counts.ravel().tolist()]
        keys = [str(i) for i in range(len(noisy))]
        return laplace_answer(self, terms, keys, scale=scale, noisy=noisy)
