"""Noisy histograms of several columns at once, possibly other columns in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Question, Tally
from bocage.private.answer import Answer
from bocage.private.query import LAPLACE, CellQuery, IntArray, Place, Terms, laplace_answer
from bocage.private.transcript import Used


@dataclass(frozen=True)
class Histograms(CellQuery[list[dict[str, IntArray]]]):
    """For each cell the counts of each of its columns, jointly with the label if one is named.

    Privacy
    -------
    A record is in one cell and there in one count of each column. A cell with m columns gives each
    an exact share of about epsilon / m; the shares of a cell add up to epsilon (sequential
    composition), and the cells are disjoint (parallel composition).
    """

    columns: tuple[tuple[str, ...], ...]
    label: str | None
    epsilon: Epsilon

    def words(self) -> str:
        return "histograms of the open attributes" + (f" by {self.label}" if self.label else "")

    def describe(self) -> dict[str, Any]:
        by = {"columns": [list(names) for names in self.columns], "label": self.label}
        return {"ask": "histograms", **by, "epsilon": str(self.epsilon)}

    def question(self, place: Place) -> Question:
        names = tuple(dict.fromkeys(name for cell in self.columns for name in cell))
        return Question(place.cells, place.where, self.label, names)

    def check(self, terms: Terms, place: Place) -> None:
        if len(self.columns) != place.cells.count or not all(self.columns):
            raise PlanError("histograms need a list of columns for each cell, of one at least.")
        if any(len(set(names)) < len(names) or self.label in names for names in self.columns):
            raise PlanError("histograms name each column once, and not the label.")
        super().check(terms, place)

    def uses(self, terms: Terms) -> Sequence[Used]:
        shares = map(self._shares, range(len(self.columns)))
        return [Used(LAPLACE, tuple(share.fraction for share in cell)) for cell in shares]

    def only(self, run: slice) -> Self:
        return replace(super().only(run), columns=self.columns[run])

    def _shares(self, cell: int) -> list[Epsilon]:
        """Of each histogram of a cell."""
        return self.epsilons(len(self.columns))[cell].split([1] * len(self.columns[cell]))

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> list[dict[str, IntArray]]:
        """For each cell and each of its columns noisy counts of shape (codes, labels)."""
        return [self._cell(cell, names, tally, terms, noise) for cell, names in enumerate(self.columns)]

    def _cell(self, cell: int, names: Sequence[str], tally: Tally, terms: Terms, noise: Noise) -> dict[str, IntArray]:
        noisy = {}
        for name, share in zip(names, self._shares(cell), strict=True):
            exact = tally.columns[name][cell]
            drawn = noise.laplace(terms.scale(1, share), exact.size)
            noisy[name] = exact + drawn.reshape(exact.shape)
        return noisy

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        share = self.epsilon.split([1] * max(map(len, self.columns)))[-1]
        return laplace_answer(self, terms, place.keys, scale=terms.scale(1, share))

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        keys, noisy = [], []
        for key, tables in zip(place.keys, self.draw(tally, terms, noise), strict=True):
            for name, counts in tables.items():
                keys += [f"{key} / {name} {i}" for i in range(counts.size)]
                noisy += counts.ravel().tolist()
        share = self.epsilon.split([1] * max(map(len, self.columns)))[-1]
        return laplace_answer(self, terms, keys, scale=terms.scale(1, share), noisy=noisy)
