"""One ledger is one file at one place, with one log."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from bocage.accounting import Scope, move_ledger, open_ledger
from bocage.accounting.file_location import WatchedFile
from bocage.epsilon import Epsilon
from bocage.errors import LedgerCorrupt, LedgerError

TENTH, CAP = Epsilon.of("0.1"), Epsilon.of(100)
ALICE = Scope.table("people").analyst("alice")
LOG = "ledger.db-wal"

SPEND = """
import os, signal, sys
from bocage.accounting import Scope, open_ledger
from bocage.epsilon import Epsilon
ledger = open_ledger(sys.argv[1])
alice = Scope.table("people").analyst("alice")
print("open", flush=True)
for line in sys.stdin:
    try:
        number = ledger.charge(alice, Epsilon.of("0.1"), "{}").number
        ledger.store_answer(alice, str(number), b"1", number)
        print(number, flush=True)
    except Exception as error:
        print(type(error).__name__, str(error).replace(os.linesep, " "), flush=True)
if len(sys.argv) > 2:
    os.kill(os.getpid(), signal.SIGKILL)
ledger.close()
"""


class Spender:
    """Another process that charges once for each line; killed at its end if it is not to close."""

    def __init__(self, path, *killed):
        command = [sys.executable, "-W", "ignore", "-c", SPEND, str(path), *killed]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, **pipes)
        assert self.process.stdout.readline() == "open\n", self.process.stderr.read()

    def charge(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


@pytest.fixture
def path(tmp_path):
    with open_ledger(tmp_path / "ledger.db", create=True) as ledger:
        ledger.analyst(ledger.table("people", CAP), "alice", CAP)
        ledger.charge(ALICE, TENTH, "{}")
    return tmp_path / "ledger.db"


@pytest.fixture
def spender(path):
    made = []

    def start(*killed):
        made.append(Spender(path, *killed))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.end()


def refused(path, said):
    """Nobody can charge, and `verify` says why."""
    with pytest.raises(LedgerError, match=said):
        open_ledger(path)
    with open_ledger(path, check=False) as ledger:
        assert said in " ".join(ledger.verify().problems)
        with pytest.raises(LedgerError, match="to be looked at"):
            ledger.charge(ALICE, TENTH, "{}")


def crash(spender, charges=3):
    one = spender("killed")
    for _ in range(charges):
        assert one.charge().strip().isdigit()
    assert one.end() == -9


def test_after_a_kill_the_ledger_opens_in_place_and_nothing_is_lost(path, spender):
    for life in range(3):
        crash(spender)
        with open_ledger(path) as ledger:
            assert ledger.spent(ALICE) == TENTH * (1 + 3 * (life + 1))
            assert ledger.verify().ok


def test_processes_share_a_ledger_also_through_symbolic_links(path, tmp_path, spender):
    (tmp_path / "link.db").symlink_to(path)
    (tmp_path / "folder").symlink_to(tmp_path)
    first = spender()
    with open_ledger(tmp_path / "link.db") as one, open_ledger(tmp_path / "folder/link.db") as two:
        for ledger in (one, two):
            ledger.charge(ALICE, TENTH, "{}")
            assert first.charge().strip().isdigit()
        assert one.spent(ALICE) == two.spent(ALICE) == TENTH * 5
        assert one.verify().ok


def test_a_second_name_of_the_file_is_refused_and_stops_who_has_it_open(path, tmp_path, spender):
    one = spender()
    assert one.charge().strip().isdigit()
    (tmp_path / "other").mkdir()
    other = tmp_path / "other/ledger.db"
    os.link(path, other)
    assert "no longer the ledger" in one.charge()
    for name in (path, other):
        refused(name, "2 names")
    other.unlink()
    assert one.charge().strip().isdigit()
    one.end()
    with open_ledger(path) as ledger:
        assert ledger.spent(ALICE) == TENTH * 3


def test_a_bind_mount_of_the_file_is_another_name(path, tmp_path, spender):
    other = tmp_path / "mounted.db"
    other.touch()
    done = subprocess.run(["/bin/mount", "--bind", str(path), str(other)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this system lets nobody mount here")
    try:
        one = spender()
        one.charge()
        with pytest.raises(LedgerError, match="without its log"):
            open_ledger(other)
        with pytest.raises(LedgerError):  # a lock on the file itself, not on its name
            move_ledger(other)
        assert one.charge().strip().isdigit()
        one.end()
        with pytest.raises(LedgerError, match="not where the ledger was kept"):
            open_ledger(other)
        with open_ledger(path) as ledger:
            assert ledger.spent(ALICE) == TENTH * 3
    finally:
        subprocess.run(["/bin/umount", str(other)], check=True)


@pytest.mark.parametrize("change", ["moved", "deleted", "replaced", "copied over", "linked away"])
def test_a_ledger_that_goes_away_stops_charges_and_stored_answers(path, tmp_path, spender, change):
    copy, away = tmp_path / "copy.db", tmp_path / "away.db"
    shutil.copy(path, copy)
    one = spender()
    number = int(one.charge())
    with open_ledger(path) as ledger:
        ledger.stored_answer(ALICE, str(number))
        if change == "moved":
            path.rename(away)
        elif change == "deleted":
            path.unlink()
        elif change == "replaced":
            copy.replace(path)
        elif change == "copied over":
            shutil.copy(path, away)
            away.replace(path)
        else:
            path.rename(away)
            path.symlink_to(copy)
        for ask in (
            lambda: ledger.stored_answer(ALICE, str(number)),
            lambda: ledger.charge(ALICE, TENTH, "{}"),
            lambda: ledger.store_answer(ALICE, "new", b"2", number),
            lambda: ledger.spent(ALICE),
            ledger.head,
        ):
            with pytest.raises(LedgerError, match=r"no longer the ledger.*Nothing was charged"):
                ask()
        assert "no longer the ledger" in one.charge()


def test_a_deleted_log_stops_who_writes_into_it(path, spender):
    one = spender()
    one.charge()
    path.with_name(LOG).unlink()
    assert "The charge may stand" in one.charge()


@pytest.mark.parametrize("closed", [True, False])
def test_a_file_without_its_log_is_refused(path, tmp_path, spender, closed):
    """Copied while in use, or moved after a crash: the first part of what a backup gets wrong."""
    one = spender("killed")
    one.charge()
    alone = tmp_path / "alone.db"
    shutil.copy(path, alone)
    refused(alone, "is missing")
    assert not alone.with_name("alone.db-wal").exists()
    with pytest.raises(LedgerError, match="is missing"):
        move_ledger(alone)
    one.charge()
    one.end()
    if closed:
        open_ledger(path).close()
        shutil.copy(path, alone)
        move_ledger(alone)
    else:
        log = path.with_name(LOG).rename(tmp_path / "log")
        refused(path, "is missing")
        refused(path, "is missing")  # to look does not make it whole
        log.rename(path.with_name(LOG))
    with open_ledger(alone if closed else path) as ledger:
        assert ledger.spent(ALICE) == TENTH * 3
        assert ledger.verify().ok


def test_the_file_stays_marked_while_its_log_grows_and_is_moved_over(path, tmp_path):
    with open_ledger(path) as ledger:
        for i in range(600):
            with ledger._store.write() as run:
                run("UPDATE head SET id = 1")
            if i % 50 == 0:
                shutil_copy = tmp_path / f"{i}.db"
                subprocess.run(["/bin/cp", str(path), str(shutil_copy)], check=True)
                with pytest.raises(LedgerError):
                    move_ledger(shutil_copy)
        assert path.with_name(LOG).stat().st_size < 4 * 2**20
    with open_ledger(path) as ledger:
        assert ledger.verify().ok


@pytest.mark.parametrize("log", [False, True])
def test_a_whole_copy_is_a_second_ledger_until_its_owner_says_otherwise(path, tmp_path, spender, log):
    if log:
        crash(spender)
        subprocess.run(["/bin/cp", path.with_name(LOG), tmp_path / "copy.db-wal"], check=True)
    spent = TENTH * (4 if log else 1)
    shutil.copy(path, tmp_path / "copy.db")
    refused(tmp_path / "copy.db", "not where the ledger was kept")
    entry = move_ledger(tmp_path / "copy.db", "from the old disk")
    assert (entry.action, entry.memo) == ("move", "from the old disk")
    with open_ledger(tmp_path / "copy.db") as ledger:
        assert ledger.spent(ALICE) == spent
        assert ledger.entries()[-1] == entry
        assert ledger.verify().ok
        ledger.export(tmp_path / "export.jsonl")
    with open_ledger(path) as ledger:  # the old one is where it says
        assert ledger.spent(ALICE) == spent


@pytest.mark.parametrize("rename", ["file", "folder"])
def test_a_renamed_ledger_has_to_be_told_so_unless_its_folder_was_renamed(tmp_path, rename):
    (tmp_path / "a").mkdir()
    open_ledger(tmp_path / "a/ledger.db", create=True).close()
    if rename == "folder":
        (tmp_path / "a").rename(tmp_path / "b")
        open_ledger(tmp_path / "b/ledger.db").close()
    else:
        (tmp_path / "a/ledger.db").rename(tmp_path / "a/other.db")
        refused(tmp_path / "a/other.db", "not where the ledger was kept")
        move_ledger(tmp_path / "a/other.db")
        open_ledger(tmp_path / "a/other.db").close()


@pytest.mark.slow
def test_a_ledger_in_use_is_not_moved(path, spender):
    one = spender()
    with pytest.raises(LedgerError):
        move_ledger(path)
    assert one.charge().strip().isdigit()
    one.end()
    move_ledger(path)


def test_a_move_that_was_broken_off_leaves_a_ledger(path, monkeypatch):
    from bocage.accounting import chain

    def killed(run, memo):
        raise KeyboardInterrupt

    monkeypatch.setattr(chain, "note_move", killed)
    with pytest.raises(KeyboardInterrupt):
        move_ledger(path)
    with open_ledger(path) as ledger:
        ledger.charge(ALICE, TENTH, "{}")
        with ledger._store.read() as run:
            assert run("PRAGMA journal_mode") == [("wal",)]
        assert ledger.verify().ok


def test_who_is_killed_while_making_a_ledger_leaves_one_name(tmp_path):
    open_ledger(tmp_path / "ledger.db", create=True).close()
    os.link(tmp_path / "ledger.db", tmp_path / ".ledger.db.abc.new")
    open_ledger(tmp_path / "ledger.db").close()
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db"]


def test_a_mark_that_was_broken_off_is_taken_back_by_the_next_to_close(path):
    with open_ledger(path) as ledger, ledger._store.write() as run:
        run("UPDATE identity SET log = 1")
    open_ledger(path).close()
    with open_ledger(path) as ledger:
        ledger.charge(ALICE, TENTH, "{}")


def test_a_format_number_that_does_not_fit_the_tables_is_refused(path):
    import sqlite3
    from contextlib import closing

    for number in (1, 2):
        with closing(sqlite3.connect(path)) as file:
            file.execute(f"PRAGMA user_version = {number}")
        with pytest.raises(LedgerCorrupt):
            open_ledger(path)
        refused(path, "the tables of another")


@pytest.mark.parametrize("platform", ["linux", "another"])
@pytest.mark.parametrize("change", ["deleted", "moved", "replaced", "moved and made anew"])
def test_a_file_that_leaves_its_name_is_noticed(tmp_path, monkeypatch, platform, change):
    monkeypatch.setattr(sys, "platform", platform if platform != "linux" else sys.platform)
    path, other = tmp_path / "log", tmp_path / "other"
    path.write_text("a")
    watched = WatchedFile(str(path))
    path.write_text("written")
    assert watched.is_in_place()
    if change == "deleted":
        path.unlink()
    elif change == "replaced":
        other.write_text("b")
        other.replace(path)
    else:
        path.rename(other)
    if change == "moved and made anew":
        path.write_text("c")
    assert not watched.is_in_place()
