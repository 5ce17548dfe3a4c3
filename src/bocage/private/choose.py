"""Private choices: the best split of each cell by a trusted criterion, or its most frequent value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Contest, Noise, Selection
from bocage.plan import Question, Tally
from bocage.private.answer import Answer
from bocage.private.criteria import Criterion
from bocage.private.query import IntArray, Place, Query, Terms
from bocage.schema import Categorical, Schema, number

Split = tuple[str, int | None]  # a column and, if it is numeric, the code of its threshold
_WEIGHT = 2**20  # base weight of an attribute; the thresholds of a numeric one share it


@dataclass(frozen=True)
class Choose(Query):
    """For each cell one split among the candidates: a categorical column (one branch per value), or
    a numeric column with a threshold.

    Privacy
    -------
    The criterion states in which range the scores of all splits move with one record; selecting
    with rate epsilon / range is epsilon-DP, and the cells are disjoint. Thresholds of one column
    share the base weight of that column: public weights (exponential mechanism) or a public
    handicap added to the scores (permute-and-flip) change no ratio between neighbors.
    """

    candidates: tuple[tuple[str, ...], ...]  # for each cell the columns that it may be split by
    label: str
    criterion: Criterion
    selection: Selection
    epsilon: Epsilon

    def words(self) -> str:
        return f"best split for {self.label} by {self.criterion.name}"

    def describe(self) -> dict[str, Any]:
        return {
            "ask": "choose",
            "among": [list(names) for names in self.candidates],
            "label": self.label,
            "criterion": self.criterion.name,
            "selection": self.selection.value,
            "epsilon": str(self.epsilon),
        }

    def question(self, place: Place) -> Question:
        columns = tuple(dict.fromkeys(name for names in self.candidates for name in names))
        return Question(place.cells, place.where, self.label, columns)

    def check(self, terms: Terms, place: Place) -> None:
        super().check(terms, place)
        if len(self.candidates) != place.cells.count:
            raise PlanError("a choice needs a list of candidate columns for each cell.")
        for names in self.candidates:
            if not names or len(set(names)) < len(names) or self.label in names:
                raise PlanError(
                    "a choice needs at least one candidate column, each once, without the label."
                )
            for name in names:
                if terms.schema[name].cells < 2:
                    raise PlanError(f"column {name!r} has one value only and cannot be split.")

    def _rate(self, terms: Terms) -> Fraction:
        return terms.rate(self.criterion.range(terms.schema), self.epsilon)

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:  # noqa: ARG002
        return self._answer(terms, place)

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> list[Split]:
        """The split chosen for each cell."""
        rate = self._rate(terms)
        scores = {name: self._scores(terms.schema, name, tally) for name in tally.columns}
        contests = [
            self._contest(terms.schema, rate, names, [scores[name][cell] for name in names])
            for cell, names in enumerate(self.candidates)
        ]
        chosen = noise.select(contests, self.selection).tolist()
        return [
            _candidate(terms.schema, names, index)
            for names, index in zip(self.candidates, chosen, strict=True)
        ]

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        splits = tuple(self.draw(tally, terms, noise))
        values = tuple(split_text(terms.schema, *split) for split in splits)
        answer = self._answer(terms, place)
        return answer.as_kind(answer.kind, values=values, splits=splits)

    def _scores(self, schema: Schema, name: str, tally: Tally) -> IntArray:
        """Scores of the candidates of one column, for each cell."""
        counts = tally.columns[name]
        if isinstance(schema[name], Categorical):
            multiway: IntArray = self.criterion.branch(counts).sum(axis=1, keepdims=True)
            return multiway
        below = counts.cumsum(axis=1)
        above = below[:, -1:, :] - below
        score = self.criterion.branch(below) + self.criterion.branch(above)
        return score[:, :-1]

    def _contest(
        self, schema: Schema, rate: Fraction, names: tuple[str, ...], scores: list[IntArray]
    ) -> Contest:
        sizes = [_thresholds(schema, name) for name in names]
        if self.selection is Selection.EXPONENTIAL:
            weights = np.repeat([_WEIGHT // size for size in sizes], sizes)
            return Contest(np.concatenate(scores), rate, weights)
        handicaps = [round(log(size) / float(rate)) for size in sizes]
        return Contest(np.concatenate(scores) - np.repeat(handicaps, sizes), rate)

    def _answer(self, terms: Terms, place: Place) -> Answer:
        spread = 1 / float(self._rate(terms)) / self.criterion.units
        return choice_answer(self, terms, place, self.selection, spread)


@dataclass(frozen=True)
class Mode(Query):
    """For each cell the most frequent value of a column.

    Privacy
    -------
    The score of a value is its count: a record raises one of them by one. Monotone, range 1.
    """

    column: str
    selection: Selection
    epsilon: Epsilon

    def words(self) -> str:
        return f"most frequent {self.column}"

    def describe(self) -> dict[str, Any]:
        facts = {"column": self.column, "selection": self.selection.value}
        return {"ask": "mode", **facts, "epsilon": str(self.epsilon)}

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=(self.column,))

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:  # noqa: ARG002
        spread = 1 / float(terms.rate(1, self.epsilon))
        return choice_answer(self, terms, place, self.selection, spread)

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> IntArray:
        """The code chosen for each cell."""
        rate = terms.rate(1, self.epsilon)
        counts = tally.columns[self.column][:, :, 0]
        return noise.select([Contest(row, rate) for row in counts], self.selection)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        chosen = self.draw(tally, terms, noise)
        column = terms.schema[self.column]
        answer = self.preview(terms, place, None)
        return answer.as_kind(answer.kind, values=tuple(map(column.text, chosen.tolist())))


def choice_answer(
    query: Query, terms: Terms, place: Place, selection: Selection, spread: float
) -> Answer:
    """An answer without values: `spread` is the loss of score that is e times less likely."""
    return Answer(
        question=query.words(),
        keys=place.keys,
        values=(None,) * len(place.keys),
        mechanism=selection.value.replace("_", " "),
        scale=f"{spread:.6g}",
        plus_minus=None,
        cost=str(query.epsilon),
        adjacency=terms.adjacency.value,
    )


def _thresholds(schema: Schema, name: str) -> int:
    column = schema[name]
    return 1 if isinstance(column, Categorical) else column.cells - 1


def _candidate(schema: Schema, names: tuple[str, ...], index: int) -> Split:
    """The split that an index of a contest stands for."""
    for name in names:
        size = _thresholds(schema, name)
        if index < size:
            return name, None if isinstance(schema[name], Categorical) else index + 1
        index -= size
    raise PlanError("the selection lies outside its candidates.")


def split_text(schema: Schema, name: str, threshold: int | None) -> str:
    if threshold is None:
        return name
    return f"{name} < {number(schema.numeric(name).edge(threshold))}"
