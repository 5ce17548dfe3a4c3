"""Many processes, one account."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bocage.accounting import Scope, open_ledger
from bocage.epsilon import Epsilon

HAMMER = Path(__file__).with_name("hammer.py")


@pytest.mark.slow
def test_sixteen_processes_spend_a_cap_exactly_and_lose_no_charge(target):
    """All of them also race to create the ledger and to open the accounts."""
    command = [sys.executable, str(HAMMER), target, "40.05", "0.1"]  # 400 charges and a rest
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(16)]
    accepted: list[int] = []
    for process in processes:
        output, errors = process.communicate(timeout=110)
        assert process.returncode == 0, errors
        accepted += map(int, output.split())
    with open_ledger(target) as ledger:
        alice = Scope.table("people").analyst("alice")
        charged = [entry.number for entry in ledger.entries(alice) if entry.action == "charge"]
        assert sorted(accepted) == charged
        assert len(charged) == 400
        assert ledger.spent(alice) == Epsilon.of(40)
        assert ledger.remaining(alice) == Epsilon.of("0.05")
        assert ledger.verify().ok


def test_a_file_that_is_locked_for_a_moment_is_waited_for(tmp_path):
    """As by a process that is the first to open it or the last to close it."""
    path = tmp_path / "ledger.sqlite"
    open_ledger(path, create=True).close()
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    later = threading.Timer(0.3, holder.close)
    later.start()
    with open_ledger(path) as ledger:
        assert ledger.head().number == 1
    later.join()


FORK = """
import os, sys
from bocage.accounting import open_ledger
from bocage.epsilon import Epsilon

ledger = open_ledger(sys.argv[1], create=True)
alice = ledger.analyst(ledger.table("people", Epsilon.of(9)), "alice", Epsilon.of(9))
spend = lambda: [ledger.charge(alice, Epsilon.of("0.1"), "{}") for _ in range(5)]
spend()
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        spend()
        ledger.close()
        del ledger
        sys.exit(0)  # with everything that the interpreter does at its end
    children.append(pid)
    spend()
assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0, 0]
spend()
assert ledger.verify().ok
assert ledger.spent(alice) == Epsilon.of(5), ledger.spent(alice)
ledger.close()
"""


def test_forked_children_go_on_with_connections_of_their_own(target):
    command = [sys.executable, "-W", "error", "-c", FORK, target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
