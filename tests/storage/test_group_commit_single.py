"""A change that one statement makes needs no transaction around it, and fails as any other."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from bocage.accounting import open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError
from bocage.storage import hand_in

ONE = Epsilon.of("0.001")


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True, timeout_seconds=10) as made:
        yield made


@pytest.fixture
def ann(ledger):
    return ledger.analyst(ledger.table("people", Epsilon.of(1)), "ann", Epsilon.of("0.1"))


@pytest.fixture
def said(ledger, monkeypatch):
    """The statements."""
    found = []
    run = ledger._store.run

    def noted(connection, sql, values):
        found.append(sql.split()[0])
        return run(connection, sql, values)

    monkeypatch.setattr(ledger._store, "run", noted)
    return found


@pytest.fixture
def soon():
    """This thread writes at once where nobody else does, and notes where that was not so."""
    late = []

    def wait(writers, change):
        if not writers.make_soon(change, 0.01):
            late.append(change)
            writers.make([change])

    hand_in(wait)
    yield late
    hand_in(None)


def kept(ledger):
    with closing(sqlite3.connect(ledger._store.path)) as other:
        return other.execute("SELECT key, body FROM answers ORDER BY key").fetchall()


def test_an_answer_is_kept_by_one_statement_that_others_see(ledger, ann, said, soon):
    number = ledger.charge(ann, ONE, "question").number
    said.clear()
    assert ledger.store_answer(ann, "key", b"42", number, also="other") == b"42"
    assert said == ["INSERT"]
    assert kept(ledger) == [("key", b"42"), ("other", b"42")]
    assert ledger.store_answer(ann, "key", b"43", number) == b"42"  # the first is kept for good
    assert kept(ledger) == [("key", b"42"), ("other", b"42")]
    assert not soon
    assert ledger._store._writers._leader is None


def test_what_is_no_answer_is_refused_and_the_next_is_kept(ledger, ann, soon):
    with pytest.raises(LedgerError, match="not a charge"):
        ledger.store_answer(ann, "key", b"42", 1)
    number = ledger.charge(ann, ONE, "question").number
    assert ledger.store_answer(ann, "key", b"42", number) == b"42"
    assert kept(ledger) == [("key", b"42")]


def test_a_statement_that_breaks_is_told_and_its_connection_is_not_used_again(
    ledger, ann, soon, monkeypatch
):
    number = ledger.charge(ann, ONE, "question").number
    run, broken = ledger._store.run, []

    def breaks(connection, sql, values):
        if sql.startswith("INSERT INTO answers") and not broken:
            broken.append(connection)
            raise sqlite3.OperationalError("disk I/O error")
        return run(connection, sql, values)

    monkeypatch.setattr(ledger._store, "run", breaks)
    with pytest.raises(LedgerError, match="disk I/O error"):
        ledger.store_answer(ann, "key", b"42", number)
    with pytest.raises(sqlite3.ProgrammingError):
        broken[0].execute("SELECT 1")  # closed
    assert ledger._store._writers._leader is None
    assert ledger.store_answer(ann, "key", b"42", number) == b"42"


def test_one_that_another_process_keeps_waiting_is_made_in_its_turn(ledger, ann, soon):
    number = ledger.charge(ann, ONE, "question").number
    with closing(sqlite3.connect(ledger._store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ledger._store.timeout_seconds = 0.1
        with pytest.raises(LedgerError):
            ledger.store_answer(ann, "key", b"42", number)
        other.execute("ROLLBACK")
    assert len(soon) == 1
    assert ledger.store_answer(ann, "key", b"42", number) == b"42"


def test_reading_leaves_a_connection_as_the_last_commit_left_it(ledger, ann, soon):
    number = ledger.charge(ann, ONE, "question").number
    ledger.store_answer(ann, "key", b"42", number, lasting=False)
    (connection,) = ledger._store._idle
    ledger.spent(ann)
    assert connection.execute("PRAGMA synchronous").fetchall() == [(1,)]
    ledger.charge(ann, ONE, "question")
    assert connection.execute("PRAGMA synchronous").fetchall() == [(2,)]
