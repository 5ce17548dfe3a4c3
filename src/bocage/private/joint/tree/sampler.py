"""A whole tree for each cell, splits and labels at once, from one draw among all trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Noise
from bocage.plan import Cells, Question
from bocage.private import capabilities
from bocage.private.choose import Candidate
from bocage.private.joint.temperature import rates_of, tempered
from bocage.private.joint.tree.space import Drawn, Ground
from bocage.private.preconditions import PRIOR, check_labels, check_off, rows_at_most
from bocage.private.query import EXPONENTIAL, Fit, Place, Terms
from bocage.private.transcript import Used
from bocage.schema import Schema

if TYPE_CHECKING:
    from bocage.mechanisms import Proposal

MOST_DEPTH, MOST_ROOM = 8, 2**30
MOST_LEAVES = 2**22  # the walk holds each


@dataclass(frozen=True)
class DrawnTrees(Fit[list[Drawn]]):
    """For each cell one of all trees with so many levels that its candidates allow.

    The score of a tree is the number of the cell's rows that it predicts right. Which tree is
    likely before any row is seen is public, see :mod:`bocage.private.joint.tree.weights`: small
    ones are.

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
    A record is in one cell at most, so that the largest of the epsilons is what all of them cost
    (parallel composition). In its cell one more record raises the score of every tree by 0 or 1,
    whatever the others are: monotone, range 1. So the exponential mechanism with rate epsilon is
    epsilon-DP without a factor 2 (the weights of all trees rise by factors from 1 to exp(epsilon),
    and so does their sum), for splits and labels together. The set of trees and the prior depend on
    nothing but candidates, depth and schema. The draw is exact: see
    :mod:`bocage.mechanisms.selection.rejection_sampling`, whose contract floats have to keep. All sums
    here are at most x = rate * rows (and the priors, which are smaller). With L levels of at most b
    children and s splits, each node adds up b numbers and s + 1 terms, each rounded by 2**-53 of x
    at most; those of a level share the rows, so that all of them are off by less than (L + 1) (b +
    s + 8) 2**-51 x, walk included. So much is added to the total that a proposal claims. It is hardly
    anything: with 1,000 splits, eight levels and ten million rows at rate 1 it is 2**-14. Where it
    could exceed 4 with as many rows as the schema allows, draws would take too many rounds, and
    whoever asks is refused before the charge and has to grow the tree in another way. At a large
    epsilon the rate is drawn with the tree, see :func:`~bocage.private.joint.temperature.tempered`.

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

    def epsilons(self, cells: int) -> tuple[Epsilon, ...]:
        return self.each

    def words(self) -> str:
        return f"a tree of up to {self.depth} levels for {self.label}"

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [*(Used(EXPONENTIAL, (one.fraction,), bounded=True) for one in self.each)]

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
        check_labels(terms.schema[self.label].cells, self.words(), 1)
        if place.cells != self.cells:
            raise PlanError("trees are drawn for the cells that are paid for.")
        self.question(place).check(terms.schema)
        self._check_sizes(terms)

    def _check_sizes(self, terms: Terms) -> None:
        """Refuse trees that no walk could draw, or not exactly."""
        for candidates, epsilon in zip(self.among, self.each, strict=True):
            largest = max(rates_of(terms.rate(1, epsilon)))
            leaves = leaves_at_most(candidates, terms.schema, self.depth, max(self.room))
            if leaves > MOST_LEAVES:
                raise PlanError(
                    f"a drawn tree has about {MOST_LEAVES} leaves at most: take fewer levels or room, "
                    "or columns of fewer values."
                )
            off = off_by(candidates, terms.schema, self.depth, largest * rows_at_most(terms.schema))
            check_off(off, self.words())

    def rehearse(self, noise: Noise) -> None:
        capabilities.draws_by_rejection(noise)

    def run(self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms, noise: Noise) -> list[Drawn]:
        return [noise.draw_by_rejection(*one) for one in self.proposals(read, terms)]

    def proposal(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> tuple[Proposal[Drawn], Fraction, float]:
        """That of the only cell."""
        (one,) = self.proposals(read, terms)
        return one

    def proposals(
        self, read: Callable[[], Iterator[NDArray[np.uint16]]], terms: Terms
    ) -> Iterator[tuple[Proposal[Drawn], Fraction, float]]:
        """For each cell a proposal, its rate, and about the logarithm of the sum over all trees."""
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
    ) -> tuple[Proposal[Drawn], Fraction, float]:
        ground = Ground.of(rows, candidates, self.label, schema, rate=rate, room=room)
        proposal, own, total = ground.proposal(self.depth, rate)
        return (
            proposal,
            own,
            total + off_by(candidates, schema, self.depth, rate * len(ground.labels)),
        )


def off_by(candidates: Sequence[Candidate], schema: Schema, depth: int, most: Fraction | int) -> float:
    """How far sums over all trees are off at most, if rate * rows is this; see `DrawnTrees`."""
    splits, children = sum(one.size for one in candidates), max(_children(candidates, schema))
    return (depth + 1) * (children + splits + 8) * float(most + PRIOR) * 2.0**-51


def leaves_at_most(candidates: Sequence[Candidate], schema: Schema, depth: int, room: int) -> int:
    """About as many leaves as a tree can be expected to have, and no more than it can have.

    A node with more branches above it than there is room for is split so seldom that a level has on
    average `room` times half its children.
    """
    every = _children(candidates, schema)
    numeric = [2] * depth if any(one.thresholds for one in candidates) else []
    whole = sorted([size for size in every if size > 2] + numeric + [2] * every.count(2))
    return min(prod(whole[-depth:]), room * max(every) * depth)


def _children(candidates: Sequence[Candidate], schema: Schema) -> list[int]:
    """Of one split by each candidate; of none at all, that of a leaf."""
    branches = [2 if one.thresholds else schema[one.column].cells for one in candidates]
    return branches or [1]
