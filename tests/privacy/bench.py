"""An account of its own: what every release could tell about every person there could be.

The executor is watched where it draws. For each draw the account keeps the question, the moment whose
rows were read and what the noise provider was told. From these it works out what any raw row, in the
table or not, would have changed. It knows nothing of scopes, parts, plans or the ledger.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import product

import numpy as np

from bocage.engine.reference import ReferenceEngine
from bocage.engine.versions import EngineProxy
from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.plan import Question
from bocage.private.choose import Choose
from bocage.private.count import Count
from bocage.private.executor import LiveExecutor
from bocage.private.query import Place, Query
from bocage.schema import Schema

RAW = {"k": ("a", "b", "c", "z"), "n": (0, 1, 3), "y": ("no", "yes")}
EVERY_ROW = tuple(product(*RAW.values()))


class Crash(RuntimeError):
    """What a machine, a disk or a database may do in the middle of a question."""


class Source:
    """Raw rows that their owner changes. Without a version they may have changed at any moment."""

    def __init__(self, rows, *, moving=False):
        self.rows, self.moving = tuple(rows), moving
        self.clock, self.breaks = 0, False

    @property
    def moment(self):
        """Within it, everybody has the same row."""
        return (self.clock if self.moving else None, self.rows)


class Watched(EngineProxy):
    """An engine on a source, as it is now or as it was at a moment: the reference, made anew."""

    def __init__(self, source, schema, pinned=None):
        self.source, self.pinned, self.schema, self.name = source, pinned, schema, "watched"

    @property
    def moment(self):
        return self.pinned or self.source.moment

    @property
    def _engine(self):
        return engine_on(self.moment[1], self.schema)

    @property
    def version(self):
        rows = repr(self.moment[1])
        return None if self.source.moving else sha256(rows.encode()).hexdigest()

    def pin(self):
        return Watched(self.source, self.schema, self.moment)

    def answer(self, questions):
        if self.source.breaks:
            self.source.breaks = False
            raise Crash
        return super().answer(questions)

    def close(self):
        """Nothing is open."""


def engine_on(rows, schema):
    return ReferenceEngine({name: [row[i] for row in rows] for i, name in enumerate(RAW)}, schema)


def moment_of(engine):
    """The moment that an engine reads, whatever stands before it."""
    while not isinstance(engine, Watched):
        engine = engine._engine
    return engine.moment


class WatchedNoise(SystemNoise):
    """Keeps what it was told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def laplace(self, scale, size):
        self.told.append(("laplace", scale))
        return super().laplace(scale, size)

    def select(self, contests, selection):
        self.told += [("select", contest.rate) for contest in contests]
        return super().select(contests, selection)

    def perturb(self, bodies):
        self.told.append(("perturb", tuple(bodies)))
        return super().perturb(bodies)

    def draw_by_rejection(self, proposal, rate, total):
        raise AssertionError("no whole model is drawn on the bench")


@dataclass(frozen=True)
class Counted:
    """What each row is counted in, and nobody, who comes first: a line for each of them."""

    where: tuple[tuple[int, int, int, int], ...]  # question, cell, code, label
    matrix: np.ndarray

    def distances(self, keep=lambda at: True):
        """By how much two rows differ in what is kept, added up over all counts."""
        own = self.matrix[:, [keep(at) for at in self.where]]
        return np.abs(own[:, None] - own[None, :]).sum(axis=2)


@cache
def counted(schema, questions, codes):
    """Found by the reference, on each row alone."""
    lines = [set()]
    for row in EVERY_ROW:
        lines.append(set())
        for i, tally in enumerate(engine_on((row,), schema).answer(list(questions))):
            for cell, label in zip(*tally.totals.nonzero(), strict=True):
                counts = [c[cell, :, label].argmax() for c in tally.columns.values()] if codes else []
                lines[-1].add((i, int(cell), int(counts[0]) if counts else 0, int(label)))
    where = tuple(sorted(set().union(*lines)))
    return Counted(where, np.array([[at in line for at in where] for line in lines], float))


