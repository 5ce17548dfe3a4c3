"""The open cells of a growing tree, inside what a learner reserved. Arrays in, arrays out.

    PrivateTable.reserve  ->  OpenCells  --ask(question), fit(model)-->  what was drawn
                                  |
                                  +--split, group-->  OpenCells

A question and a fit are data: what is released, and what for. Who pays is the purse of the cells: one for all
of them, or one for the path to each.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from bocage.accounting import MemoryAccount
from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.plan import Cells
from bocage.plan.splits import Split, arity_of, node_of
from bocage.private.answer import Kind
from bocage.private.executor import LiveExecutor, Payer, digest
from bocage.private.query import CellQuery, Fit, IntArray, Place, Terms
from bocage.private.transcript import Asked, Trail, Transcript
from bocage.schema import Schema

Drawn = TypeVar("Drawn")
Fitted = TypeVar("Fitted")


class OpenCells:
    """Disjoint cells that a learner asks about together: one scan and one charge per question.

    Get the first one, a single cell, from :meth:`PrivateTable.reserve`. `split` gives the level below.
    `group` parts the cells so that each group spends on its own. After `paths` each cell does.

    Privacy
    -------
    The cells are disjoint, so that a question costs the largest epsilon of any cell (parallel
    composition); along a path the epsilons add up (sequential composition). Cells with one purse pay
    together for each question. Cells with a purse each pay their own epsilon, which is taken from what
    their path has left or refused; the whole amount was charged before the first question, and
    children start with what their parent has left. Which cells there are and what each of them
    spends may depend on everything released before.
    """

    def __init__(self, executor: LiveExecutor, place: Place, purse: Purse) -> None:
        self._executor, self._place, self._purse = executor, place, purse

    @classmethod
    def reserved(cls, executor: LiveExecutor, place: Place, account: MemoryAccount) -> OpenCells:
        """The cells of a place, with what an account reserved for all of them."""
        return cls(executor, Place(place.where, place.cells, ()), _OnePurse(account))

    @property
    def terms(self) -> Terms:
        """The public facts about the rows, which calibrate noise."""
        return self._executor.terms

    @property
    def schema(self) -> Schema:
        return self.terms.schema

    @property
    def adjacency(self) -> Adjacency:
        return self.terms.adjacency

    @property
    def batch(self) -> str | None:
        """The batch that the rows are, if the owner declared one."""
        return self.terms.batch

    @property
    def cells(self) -> Cells:
        """Which cells there are."""
        return self._place.cells

    def __len__(self) -> int:
        return self.cells.count

    def remaining(self) -> Epsilon:
        """What the path of every cell may still spend: the least of them."""
        return min(self.purses())

    def purses(self) -> list[Epsilon]:
        """What the path of each cell may still spend."""
        return self._purse.left(len(self))

    @property
    def entry(self) -> int | None:
        """The ledger entry that paid for the reservation."""
        return self._purse.number if self._executor.has_ledger else None

    @property
    def transcript(self) -> Transcript:
        """What was released out of the reservation so far."""
        if self._executor.transcript is None:
            raise PlanError("nothing is written down about what is released once.")
        return self._executor.transcript

    @property
    def made_up(self) -> bool:
        """Whether the rows are those of a dry run."""
        return self._executor.kind is Kind.DRY_RUN

    def deviation(self, epsilon: Epsilon, sensitivity: int = 1) -> float:
        """Standard deviation of the noise on a count. Public: it costs nothing."""
        return sqrt(2) * float(self.terms.scale(sensitivity, epsilon))

    def ask(self, query: CellQuery[Drawn]) -> Drawn:
        """Charge for a question, count, draw: an entry for each cell.

        Cells that cannot be counted at once are asked in runs, for the same price.
        """
        with self._purse.turn:
            amounts = self._purse.payable(query.epsilons(len(self)))
            runs = _runs(len(self), query.at_once(self.schema, self._place))
            payers = self._purse.payers(self._place, runs, amounts)
            if len(runs) == 1:
                (payer,) = payers
                return self._executor.draw(query, self._place, payer)
            answers = [
                self._executor.draw(query.only(run), self._only(range(len(self))[run]), payer)
                for run, payer in zip(runs, payers, strict=True)
            ]
        return _joined(answers)

    def fit(self, fit: Fit[Fitted]) -> Fitted:
        """Charge for a fit, and let it read the rows of all cells."""
        with self._purse.turn:
            amounts = self._purse.payable(fit.epsilons(len(self)))
            (payer,) = self._purse.payers(self._place, [slice(0, len(self))], amounts)
            return self._executor.fit(fit, self._place, payer)

    def share(self, memo: str, epsilon: Epsilon) -> OpenCells:
        """The same cells with a share of what is reserved, to be spent in sequence with others."""
        purse = _OnePurse(self._purse.reserve(epsilon, memo))
        return OpenCells(self._executor, self._place, purse)

    def paths(self, epsilon: Epsilon) -> OpenCells:
        """The same cells with `epsilon` for each path below them, spent as each path likes.

        From there on `split` and `group` hand on what is left and use their cells up: nothing can be
        asked of them any more.
        """
        account = self._purse.reserve(epsilon, "paths")
        trail = self.transcript.paths(account.scope)
        left = np.full(len(self), epsilon.nano, np.int64)
        purses = _PathPurses(left, [trail] * len(self), account.number)
        return OpenCells(self._executor, self._place, purses)

    def split(self, splits: Sequence[Split]) -> OpenCells:
        """The children of all cells, in order: one per value, below and above a threshold, or one
        value and the rest.
        """
        sizes = [self.schema[name].cells for name, _ in splits]
        nodes = {i: node_of(*split, sizes[i]) for i, split in enumerate(splits)}
        place = Place(self._place.where, self.cells.refine(nodes), ())
        children = [arity_of(at, size) for (_, at), size in zip(splits, sizes, strict=True)]
        with self._purse.turn:
            return OpenCells(self._executor, place, self._purse.split(children))

    def group(self, groups: Mapping[str, Sequence[int]]) -> dict[str, OpenCells]:
        """Part the cells into groups that spend on their own; an empty one is left out.

        Privacy
        -------
        The groups are disjoint sets of disjoint cells of one version of the rows: together they
        cost the maximum of what each of them spends (parallel composition). Where cells have one purse,
        the partition is known by the cells of its groups and a group by its number. Another grouping
        is another partition, so that the two add up.
        """
        members = [cell for cells in groups.values() for cell in cells]
        if len(set(members)) < len(members):
            raise PlanError("a cell can be in one group only.")
        places = {key: self._only(cells) for key, cells in groups.items() if cells}
        with self._purse.turn:
            purses = self._purse.group(self._place, groups.values())
        return {
            key: OpenCells(self._executor, places[key], purse)
            for key, purse in zip(groups, purses, strict=True)
            if key in places
        }

    def _only(self, cells: Sequence[int]) -> Place:
        return Place(self._place.where, self.cells.only(cells), ())


class Purse(Protocol):
    """What the cells may still spend."""

    @property
    def turn(self) -> AbstractContextManager[object]:
        """Held from a charge to the end of what it pays for: cells are not handed on in between."""
        ...

    @property
    def number(self) -> int:
        """The ledger entry that paid for the reservation."""
        ...

    def left(self, cells: int) -> list[Epsilon]: ...

    def payable(self, epsilons: Sequence[Epsilon]) -> IntArray:
        """What each cell is asked, if each can pay it."""
        ...

    def payers(self, place: Place, runs: Sequence[slice], amounts: IntArray) -> Sequence[Payer]:
        """Who pays for each of the runs of cells of a place."""
        ...

    def reserve(self, epsilon: Epsilon, memo: str) -> MemoryAccount: ...

    def split(self, children: Sequence[int]) -> Purse:
        """For the children of all cells; there are so many of each."""
        ...

    def group(self, place: Place, groups: Iterable[Sequence[int]]) -> Sequence[Purse]:
        """For groups of cells that spend on their own."""
        ...


class _OnePurse:
    """All cells pay together, out of an account in memory."""

    def __init__(self, account: MemoryAccount) -> None:
        self._account, self.turn = account, nullcontext()

    @property
    def number(self) -> int:
        return self._account.number

    def left(self, cells: int) -> list[Epsilon]:
        return [self._account.remaining()] * cells

    def payable(self, epsilons: Sequence[Epsilon]) -> IntArray:
        """The account refuses what it cannot pay."""
        return np.array([epsilon.nano for epsilon in epsilons], np.int64)

    def payers(self, place: Place, runs: Sequence[slice], amounts: IntArray) -> Sequence[_OnePurse]:
        """Itself; where there are several runs, a purse for each as for a group.

        Privacy
        -------
        Each run is asked the same question for the same epsilon. So together they cost what all cells
        would have cost.
        """
        if len(runs) == 1:
            return [self]
        return self.group(place, [range(place.cells.count)[run] for run in runs])

    def reserve(self, epsilon: Epsilon, memo: str) -> MemoryAccount:
        return self._account.reserve(epsilon, memo)

    def split(self, children: Sequence[int]) -> _OnePurse:
        return self

    def group(self, place: Place, groups: Iterable[Sequence[int]]) -> list[_OnePurse]:
        members = [list(cells) for cells in groups]
        partition = self._account.partition(digest([place.describe(), members]))
        return [_OnePurse(partition.part(str(number))) for number in range(len(members))]

    def charge(self, epsilon: Epsilon, memo: str) -> int:
        return self._account.charge(epsilon, memo)

    def write(self, transcript: Transcript, asked: Asked, terms: Terms, cells: Cells) -> None:
        transcript.write(asked, terms, cells, transcript.trail(self._account.scope))


class _PathPurses:
    """Each cell pays for itself, out of what the path to it has left."""

    def __init__(self, left: IntArray, trails: Sequence[Trail], number: int) -> None:
        self._left: IntArray | None = left
        self._trails, self.number = list(trails), number
        self._lock, self._process = threading.Lock(), os.getpid()
        # One question after another: what one of them writes down, the next one continues.
        self.turn = threading.Lock()

    def left(self, cells: int) -> list[Epsilon]:
        return [Epsilon(nano) for nano in self._open().tolist()]

    def payable(self, epsilons: Sequence[Epsilon]) -> IntArray:
        asked, left = np.array([epsilon.nano for epsilon in epsilons], np.int64), self._open()
        if len(asked) != len(left) or asked.min() <= 0 or np.any(asked > left):
            raise PlanError("each cell pays for itself, and no more than its path has left.")
        return asked

    def payers(self, place: Place, runs: Sequence[slice], amounts: IntArray) -> list[_Run]:
        return [_Run(self, run, amounts[run]) for run in runs]

    def reserve(self, epsilon: Epsilon, memo: str) -> MemoryAccount:
        raise PlanError("what each path has left is spent by its cells, and not shared out again.")

    def split(self, children: Sequence[int]) -> _PathPurses:
        if len(children) != len(self._open()):
            raise PlanError("each cell is split in a way of its own.")
        parents = np.repeat(np.arange(len(children)), children)
        return self._with(self._hand_on(), parents.tolist())

    def group(self, place: Place, groups: Iterable[Sequence[int]]) -> list[_PathPurses]:
        left = self._hand_on()
        return [self._with(left, cells) for cells in groups]

    def _with(self, left: IntArray, cells: Sequence[int]) -> _PathPurses:
        """What these cells had is theirs, or their children's."""
        trails = [self._trails[cell] for cell in cells]
        return _PathPurses(left[list(cells)], trails, self.number)

    def _hand_on(self) -> IntArray:
        """Give up what is left, to be spent by others."""
        with self._lock:
            left, self._left = self._open(), None
        return left

    def _open(self) -> IntArray:
        if os.getpid() != self._process:
            raise PlanError("paths are spent in the process that opened them: a fork would spend them twice.")
        if self._left is None:
            raise PlanError("these cells were split or parted: ask about what became of them.")
        return self._left

    def pay(self, run: slice, asked: IntArray) -> None:
        """Take from some cells what each is asked, or refuse."""
        with self._lock:
            left = self._open()
            if np.any(asked > left[run]):
                raise PlanError("each cell pays for itself, and no more than its path has left.")
            left[run] -= asked

    def write(self, run: slice, transcript: Transcript, asked: Asked, terms: Terms, cells: Cells) -> None:
        self._trails[run] = transcript.write_each(asked, terms, cells, self._trails[run])


@dataclass(frozen=True)
class _Run:
    """Pays for one question to some cells, each of them its own amount, before a row is read."""

    purses: _PathPurses
    cells: slice
    amounts: IntArray

    def charge(self, epsilon: Epsilon, memo: str) -> int:
        self.purses.pay(self.cells, self.amounts)
        return self.purses.number

    def write(self, transcript: Transcript, asked: Asked, terms: Terms, cells: Cells) -> None:
        self.purses.write(self.cells, transcript, asked, terms, cells)


def _runs(cells: int, at_once: int) -> list[slice]:
    """Runs of cells that can be counted at once: mostly a single one."""
    return [slice(start, min(start + at_once, cells)) for start in range(0, cells, at_once)]


def _joined(answers: list[Drawn]) -> Drawn:
    """The entries of all runs, one after another."""
    runs: list[Any] = [*answers]
    if isinstance(runs[0], np.ndarray):
        return cast("Drawn", np.concatenate(runs))
    return cast("Drawn", [entry for run in runs for entry in run])
