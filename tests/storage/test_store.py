"""What a store promises to whoever keeps something in it, whatever that is."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from bocage.errors import LedgerError
from bocage.storage import SQLiteStore, Transaction
from servers import wait_until


class Signed(Transaction):
    """A transaction in which those who share it count their notes."""

    __slots__ = ("notes",)

    def __init__(self, execute, connection):
        super().__init__(execute, connection)
        self.notes = 0


class Notes(SQLiteStore):
    """A table of notes, and what its hooks saw."""

    def __init__(self, path):
        self.refusing = self.failing = False
        self.committed = []
        super().__init__(path, timeout_seconds=60)

    def recognize(self):
        pass

    def transaction(self, connection):
        return Signed(self.run, connection)

    def before_write(self):
        if self.refusing:
            raise LedgerError("not now.")

    def after_commit(self, transaction):
        self.committed.append(transaction.notes)
        if self.failing:
            raise LedgerError("gone.")


def note(transaction):
    transaction.run("INSERT INTO notes VALUES ('x')")
    transaction.notes += 1
    return transaction.notes


@pytest.fixture
def store(tmp_path):
    with sqlite3.connect(tmp_path / "notes.db") as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("CREATE TABLE notes (text TEXT)")
    file.close()
    made = Notes(tmp_path / "notes.db")
    yield made
    made.close()


def number_of_notes(store):
    ((number,),) = store.look("SELECT count(*) FROM notes")
    return number


def test_what_is_refused_before_it_writes_leaves_nothing_and_readers_go_on(store):
    store.refusing = True
    with pytest.raises(LedgerError, match="not now"):
        store.do(note)
    with pytest.raises(LedgerError, match="not now"), store.write() as transaction:
        note(transaction)
    assert number_of_notes(store) == 0
    store.refusing = False
    assert store.do(note) == 1
    assert number_of_notes(store) == 1


def test_nobody_hears_of_a_change_before_the_store_has_had_the_last_word(store):
    store.failing = True
    with pytest.raises(LedgerError, match="gone"):
        store.do(note)
    with pytest.raises(LedgerError, match="gone"), store.write() as transaction:
        note(transaction)
    assert number_of_notes(store) == 2  # both stand
    assert store.committed == [1, 1]


def test_those_who_share_a_transaction_share_its_fields(store):
    with ThreadPoolExecutor(4) as pool:
        with store.write() as transaction:
            note(transaction)
            waiting = [pool.submit(store.do, note) for _ in range(4)]
            wait_until(lambda: len(store._writers._queue) == 4, seconds=60)
        assert sorted(one.result() for one in waiting) == [1, 2, 3, 4]
    assert store.committed == [1, 4]


def test_a_transaction_that_only_reads_has_not_written(store):
    with store.write() as transaction:
        transaction("SELECT count(*) FROM notes")
        assert not transaction.wrote
        note(transaction)
        assert transaction.wrote


def test_a_body_that_fails_leaves_nothing(store):
    def stumbles(transaction):
        note(transaction)
        raise ValueError("stumbled")

    with pytest.raises(ValueError, match="stumbled"):
        store.do(stumbles)
    assert number_of_notes(store) == 0
    assert store.committed == []


def test_a_closed_store_takes_nothing(store):
    store.close()
    with pytest.raises(LedgerError, match="closed"):
        store.do(note)
