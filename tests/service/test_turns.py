"""Tasks that take turns in one thread: each as if it had its own, all of them with fewer commits."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from running import Inside, count

from bocage.accounting import open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, LedgerBusy, LedgerError
from bocage.service import fast_path
from bocage.service.alone import Alone
from bocage.service.core import documents
from bocage.service.turns import Turns

ONE = Epsilon.of("0.001")


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True) as made:
        yield made


@pytest.fixture
def account(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(1)), "ann", Epsilon.of("0.05"))


@pytest.fixture
def commits(ledger, monkeypatch):
    """What was committed, and what a commit does first."""
    store, done, before = ledger._store, [], []
    run = store.run

    def watched(connection, sql, values):
        if sql == "COMMIT":
            for act in before:
                act()
            done.append(threading.current_thread().name)
        return run(connection, sql, values)

    monkeypatch.setattr(store, "run", watched)
    return done, before


def in_turns(works, *, together=True):
    """What works return or raise. Together: they have all come before the first begins."""

    async def main():
        turns, gate = Turns(), threading.Event()
        first = asyncio.create_task(turns.run(gate.wait))
        if not together:
            gate.set()
            await first
        tasks = [asyncio.create_task(turns.run(work)) for work in works]
        await asyncio.sleep(0)
        gate.set()
        found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)
        turns.close()
        await asyncio.to_thread(turns._thread.join, 60)
        assert not turns._thread.is_alive()
        return found

    with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop already: a browser's
        return pool.submit(lambda: asyncio.run(main())).result()


def test_each_gets_what_its_task_returns_or_raises():
    def fail():
        raise KeyError("work")

    found = in_turns([lambda: 1, fail, lambda: 3])
    assert (found[0], found[2]) == (1, 3)
    assert isinstance(found[1], KeyError)


def test_questions_of_a_thread_share_commits(ledger, account, commits):
    def question(i):
        entry = ledger.charge(account, ONE, f"question {i}", f"key {i}")
        return ledger.store_answer(account, f"key {i}", b"answer %d" % i, entry.number)

    found = in_turns([lambda i=i: question(i) for i in range(20)])
    assert found == [b"answer %d" % i for i in range(20)]
    assert commits[0] == ["questions"] * 2  # all charges, then all answers
    assert ledger.spent(account) == ONE * 20
    assert ledger.verify().ok


def test_nothing_goes_on_before_its_charge_is_committed(ledger, account, commits):
    done, _ = commits
    seen = in_turns([lambda: (ledger.charge(account, ONE, "question"), len(done))[1]] * 5)
    assert seen == [1] * 5


def test_who_is_refused_fails_alone(ledger, account):
    """The budget is for fifty."""
    found = in_turns([lambda i=i: ledger.charge(account, ONE, f"question {i}") for i in range(60)])
    assert [isinstance(one, BudgetExceeded) for one in found] == [False] * 50 + [True] * 10
    assert ledger.spent(account) == ONE * 50
    assert ledger.verify().ok


def test_a_commit_that_fails_fails_for_all_who_share_it(ledger, account, commits):
    def breaks():
        before.clear()
        raise OSError("disk")

    _, before = commits
    before.append(breaks)
    found = in_turns([lambda: ledger.charge(account, ONE, "question")] * 5)
    assert all(isinstance(one, LedgerError) for one in found)
    assert ledger.spent(account) == Epsilon(0)
    assert in_turns([lambda: ledger.charge(account, ONE, "question").number]) == [4]


def test_a_busy_ledger_is_said_once_to_all(ledger, account, monkeypatch):
    """They do not wait one after another."""
    held, waiting = threading.Event(), threading.Event()
    ledger._store.timeout_seconds = 0.2
    writers, waits = ledger._store._writers, []
    enter = writers._enter
    monkeypatch.setattr(writers, "_enter", lambda change: waits.append(change) or enter(change))

    def hold():
        with ledger._store.write():
            waiting.set()
            held.wait(60)

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert waiting.wait(60)
        found = in_turns([lambda: ledger.charge(account, ONE, "question")] * 4)
        held.set()
        holding.result()
    assert all(isinstance(one, LedgerBusy) for one in found)
    assert len(waits) == 2  # who holds it, and one for all others
    assert ledger.spent(account) == Epsilon(0)


def test_turns_and_threads_write_to_one_ledger(ledger, account):
    def work(_):
        try:
            ledger.charge(account, ONE, "question")
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        threads = [pool.submit(work, i) for i in range(40)]
        turns = in_turns([lambda: work(0)] * 40, together=False)
        assert sum(turns) + sum(one.result() for one in threads) == 50
    assert ledger.spent(account) == Epsilon.of("0.05")
    assert ledger.verify().ok


def test_what_was_begun_is_ended_after_closing(ledger, account, commits):
    begun, gate = threading.Event(), threading.Event()
    commits[1].append(lambda: begun.set() or gate.wait(60))

    def question():
        return [ledger.charge(account, ONE, f"part {i}").number for i in range(4)]

    async def main():
        turns = Turns()
        task = asyncio.create_task(turns.run(question))
        await asyncio.to_thread(begun.wait, 60)
        turns.close()
        gate.set()
        return await asyncio.wait_for(task, 60)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(main())).result() == [4, 5, 6, 7]


def test_who_comes_after_a_thread_that_broke_has_another(ledger, account, monkeypatch):
    write = Turns._write

    def breaks(self):
        monkeypatch.setattr(Turns, "_write", write)
        raise MemoryError

    monkeypatch.setattr(Turns, "_write", breaks)

    async def main():
        turns = Turns()
        with pytest.raises(MemoryError):
            await asyncio.wait_for(turns.run(lambda: ledger.charge(account, ONE, "lost")), 60)
        await asyncio.to_thread(turns._thread.join, 60)
        number = (await turns.run(lambda: ledger.charge(account, ONE, "question"))).number
        turns.close()
        return number

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(main())).result() == 4
    assert ledger.spent(account) == ONE


def test_nobody_waits_forever_for_a_thread_that_breaks_between_two_tasks(
    ledger, account, monkeypatch
):
    go, gone = Turns._go, []

    def breaks(self, turn):
        gone.append(turn)
        if len(gone) == 6:  # who holds the others, the four that begin, and the first that goes on
            go(self, turn)
            raise MemoryError
        go(self, turn)

    monkeypatch.setattr(Turns, "_go", breaks)
    found = in_turns([lambda: ledger.charge(account, ONE, "question").number] * 4)
    assert found[0] == 4
    assert [type(one) for one in found[1:]] == [MemoryError] * 3
    assert ledger.spent(account) == ONE * 4  # what is committed stands


def test_an_answered_task_is_not_held():
    class Body:
        def __call__(self):
            return None

    async def main():
        turns, body = Turns(), Body()
        there = weakref.ref(body)
        await turns.run(body)
        del body
        await turns.run(lambda: None)
        gc.collect()
        gone = there() is None
        turns.close()
        return gone

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(main())).result()


PART = [{"op": "partition", "by": "smoker"}, {"op": "part", "key": "yes"}]


@pytest.mark.parametrize(
    ("document", "light"),
    [
        (count(), True),
        (count("0.1", {"op": "where", "predicate": "age >= 30"}), True),
        (count("0.1", *PART), True),
        (count("0.1", PART[0]), False),  # as many numbers as there are parts
        (count("0.1", *[{"op": "where", "predicate": "age >= 30"}] * 9), False),
        (count(mode="preview"), False),
        ({"ask": {"kind": "noisy_counts", "by": "age", "epsilon": "0.1"}}, False),
        ({"ask": {"kind": "noisy_quantile", "column": "age", "epsilon": "0.1"}}, False),
    ],
)
def test_one_number_is_light(document, light):
    request = documents.QueryRequest.model_validate(document)
    assert fast_path._Asked("people", request, None).is_light is light


@pytest.mark.parametrize("rows", [0, 10**6])
def test_tables_that_take_long_have_threads(made, ann, monkeypatch, rows):
    """No question takes turns where the table is larger than what is at hand."""
    monkeypatch.setattr("bocage.engine.duckdb.AT_HAND", rows)
    used = []
    for kind in (Alone, Turns):
        run = kind.run
        monkeypatch.setattr(
            kind, "run", lambda self, work, run=run: used.append(work) or run(self, work)
        )
    service = Inside(made.opened())
    for _ in range(2):
        reply = service.client.post("/v1/tables/people/query", json=count("0.1"), headers=ann)
        assert reply.status_code == 200
    service.stop()
    assert len(used) == (2 if rows else 0)
