"""A whole tree for each cell, splits and labels at once, from one draw among all trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Cells, Question
from bocage.private import needs
from bocage.private.choose import Candidate
from bocage.private.ground import Drawn, Ground
from bocage.private.query import Fit, Place, Terms
from bocage.private.tempered import tempered
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.mechanisms import Walk

MOST_DEPTH, MOST_ROOM = 8, 2**30


@dataclass(frozen=True)
class DrawnTrees(Fit[list[Drawn]]):
    """For each cell one of all trees with so many levels that its candidates allow.

    The score of a tree is the number of the cell's rows that it predicts right. Which tree is likely
    before any row is seen is public, see :mod:`bocage.private.sums`: small ones are.

    Parameters
    ----------
    cells
        Which rows belong together. Public.
    among
        For each cell the ways to split it: all values of a categorical column, or thresholds of a
        numeric one.
    depth
        Levels of splits at most.
    room
        About how many leaves the tree of each cell should have at most, before any row is seen.
    each
        The epsilon of each cell.

    Privacy
    -------
    A record is in one cell at most, so that the largest of the epsilons is what all of them cost (parallel
    composition). In its cell one more record raises the score of every tree by 0 or 1, whatever the
    others are: monotone, range 1. So the exponential mechanism with rate epsilon is epsilon-DP
    without a factor 2 (the weights of all trees rise by factors from 1 to exp(epsilon), and so does their
    sum), for splits and labels together. The set of trees and the prior depend on nothing but
    candidates, depth and schema. The draw is exact: see :mod:`bocage.mechanisms.walk`, whose contract
    floats have to keep. All sums here are at most x = rate * rows (and the priors, which are smaller).
    With L levels of at most b children and s splits, each node adds up b numbers and s + 1 terms, each
    rounded by 2**-53 of x at most; those of a level share the rows, so that all of them are off by less
    than (L + 1) (b + s + 8) 2**-51 x, walk included. That is below half the margin while
    (L + 1) (b + s + 8) x <= 2**40: ten million rows at rate 1 with 1,000 splits and eight levels. Whoever
    asks for more has to grow the tree in another way. At a large epsilon the rate is drawn with the tree, see
    :func:`~bocage.private.tempered.tempered`.

    Not covered: the time that a draw takes depends on the rows, as that of every computation here.
    """

    cells: Cells
    among: tuple[tuple[Candidate, ...], ...]
    label: str
    depth: int
    room: tuple[int, ...]
    each: tuple[Epsilon, ...]

    @property
    def epsilon(self) -> Epsilon:  # type: ignore[override] # it follows from the others
        return max(self.each)

    def words(self) -> str:
        return f"a tree of up to {self.depth} levels for {self.label}"

    def question(self, place: Place) -> Question:
        return Question(Cells(), place.where, columns=self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in the order in which they are read."""
        used = (one.column for candidates in self.among for one in candidates)
        return tuple(dict.fromkeys((*self.cells.columns, *used, self.label)))

    def check(self, terms: Terms, place: Place) -> None:
        if not len(self.among) == len(self.room) == len(self.each) == self.cells.count:
            raise PlanError("each cell has candidates, room and an epsilon of its own.")
        if not all(1 <= one <= MOST_ROOM for one in self.room):
            raise PlanError(f"a drawn tree has room for 1 to {MOST_ROOM} leaves.")
        if not 1 <= self.depth <= MOST_DEPTH:
            raise PlanError(f"a drawn tree has 1 to {MOST_DEPTH} levels, not {self.depth}.")
        self.cells.check(terms.schema)
        for candidates in self.among:
            names = [one.column for one in candidates]
            if len(set(names)) < len(names) or self.label in names:
                raise PlanError("a tree is drawn by other columns than its label, each named once.")
            for one in candidates:
                one.check(terms.schema)
                if one.values:
                    raise PlanError(f"column {one.column!r}: a drawn tree splits by all values.")
        self.question(place).check(terms.schema)

    def rehearse(self, noise: Noise) -> None:
        needs.walks(noise)

    def run(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise
    ) -> list[Drawn]:
        return [noise.walk(*one) for one in self.proposals(read, terms)]

    def proposal(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> tuple[Walk[Drawn], Fraction, float]:
        """That of the only cell."""
        (one,) = self.proposals(read, terms)
        return one

    def proposals(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> Iterator[tuple[Walk[Drawn], Fraction, float]]:
        """For each cell a walk, its rate, and about the logarithm of the sum over all trees."""
        none = np.empty((len(self.names), 0), np.uint16)
        matrix = np.concatenate([none, *read()], axis=1)
        codes = dict(zip(self.names, matrix, strict=True))
        cell = self.cells.route(codes, matrix.shape[1])
        order = np.argsort(cell, kind="stable")
        ends = np.searchsorted(cell[order], np.arange(self.cells.count + 1))
        parts = zip(self.among, self.room, self.each, pairwise(ends), strict=True)
        for candidates, room, epsilon, (start, end) in parts:
            rows = {name: column[order[start:end]] for name, column in codes.items()}
            propose = partial(self._propose, rows, candidates, terms.schema, room)
            labels = terms.schema[self.label].cells
            yield tempered(propose, end - start, labels, terms.rate(1, epsilon))

    def _propose(
        self,
        rows: dict[str, NDArray[np.uint16]],
        candidates: tuple[Candidate, ...],
        schema: Schema,
        room: int,
        rate: Fraction,
    ) -> tuple[Walk[Drawn], Fraction, float]:
        ground = Ground.of(rows, candidates, self.label, schema, rate=rate, room=room)
        return ground.proposal(self.depth, rate)
