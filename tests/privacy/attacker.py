"""An analyst who tries everything, as a state machine of Hypothesis.

It plays every public operation on a table of a few rows, and the owner, who changes rows and schema,
reopens the table and restarts the machine. `bench` keeps an account of its own of what was released
about whom; the ledger must never be below it.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from bocage.accounting import LedgerAccount, Scope, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import BocageError, LedgerError
from bocage.learners import DPDF, DiffPID3, PrivateID3, RandomTrees, SulqID3
from bocage.mechanisms import Adjacency, Selection
from bocage.plan import OUTSIDE, Branch, Cells
from bocage.private.choose import Mode
from bocage.private.count import Count, Counts
from bocage.private.owner import Declared, ProtectedTable
from bocage.private.query import Terms
from bocage.private.table import PrivateTable
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.tables.ensemble import Ensemble
from bocage.schema import Schema
from privacy.bench import EVERY_ROW, Book, Source, Watched, WatchedExecutor, WatchedNoise

DOCUMENT = {
    "name": "t",
    "row_cap": 20,
    "attributes": [
        {"name": "k", "type": "categorical", "values": ["a", "b", "c"], "outside": "b"},
        {"name": "n", "type": "numeric", "lower": 0, "upper": 4, "step": 1},
    ],
    "target": {"name": "y", "values": ["no", "yes"]},
}


def schema(at=None, **facts):
    document = {**DOCUMENT, "attributes": [dict(one) for one in DOCUMENT["attributes"]]}
    (document if at is None else document["attributes"][at]).update(facts)
    return Schema.from_dict(document)


SCHEMAS = [
    schema(),
    schema(0, values=["b", "a", "c"]),
    schema(1, upper=4, step=2),
]
LEARNERS = [
    DiffPID3(depth=1, criterion="max"),
    SulqID3(depth=1),
    PrivateID3(depth=1),
    DPDF(depth=2, trees=1, support=1),
    RandomTrees(trees=2, height=1, rows=8),
]
SLACK = 1e-9  # of floating-point sums
EPSILONS = st.sampled_from(["0.1", "0.3", "1"])
PLACES = st.integers(0, 2)
ANALYSTS = st.sampled_from(["ann", "ann", "bob"])
KINDS = st.sampled_from(["count", "counts", "mode", "choose"])
MOST = Epsilon.of(100_000)
WHERES = [
    "k = 'a'",
    "k = 'b'",
    "n < 2",
    "n >= 2",
    "k = 'a' or n < 2",
    "y = 'yes'",
    "k = 'a' and k = 'b'",
]
COLUMNS = [
    {"by": "k"},
    {"by": "k", "values": ["a"]},
    {"by": "k", "values": ["b", "a"]},
    {"by": "y"},
    {"by": "n"},
    {"by": "n", "edges": [2]},
    {"by": "n", "edges": [1, 3]},
]
ROUTERS = [
    Cells((Branch("k", (~0, ~1, ~2)),), 3),
    Cells((Branch("k", (~2, ~0, ~1)),), 3),
    Cells((Branch("k", (~0, ~1, OUTSIDE)),), 2),
    Cells((Branch("y", (~0, ~1)),), 2),
]
NAMES = st.sampled_from(["a", "b", "c", "x" * 90, "k = 'a'", "0", "1"])
EVERYBODY = st.sampled_from(EVERY_ROW)
ROWS = st.lists(EVERYBODY, min_size=0, max_size=6).map(sorted)


@dataclass(frozen=True)
class Leaves:
    """Whatever has cells, and any names for them."""

    cells: Cells
    leaf_names: tuple


class Reopened:
    """An account in the ledger of a bench, however often that was opened."""

    def __init__(self, bench, scope):
        self.bench, self.scope = bench, scope

    def __getattr__(self, name):
        return getattr(LedgerAccount(self.bench.ledger, self.scope), name)


LEAVES = st.builds(
    lambda cells, *names: {"by": Leaves(cells, names[: cells.count])},
    st.sampled_from(ROUTERS),
    NAMES,
    NAMES,
    NAMES,
)
HOW = st.sampled_from(COLUMNS) | LEAVES


class Bench(RuleBasedStateMachine):
    tables, partitions, levels = Bundle("tables"), Bundle("partitions"), Bundle("levels")

    def __init__(self):
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.book, self.noise = Book(), WatchedNoise()
        self.adjacency = Adjacency.ADD_REMOVE
        self.ledger = open_ledger(self.place / "ledger", create=True)

    def teardown(self):
        self.ledger.close()
        shutil.rmtree(self.place)

    # The owner

    @initialize(
        target=tables,
        rows=ROWS,
        moving=st.sampled_from([False, False, True]),
        adjacency=st.sampled_from(Adjacency),
    )
    def begin(self, rows, moving, adjacency):
        self.source, self.adjacency = Source(rows, moving=moving), adjacency
        return multiple(*(self.change_the_schema(one, "ann") for one in SCHEMAS))

    def _open(self, one, adjacency):
        executor = WatchedExecutor(Terms(one, adjacency), Watched(self.source, one), self.noise, book=self.book)
        return ProtectedTable(executor, self.ledger, MOST)

    @rule(one=st.sampled_from(SCHEMAS), name=ANALYSTS, target=tables)
    def change_the_schema(self, one, name):
        self.opened = self._open(one, self.adjacency)
        return self.begin_to_ask(name)

    @rule(at=st.integers(0, 5), row=EVERYBODY)
    def move_a_person(self, at, row):
        rows = [*self.source.rows, row]
        rows[at % len(rows)] = row
        self.source.rows = tuple(rows)

    @rule(what=st.sampled_from(["breaks", "restarts", "other neighbors"]))
    def something_else_happens(self, what):
        if what == "breaks":
            self.source.breaks = True
        elif what == "restarts":
            self.ledger.close()
            self.ledger = open_ledger(self.place / "ledger")
            self.opened = self._open(SCHEMAS[0], self.adjacency)
        else:
            other = next(kind for kind in Adjacency if kind is not self.adjacency)
            with suppress(LedgerError):
                self.opened, self.adjacency = self._open(SCHEMAS[0], other), other

    # The analyst

    @rule(target=tables, name=ANALYSTS)
    def come(self, name):
        return self.begin_to_ask(name)

    def begin_to_ask(self, name):
        table = self.opened.analyst(name, MOST)
        terms, scope = table._executor.terms, table._account.scope

        def declare(version):  # to the ledger as it is open now
            Declared(self.ledger, Scope(scope.path[:1]), terms)(version)

        watched = replace(table._executor, analyst=name, declare=declare)
        return PrivateTable(watched, Reopened(self, scope), table._place)

    def _try(self, one, work):
        """Let the analyst do something; what is refused, or fails, is none of our business here."""
        self.source.clock += 1
        with suppress(BocageError):
            return one and work(one)
        return None

    @rule(target=tables, table=tables, where=st.sampled_from(WHERES))
    def filter(self, table, where):
        return self._try(table, lambda one: one.where(where))

    @rule(target=partitions, table=tables | partitions, how=HOW)
    def partition(self, table, how):
        return self._try(table, lambda one: one.partition(**how))

    @rule(
        target=partitions,
        partition=partitions,
        split=st.sampled_from([("k", None), ("n", 2), ("n", 1)]),
    )
    def split(self, partition, split):
        return self._try(partition, lambda one: one.split(dict.fromkeys(range(len(one)), split)))

    @rule(target=tables, partition=partitions, at=st.integers(0, 9))
    def part(self, partition, at):
        return self._try(partition, lambda one: one[list(one)[at % len(one)]])

    @rule(one=tables, other=tables, how=HOW, at=PLACES, then=PLACES, row=EVERYBODY | st.none())
    def ask_two_parts(self, one, other, how, at, then, row):  # noqa: PLR0917 - Hypothesis names them all
        self.ask_a_part(one, how, at, "count")
        if row is not None:
            self.move_a_person(at, row)
        if isinstance(how["by"], Leaves):  # by other names
            first, *rest = how["by"].leaf_names
            how = {"by": replace(how["by"], leaf_names=(*rest, first))}
        self.ask_a_part(other, how, then, "count")

    @rule(table=tables, how=HOW, at=PLACES, kind=KINDS)
    def ask_a_part(self, table, how, at, kind):
        self.ask(self.part(self.partition(table, how), at), kind, "5", fresh=True)

    @rule(asked=tables | partitions, kind=KINDS, epsilon=EPSILONS, fresh=st.booleans())
    def ask(self, asked, kind, epsilon, fresh):
        ways = {
            "count": lambda one: one.noisy_count(epsilon, fresh=fresh),
            "counts": lambda one: one.noisy_counts("k", epsilon, fresh=fresh),
            "mode": lambda one: one.noisy_mode("k", epsilon, fresh=fresh),
            "choose": lambda one: one.choose(["k"], "max", epsilon, fresh=fresh),
        }
        self._try(asked, ways[kind])

    @rule(table=tables, epsilon=EPSILONS)
    def preview(self, table, epsilon):
        before = self._spent()
        self._try(table, lambda one: one.preview().noisy_count(epsilon))
        assert self._spent() == before

    @rule(
        table=tables,
        key=st.sampled_from(["one", "two"]),
        router=st.sampled_from(ROUTERS),
        fails=st.booleans(),
    )
    def release_once(self, table, key, router, fails):
        def finish(counts, _):
            if fails:
                raise LedgerError("whatever the caller's code may raise")
            return repr(counts).encode()

        query = Ensemble((router,), "y", Epsilon.of("0.3"))
        self._try(table, lambda one: one.once(key, query, {"ask": "a release"}, finish))

    @rule(table=tables, learner=st.sampled_from(LEARNERS), epsilon=EPSILONS)
    def learn(self, table, learner, epsilon):
        self._try(table, lambda one: learner.fit(one, epsilon))

    # A learner of the analyst's own

    @rule(target=levels, table=tables)
    def reserve(self, table):
        return self._try(table, lambda one: one.reserve("1", "a learner"))

    @rule(level=levels, kind=KINDS, epsilon=EPSILONS)
    def ask_a_level(self, level, kind, epsilon):
        amount = Epsilon.of(epsilon)
        ways = {
            "count": Count(amount),
            "counts": Counts(("k",), amount),
            "mode": Mode("y", Selection.EXPONENTIAL, amount),
            "choose": Mode("k", Selection.PERMUTE_AND_FLIP, amount),
        }
        self._try(level, lambda one: one.ask(ways[kind]))

    @rule(
        level=levels,
        routers=st.lists(st.sampled_from(ROUTERS), min_size=1, max_size=3),
        agree=st.booleans(),
    )
    def ask_tables(self, level, routers, agree):
        kind = ConsistentCounts if agree else Ensemble
        query = kind(tuple(routers), "y", Epsilon.of("0.1"))
        self._try(level, lambda one: one.ask(query))

    @rule(target=levels, level=levels, by=st.sampled_from([("k", None), ("n", 2)]))
    def split_a_level(self, level, by):
        return self._try(level, lambda one: one.split([by] * len(one)))

    @rule(
        target=levels,
        level=levels,
        turn=st.booleans(),
        names=st.permutations("xy"),
        which=st.sampled_from("xy"),
    )
    def group(self, level, turn, names, which):
        def grouped(one):
            cells = list(range(len(one)))
            runs = [cells[::2], cells[1::2]] if turn else [cells[:1], cells[1:]]
            return one.group(dict(zip(names, runs, strict=True))).get(which)

        return self._try(level, grouped)

    @rule(level=levels, turn=st.booleans(), names=st.permutations("xy"), which=st.booleans())
    def ask_a_group_by_two_names(self, level, turn, names, which):
        halves = self.split_a_level(level, ("k", None))
        for called in (names, names[::-1]):
            self.ask_a_level(self.group(halves, turn, called, called[which]), "count", "1")

    # The books

    def _spent(self, *name):
        scope = self.ledger.table("t", MOST)
        return self.ledger.spent(scope.analyst(*name) if name else scope)

    @invariant()
    def nobody_was_told_more_than_was_charged(self):
        for names in (("ann",), ("bob",), ("ann", "bob")):
            charged = self._spent(*names) if len(names) == 1 else self._spent()
            lost = self.book.loss(self.adjacency, *names)
            assert lost <= float(charged) + SLACK, f"a loss of {lost}, and {charged} was charged"


def search(examples, steps=40, **more):
    run_state_machine_as_test(
        Bench,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            **more,
        ),
    )
