"""Threads that charge at once share a commit: as exact as one after another, only sooner done."""

from __future__ import annotations

import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bocage.accounting import chain, open_ledger
from bocage.accounting.algebra import Action
from bocage.accounting.entry import Entry
from bocage.accounting.sqlite_ledger import SQLiteLedger
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, LedgerBusy, LedgerError
from bocage.storage import Change, group_commit
from servers import wait_until

ONE = Epsilon.of("0.001")


class Watched(SQLiteLedger):
    """Counts commits, and holds or breaks them at will."""

    def __init__(self, path):
        self.begun, self.commits, self.broken = 0, 0, False
        self.gate, self.committing = threading.Event(), threading.Event()
        self.gate.set()
        super().__init__(path, timeout_seconds=60)

    def run(self, connection, sql, values):
        self.begun += sql == self.begin_write
        if sql == "COMMIT":
            self.committing.set()
            self.gate.wait()
            self.commits += 1
            if self.broken and self.commits > 1:
                raise sqlite3.OperationalError("disk I/O error")
        return super().run(connection, sql, values)


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True) as made:
        secret = made._store.secret
        made._store.close()
        made._store = Watched(tmp_path / "ledger.db")
        made._store.secret = secret
        yield made


@pytest.fixture
def ann(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(1)), "ann", Epsilon.of("0.1"))


def held(ledger, threads, work):
    """Let threads work while the first commit is held, so that the others gather behind it."""
    store = ledger._store
    store.gate.clear()
    store.committing.clear()
    with ThreadPoolExecutor(threads) as pool:
        first = pool.submit(work, 0)
        store.committing.wait()
        others = [pool.submit(work, i) for i in range(1, threads)]
        wait_until(lambda: len(store._writers._queue) == threads - 1, seconds=60)
        store.commits = store.begun = 0
        store.gate.set()
        return [one.exception() or one.result() for one in (first, *others)]


def test_those_who_come_while_another_commits_share_the_next_commit(ledger, ann):
    entries = held(ledger, 20, lambda i: ledger.charge(ann, ONE, f"question {i}"))
    assert ledger._store.commits == 2  # the first alone, then the nineteen together
    first = entries[0].number
    assert sorted(entry.number for entry in entries) == [*range(first, first + 20)]
    assert ledger.spent(ann) == ONE * 20
    assert ledger.verify().ok


def test_one_who_is_refused_fails_alone(ledger, ann):
    def work(i):
        return ledger.charge(ann, Epsilon.of("0.2") if i % 2 else ONE, f"question {i}")

    outcomes = held(ledger, 20, work)
    assert [isinstance(one, BudgetExceeded) for one in outcomes] == [False, True] * 10
    assert ledger.spent(ann) == ONE * 10
    assert ledger.verify().ok


def test_the_cap_holds_however_many_ask_at_once(ledger, ann):
    def work(_):
        try:
            ledger.charge(ann, ONE, "question")
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(32) as pool:
        accepted = sum(pool.map(work, range(160)))
    assert accepted == 100
    assert ledger.spent(ann) == Epsilon.of("0.1")
    assert ledger.verify().ok


def test_the_same_request_at_once_is_charged_once(ledger, ann):
    entries = held(ledger, 10, lambda _: ledger.charge(ann, ONE, "question", "key"))
    assert len({entry.number for entry in entries}) == 1
    assert ledger.spent(ann) == ONE


def test_a_commit_that_fails_fails_for_all_who_share_it(ledger, ann):
    ledger._store.broken = True  # from the second commit on
    outcomes = held(ledger, 8, lambda i: ledger.charge(ann, ONE, f"question {i}"))
    ledger._store.broken = False
    assert not isinstance(outcomes[0], LedgerError)
    assert all(isinstance(one, LedgerError) for one in outcomes[1:])
    assert ledger.spent(ann) == ONE
    ledger.charge(ann, ONE, "afterwards")
    assert ledger.verify().ok


def test_who_shares_a_commit_that_was_interrupted_hears_that_the_charge_may_stand(ledger, ann, monkeypatch):
    run = Watched.run

    def interrupted(store, connection, sql, values):
        found = run(store, connection, sql, values)
        if sql == "COMMIT" and store.commits == 2:
            raise KeyboardInterrupt  # it is durable, and nobody has heard of it
        return found

    monkeypatch.setattr(Watched, "run", interrupted)
    outcomes = held(ledger, 4, lambda i: ledger.charge(ann, ONE, f"question {i}"))
    monkeypatch.undo()
    told = [str(one) for one in outcomes if isinstance(one, LedgerError)]
    assert len(told) == 2  # the first was done before, and one was interrupted itself
    assert all("may stand" in text and "damaged" not in text for text in told)
    assert ledger.spent(ann) == ONE * 4


def test_a_statement_that_fails_is_taken_back_alone(ledger, ann):
    def work(i):
        if i != 3:
            return ledger.charge(ann, ONE, f"question {i}")
        with ledger._store.write() as run:
            run("INSERT INTO nowhere VALUES (1)")
        return None

    outcomes = held(ledger, 6, work)
    assert [isinstance(one, LedgerError) for one in outcomes] == [i == 3 for i in range(6)]
    assert ledger.spent(ann) == ONE * 5


