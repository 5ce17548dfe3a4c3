"""What every question to a private table has: a price, an exact part and a noisy release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency, Noise, laplace_half_width
from bocage.mechanisms.system import check_scale
from bocage.plan import Cells, Question, Tally
from bocage.plan.documents import Ask
from bocage.plan.predicate import Bound, to_json
from bocage.plan.question import MOST_COUNTERS
from bocage.private.answer import Answer, Value
from bocage.private.transcript import Used
from bocage.schema import Schema

IntArray = NDArray[np.int64]
Drawn = TypeVar("Drawn")
Fitted_co = TypeVar("Fitted_co", covariant=True)
LAPLACE, EXPONENTIAL = "discrete Laplace", "exponential"  # mechanisms, in words
half_width = lru_cache(maxsize=4096)(laplace_half_width)  # public arithmetic, asked for often


@lru_cache(maxsize=4096)
def _scale(moved: int, epsilon: Epsilon) -> Fraction:
    scale = moved / epsilon.fraction
    check_scale(scale)
    return scale


@lru_cache(maxsize=4096)
def _widths(scale_over: int, scale_under: int, unit_over: int, unit_under: int) -> tuple[int, float, str]:
    """Half the width of the interval, in integers and in the unit, and the scale for people.

    Found by integers, which are hashed at once.
    """
    scale, unit = Fraction(scale_over, scale_under), Fraction(unit_over, unit_under)
    half = half_width(scale)
    return half, float(half * unit), f"{float(scale * unit):.6g}"


@dataclass(frozen=True)
class Terms:
    """The public facts about the rows; they calibrate noise."""

    schema: Schema
    adjacency: Adjacency
    batch: str | None = None  # if the rows are one batch of the table, its name

    @property
    def steps(self) -> int:
        """How many added or removed records two neighbors are apart where they are counted.

        Privacy
        -------
        Replace-one neighbors are two apart. So are add/remove neighbors of a table that is cut to
        its row cap: where a record comes in, the last one may drop out.
        """
        return 2 if self.schema.over_cap == "cut" else self.adjacency.factor()

    def scale(self, sensitivity: int, epsilon: Epsilon) -> Fraction:
        """Laplace scale for a sum that one added or removed record moves by `sensitivity`."""
        return _scale(sensitivity * self.steps, epsilon)

    def rate(self, score_range: int, epsilon: Epsilon) -> Fraction:
        """Rate of a private selection whose scores move within `score_range` per record."""
        return epsilon.fraction / (score_range * self.steps)


@dataclass(frozen=True)
class Place:
    """Where a question is asked: the disjoint public cells of the rows that pass a filter.

    Attributes
    ----------
    keys
        One per cell; the empty text if there is but one. For people: no charge hangs on it.
    parts
        The partitions that the rows are a part of, the outermost first: the name of each geometry
        and the number of the part in it, None for a part that no row can be in.
    """

    where: Bound
    cells: Cells
    keys: tuple[str, ...]
    parts: tuple[tuple[str, int | None], ...] = ()

    def describe(self) -> dict[str, Any]:
        """The place as plain data: what the ledger keeps of it."""
        where, nodes = to_json(self.where), self.cells.to_json()
        return {"where": where, "cells": nodes, "count": self.cells.count}


class Query(ABC):
    """One question: data alone. Its price is its epsilon, whatever the table holds."""

    is_private: ClassVar[bool] = True  # what is not, is refused on a table with a ledger
    epsilon: Epsilon

    @abstractmethod
    def words(self) -> str:
        """The question for people."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The question as plain data: what the ledger keeps of it. Equal questions are equal data."""

    @abstractmethod
    def question(self, place: Place) -> Question:
        """What the engine has to count."""

    def questions(self, place: Place) -> list[Question]:
        """All that the engine has to count, in one scan."""
        return [self.question(place)]

    def gather(self, tallies: list[Tally]) -> Tally:
        """The exact part as one tally."""
        (tally,) = tallies
        return tally

    @abstractmethod
    def uses(self, terms: Terms) -> Sequence[Used]:
        """What the mechanisms use on each cell, or once for all; it stands in the certificate."""

    @abstractmethod
    def preview(self, terms: Terms, place: Place, rows: int | None) -> Answer:
        """Mechanism, scale, price and expected error, with no table in sight."""

    @abstractmethod
    def release(self, tally: Tally, terms: Terms, place: Place, noise: Noise) -> Answer:
        """Add noise to the exact tally; everything after that is post-processing."""

    def check(self, terms: Terms, place: Place) -> None:
        """Refuse what cannot be asked, before anything is charged or read."""
        for question in self.questions(place):
            question.check(terms.schema)
        self.calibrate(terms, place)

    def calibrate(self, terms: Terms, place: Place) -> None:
        """Refuse what no noise could protect: what a preview would refuse."""
        self.preview(terms, place, None)

    def rehearse(self, terms: Terms, noise: Noise) -> None:  # noqa: B027 - most need nothing rare
        """Raise what the noise provider will raise, before anything is charged or read."""


class PortableQuery(Query):
    """One of the questions that :class:`~bocage.private.questions.Askable` has a method for.

    Its document form is what the ledger keeps of it and what travels to a service.
    """

    @abstractmethod
    def form(self) -> Ask:
        """The question as a document."""

    def describe(self) -> dict[str, Any]:
        return self.form().memo()


