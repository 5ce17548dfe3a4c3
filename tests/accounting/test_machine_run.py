"""Answers that do not wait for the disk, and what happens to them when the machine goes down."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from bocage.accounting import Action, answers, chain, machine_run, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import AnswerLost, BudgetExceeded, LedgerError, ScopeClosed
from bocage.storage import Change
from old_ledgers import downgrade

ONE = Epsilon.of("0.001")
FULL, NORMAL = 2, 1


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine that can be started anew: called with the name of its run."""
    monkeypatch.setattr(machine_run, "PATH", tmp_path / "boot_id")

    def start(name):
        machine_run.PATH.unlink(missing_ok=True)
        if name:
            machine_run.PATH.write_text(f"{name}\n")

    start("first")
    return start


@pytest.fixture
def opened(tmp_path, machine):
    """Open the ledger, as after a start of the machine if one is named."""
    ledgers = []

    def open_one(start=None):
        if start is not None:
            machine(start)
        ledgers.append(open_ledger(tmp_path / "ledger.db", create=True))
        return ledgers[-1]

    yield open_one
    for ledger in ledgers:
        ledger.close()


def account(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(1)), "ann", Epsilon.of("0.5"))


@pytest.fixture
def commits(monkeypatch):
    """For each commit of a ledger: how it waits for the disk, and which tables it wrote."""

    def watch(ledger):
        store, found, wrote = ledger._store, [], {}
        run = store.run

        def watched(connection, sql, values):
            if sql.startswith("INSERT INTO "):
                wrote.setdefault(id(connection), set()).add(sql.split()[2])
            if sql == "ROLLBACK":
                wrote.pop(id(connection), None)
            if sql == "COMMIT" and id(connection) in wrote:
                ((level,),) = run(connection, "PRAGMA synchronous", ())
                found.append((level, wrote.pop(id(connection))))
            return run(connection, sql, values)

        monkeypatch.setattr(store, "run", watched)
        return found

    return watch


def charge(ledger, key="key"):
    return ledger.charge(account(ledger), ONE, "question", key, lasting=False)


def keep(ledger, key, number, body=b"42"):
    return ledger.store_answer(account(ledger), key, body, number, lasting=False)


def test_after_another_start_a_charge_without_an_answer_is_refused(opened):
    first = charge(opened())
    assert charge(opened()).number == first.number  # another process: finishes what was begun
    again = opened("second")
    with pytest.raises(AnswerLost, match=f"entry {first.number} .* Nothing was charged"):
        charge(again)
    assert again.spent(account(again)) == ONE
    assert charge(again, "new").number == first.number + 1
    assert charge(again, "new").repeated
    with pytest.raises(AnswerLost):  # for good
        charge(again)
    with pytest.raises(AnswerLost):
        charge(opened("third"), "new")
    assert again.verify().ok


def test_what_was_kept_is_there_after_another_start(opened):
    ledger = opened()
    number = charge(ledger).number
    assert keep(ledger, "key", number) == b"42"
    again = opened("second")
    assert again.stored_answer(account(again), "key") == b"42"
    assert keep(again, "key", number, b"43") == b"42"


def test_a_lasting_charge_is_finished_after_another_start(opened, commits):
    """Its answer waits for the disk, so that one that is not there was not given."""
    ledger = opened()
    first = ledger.charge(account(ledger), ONE, "question", "key")
    again = opened("second")
    ann, found = account(again), commits(again)
    assert again.charge(ann, ONE, "question", "key").number == first.number
    again.store_answer(ann, "key", b"42", first.number)
    assert found[-1] == (FULL, {"answers"})
    assert again.head().number == first.number


@pytest.mark.parametrize(("before", "after"), [("first", ""), ("", "first")])
def test_a_ledger_that_moves_to_or_from_a_machine_without_a_name(opened, before, after):
    """Where runs have no name, answers wait; but who knows what the other machine did."""
    charge(opened(before))
    with pytest.raises(AnswerLost):
        charge(opened(after))
    assert charge(opened(before)).repeated


