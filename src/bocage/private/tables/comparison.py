"""Which of several released models is right most often."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Contest, Noise, Selection
from bocage.model import AdditiveModel, Forest, Model, Tree
from bocage.plan import Question
from bocage.private.preconditions import check_whole
from bocage.private.query import Fit, Place, Terms
from bocage.private.transcript import Used

_KINDS = (Tree, Forest, AdditiveModel)
MOST_HANDICAP = 2**40
WHOLE = 100  # where errors are forgiven, scores count hundredths of a row


@dataclass(frozen=True)
class BestModel(Fit[int]):
    """The place of the model that predicts most rows right, by permute-and-flip.

    Parameters
    ----------
    handicaps
        For each model so many rows less; empty for none. Public.
    forgiven
        For each model how many of a hundred rows that it predicts wrong count as right; empty for none.
        Public.

    Privacy
    -------
    The models are released. The score of each is how many rows it predicts right, and a public part of the
    others: one more record raises it by a number from 0 to 1, whatever the other records are. Monotone,
    range 1, so that permute-and-flip with
    rate epsilon is epsilon-DP; public handicaps change no ratio. Models of Bocage's own kinds only: they
    predict every record by itself, where another could look at all rows, or keep them.
    """

    models: tuple[Model, ...]
    label: str
    epsilon: Epsilon
    handicaps: tuple[int, ...] = ()
    forgiven: tuple[int, ...] = ()

    def words(self) -> str:
        return f"which of {len(self.models)} models is right most often"

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(Selection.PERMUTE_AND_FLIP.words, (self.epsilon.fraction,))]

    def question(self, place: Place) -> Question:
        return Question(place.cells, place.where, columns=self.names)

    def check(self, terms: Terms, place: Place) -> None:
        if not self.models or len(self.handicaps) not in {0, len(self.models)}:
            raise PlanError("a choice needs a model at least, and a handicap for each or for none.")
        check_whole(place, self.words())
        if any(abs(handicap) > MOST_HANDICAP for handicap in self.handicaps):
            raise PlanError(f"a handicap is {MOST_HANDICAP} rows at most.")
        if self.forgiven and (
            len(self.forgiven) != len(self.models) or not 0 <= min(self.forgiven) <= max(self.forgiven) <= WHOLE
        ):
            raise PlanError(f"a model is forgiven 0 to {WHOLE} of {WHOLE} errors, each or none is.")
        for model in self.models:
            if type(model) not in _KINDS:
                raise PlanError("trees, forests and additive models can be compared, and no others.")
            if model.schema.fingerprint != terms.schema.fingerprint:
                raise PlanError("a model can be compared on a table of its own schema only.")
        self.question(place).check(terms.schema)

    def rehearse(self, noise: Noise) -> None:
        """Every provider has this selection."""

    def run(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise) -> int:
        none, unit = (0,) * len(self.models), WHOLE if self.forgiven else 1
        scores = -np.array(self.handicaps or none, np.int64) * unit
        for batch in read():
            codes = {name: batch[i].astype(np.int32) for i, name in enumerate(self.names)}
            cells: dict[Any, NDArray[np.int64]] = {}
            for i, model in enumerate(self.models):
                if isinstance(model, AdditiveModel):
                    predicted = _added(model, codes, cells)
                else:
                    predicted = model.predict_codes(codes)
                right = int((predicted == codes[self.label]).sum())
                forgiven = (self.forgiven or none)[i]
                scores[i] += unit * right + forgiven * (len(predicted) - right)
        contest = Contest(scores, terms.rate(unit, self.epsilon))
        return int(noise.select([contest], Selection.PERMUTE_AND_FLIP)[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in the order in which they are read."""
        used = [name for model in self.models for name in model.columns]
        return tuple(dict.fromkeys((*used, self.label)))


def _added(
    model: AdditiveModel, codes: dict[str, NDArray[np.int32]], cells: dict[Any, NDArray[np.int64]]
) -> NDArray[np.int32]:
    """What the model predicts for codes of which none is missing; models share what they look up."""
    sums: NDArray[np.int64] = np.tile(model.intercept, (len(next(iter(codes.values()))), 1))
    for term in model.terms:
        key = term.columns, term.cells, term.cuts
        if key not in cells:
            place = np.zeros(len(sums), np.int64)
            for name, size, table in zip(*key[:2], term.lookup(model.schema), strict=True):
                place = place * size + table[codes[name]]
            cells[key] = place
        sums += term.scores.take(cells[key], axis=0)
    best: NDArray[np.int32] = sums.argmax(axis=1).astype(np.int32)
    return best
