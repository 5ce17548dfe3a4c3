"""Which pairs of columns have something to say beside the tables of an additive model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Contest, Noise, Selection
from bocage.model import AdditiveModel
from bocage.model.additive import UNIT
from bocage.plan import Question
from bocage.private.design import Block, Design
from bocage.private.query import Fit, Place, Terms

PAIR_BITS = 20  # scores count 2**-PAIR_BITS of a row
MOST_LABELS = 3
_RANGE = 2 * (2 ** (PAIR_BITS + 1) + 1)


@dataclass(frozen=True)
class PairChoice(Fit[list[int]]):
    """The places of at most `most` pairs in whose cells a released model is wrong to one side.

    The residuals of a record are the probabilities that the model gives to the labels, minus one for
    its own. The score of a pair is the sum, over its cells and the labels, of the size of the sum of the
    residuals there: twice the number of records that one more table could explain, at best. A model
    that needs no such table leaves sums that scatter around 0.

    Parameters
    ----------
    model
        A released additive model for two or three labels.
    handicaps
        For each pair so many records less. Public.
    least
        What no pair at all scores, in records: as soon as it is chosen, one place stays empty. Public.

    Privacy
    -------
    The model is released, so that the residuals of a record depend on nothing but the record. They
    are computed as whole numbers of u = 2**-46, each with an error below 0.7 u. The true ones of a record
    add up to 0, and their sizes to 2 (1 - p_y) <= 2; that of the first label is taken as minus the sum
    of the others', so that the sizes of the computed ones add up to 2 + 2 (K-1) u at most. By the
    triangle inequality no score moves by more, up or down. Rounded down to units of 2**-20 it moves by
    2 * 2**20 + 1 units at most, within a range of twice that: it is not monotone. So permute-and-flip with
    the rate epsilon / (most * range) costs epsilon / most for each place. A pair that was chosen is no
    candidate for the next place, which depends on nothing but what is released. Sequential
    composition of the places.
    """

    model: AdditiveModel
    pairs: tuple[Block, ...]
    handicaps: tuple[int, ...]
    least: int
    most: int
    epsilon: Epsilon

    def words(self) -> str:
        return f"up to {self.most} of {len(self.pairs)} pairs of columns that say more together"

    def question(self, place: Place) -> Question:
        names = dict.fromkeys(n for block in self._design.blocks for n in block.columns)
        return Question(place.cells, place.where, columns=(*names, self._label))

    def check(self, terms: Terms, place: Place) -> None:
        if type(self.model) is not AdditiveModel or not self.model.terms:
            raise PlanError("pairs are chosen beside an additive model.")
        if self.model.schema.fingerprint != terms.schema.fingerprint:
            raise PlanError("pairs are chosen on a table of the model's own schema only.")
        if not 2 <= terms.schema[self._label].cells <= MOST_LABELS:
            raise PlanError(f"pairs are chosen for two to {MOST_LABELS} labels.")
        if not 1 <= self.most <= len(self.pairs) or len(self.handicaps) != len(self.pairs):
            raise PlanError("a choice of pairs needs a pair for each place, each with a handicap.")
        for block in self._design.blocks:
            block.check(terms.schema)
            if self._label in block.columns:
                raise PlanError("the label cannot be a term of its own model.")
        self.question(place).check(terms.schema)

    def rehearse(self, noise: Noise) -> None:
        """Every provider has this selection."""

    @property
    def _label(self) -> str:
        label = self.model.schema.label
        if label is None:
            raise PlanError("a model without a label has no residuals.")
        return label.name

    @property
    def _design(self) -> Design:
        single = [Block(t.columns, t.cells, (len(t.scores),), t.cuts) for t in self.model.terms]
        return Design((*single, *self.pairs), self.model.schema[self._label].cells)

    def run(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise
    ) -> list[int]:
        scores = self._scores(read, terms)
        rate = terms.rate(_RANGE * self.most, self.epsilon)
        chosen: list[int] = []
        left = list(range(len(self.pairs)))
        for _ in range(self.most):
            entries = np.array([*(scores[i] for i in left), self.least << (PAIR_BITS + 1)])
            place = int(noise.select([Contest(entries, rate)], Selection.PERMUTE_AND_FLIP)[0])
            if place < len(left):
                chosen.append(left.pop(place))
        return chosen

    def _scores(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms) -> list[int]:
        """How far off the model is in the cells of each pair, less its handicap."""
        from bocage.private.cells import CellRows  # noqa: PLC0415 - likewise
        from bocage.private.residuals import UNIT_BITS  # noqa: PLC0415 - a compiler

        design = self._design
        # The first label has no score of its own: every score counts from that.
        single = [term.scores[:, 1:] - term.scores[:, :1] for term in self.model.terms]
        single += [np.zeros((block.size, design.columns), np.int64) for block in self.pairs]
        prior = self.model.intercept[1:] - self.model.intercept[:1]
        rows = CellRows(read, design, terms.schema)
        sums, _ = rows.residuals(_floats(np.concatenate(single)), _floats(prior))
        sums = np.concatenate([sums, -sums.sum(axis=1, keepdims=True)], axis=1)
        starts = design.offsets[len(self.model.terms) :].tolist()
        return [
            (int(np.abs(sums[start : start + block.size]).sum()) >> (UNIT_BITS - PAIR_BITS))
            - (handicap << (PAIR_BITS + 1))
            for start, block, handicap in zip(starts, self.pairs, self.handicaps, strict=True)
        ]


def _floats(scores: NDArray[np.int64]) -> NDArray[np.float64]:
    return scores.astype(np.float64) / UNIT
