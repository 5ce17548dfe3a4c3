"""What was released was charged, whenever the power goes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bocage.accounting import Head, Scope, open_ledger
from bocage.epsilon import Epsilon
from bocage.errors import LedgerError
from servers import postgres_server

MORTAL = Path(__file__).with_name("mortal.py")
LIVES, LEDGERS = 200, 10
ALICE = Scope.table("people").analyst("alice")


@pytest.mark.slow
def test_two_hundred_kills_lose_no_charge_of_a_released_answer(tmp_path):
    """Instants are drawn between before the ledger exists and a dozen released answers later."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    answers = 0
    with subprocess.Popen([sys.executable, str(MORTAL)], **pipes) as nursery:
        for n in range(LEDGERS):
            target, released = tmp_path / f"{n}.db", tmp_path / f"{n}.released"
            known = Head(0, "")
            for _ in range(LIVES // LEDGERS):
                nursery.stdin.write(f"{target}\t{released}\n")
                nursery.stdin.flush()
                child = int(nursery.stdout.readline())
                wait_for(released, count(released) + random.randrange(12))  # noqa: S311 - no secret
                time.sleep(random.uniform(0, 0.005))  # noqa: S311 - within the next charge
                os.kill(child, signal.SIGKILL)
                assert nursery.stdout.readline() == "dead\n"
                known = check(target, released, known)
            answers += count(released)
        nursery.stdin.close()
    assert answers > LIVES  # the lives were long enough to do something


def count(released):
    return released.read_text().count("\n") if released.exists() else 0


def wait_for(released, lines):
    """A slow machine makes the lives longer, not emptier."""
    end = time.monotonic() + 20
    while count(released) < lines:
        assert time.monotonic() < end
        time.sleep(0.001)


def check(target, released, known):
    if not target.exists():
        assert not released.exists()
        return known
    with open_ledger(target) as ledger:
        found = ledger.verify(known if known.number else None)
        assert found.problems == ()
        charged = {str(entry.number): entry.hash for entry in ledger.entries() if entry.action == "charge"}
        lines = released.read_text().split("\n")[:-1] if released.exists() else []
        assert len(set(lines)) == len(lines) <= len(charged)
        assert all(charged[number] == digest for number, digest in map(str.split, lines))
        if charged:
            assert ledger.spent(ALICE) == Epsilon.of("0.001") * len(charged)
    return found.head


@pytest.mark.slow
@pytest.mark.postgres
def test_killed_postgres_server_keeps_every_charge_that_returned():
    with postgres_server() as server:
        ledger = open_ledger(server.url, create=True)
        alice = ledger.analyst(ledger.table("people", Epsilon.of(1000)), "alice", Epsilon.of(1000))
        for _ in range(2):
            returned: list[int] = []
            spender = threading.Thread(target=spend_until_the_end, args=(ledger, alice, returned))
            spender.start()
            while len(returned) < 20:
                time.sleep(0.005)
            server.kill()
            spender.join(timeout=30)
            server.restart()
            charged = {entry.number for entry in ledger.entries(alice)}  # over a new connection
            assert set(returned) <= charged
            assert ledger.verify().ok
        ledger.close()


def spend_until_the_end(ledger, alice, returned):
    try:
        while True:
            returned.append(ledger.charge(alice, Epsilon.of("0.001"), "{}").number)
    except LedgerError:
        return
