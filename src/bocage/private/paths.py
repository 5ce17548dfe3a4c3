"""The open cells of a growing tree whose paths spend different amounts; still one scan a level."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Contest, Noise, Selection
from bocage.plan import Question, Tally
from bocage.plan.question import MOST_COUNTERS
from bocage.plan.splits import Split, arity_of
from bocage.private.choose import Candidate, Choose, Mode, selected
from bocage.private.count import MOST_COUNTS, Counts
from bocage.private.criteria import Criterion, criterion_named
from bocage.private.executor import LiveExecutor
from bocage.private.joint.mixture import OneOf, Outcome
from bocage.private.joint.score.family import Scores
from bocage.private.joint.score.sampler import DrawnScores
from bocage.private.joint.tree.sampler import DrawnTrees
from bocage.private.joint.tree.space import Drawn
from bocage.private.level import split_nodes
from bocage.private.query import LAPLACE, Fit, IntArray, Place, Query, Terms
from bocage.private.transcript import Trail, Used
from bocage.schema import Schema

Answered = TypeVar("Answered")
Fitted = TypeVar("Fitted")
Q = TypeVar("Q", bound=Query)


class Paths:
    """Disjoint cells, each with what the path to it has left to spend.

    Get the first one from :meth:`Level.paths`. `split` and `part` hand on what is left and use this
    object up: nothing can be asked of it any more.

    Privacy
    -------
    The whole amount is charged before the first question. A question costs a cell its own epsilon,
    which is taken from what the cell has left or refused; children start with what their parent has
    left. Along a path the epsilons add up (sequential composition) to at most the amount charged,
    and no record is in two cells of one level (parallel composition). Which cells there are and what
    each of them spends may depend on everything released before.
    """

    def __init__(
        self, executor: LiveExecutor, place: Place, left: IntArray, trails: Sequence[Trail]
    ) -> None:
        self._executor, self._place, self._trails = executor, place, list(trails)
        self._left: IntArray | None = left
        self._lock, self._process = threading.Lock(), os.getpid()
        self._asking = (
            threading.Lock()
        )  # one question after another: what one writes down, the next continues

    @property
    def schema(self) -> Schema:
        return self._executor.terms.schema

    def __len__(self) -> int:
        return self._place.cells.count

    def remaining(self) -> list[Epsilon]:
        """What each cell may still spend."""
        return [Epsilon(nano) for nano in self._open().tolist()]

    def choose(
        self,
        among: Sequence[Sequence[Candidate]],
        label: str,
        criterion: Criterion,
        selection: Selection,
        epsilons: Sequence[Epsilon],
    ) -> list[Split]:
        """A privately chosen split of each cell, among its own candidates, for its own epsilon."""
        trusted = criterion_named(criterion)

        def query(run: slice) -> Choose:
            each = tuple(epsilons[run])
            cells = tuple(map(tuple, among[run]))
            return Choose(cells, label, trusted, selection, max(each), each=each)

        answers = self._ask(query, epsilons, lambda one: one.draw)
        return [split for answer in answers for split in answer]

    def modes(self, column: str, selection: Selection, epsilons: Sequence[Epsilon]) -> IntArray:
        """The privately chosen most frequent code of each cell, for its own epsilon."""
        return np.concatenate(
            self._ask(
                lambda run: ModeOfEach(column, selection, max(epsilons[run]), tuple(epsilons[run])),
                epsilons,
                lambda one: one.draw,
            )
        )

    def counts(self, column: str, epsilons: Sequence[Epsilon]) -> IntArray:
        """Noisy counts of a column, of shape (cells, codes), for each cell's own epsilon."""
        answers = self._ask(
            lambda run: CountsOfEach((column,), max(epsilons[run]), tuple(epsilons[run])),
            epsilons,
            lambda one: one.draw,
            MOST_COUNTS,
        )
        return np.concatenate([answer[:, :, 0] for answer in answers])

    def trees(
        self,
        among: Sequence[Sequence[Candidate]],
        label: str,
        depth: int,
        room: Sequence[int],
        epsilons: Sequence[Epsilon],
    ) -> list[Drawn]:
        """A whole tree for each cell, drawn at once for its own epsilon; see :class:`DrawnTrees`."""
        asked = np.array([epsilon.nano for epsilon in epsilons], np.int64)
        every = slice(0, len(self))
        cells = tuple(map(tuple, among))
        fit = DrawnTrees(self._place.cells, cells, label, depth, tuple(room), tuple(epsilons))
        return self._fit(fit, every, asked)

    def one_of(
        self,
        among: Sequence[Candidate],
        label: str,
        depth: int,
        room: int,
        others: Sequence[Scores[Any]],
        *,
        favor: int = 0,
    ) -> Outcome:
        """A whole tree, or a score, for all that the only cell has left; see `OneOf`."""
        (epsilon,) = self.remaining()
        trees = DrawnTrees(self._place.cells, (tuple(among),), label, depth, (room,), (epsilon,))
        fits = [DrawnScores(label, epsilon, scores) for scores in others]
        asked = np.array([epsilon.nano], np.int64)
        return self._fit(OneOf(trees, tuple(fits), favor), slice(0, 1), asked)

    def split(self, splits: Sequence[Split]) -> Paths:
        """The children of all cells, in order, with what their parents have left."""
        cells = self._place.cells.refine(split_nodes(self.schema, splits))
        children = [arity_of(at, self.schema[name].cells) for name, at in splits]
        left = self._hand_on()
        place = Place(self._place.where, cells, ())
        trails = [
            trail for trail, many in zip(self._trails, children, strict=True) for _ in range(many)
        ]
        return Paths(self._executor, place, np.repeat(left, children), trails)

    def part(self, cells: Sequence[int]) -> tuple[Paths | None, Paths | None]:
        """Some cells, and all others; None where there would be none."""
        left, chosen = self._hand_on(), set(cells)
        rest = [cell for cell in range(len(self)) if cell not in chosen]
        return tuple(
            self._only(group, left[group]) if group else None for group in (list(cells), rest)
        )  # type: ignore[return-value] # two of them

    def _only(self, cells: Sequence[int], left: IntArray) -> Paths:
        kept = self._place.cells.only(cells)
        trails = [self._trails[cell] for cell in cells]
        return Paths(self._executor, Place(self._place.where, kept, ()), left, trails)

    def _open(self) -> IntArray:
        if os.getpid() != self._process:
            raise PlanError(
                "paths are spent in the process that opened them: a fork would spend them twice."
            )
        if self._left is None:
            raise PlanError("these cells were split or parted: ask about what became of them.")
        return self._left

    def _hand_on(self) -> IntArray:
        """Give up what is left, to be spent by others."""
        with self._lock:
            left, self._left = self._open(), None
        return left

    def _fit(self, fit: Fit[Fitted], run: slice, asked: IntArray) -> Fitted:
        with self._asking:
            purse = _Purse(self._pay, run, self._payable(asked), self._trails[run])
            drawn = self._executor.fit(fit, self._place, purse)
            self._trails[run] = purse.trails
        return drawn

    def _pay(self, run: slice, asked: IntArray) -> None:
        """Take from some cells what each is asked, or refuse."""
        with self._lock:
            left = self._open()
            if np.any(asked > left[run]):
                raise PlanError("each cell pays for itself, and no more than its path has left.")
            left[run] -= asked

    def _ask(
        self,
        query: Callable[[slice], Q],
        epsilons: Sequence[Epsilon],
        finish: Callable[[Q], Callable[[Tally, Terms, Noise], Answered]],
        most: int = MOST_COUNTERS,
    ) -> list[Answered]:
        """Ask about runs of cells that can be counted at once: mostly a single one."""
        with self._asking:
            return self._ask_runs(query, epsilons, finish, most)

    def _ask_runs(
        self,
        query: Callable[[slice], Q],
        epsilons: Sequence[Epsilon],
        finish: Callable[[Q], Callable[[Tally, Terms, Noise], Answered]],
        most: int,
    ) -> list[Answered]:
        asked = self._payable(np.array([epsilon.nano for epsilon in epsilons], np.int64))
        answers = []
        at_once = self._at_once(query(slice(0, len(self))).question(self._place), most)
        for start in range(0, len(self), at_once):
            run = slice(start, min(start + at_once, len(self)))
            whole = run.stop - run.start == len(self)
            cells = self._place.cells if whole else self._place.cells.only(range(len(self))[run])
            one, place = query(run), Place(self._place.where, cells, ())
            purse = _Purse(self._pay, run, asked[run], self._trails[run])
            answers.append(self._executor.draw(one, place, purse, finish(one)))
            self._trails[run] = purse.trails
        return answers

    def _payable(self, asked: IntArray) -> IntArray:
        """What each cell is asked, if each can pay it."""
        if len(asked) != len(self) or asked.min() <= 0 or np.any(asked > self._open()):
            raise PlanError("each cell pays for itself, and no more than its path has left.")
        return asked

    def _at_once(self, question: Question, most: int) -> int:
        width = question.labels(self.schema) * (
            1 + sum(self.schema[name].cells for name in question.columns)
        )
        return max(min(most, MOST_COUNTERS) // width, 1)


@dataclass
class _Purse:
    """Pays for one question out of what the cells have left, before a row is read."""

    pay: Callable[[slice, IntArray], None]
    run: slice
    asked: IntArray
    trails: list[Trail]

    def charge(self, epsilon: Epsilon, memo: str) -> int:
        self.pay(self.run, self.asked)
        return 0


@dataclass(frozen=True)
class CountsOfEach(Counts):
    """Noisy counts of one column, with an epsilon for each cell.

    Privacy
    -------
    A record is in one cell and there in one count: sensitivity 1 with the scale of that cell.
    """

    each: tuple[Epsilon, ...]

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [Used(LAPLACE, (one.fraction,)) for one in self.each]

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> IntArray:
        exact = tally.columns[self.columns[0]]
        noisy, nanos = exact.copy(), np.array([one.nano for one in self.each])
        for nano in np.unique(nanos).tolist():
            at = np.flatnonzero(nanos == nano)
            drawn = noise.laplace(terms.scale(1, Epsilon(nano)), exact[at].size)
            noisy[at] += drawn.reshape(exact[at].shape)
        return noisy


@dataclass(frozen=True)
class ModeOfEach(Mode):
    """The most frequent value, with an epsilon for each cell.

    Privacy
    -------
    As of `Mode`, with the rate of the record's own cell.
    """

    each: tuple[Epsilon, ...]

    def uses(self, terms: Terms) -> Sequence[Used]:
        return [selected(self.selection, one.fraction) for one in self.each]

    def draw(self, tally: Tally, terms: Terms, noise: Noise) -> IntArray:
        counts = tally.columns[self.column][:, :, 0]
        contests = [
            Contest(row, terms.rate(1, epsilon))
            for row, epsilon in zip(counts, self.each, strict=True)
        ]
        return noise.select(contests, self.selection)
