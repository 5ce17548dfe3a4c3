"""The ledger as a file."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest

from bocage.accounting import Action, Ledger, Scope, chain, move_ledger, open_ledger
from bocage.accounting.sqlite_file import FORMAT
from bocage.epsilon import Epsilon
from bocage.errors import LedgerBusy, LedgerCorrupt, LedgerError

TENTH = Epsilon.of("0.1")
LARGE = Epsilon.of(10**6)
ALICE = Scope.table("people").analyst("alice")


@pytest.fixture
def path(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True) as ledger:
        ledger.analyst(ledger.table("people", LARGE), "alice", LARGE)
    return tmp_path / "ledger.db"


def test_file_and_its_log_are_readable_by_the_owner_only(tmp_path):
    before = os.umask(0)
    try:
        with open_ledger(tmp_path / "ledger.db", create=True) as ledger:
            ledger.table("people", LARGE)
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["ledger.db", "ledger.db-wal", "ledger.db-shm"], 0o600)


def test_commits_are_synchronised_in_full(path):
    with open_ledger(path) as ledger:
        connection = ledger._store.connect()
        with closing(connection):
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_creating_again_keeps_what_is_there(path):
    with open_ledger(path) as ledger:
        ledger.charge(ALICE, TENTH, "{}")
    with open_ledger(path, create=True) as ledger:
        assert ledger.spent(ALICE) == TENTH
    assert sorted(p.name for p in path.parent.iterdir()) == ["ledger.db"]


def test_ledger_that_was_moved_away_does_not_come_back_empty(path):
    with open_ledger(path) as ledger:
        ledger._store.close()
        path.rename(path.with_name("moved.db"))
        ledger._store._closed = False
        with pytest.raises(LedgerError, match="no longer the ledger"):
            ledger.charge(ALICE, TENTH, "{}")
    assert not path.exists()


def test_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(LedgerError, match="cannot be created"):
        open_ledger(tmp_path / "nowhere" / "ledger.db", create=True)


@pytest.mark.parametrize("content", [b"", b"not a database" * 100, b"SQLite format 3\x00"])
def test_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    for create in (False, True):
        with pytest.raises(LedgerError, match="is not a ledger"):
            open_ledger(tmp_path / "file", create=create)
    assert (tmp_path / "file").read_bytes() == content


def test_other_database_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE entries (number INTEGER)")
    with pytest.raises(LedgerError, match="is not a ledger"):
        open_ledger(tmp_path / "other.db")


def test_newer_format_is_refused(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(LedgerError, match="newer Bocage"):
        open_ledger(path)


def test_locked_ledger_is_busy_and_still_readable(path):
    with (
        open_ledger(path, timeout_seconds=0.05) as ledger,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerBusy, match="Nothing was charged"):
            ledger.charge(ALICE, TENTH, "{}")
        assert ledger.spent(ALICE) == Epsilon(0)
        other.execute("ROLLBACK")
        ledger.charge(ALICE, TENTH, "{}")
        assert ledger.verify().ok


def test_two_ledgers_in_one_process_do_not_mix(path):
    shutil.copy(path, path.with_name("second.db"))
    move_ledger(path.with_name("second.db"))
    with open_ledger(path) as first, open_ledger(path.with_name("second.db")) as second:
        first.charge(ALICE, TENTH, "{}")
        second.charge(ALICE, TENTH * 2, "{}")
        with open_ledger(path) as same:
            same.charge(ALICE, TENTH, "{}")
        first.charge(ALICE, TENTH, "{}")
        assert (first.spent(ALICE), second.spent(ALICE)) == (TENTH * 3, TENTH * 2)
        assert first.verify().ok
        assert second.verify().ok


def test_full_disk_refuses_and_charges_nothing(path):
    with open_ledger(path) as ledger:
        ledger.charge(ALICE, TENTH, "{}")
        (connection,) = ledger._store._idle
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerError, match=r"no room on the disk.*Nothing was charged"):
            ledger.charge(ALICE, TENTH, "x" * 100_000)
        assert ledger.spent(ALICE) == TENTH
        assert ledger.verify().ok
        ledger.charge(ALICE, TENTH, "x" * 100_000)  # there is room again


LIMITED = """
import resource, signal, sys
from bocage.accounting import Scope, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
ledger = open_ledger(sys.argv[1])
try:
    while True:
        alice = Scope.table("people").analyst("alice")
        print(ledger.charge(alice, Epsilon.of("0.1"), "x" * 1000).number, flush=True)
except LedgerError as error:
    sys.exit(str(error))
"""


def test_file_that_may_not_grow_refuses_and_keeps_what_it_accepted(path):
    command = [sys.executable, "-c", LIMITED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "cannot be used" in done.stderr
    accepted = [int(number) for number in done.stdout.split()]
    with open_ledger(path) as ledger:
        charged = [entry.number for entry in ledger.entries(ALICE) if entry.action == "charge"]
        assert len(accepted) > 5
        assert charged == accepted
        assert ledger.verify().ok


def test_every_destroyed_page_is_noticed(path):
    with open_ledger(path) as ledger:
        for i in range(30):
            part = ALICE.partition("p").part(str(i))
            number = ledger.charge(part, TENTH, "x" * 500).number
            ledger.store_answer(part, str(i), b"y" * 500, number)
    whole = path.read_bytes()
    assert len(whole) > 10 * 4096
    for start in range(4096, len(whole), 4096):
        path.write_bytes(whole[:start] + b"\xa5" * 4096 + whole[start + 4096 :])
        assert damaged(path), f"page {start // 4096 + 1}"
    path.write_bytes(whole[: len(whole) // 2])
    assert damaged(path)


def damaged(path):
    try:
        with open_ledger(path, check=False) as ledger:
            return not ledger.verify().ok
    except LedgerCorrupt:
        return True


def work(ledger: Ledger, request: str) -> int:
    """How many instructions of SQLite's virtual machine one charge takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    (connection,) = ledger._store._idle
    connection.set_progress_handler(count, 1)
    ledger.charge(ALICE, Epsilon(1), "{}", request=request)
    connection.set_progress_handler(None, 0)
    return steps


def fill(ledger: Ledger, entries: range) -> None:
    """Many charges in one transaction, without waiting for the disk at each."""
    with ledger._store.write() as run:
        for i in entries:
            chain.append(run, Action.CHARGE, ALICE, Epsilon(1), memo="{}", request=str(i))


def test_twenty_thousandth_charge_is_as_much_work_as_the_hundredth(path):
    with open_ledger(path) as ledger:
        fill(ledger, range(100))
        early = work(ledger, "early")
        fill(ledger, range(100, 20_000))
        late = work(ledger, "late")
        assert ledger.head().number > 20_000
    assert 50 < late <= 1.2 * early
