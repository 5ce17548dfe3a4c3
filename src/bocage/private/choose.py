"""Private choices: the best split of each cell by a trusted criterion, or its most frequent value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import log
from typing import Any, Self

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Contest, Noise, Selection
from bocage.plan import Question, Tally
from bocage.plan.documents import ChooseAsk, ModeAsk
from bocage.plan.splits import Split, alone, code_alone
from bocage.private.answer import Answer
from bocage.private.criteria import Criterion, Doubled, criterion_named
from bocage.private.query import CellQuery, IntArray, Place, PortableQuery, Query, Terms
from bocage.private.transcript import Used
from bocage.schema import Categorical, Schema, number

_SCORES_AT_ONCE = 2**16
_WEIGHT = 2**20  # base weight of an attribute; the thresholds of a numeric one share it


@dataclass(frozen=True)
class Candidate:
    """A way to split a cell: by all values of a categorical column, by one of some `values` of it
    against the rest, or by a numeric column at one of the thresholds `first` to `last`, of which
    every `step`-th counted from 0 is taken, or those in `cuts`.
    """

    column: str
    first: int | None = None
    last: int | None = None
    values: tuple[int, ...] = ()
    step: int = 1
    cuts: tuple[int, ...] = ()

    @classmethod
    def of(cls, schema: Schema, column: str) -> Candidate:
        """All splits by one column."""
        attribute = schema[column]
        if isinstance(attribute, Categorical):
            return cls(column)
        return cls(column, 1, attribute.cells - 1)

    @property
    def size(self) -> int:
        """How many splits it stands for."""
        return len(self.values) or len(self.thresholds) or 1

    @property
    def thresholds(self) -> Sequence[int]:
        """The codes at which a numeric column may be cut."""
        if self.cuts:
            return self.cuts
        if self.first is None or self.last is None:
            return range(0)
        return range(-(-self.first // self.step) * self.step, self.last + 1, self.step)

    def split(self, index: int) -> Split:
        """One of the splits that it stands for."""
        if self.values:
            return self.column, alone(self.values[index])
        return self.column, self.thresholds[index] if self.thresholds else None

    def describe(self) -> list[Any]:
        plain = [self.column, self.first, self.last]
        if self.cuts:
            return [*plain, self.values, self.step, self.cuts]
        return plain if not self.values and self.step == 1 else [*plain, self.values, self.step]

    def check(self, schema: Schema) -> None:
        attribute = schema[self.column]
        if attribute.cells < 2:
            raise PlanError(f"column {self.column!r} has one value only and cannot be split.")
        if isinstance(attribute, Categorical):
            codes = set(range(attribute.cells))
            fits = self.first is None and self.last is None and self.step == 1 and not self.cuts
            fits &= set(self.values) <= codes and len(set(self.values)) == len(self.values)
        else:
            first, last = self.first or 0, self.last or 0
            fits = 1 <= first <= last < attribute.cells and not self.values and self.step >= 1
            fits = fits and len(self.thresholds) > 0
            edges = (first - 1, *self.cuts, last + 1)
            fits = fits and all(a < b for a, b in pairwise(edges))
        if not fits:
            raise PlanError(
                f"column {self.column!r}: a numeric column is split at thresholds from 1 to its "
                "last cell, a categorical one by all its values or by one of them."
            )


@dataclass(frozen=True)
class Choose(CellQuery[list[Split]], PortableQuery):
    """For each cell one split among the candidates: a categorical column (one branch per value), or
    a numeric column with a threshold.

    Privacy
    -------
    The criterion states in which range the scores of all splits move with one record; selecting
    with rate epsilon / range is epsilon-DP, and the cells are disjoint. The range holds for every
    way to part the records, so that all splits of all columns are candidates of one selection.
    Splits of one column share the base weight of that column: public weights (exponential
    mechanism) or a public handicap added to the scores (permute-and-flip) change no ratio between
    neighbors. Each cell has the rate of its own epsilon. The criterion is one of the trusted ones.
    """

    candidates: tuple[tuple[Candidate, ...], ...]  # for each cell the ways to split it
    label: str
    criterion: Criterion
    selection: Selection
    epsilon: Epsilon

    def words(self) -> str:
        return f"best split for {self.label} by {self.criterion.name}"

    def form(self) -> ChooseAsk:
        """The columns of each cell, said once if they are the same for all."""
        names = [[candidate.column for candidate in cell] for cell in self.candidates]
        return ChooseAsk(
            among=names[0] if all(cell == names[0] for cell in names) else names,
            label=self.label,
            criterion=self.criterion.name,
            selection=self.selection.value,
            epsilon=str(self.epsilon),
        )

    def describe(self) -> dict[str, Any]:
        """The ledger keeps which splits of the columns were candidates."""
        among = [[way.describe() for way in cell] for cell in self.candidates]
        return {**super().describe(), "among": among}

    def question(self, place: Place) -> Question:
        columns = tuple(dict.fromkeys(way.column for cell in self.candidates for way in cell))
        return Question(place.cells, place.where, self.label, columns)

    def check(self, terms: Terms, place: Place) -> None:
        criterion_named(self.criterion)
        super().check(terms, place)
        if len(self.candidates) != place.cells.count:
            raise PlanError("a choice needs a list of candidate columns for each cell.")
        for cell in self.candidates:
            names = [way.column for way in cell]
            if not names or len(set(names)) < len(names) or self.label in names:
                raise PlanError("a choice needs at least one candidate column, each once, without the label.")
            for way in cell:
                way.check(terms.schema)

    def rehearse(self, terms: Terms, noise: Noise) -> None:
        """Not every provider knows weights, which thresholds need."""
        numeric = any(way.size > 1 for cell in self.candidates for way in cell)
        if numeric and self.selection is Selection.EXPONENTIAL:
            nothing = Contest(np.zeros(2, np.int64), self._rate(terms), np.array([1, 2]))
            noise.select([nothing], self.selection)

    def _rate(self, terms: Terms, cell: int | None = None) -> Fraction:
        epsilon = self.each[cell] if self.each and cell is not None else self.epsilon
        return terms.rate(self.criterion.range(terms.schema), epsilon)

    def uses(self, terms: Terms) -> Sequence[Used]:
        """What the rate comes to for the range of the score itself: less, if a paper doubles it."""
        score = self.criterion.criterion if isinstance(self.criterion, Doubled) else self.criterion
        steps = score.range(terms.schema) * terms.steps
        rates = [self._rate(terms, cell) for cell in range(len(self.each))] or [self._rate(terms)]
        return [selected(self.selection, rate * steps) for rate in rates]

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        return self._answer(terms, place)

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> list[Split]:
        """The split chosen for each cell.

        Cells are scored and selected in runs, so that the scores of a wide level, one for each
        threshold of each numeric column, need not be held all at once.
        """
        widest = max(sum(way.size for way in cell) for cell in self.candidates)
        at_once = max(_SCORES_AT_ONCE // widest, 1)
        runs = range(0, len(self.candidates), at_once)
        return [split for start in runs for split in self._draw(slice(start, start + at_once), tally, terms, noise)]

    def _draw(self, run: slice, tally: Tally, terms: Terms, noise: Noise) -> list[Split]:
        cells = self.candidates[run]
        scores: list[dict[str, IntArray]] = [{} for _ in cells]
        for name, counts in tally.columns.items():
            ways = {at: way for at, cell in enumerate(cells) for way in cell if way.column == name}
            for at, row in self._scores(ways, counts[run]):
                scores[at][name] = row
        contests = [
            self._contest(self._rate(terms, run.start + at), cell, [scores[at][way.column] for way in cell])
            for at, cell in enumerate(cells)
        ]
        chosen = noise.select(contests, self.selection).tolist()
        return [_split(cell, index) for cell, index in zip(cells, chosen, strict=True)]

    def only(self, run: slice) -> Self:
        return replace(super().only(run), candidates=self.candidates[run])

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        splits = tuple(self.draw(tally, terms, noise))
        values = tuple(split_text(terms.schema, *split) for split in splits)
        answer = self._answer(terms, place)
        return answer.as_kind(answer.kind, values=values, splits=splits)

    def _scores(self, candidates: Mapping[int, Candidate], counts: IntArray) -> Iterator[tuple[int, IntArray]]:
        """For each of some cells the scores of its candidate, all of one column."""
        kinds: dict[Callable[[IntArray, list[Candidate]], IntArray], list[int]] = {}
        for at, way in candidates.items():
            kind = self._cuts if way.thresholds else self._singles if way.values else self._all
            kinds.setdefault(kind, []).append(at)
        for score, cells in kinds.items():
            mine = counts if len(cells) == len(counts) else counts[cells]
            scores = score(mine, [candidates[at] for at in cells])
            for at, row in zip(cells, scores, strict=True):
                yield at, row[: candidates[at].size]

    def _all(self, counts: IntArray, _: list[Candidate]) -> IntArray:
        multiway: IntArray = self.criterion.branch(counts).sum(axis=1, keepdims=True)
        return multiway

    def _singles(self, counts: IntArray, candidates: list[Candidate]) -> IntArray:
        parts = _taken(counts, [way.values for way in candidates])
        rest = counts.sum(axis=1, keepdims=True) - parts
        return self.criterion.branch(parts) + self.criterion.branch(rest)

    def _cuts(self, counts: IntArray, candidates: list[Candidate]) -> IntArray:
        below = counts.cumsum(axis=1)
        whole = below[:, -1:, :]
        if min(way.size for way in candidates) == counts.shape[1] - 1:
            parts = below[:, :-1]
        else:
            parts = _taken(below, [[cut - 1 for cut in way.thresholds] for way in candidates])
        return self.criterion.branch(parts) + self.criterion.branch(whole - parts)

    def _contest(self, rate: Fraction, cell: tuple[Candidate, ...], scores: list[IntArray]) -> Contest:
        sizes = [way.size for way in cell]
        if max(sizes) == 1:
            return Contest(np.concatenate(scores), rate)
        if self.selection is Selection.EXPONENTIAL:
            weights = np.repeat([_WEIGHT // size for size in sizes], sizes)
            return Contest(np.concatenate(scores), rate, weights)
        handicaps = [round(log(size) / float(rate)) for size in sizes]
        return Contest(np.concatenate(scores) - np.repeat(handicaps, sizes), rate)

    def _answer(self, terms: Terms, place: Place) -> Answer:
        spread = 1 / float(self._rate(terms)) / self.criterion.units
        return choice_answer(self, terms, place, self.selection, spread)


@dataclass(frozen=True)
class Mode(CellQuery[IntArray], PortableQuery):
    """For each cell the most frequent value of a column.

    Privacy
    -------
    The score of a value is its count: a record raises one of them by one. Monotone, range 1. The rate is
    that of the record's own cell.
    """

    column: str
    selection: Selection
    epsilon: Epsilon

    def words(self) -> str:
        return f"most frequent {self.column}"

    def form(self) -> ModeAsk:
        return ModeAsk(column=self.column, selection=self.selection.value, epsilon=str(self.epsilon))

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=(self.column,))

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [selected(self.selection, epsilon.fraction) for epsilon in self.epsilons(1)]

    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        spread = 1 / float(terms.rate(1, self.epsilon))
        return choice_answer(self, terms, place, self.selection, spread)

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> IntArray:
        """The code chosen for each cell."""
        counts = tally.columns[self.column][:, :, 0]
        rates = [terms.rate(1, epsilon) for epsilon in self.epsilons(len(counts))]
        contests = [Contest(*contest) for contest in zip(counts, rates, strict=True)]
        return noise.select(contests, self.selection)

    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        chosen = self.draw(tally, terms, noise)
        column = terms.schema[self.column]
        answer = self.preview(terms, place, None)
        return answer.as_kind(answer.kind, values=tuple(map(column.text, chosen.tolist())))


def selected(selection: Selection, epsilon: Fraction) -> Used:
    """One private selection."""
    return Used(selection.words, (epsilon,), bounded=selection is Selection.EXPONENTIAL)


def choice_answer(query: Query, terms: Terms, place: Place, selection: Selection, spread: float) -> Answer:
    """An answer without values: `spread` is the loss of score that is e times less likely."""
    return Answer(
        question=query.words(),
        keys=place.keys,
        values=(None,) * len(place.keys),
        mechanism=selection.words,
        scale=f"{spread:.6g}",
        plus_minus=None,
        cost=str(query.epsilon),
        adjacency=terms.adjacency.value,
    )


def _taken(counts: IntArray, codes: Sequence[Sequence[int]]) -> IntArray:
    """For each cell some of its codes; what is missing to the longest list is filled with code 0."""
    at = np.zeros((len(codes), max(map(len, codes)), 1), np.int64)
    for i, some in enumerate(codes):
        at[i, : len(some), 0] = some
    taken: IntArray = np.take_along_axis(counts, at, axis=1)
    return taken


def _split(cell: tuple[Candidate, ...], index: int) -> Split:
    """The split that an index of a contest stands for."""
    for way in cell:
        if index < way.size:
            return way.split(index)
        index -= way.size
    raise PlanError("the selection lies outside its candidates.")


def split_text(schema: Schema, name: str, threshold: int | None) -> str:
    if threshold is None:
        return name
    if (code := code_alone(threshold)) is not None:
        return f"{name} = {schema.categorical(name).values[code]}"
    return f"{name} < {number(schema.numeric(name).edge(threshold))}"
