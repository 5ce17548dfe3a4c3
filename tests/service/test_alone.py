"""A question that is alone is answered in the thread of the event loop, which waits for nobody."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from running import Inside, count

from bocage.accounting import Ledger, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, LedgerBusy
from bocage.service import hands
from bocage.service.alone import Alone
from bocage.service.core.registry import Registry
from bocage.service.crew import Crew
from bocage.service.turns import Turns

ONE = Epsilon.of("0.001")
LONG = 10.0  # seconds that a ledger is waited for
QUERY = "/v1/tables/people/query"


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True, timeout_seconds=LONG) as made:
        yield made


@pytest.fixture
def account(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(1)), "ann", Epsilon.of("0.05"))


def connect(ledger):
    """As another process would."""
    path = ledger._store.path
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


@pytest.fixture
def held(ledger):
    """Another holds the ledger; called, it lets go."""
    with closing(connect(ledger)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield lambda: other.execute("ROLLBACK") if other.in_transaction else None


def alone(*works, meanwhile=None):
    """What works return or raise, one after another, in the thread of one event loop."""

    async def main():
        crew = Crew(2)
        one = Alone(crew)
        try:
            others = asyncio.create_task(meanwhile()) if meanwhile else None
            found = [
                (await asyncio.gather(one.run(work), return_exceptions=True))[0] for work in works
            ]
            if others is not None:
                await others
            return found
        finally:
            crew.close()

    with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop already: a browser's
        return pool.submit(lambda: asyncio.run(asyncio.wait_for(main(), 60))).result()


def test_a_task_returns_and_raises_in_the_thread_of_the_loop():
    def fail():
        raise KeyError("work")

    here, failed, again = alone(threading.get_ident, fail, threading.get_ident)
    assert here == again != threading.get_ident()
    assert isinstance(failed, KeyError)


def test_what_a_task_writes_is_durable_when_it_goes_on(ledger, account):
    def question():
        entry = ledger.charge(account, ONE, "question", "key")
        with closing(connect(ledger)) as other:
            seen = other.execute("SELECT count(*) FROM entries WHERE request = 'key'").fetchone()
        return seen, ledger.store_answer(account, "key", b"answer", entry.number)

    dear = Epsilon.of("0.06")
    found = alone(question, lambda: ledger.charge(account, dear, "refused"))
    assert found[0] == ((1,), b"answer")
    assert isinstance(found[1], BudgetExceeded)
    assert ledger.spent(account) == ONE
    assert ledger.verify().ok


def test_the_loop_goes_on_while_another_process_holds_the_ledger(ledger, account, held):
    ticks = []

    async def meanwhile():
        for _ in range(10):
            await asyncio.sleep(0.02)
            ticks.append(ledger.spent(account))
        held()

    began = time.monotonic()
    (entry,) = alone(lambda: ledger.charge(account, ONE, "question"), meanwhile=meanwhile)
    assert time.monotonic() - began < LONG / 2
    assert ticks == [Epsilon(0)] * 10  # all of them before the charge
    assert ledger.spent(account) == ONE
    assert ledger.entries(after=entry.number - 1) == [entry]


def test_the_loop_goes_on_while_another_thread_writes(ledger, account):
    begun, gate = threading.Event(), threading.Event()

    def hold():
        with ledger._store.write():
            begun.set()
            gate.wait(60)

    async def meanwhile():
        await asyncio.sleep(0.05)
        gate.set()

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert begun.wait(60)
        began = time.monotonic()
        found = alone(lambda: ledger.charge(account, ONE, "question"), meanwhile=meanwhile)
        holding.result()
    assert time.monotonic() - began < LONG / 2
    assert [entry.number for entry in found] == [4]


def test_who_waits_too_long_is_told_that_the_ledger_is_busy(ledger, account, held):
    ledger._store.timeout_seconds = 0.2
    (found,) = alone(lambda: ledger.charge(account, ONE, "question"))
    assert isinstance(found, LedgerBusy)
    held()
    assert ledger.spent(account) == Epsilon(0)


def test_afterwards_the_thread_of_the_loop_writes_as_any_other(ledger, account):
    found = []

    async def meanwhile():
        await asyncio.sleep(0.05)  # after the task
        with closing(connect(ledger)) as other:
            other.execute("BEGIN IMMEDIATE")
            late = threading.Timer(0.2, other.execute, ["ROLLBACK"])
            late.start()
            found.append(ledger.charge(account, ONE, "directly").number)
            late.join()

    (entry,) = alone(lambda: ledger.charge(account, ONE, "question"), meanwhile=meanwhile)
    assert (entry.number, found) == (4, [5])


@pytest.fixture
def used(monkeypatch):
    """Who answered light questions."""
    found = []
    for kind in (Alone, Turns):
        run = kind.run

        def noted(self, work, kind=kind, run=run):
            found.append(kind.__name__)
            return run(self, work)

        monkeypatch.setattr(kind, "run", noted)
    return found


def ask(client, who):
    assert client.post(QUERY, json=count("0.01", fresh=True), headers=who).status_code == 200


def test_a_connection_that_asks_again_is_alone_and_several_are_not(made, ann, used):
    service = Inside(made.opened())
    for _ in range(4):
        ask(service.client, ann)
    assert used == ["Turns"] + ["Alone"] * 3
    other = type(service.client)(base_url=service.client.base_url)
    for _ in range(3):
        ask(other, ann)
        ask(service.client, ann)
    other.close()
    service.stop()
    assert used == ["Turns"] + ["Alone"] * 3 + ["Turns"] * 6


def test_nobody_is_alone_while_another_is_answered(made, ann, used):
    gates = []
    service = Inside(made.opened(), wrap=lambda app: gates.append(app) or app)
    ask(service.client, ann)
    gates[0].direct._asked += 1  # as if another were counting a larger table
    ask(service.client, ann)
    service.stop()
    assert used == ["Turns", "Turns"]


@pytest.mark.parametrize("which", [Ledger, Registry])
def test_the_loop_waits_for_no_database_elsewhere(made, ann, used, monkeypatch, which):
    elsewhere = property(lambda _: False, lambda *_: None)
    monkeypatch.setattr(which, "at_hand", elsewhere, raising=False)
    service = Inside(made.opened())
    for _ in range(3):
        ask(service.client, ann)
    service.stop()
    assert used == ["Turns"] * 3


def test_one_hand_does_all_tasks_and_holds_none_of_them(monkeypatch):
    made = []
    new = hands.greenlet
    monkeypatch.setattr(hands, "greenlet", lambda run: made.append(run) or new(run))

    class Body:
        def __call__(self):
            return self

    async def main():
        crew = Crew(1)
        one, there = Alone(crew), []
        for _ in range(3):
            body = Body()
            there.append(weakref.ref(await one.run(body)))
            with pytest.raises(KeyError):
                await one.run(lambda: {}["nothing"])
            del body
        gc.collect()
        crew.close()
        return [reference() for reference in there]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(main())).result() == [None] * 3
    assert len(made) == 1