def test_a_charge_waits_for_the_disk_and_an_answer_does_not(opened, commits):
    ledger = opened()
    ann, found = account(ledger), commits(ledger)
    for key in ("a", "b"):
        keep(ledger, key, charge(ledger, key).number)
    ledger.freeze(ann)
    charged, kept = (FULL, {"scopes", "entries"}), (NORMAL, {"answers"})
    assert found == [charged, kept, charged, kept, charged]


def test_the_run_of_the_machine_is_as_durable_as_its_first_entry(opened, commits):
    charge(opened(), "a")
    ledger = opened("second")
    ann, found = account(ledger), commits(ledger)
    with pytest.raises(BudgetExceeded):
        ledger.charge(ann, Epsilon.of("0.6"), "too dear")
    charge(ledger, "b")
    charge(ledger, "c")
    assert found == [(FULL, {"boots", "scopes", "entries"}), (FULL, {"scopes", "entries"})]


def test_without_the_run_of_the_machine_all_is_as_durable_as_a_charge(opened, machine, commits):
    machine("")
    ledger = opened()
    account(ledger)
    found = commits(ledger)
    keep(ledger, "key", charge(ledger).number)
    assert [level for level, _ in found] == [FULL, FULL]
    assert charge(opened(""), "key").repeated


def test_a_ledger_of_the_first_format_records_runs_from_now_on(opened, tmp_path):
    opened("").close()
    downgrade(tmp_path / "ledger.db", version=1)
    charge(opened("second"))
    assert charge(opened()).repeated
    with pytest.raises(AnswerLost):
        charge(opened("third"))


def test_a_closed_account_hears_nothing_of_its_lost_answers(opened):
    charge(opened())
    ledger = opened("second")
    ledger.freeze(account(ledger))
    with pytest.raises(ScopeClosed):
        charge(ledger)


def test_runs_of_the_machine_are_append_only(opened, tmp_path):
    charge(opened())
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as file:
        for change in ("DELETE FROM boots", "UPDATE boots SET boot = 'second'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                file.execute(change)


def test_no_charge_is_committed_without_waiting_whoever_shares_the_transaction(opened, commits):
    """Eight threads charge and keep answers at the same time."""
    ledger = opened()
    ann, found, gate = account(ledger), commits(ledger), threading.Barrier(8)

    def work(i):
        gate.wait(60)
        for j in range(40):
            keep(ledger, f"{i} {j}", charge(ledger, f"{i} {j}").number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert ledger.spent(ann) == ONE * 320
    assert all(level == FULL for level, wrote in found if "entries" in wrote)
    assert ledger.verify().ok


def test_a_group_that_does_not_wait_takes_nobody_in_who_must(opened):
    writers, taken = opened()._store._writers, []
    answer, charged = Change(lambda run: None, lasting=False), Change(lambda run: None)
    writers._queue.extend([answer, charged])
    assert writers._take_in(taken, 5, lasting=False)
    assert taken == [answer]
    assert writers._take_in(taken, 5, lasting=True)
    assert taken == [answer, charged]


def test_a_charge_and_an_answer_that_are_made_together_wait(opened, commits):
    """As those of several threads that share a commit."""
    ledger = opened()
    ann, number, found = account(ledger), charge(ledger).number, commits(ledger)

    def kept(run):
        return answers.store(run, ledger._store.secret, ann, "key", b"42", number=number)

    def charged(run):
        return chain.append(run, Action.CHARGE, ann, ONE)

    ledger._store._writers._lead([Change(kept, lasting=False), Change(charged)])
    assert found == [(FULL, {"answers", "scopes", "entries"})]


def test_a_ledger_of_a_newer_format_is_refused(opened, tmp_path):
    opened().close()
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as file:
        file.execute("PRAGMA user_version = 4")
    with pytest.raises(LedgerError, match="newer Bocage"):
        opened()
