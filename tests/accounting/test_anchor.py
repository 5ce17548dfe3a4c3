"""What an anchor elsewhere names is never behind an answer, and an older copy is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time

import pytest
from click.testing import CliRunner

from bocage.accounting import Scope, known_head, open_ledger
from bocage.accounting.anchor import Anchor, Mark
from bocage.cli.ledger import ledger as command
from bocage.epsilon import Epsilon
from bocage.errors import LedgerCorrupt, LedgerError

TENTH, CAP = Epsilon.of("0.1"), Epsilon.of(100)
ALICE = Scope.table("people").analyst("alice")


@pytest.fixture
def anchor(tmp_path):
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk/anchor"


@pytest.fixture
def ledger(target, anchor):
    with open_ledger(target, create=True, anchor=anchor) as opened:
        opened.analyst(opened.table("people", CAP), "alice", CAP)
        yield opened


def test_the_anchor_names_every_entry_before_its_charge_returns(ledger, anchor):
    for _ in range(5):
        entry = ledger.charge(ALICE, TENTH, "{}")
        assert Anchor(anchor).read().head == known_head(anchor) == ledger.head()
        assert known_head(anchor).number == entry.number
    ledger.freeze(ALICE)
    assert known_head(anchor) == ledger.head()
    assert ledger.verify(known_head(anchor)).ok
    assert anchor.stat().st_size == 512


def test_threads_that_share_a_commit_find_their_entry_in_the_anchor(ledger, anchor):
    behind = []

    def work():
        for _ in range(20):
            entry = ledger.charge(ALICE, Epsilon(1), "{}")
            if known_head(anchor).number < entry.number:
                behind.append(entry)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not behind
    assert known_head(anchor) == ledger.head()


@pytest.fixture
def copies(tmp_path, anchor):
    """A ledger file with its anchor, and copies that were taken after every charge."""
    path = tmp_path / "ledger.db"
    for number in range(4):
        with open_ledger(path, create=True, anchor=anchor) as opened:
            opened.analyst(opened.table("people", CAP), "alice", CAP)
            opened.charge(ALICE, TENTH, "{}")
        shutil.copy(path, tmp_path / f"{number}.copy")
    return path


def test_every_older_copy_is_refused_in_place_and_the_newest_is_not(copies, anchor):
    for number in range(4):
        copies.write_bytes(copies.with_name(f"{number}.copy").read_bytes())
        if number < 3:
            with pytest.raises(LedgerCorrupt, match=r"older copy.*newest copy in its place"):
                open_ledger(copies, anchor=anchor)
            done = CliRunner().invoke(command, ["verify", str(copies), "--against", str(anchor)])
            assert done.exit_code == 1
            assert "known before, is missing" in done.output
    with open_ledger(copies, anchor=anchor) as ledger:
        assert ledger.spent(ALICE) == TENTH * 4


def test_a_copy_that_was_charged_by_itself_is_another_branch(copies, anchor, tmp_path):
    lost = anchor.with_name("other")
    copies.write_bytes(copies.with_name("1.copy").read_bytes())
    with open_ledger(copies) as ledger:
        with pytest.raises(LedgerError, match="opened without its anchor"):
            ledger.charge(ALICE, TENTH, "{}")
        ledger.begin_anchor(lost)
        for _ in range(5):
            ledger.charge(ALICE, TENTH, "{}")
    with pytest.raises(LedgerCorrupt, match="another copy"):
        open_ledger(copies, anchor=anchor)
    open_ledger(copies, anchor=lost).close()


def test_an_anchored_ledger_is_read_without_its_anchor_and_not_charged(ledger, target, anchor):
    with open_ledger(target) as other:
        assert other.spent(ALICE) == Epsilon(0)
        for act in (
            lambda: other.charge(ALICE, TENTH, "{}"),
            lambda: other.freeze(ALICE),
            lambda: other.table("pets", CAP),
        ):
            with pytest.raises(LedgerError, match="opened without its anchor"):
                act()


def test_the_anchor_of_another_ledger_is_refused(ledger, tmp_path, anchor):
    with (
        open_ledger(tmp_path / "other.db", create=True) as other,
        pytest.raises(LedgerError, match="another ledger"),
    ):
        other.use_anchor(anchor)
    with pytest.raises(LedgerError, match="another ledger"):
        Anchor(anchor).advance(Mark("other", 99, "0" * 64))


@pytest.mark.parametrize("how", ["gone", "directory", "damaged", "empty"])
def test_without_an_anchor_to_write_nothing_is_charged(ledger, anchor, how):
    ledger.charge(ALICE, TENTH, "{}")
    kept = anchor.read_bytes()
    if how in {"gone", "directory"}:
        anchor.unlink()
    if how == "directory":
        anchor.mkdir()
    if how in {"damaged", "empty"}:
        anchor.write_bytes(b"x" * 512 if how == "damaged" else b"")
    for _ in range(2):
        with pytest.raises(LedgerError, match="anchor"):
            ledger.charge(ALICE, TENTH, "{}")
    spent = ledger.spent(ALICE)
    assert spent <= TENTH * 2  # the first may stand where only the writing showed the damage
    if how == "gone":
        assert spent == TENTH
    if how == "directory":
        anchor.rmdir()
    anchor.write_bytes(kept)
    ledger.charge(ALICE, TENTH, "{}")
    assert known_head(anchor) == ledger.head()


def test_a_torn_line_leaves_the_other(ledger, anchor):
    entry = ledger.charge(ALICE, TENTH, "{}")
    lines = anchor.read_bytes()
    marks = [Mark.read(lines[:256]), Mark.read(lines[256:])]
    newest = max((0, 1), key=lambda i: marks[i].number)
    for cut in range(0, 255, 7):
        torn = bytearray(lines)
        start = newest * 256
        torn[start + cut : start + 256] = lines[(1 - newest) * 256 + cut : (1 - newest) * 256 + 256]
        anchor.write_bytes(torn)
        assert known_head(anchor).number in {entry.number, entry.number - 1}
        assert known_head(anchor).hash in {entry.hash, entry.previous}


def test_an_earlier_entry_does_not_take_an_anchor_back(ledger, anchor):
    ledger.charge(ALICE, TENTH, "{}")
    head = known_head(anchor)
    Anchor(anchor).advance(Mark(Anchor(anchor).read().ledger, head.number - 1, "0" * 64))
    assert known_head(anchor) == head


def test_an_anchor_is_begun_on_purpose_only(target, anchor, tmp_path):
    with open_ledger(target, create=True) as ledger:
        ledger.table("people", CAP)
    with pytest.raises(LedgerError, match="bocage ledger anchor"):
        open_ledger(target, anchor=anchor)
    done = CliRunner().invoke(command, ["anchor", str(target), str(anchor)])
    assert done.exit_code == 0, done.output
    with open_ledger(target, anchor=anchor) as ledger:
        ledger.table("pets", CAP)
    anchor.unlink()  # its disk is not there
    with pytest.raises(LedgerError, match="Is its disk there"):
        open_ledger(target, anchor=anchor, create=True)
    done = CliRunner().invoke(command, ["anchor", str(target), str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    open_ledger(target, anchor=tmp_path / "new").close()


SPEND = """
import sys
from bocage.accounting import Scope, open_ledger
from bocage.epsilon import Epsilon
alice = Scope.table("people").analyst("alice")
with open_ledger(sys.argv[1], anchor=sys.argv[2], timeout_seconds=60) as ledger:
    while True:
        print(ledger.charge(alice, Epsilon(1), "{}").number, flush=True)
"""


@pytest.mark.slow
def test_after_kills_of_several_processes_the_anchor_names_all_that_returned(copies, anchor):
    for _ in range(3):
        command = [sys.executable, "-W", "ignore", "-c", SPEND, str(copies), str(anchor)]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
        for one in running:
            one.stdout.readline()
        time.sleep(0.2)
        for one in running:
            one.kill()
        returned = [int(line) for one in running for line in one.communicate()[0].split()]
        assert known_head(anchor).number >= max(returned)
        with open_ledger(copies, anchor=anchor) as ledger:
            assert known_head(anchor) == ledger.head()
            assert ledger.verify().ok


def test_a_repeated_charge_of_one_who_was_killed_is_anchored_before_it_returns(copies, anchor):
    with open_ledger(copies, anchor=anchor) as ledger:
        link, ledger._store.anchor = ledger._store.anchor, None  # as if killed after the commit
        first = ledger.charge(ALICE, TENTH, "{}", "key")
        ledger._store.anchor = link
        assert known_head(anchor).number < first.number
        assert ledger.charge(ALICE, TENTH, "{}", "key").repeated
        assert known_head(anchor).number == first.number
