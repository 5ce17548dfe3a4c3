"""What was released out of one reservation, written by the executor with every release.

A learner's plan says what may be asked; this says what was. It holds public facts only: which questions
there are and what they cost follows from the schema and from what was released before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from bocage.epsilon import UNIT, Epsilon
from bocage.model import PlanLine
from bocage.plan import OUTSIDE, Cells
from bocage.plan.cells import targets_of

if TYPE_CHECKING:
    from bocage.accounting import Scope
    from bocage.private.query import Terms

Trail = tuple[str, ...]  # a partition, a part of it, a partition of that, and so on


@dataclass(frozen=True)
class Used:
    """What a mechanism used on the records of one cell.

    Parameters
    ----------
    mechanism
        In words.
    losses
        The epsilon of each of its queries, one after another; what it was told, not what was charged.
    bounded
        Whether the loss lies in a range as long as epsilon, as that of the exponential mechanism does.

    Privacy
    -------
    A mechanism that is e-DP is (e**2 / 2)-zCDP (Bun & Steinke 2016, proposition 1.4). If the logarithms of
    the ratios of all its outcomes lie within an interval as long as e it is (e**2 / 8)-zCDP (Cesar & Rogers
    2021, lemma 3.4): for the weights exp(rate * score) it is rate times the range of the score.
    Permute-and-flip has no such bound. These costs add up (lemma 1.7).
    """

    mechanism: str
    losses: tuple[Fraction, ...]
    bounded: bool = False

    @property
    def nano(self) -> int:
        """Epsilon in units of 1e-9, rounded up."""
        return -int(-sum(self.losses) * UNIT // 1)

    @property
    def rho(self) -> Fraction:
        return sum((loss**2 for loss in self.losses), Fraction(0)) / (8 if self.bounded else 2)


class Asked(Protocol):
    """A question or a fit."""

    def words(self) -> str: ...

    def uses(self, terms: Terms) -> Sequence[Used]:
        """For each cell, or once for all of them, what the mechanisms use."""
        ...


@dataclass(frozen=True)
class _Line:
    level: int
    question: str
    mechanism: str
    nano: int
    queries: int
    rho: Fraction

    @classmethod
    def of(cls, level: int, question: str, used: Used) -> _Line:
        return cls(level, question, used.mechanism, used.nano, len(used.losses), used.rho)

    def and_then(self, other: _Line) -> _Line | None:
        """Both as one line, if they are equal but for a unit that epsilon could not be divided by."""
        mine, its = self.nano / self.queries, other.nano / other.queries
        same = (self.level, self.question, self.mechanism)
        if same != (other.level, other.question, other.mechanism) or abs(mine - its) > 1:
            return None
        return _Line(*same, self.nano + other.nano, self.queries + other.queries, self.rho + other.rho)


_Part = tuple["_Line | _Parts", ...]


@dataclass(frozen=True)
class _Parts:
    """Disjoint parts of what they are in."""

    parts: tuple[_Part, ...]


@dataclass
class _Node:
    """Releases in sequence, and the partitions of the same records."""

    lines: list[_Line | str] = field(default_factory=list)  # or the name of a partition, once
    partitions: dict[str, dict[str, _Node]] = field(default_factory=dict)

    def at(self, trail: Trail) -> _Node:
        node = self
        for name, part in zip(trail[::2], trail[1::2], strict=True):
            if name not in node.partitions:
                node.partitions[name] = {}
                node.lines.append(name)
            node = node.partitions[name].setdefault(part, _Node())
        return node

    def folded(self) -> _Part:
        """The same without parts that are equal: of these one stands for all."""
        sequence: list[_Line | _Parts] = []
        for line in self.lines:
            if isinstance(line, _Line):
                more: _Part = (line,)
            else:
                parts = dict.fromkeys(part.folded() for part in self.partitions[line].values())
                (*several,) = (part for part in parts if part)
                more = several[0] if len(several) == 1 else (_Parts(tuple(several)),)
                more = more if several else ()
            for entry in more:
                last = sequence[-1] if sequence else None
                both = last.and_then(entry) if isinstance(last, _Line) and isinstance(entry, _Line) else None
                if both is None:
                    sequence.append(entry)
                else:
                    sequence[-1] = both
        return tuple(sequence)


class Transcript:
    """All releases that one reservation paid for.

    Parameters
    ----------
    charged
        What was reserved.
    scope
        The scope that it was reserved for: what is spent below it is spent on parts.
    """

    def __init__(self, charged: Epsilon, scope: Scope) -> None:
        self.charged, self._above = charged, len(scope.path)
        self._root, self._paths = _Node(), 0
        self._lock = threading.Lock()

    def trail(self, scope: Scope) -> Trail:
        """Where in the reservation a scope spends."""
        return scope.path[self._above :]

    def paths(self, scope: Scope) -> Trail:
        """A place of its own for cells that will each spend as they like."""
        with self._lock:
            self._paths += 1
            return (*self.trail(scope), f"paths {self._paths}", "all")

    def write(self, asked: Asked, terms: Terms, cells: Cells, trail: Trail) -> None:
        """Write a release to disjoint cells that paid for it together: the dearest of them counts."""
        dearest = max(asked.uses(terms), key=lambda used: (used.nano, used.rho))
        with self._lock:
            self._root.at(trail).lines.append(_Line.of(depth_of(cells), asked.words(), dearest))

    def write_each(self, asked: Asked, terms: Terms, cells: Cells, trails: Sequence[Trail]) -> list[Trail]:
        """Write a release to cells that paid for themselves; where each of them goes on from there.

        Cells that had the same before and have the same now are one part.
        """
        level, question, uses = depth_of(cells), asked.words(), asked.uses(terms)
        below_each = []
        for i, trail in enumerate(trails):
            line = _Line.of(level, question, uses[i if len(uses) > 1 else 0])
            below = (*trail, "below", repr(line))
            with self._lock:
                node = self._root.at(below)
                if not node.lines:
                    node.lines.append(line)
            below_each.append(below)
        return below_each

    def lines(self) -> tuple[PlanLine, ...]:
        """What was released, in order, for a certificate."""
        return tuple(_numbered(self._root.folded(), ()))


def _numbered(part: _Part, within: tuple[int, ...]) -> Iterator[PlanLine]:
    partitions = 0
    for one in part:
        if isinstance(one, _Line):
            epsilon = str(Epsilon(one.nano))
            yield PlanLine(one.level, one.question, one.mechanism, epsilon, one.queries, within, str(one.rho))
            continue
        partitions += 1
        for number, own in enumerate(one.parts, 1):
            yield from _numbered(own, (*within, partitions, number))


def depth_of(cells: Cells) -> int:
    """How many splits lead to the deepest cell."""
    heights = [0] * len(cells.nodes)
    for at in range(len(cells.nodes) - 1, -1, -1):
        targets = [target for target in targets_of(cells.nodes[at]) if target != OUTSIDE]
        heights[at] = 1 + max((heights[t] if t >= 0 else 0 for t in targets), default=-1)
    return heights[0] if heights else 0