def test_who_waits_too_long_for_other_threads_is_told(ledger, ann):
    ledger._store.timeout_seconds = 0.1
    ledger._store.gate.clear()
    ledger._store.committing.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ledger.charge, ann, ONE, "first")
        ledger._store.committing.wait()
        late = pool.submit(ledger.charge, ann, ONE, "late")
        assert isinstance(late.exception(), LedgerBusy)
        ledger._store.gate.set()
        first.result()
    assert ledger.spent(ann) == ONE


def test_those_who_are_refused_do_not_keep_the_others_waiting(ledger, ann, monkeypatch):
    monkeypatch.setattr(group_commit, "MOST_TOGETHER", 5)

    def work(i):
        return ledger.charge(ann, ONE if i % 5 == 0 else Epsilon.of("0.2"), f"question {i}")

    outcomes = held(ledger, 21, work)
    assert [isinstance(one, BudgetExceeded) for one in outcomes] == [i % 5 > 0 for i in range(21)]
    assert ledger._store.begun == 4  # after the first, five turns at a time
    assert ledger.spent(ann) == ONE * 5


def test_who_fails_after_writing_is_taken_back_and_the_others_stand(ledger, ann):
    def spends_and_stumbles(run):
        chain.append(run, Action.CHARGE, ann, Epsilon.of("0.09"))
        raise ValueError("stumbled")

    def work(i):
        if i in {2, 5}:
            return ledger._store.do(spends_and_stumbles)
        return ledger.charge(ann, ONE * 2, f"question {i}", f"key {i}")

    outcomes = held(ledger, 8, work)
    assert [isinstance(one, ValueError) for one in outcomes] == [i in {2, 5} for i in range(8)]
    charged = [one for one in outcomes if not isinstance(one, ValueError)]
    first = charged[0].number
    assert sorted(entry.number for entry in charged) == [*range(first, first + 6)]
    assert not any(entry.repeated for entry in charged)
    assert ledger.spent(ann) == ONE * 12
    assert ledger.verify().ok


def test_if_the_one_who_writes_for_all_is_interrupted_nobody_is_charged_or_stranded(ledger, ann):
    def interrupts(run):
        raise KeyboardInterrupt

    def work(i):
        if i == 3:
            return ledger._store.do(interrupts)
        return ledger.charge(ann, ONE, f"question {i}")

    outcomes = held(ledger, 6, work)
    assert sum(isinstance(one, KeyboardInterrupt) for one in outcomes) == 1
    told = [str(one) for one in outcomes if isinstance(one, LedgerBusy)]
    stand = [one for one in outcomes if isinstance(one, Entry)]
    assert all("Nothing was charged" in text for text in told)
    assert len(told) + len(stand) + 1 == 6
    assert told
    assert ledger.spent(ann) == ONE * len(stand)
    ledger.charge(ann, ONE, "afterwards")
    assert ledger.verify().ok


@pytest.fixture
def interruptible():
    """A program that was started in the background ignores the signal, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_one_who_gives_up_waiting_is_not_charged(ledger, ann):
    """A signal reaches the main thread while it waits for its turn."""
    store = ledger._store
    store.gate.clear()
    store.committing.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ledger.charge, ann, ONE, "first")
        store.committing.wait()

        def interrupt():
            wait_until(lambda: len(store._writers._queue) == 1, seconds=60)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        sent = pool.submit(interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                ledger.charge(ann, ONE, "given up")
        finally:
            store.gate.set()
        sent.result()
        first.result()
    assert ledger.spent(ann) == ONE
    assert not store._writers._queue
    ledger.charge(ann, ONE, "afterwards")


def test_the_next_in_turn_who_gives_up_hands_the_turn_on(ledger, ann):
    writers = ledger._store._writers
    mine, behind = Change(None), Change(None)
    assert writers._enter(mine)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(ledger.charge, ann, ONE, "question")
        wait_until(lambda: len(writers._queue) == 1, seconds=60)
        writers._queue.appendleft(behind)
        writers._leave(mine)
        assert writers._leader is behind
        writers._leave(behind)
        assert waits.result(60).number
    assert writers._leader is None


def test_who_is_forgotten_hears_that_the_charge_may_stand(ledger, ann):
    """The leader took the change in, and was stopped before it could wake anybody."""
    ledger._store.timeout_seconds = 0.1
    writers = ledger._store._writers
    mine, taken = Change(None), []
    assert writers._enter(mine)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(ledger.charge, ann, ONE, "question")
        wait_until(lambda: writers._take_in(taken, 1), seconds=60)
        writers._leave(mine)
        with pytest.raises(LedgerError, match="may stand"):
            waits.result(60)
    ledger.charge(ann, ONE, "afterwards")


def test_those_who_write_by_themselves_and_those_who_write_together_take_turns(ledger, ann):
    ledger.charge(ann, ONE, "question")

    def work(i):
        if i % 4:
            return ledger.charge(ann, ONE, f"question {i}").number
        with ledger._store.write() as run:
            return run("SELECT number FROM head")[0][0]

    with ThreadPoolExecutor(16) as pool:
        seen = list(pool.map(work, range(80)))
    charged = [number for i, number in enumerate(seen) if i % 4]
    assert len(set(charged)) == 60
    assert ledger.spent(ann) == ONE * 61
    assert ledger._store._writers._leader is None
    assert ledger.verify().ok