@dataclass(frozen=True)
class Draw:
    """One draw: what was asked of which moment, and what the noise provider was told."""

    schema: Schema
    query: Query
    place: Place
    told: tuple

    def losses(self):
        """How far the log odds of what is released move, at most, from one row to another."""
        questions = tuple(self.query.questions(self.place))
        found = counted(self.schema, questions, not isinstance(self.query, Count))
        apart = found.distances()
        lost, selections = np.zeros(apart.shape), 0
        for how, amount in self.told:
            if how == "laplace":
                lost += apart / float(amount)
            elif how == "select":
                cells = found.matrix[:, [at[1] == selections for at in found.where]].any(axis=1)
                lost += (cells[:, None] * 1.0 + cells) * (apart > 0) * float(amount * self._range)
                selections += 1
            else:
                lost += sum(self._agreeing(label, body, found) for label, body in enumerate(amount))
        return lost

    @property
    def _range(self):
        return self.query.criterion.range(self.schema) if isinstance(self.query, Choose) else 1

    def _agreeing(self, label, body, found):
        """Noise on tables of one sum: a row must move the sum of all of them, or of none."""
        tables = range(len(self.query.routers))
        assert len(body.sizes) == len(tables), "the bench asks for tables of similar size"
        spare = sum(body.sizes) - sum(router.count for router in self.query.routers)
        each = [found.distances(lambda at, i=i: at[0] == i and at[3] == label) for i in tables]
        moved = sum(one[0] > 0 for one in each)
        uneven = (moved > 0) & (len(tables) - moved > spare)
        lost = np.max(each, axis=0) * float(body.rate)
        lost[uneven] = lost[:, uneven] = np.inf
        return lost


@dataclass(frozen=True)
class Reserved:
    """What was set aside for the rows of a place, and may yet be released about them."""

    schema: Schema
    epsilon: Epsilon
    place: Place

    def losses(self):
        questions = (Question(self.place.cells, self.place.where),)
        inside = counted(self.schema, questions, codes=False).matrix.any(axis=1)
        lost = (inside[:, None] * 0.5 + inside * 0.5) * float(self.epsilon)  # replaced: half for each
        lost[0] *= 2
        return lost


class Book:
    """What all draws tell, by analyst and moment; those of one reservation together."""

    def __init__(self):
        self._told = defaultdict(lambda: defaultdict(dict))
        self.reserved, self.kept = {}, []

    def enter(self, analyst, moment, draw, reservation=None):
        own = self._told[analyst][moment]
        own[reservation] = own.get(reservation, 0) + draw.losses()

    def reserve(self, analyst, moment, reservation, reserved):
        self._told[analyst][moment].setdefault(reservation, 0)
        self.reserved[moment, reservation] = reserved.losses()

    def loss(self, adjacency, *analysts):
        """What is known, or may become known, about the person it says most about.

        A person has one row at a moment, and any row at another.
        """
        own = [self._told[analyst] for analyst in analysts]
        moments = {moment for one in own for moment in one}
        return sum(
            _worst(
                adjacency,
                sum(
                    np.maximum(told, self.reserved.get((moment, reservation), 0))
                    for one in own
                    for reservation, told in one.get(moment, {}).items()
                ),
            )
            for moment in moments
        )


def _worst(adjacency, losses):
    among = losses[0] if adjacency is Adjacency.ADD_REMOVE else losses[1:, 1:]
    return float(among.max())


@dataclass(frozen=True)
class WatchedExecutor(LiveExecutor):
    """Enters every draw and every reservation in the book of the bench."""

    book: Book = field(default=None, kw_only=True, compare=False, repr=False)
    analyst: str = field(default="", kw_only=True)

    def pin(self, account, place, *, named=True):
        self.book.place = place
        return super().pin(account, place, named=named)

    def __post_init__(self):
        if self.transcript is not None:
            self.book.kept.append(self.transcript)  # its id is nobody else's while it is there
            reserved = Reserved(self.terms.schema, self.transcript.charged, self.book.place)
            self.book.reserve(self.analyst, moment_of(self.engine), id(self.transcript), reserved)

    def _shielded(self, query, place, finish, engine=None):
        before, moment = len(self.noise.told), moment_of(engine or self.engine)
        reservation = None if self.transcript is None else id(self.transcript)
        try:
            return super()._shielded(query, place, finish, engine)
        finally:
            if told := tuple(self.noise.told[before:]):
                draw = Draw(self.terms.schema, query, place, told)
                self.book.enter(self.analyst, moment, draw, reservation)
