"""What is drawn once for a whole table, from the cells of single columns: points, or a ladder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.mechanisms.base import T
from bocage.plan import Question
from bocage.private import capabilities
from bocage.private.joint.temperature import rates_of, tempered
from bocage.private.preconditions import (
    MOST_CELLS,
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
    from bocage.mechanisms import Steps, Walk, Walked


class Weighed(Protocol[T]):
    """All that could be drawn: at each rate the logarithms of some weights, which add up to the sum of all, and
    a walk."""

    weights: NDArray[np.float64]

    def walk(self, rate: int, steps: Steps) -> Walked[T]: ...


@dataclass(frozen=True)
class DrawnOnce(Fit[T]):
    """One outcome, by how many rows of the table it predicts right; see its kinds for the proof."""

    label: str
    epsilon: Epsilon

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The columns, with their cells."""

    @abstractmethod
    def weigh(
        self,
        cells: NDArray[np.uint8],
        labels: NDArray[Any],
        schema: Schema,
        rates: tuple[float, ...],
    ) -> Weighed[T]:
        """Visit all that could be drawn."""

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

    def check_off(self, terms: Terms) -> None:
        """Refuse a draw whose sums could be off by too much; its kinds call it when sizes are checked."""
        largest = max(rates_of(terms.rate(1, self.epsilon)))
        check_off(self.off(largest * rows_at_most(terms.schema), terms.schema), self.words())

    @abstractmethod
    def off(self, most: Fraction | int, schema: Schema) -> float:
        """How far sums over all that could be drawn are off at most, if rate * rows is this."""

    def rehearse(self, noise: Noise) -> None:
        capabilities.walks(noise)

    def run(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise
    ) -> T:
        return noise.walk(*self.proposal(read, terms))

    def proposal(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> tuple[Walk[T], Fraction, float]:
        """A walk, its rate, and about the logarithm of the sum over all outcomes."""
        from bocage.private.term_rows import cells_of  # noqa: PLC0415 - a compiler

        rate = terms.rate(1, self.epsilon)
        cells, labels = cells_of(read, self.blocks, terms.schema)
        rates = rates_of(rate)
        table = self.weigh(cells, labels, terms.schema, tuple(map(float, rates)))

        def propose(one: Fraction) -> tuple[Walk[T], Fraction, float]:
            at = rates.index(one)
            total = float(np.logaddexp.reduce(table.weights[at]))
            return partial(table.walk, at), one, total + self.off(one * len(labels), terms.schema)

        return tempered(propose, len(labels), terms.schema[self.label].cells, rate)