@dataclass(frozen=True)
class CellQuery(Query, Generic[Drawn]):
    """A question to open cells, answered by arrays.

    Parameters
    ----------
    each
        What each cell pays, where they pay different amounts: its records are protected by that. A record
        is in one cell, so that the largest of them, which is `epsilon`, is what the question costs a table.
    """

    each: tuple[Epsilon, ...] = field(default=(), kw_only=True)

    @abstractmethod
    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> Drawn:
        """The noisy answer: an array or a list, with an entry for each cell."""

    def epsilons(self, cells: int) -> tuple[Epsilon, ...]:
        """What each of so many cells pays."""
        return self.each or (self.epsilon,) * cells

    def check(self, terms: Terms, place: Place) -> None:
        if self.each and (
            len(self.each) != place.cells.count or max(self.each) != self.epsilon or min(self.each).nano <= 0
        ):
            raise PlanError("a question costs the largest epsilon of its cells, each more than 0.")
        super().check(terms, place)

    def at_once(self, schema: Schema, place: Place) -> int:
        """How many cells can be counted in one scan."""
        question = self.question(place)
        columns = sum(schema[name].cells for name in question.columns)
        return max(self.most_counters // (question.labels(schema) * (1 + columns)), 1)

    @property
    def most_counters(self) -> int:
        """How many numbers can be counted in one scan."""
        return MOST_COUNTERS

    def only(self, run: slice) -> Self:
        """The same question to some of the cells."""
        if not self.each:
            return self
        each, query = self.each[run], cast("Any", self)  # of which epsilon is a field
        return cast("Self", replace(query, each=each, epsilon=max(each)))


class StorableQuery(CellQuery[Drawn]):
    """A question whose draw can be kept as bytes, so that what was charged is drawn once."""

    @abstractmethod
    def to_bytes(self, drawn: Drawn) -> bytes:
        """A draw as it is kept."""

    @abstractmethod
    def from_bytes(self, body: bytes) -> Drawn:
        """A draw that was kept."""


class Fit(ABC, Generic[Fitted_co]):
    """A computation on rows, not on counts of them: data alone, with a price like any question."""

    epsilon: Epsilon

    def epsilons(self, cells: int) -> tuple[Epsilon, ...]:
        """What each of so many cells pays."""
        return (self.epsilon,) * cells

    @abstractmethod
    def words(self) -> str:
        """What is fitted, for people."""

    @abstractmethod
    def question(self, place: Place) -> Question:
        """Which columns of which rows are read."""

    @abstractmethod
    def uses(self, terms: Terms) -> Sequence[Used]:
        """What the mechanisms use on each cell, or once for all; it stands in the certificate."""

    @abstractmethod
    def check(self, terms: Terms, place: Place) -> None:
        """Refuse what cannot be fitted, before anything is charged or read."""

    @abstractmethod
    def rehearse(self, noise: Noise) -> None:
        """Raise what the noise provider will raise, before anything is charged or read."""

    @abstractmethod
    def run(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise) -> Fitted_co:
        """Read, fit, add noise; what is returned is released."""


def laplace_answer(
    query: Query,
    terms: Terms,
    keys: Sequence[str],
    *,
    scale: Fraction,
    unit: Fraction = Fraction(1),
    noisy: Sequence[int] | None = None,
    at_least: float | None = None,
) -> Answer:
    """The answer made of noisy integers that count `unit`; without them a preview."""
    many, one = unit.as_integer_ratio()
    half, plus_minus, shown = _widths(*scale.as_integer_ratio(), many, one)
    values: tuple[Value | None, ...] = (None,) * len(keys)
    lows = highs = None
    if noisy is not None:
        values = tuple(in_units(number, unit) for number in noisy)
        # a quotient of integers is rounded once, as a fraction
        bounds = [((n - half) * many / one, (n + half) * many / one) for n in noisy]
        if at_least is not None:
            bounds = [(max(low, at_least), max(high, at_least)) for low, high in bounds]
        lows, highs = tuple(low for low, _ in bounds), tuple(high for _, high in bounds)
    return Answer(
        question=query.words(),
        keys=tuple(keys),
        values=values,
        lows=lows,
        highs=highs,
        mechanism="discrete Laplace",
        scale=shown,
        plus_minus=plus_minus,
        cost=str(query.epsilon),
        adjacency=terms.adjacency.value,
    )


def in_units(number: int, unit: Fraction) -> Value:
    many, one = unit.as_integer_ratio()
    return number * many if one == 1 else number * many / one


def distinct(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts that name their cells: numbered where two of them read the same."""
    if len(set(texts)) == len(texts):
        return tuple(texts)
    return tuple(f"{text} #{i}" for i, text in enumerate(texts, 1))


def exact(value: object, what: str) -> Fraction:
    """A public number as it is printed; refuses what is none, or absurdly long."""
    text = value if isinstance(value, str) else str(value)
    try:
        decimal = Decimal(text) if len(text) <= 100 and "/" not in text else None
        if decimal is not None and decimal.is_finite() and abs(decimal.adjusted()) <= 100:
            return Fraction(decimal)
        if decimal is None and len(text) <= 100:
            return Fraction(text)
    except (InvalidOperation, ValueError, ZeroDivisionError):
        pass
    raise PlanError(f"{what} must be a number, not {text[:40]!r}.")
