"""Processes that are killed or forked anywhere in the life of a ledger leave one that opens."""

from __future__ import annotations

import subprocess
import sys

import pytest

from accounting.test_file_location import ALICE, TENTH, path
from bocage.accounting import open_ledger

__all__ = ["path"]

KILLED = """
import os, sys
from bocage.accounting import Scope, open_ledger
from bocage.accounting.sqlite_ledger import SQLiteLedger
from bocage.epsilon import Epsilon

path, look = sys.argv[1], sys.argv[2] == "look"
alice, tenth = Scope.table("people").analyst("alice"), Epsilon.of("0.1")
run = SQLiteLedger.run

def live(statements):
    left = statements

    def counted(self, connection, *sql):
        nonlocal left
        if not left:
            os._exit(9)
        left -= 1
        return run(self, connection, *sql)

    SQLiteLedger.run = counted
    with open_ledger(path) as ledger:
        for _ in range(2):
            ledger.charge(alice, tenth, "{}")
    os._exit(0)

lives, before = 0, tenth
while True:
    if (child := os.fork()) == 0:
        live(lives)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if look:
        with open_ledger(path, check=False) as ledger:
            assert ledger.verify().ok
    with open_ledger(path) as ledger:
        assert before <= ledger.spent(alice) <= before + tenth * 2
        assert ledger.verify().ok
        before = ledger.spent(alice)
    if ended == 0:
        break
    assert ended == 9
    lives += 1
assert lives > 20
"""


@pytest.mark.slow
@pytest.mark.parametrize("next_to_open", ["use", "look"])
def test_who_is_killed_before_any_statement_leaves_a_ledger_that_opens(path, next_to_open):
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(path), next_to_open]
    subprocess.run(command, check=True, timeout=120)


FORK = """
import os, sys
from bocage.accounting import Scope, open_ledger
from bocage.epsilon import Epsilon
ledger, alice = open_ledger(sys.argv[1]), Scope.table("people").analyst("alice")
ledger.charge(alice, Epsilon.of("0.1"), "{}")
out, into = os.pipe(), os.pipe()
if os.fork() == 0:
    ledger.charge(alice, Epsilon.of("0.1"), "{}")
    os.write(out[1], b"x")
    os.read(into[0], 1)
    ledger.charge(alice, Epsilon.of("0.1"), "{}")
    os._exit(0)
os.read(out[0], 1)
ledger.close()
os.write(into[1], b"x")
os.wait()
"""


def test_what_a_forked_child_charges_after_its_parent_closed_is_not_lost(path):
    """SQLite in the child would take the parent's locks for its own."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK, str(path)], check=True, timeout=60)
    with open_ledger(path) as ledger:
        assert ledger.spent(ALICE) == TENTH * 4
        assert ledger.verify().ok


STRANDED = """
import os, sys
from bocage.accounting import open_ledger
from bocage.storage import store
store._FORK_SECONDS = 0.1
ledger = open_ledger(sys.argv[1])
with ledger._store.read():
    if os.fork() == 0:
        try:
            open_ledger(sys.argv[1])
        except Exception as error:
            print(error)
            sys.stdout.flush()
        os._exit(0)
    os.wait()
ledger.close()
"""


def test_a_child_that_was_forked_in_a_transaction_is_refused(path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", STRANDED, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "was in use when this process was forked" in done.stdout
