"""What is charged is drawn once, and kept before code of the caller runs."""

from __future__ import annotations

import pytest

from bocage.accounting import LedgerAccount, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError
from bocage.learners import DiffPID3
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.plan import Cells, Cut
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.private.tables.ensemble import Ensemble
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "t",
    (Numeric("n", lower=0, upper=3, step=1), Categorical("k", ("a", "b"))),
    label=Categorical("y", ("no", "yes")),
    row_cap=100,
)
ROWS = {"n": [0, 1, 2, 3], "k": ["a", "b", "a", "b"], "y": ["no", "yes", "no", "no"]}
QUERY = Ensemble((Cells((Cut("n", 2, ~0, ~1),), 2),), "y", Epsilon.of(1))


class Counting(SystemNoise):
    """Noise that counts how often it is drawn."""

    drawn = 0

    def laplace(self, scale, size):
        self.drawn += 1
        return super().laplace(scale, size)


class Broken(Exception):
    """Whatever code of the caller raises."""


@pytest.fixture
def opened(tmp_path, engine_of):
    """The table of an analyst, its noise and its ledger."""
    with open_ledger(tmp_path / "ledger", create=True) as ledger:
        scope = ledger.analyst(ledger.table("t", Epsilon.of(9)), "ann", Epsilon.of(9))
        noise = Counting()
        executor = LiveExecutor(Terms(SCHEMA, Adjacency.ADD_REMOVE), engine_of(ROWS, SCHEMA), noise)
        yield PrivateTable(executor, LedgerAccount(ledger, scope), WHOLE), noise, ledger


@pytest.fixture
def engine_of():
    from bocage.engine.memory import MemoryEngine

    return MemoryEngine


def charges(ledger):
    return sum(entry.action == "charge" for entry in ledger.entries())


@pytest.mark.parametrize("failure", [Broken, KeyboardInterrupt, SystemExit, MemoryError])
def test_a_callback_that_fails_sees_the_same_draw_again(opened, failure):
    table, noise, ledger = opened
    seen = []

    def fail(counts, entry):
        seen.append([counts[0].tolist(), entry])
        raise failure

    for _ in range(4):
        with pytest.raises(failure):
            table.once("key", QUERY, {"ask": "a release"}, fail)
    kept = table.once("key", QUERY, {"ask": "a release"}, lambda counts, _: repr(counts[0].tolist()).encode())
    assert [seen[0]] * 4 == seen
    assert kept.decode() == repr(seen[0][0])
    assert noise.drawn == charges(ledger) == 1
    assert str(table.spent()) == "1"


def test_another_question_under_a_key_that_was_charged_is_refused(opened):
    table, noise, ledger = opened

    def fail(counts, entry):
        raise Broken

    with pytest.raises(Broken):
        table.once("key", QUERY, {"ask": "a release"}, fail)
    other = Ensemble((Cells((Cut("n", 1, ~0, ~1),), 2),), "y", Epsilon.of(1))
    with pytest.raises(LedgerError):
        table.once("key", other, {"ask": "a release"}, lambda counts, _: b"")
    assert noise.drawn == charges(ledger) == 1


def test_what_is_kept_comes_back_and_no_callback_runs(opened):
    table, noise, _ = opened
    first = table.once("key", QUERY, {"ask": "a release"}, lambda counts, _: repr(counts).encode())
    assert table.once("key", QUERY, {"ask": "a release"}, lambda counts, _: b"something else") == first
    assert noise.drawn == 1


def test_a_learner_whose_progress_fails_is_charged_again_for_new_draws(opened):
    table, _, ledger = opened
    learner, levels = DiffPID3(depth=2, attributes=("k",)), []
    learner.fit(table, 1, lambda done, of: levels.append((done, of)))
    assert levels
    for fits, level in enumerate(levels, 2):

        def told(*now, level=level):
            if now == level:
                raise Broken

        with pytest.raises(Broken):
            learner.fit(table, 1, told)
        assert charges(ledger) == fits


class Interrupted(LedgerAccount):
    """An account that runs somebody's code right after a charge, as a service does."""

    fails = True

    def charge(self, epsilon, memo, request=None):
        number = super().charge(epsilon, memo, request)
        if self.fails:
            raise Broken
        return number


def test_code_that_fails_after_a_charge_leaves_nothing_drawn(opened):
    table, noise, ledger = opened
    account = Interrupted(ledger, table._account.scope)
    mine = PrivateTable(table._executor, account, WHOLE)
    for ask in (
        lambda: mine.noisy_count(1),
        lambda: mine.reserve(1, "a tree"),
        lambda: mine.once("key", QUERY, {"ask": "a release"}, lambda counts, _: b""),
    ):
        with pytest.raises(Broken):
            ask()
    assert (noise.drawn, charges(ledger)) == (0, 3)
    account.fails = False
    mine.once("key", QUERY, {"ask": "a release"}, lambda counts, _: b"kept")  # what was paid is finished
    assert (noise.drawn, charges(ledger)) == (1, 3)
