"""Questions over HTTP with SQLite at full sync, against the bare charges of the same ledger.

A service of two worker processes, one for each core, answers small counts, each afresh and with an
idempotency key. Every answer waits for the disk until its charge is there, and is then kept, without
waiting where the ledger knows the runs of the machine. Clients wait for one answer before they ask
the next; they are one light process beside the service. Questions that wait at the same time share
commits, which is how many clients get past the bare ledger, whose charges wait for the disk one by one.

The answers of the first rows leave at once. One row has the padding that is the default, where an
answer leaves at a multiple of 50 ms: it bounds what one client gets, not what many get.

As a program, `--load` leaves the storm out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "service"))  # homes and processes

from load import load
from running import Made, Running, count, running
from storm import check, storm

from bocage.accounting import Scope, open_ledger
from bocage.epsilon import Epsilon

CLIENTS = (1, 16, 64)
WORKERS = 2
SECONDS = 10.0
BODY = json.dumps(count("0.000001", fresh=True))
STORM_REQUESTS, STORM_CLIENTS = 10_000, 64


def run(rows: int | None = None) -> list[dict[str, Any]]:
    """All rows; `rows` stands for a smaller number of requests of the storm."""
    return [*run_load(), _storm(rows or STORM_REQUESTS)]


def run_load(workers: int = WORKERS, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """The rows about speed."""
    with tempfile.TemporaryDirectory() as directory:
        made = Made(Path(directory) / "load", cap="100000")
        key = made.analyst("ann", "100000")
        found = []
        with running(made, warm_up=True, workers=workers) as service:
            load(service.port, key, 16, 2.0, BODY)  # the first questions load what all others use
            for clients in CLIENTS:
                before = _bare(made)
                times, used = _measured(service, key, clients, seconds)
                bare = (before + _bare(made)) / 2  # the disk has good and bad moments
                name = f"{clients} clients, {used:.2f} ms of processor each"
                found.append(_row(name, times, seconds, bare))
        with running(made, warm_up=True, workers=workers, padding_milliseconds=50) as service:
            load(service.port, key, 16, 2.0, BODY)
            times, _ = _measured(service, key, 64, seconds)
            found.append(_row("64 clients, padded to 50 ms", times, seconds, bare))
    return found


def _measured(service: Running, key: str, clients: int, seconds: float) -> tuple[list[float], float]:
    """The times of the answers, and the processor time of the service in ms for each."""
    before = _processor(service)
    times = load(service.port, key, clients, seconds, BODY)
    return times, 1000 * (_processor(service) - before) / len(times)


def _processor(service: Running) -> float:
    above = psutil.Process(service.process.pid)
    spent = [one.cpu_times() for one in (above, *above.children(recursive=True))]
    return sum(one.user + one.system for one in spent)


def _row(name: str, times: list[float], seconds: float, bare: float) -> dict[str, Any]:
    times = sorted(times)
    rate = len(times) / seconds
    middle, late = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    return {
        "name": f"counts a second, {name}, p50 {middle:.0f} ms, p99 {late:.0f} ms",
        "ours": rate,
        "peer": bare,
        "ratio": rate / bare,
        "target": ">= 0.5",
    }


def _bare(made: Made, seconds: float = 2.0) -> float:
    """Charges a second of the ledger alone: one after another, each on the disk."""
    scope, charges = Scope.table("people").analyst("ann"), 0
    with open_ledger(made.path / "ledger.sqlite") as ledger:
        ledger.charge(scope, Epsilon(1), "first")
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            ledger.charge(scope, Epsilon(1), '{"ask":"noisy_count"}')
            charges += 1
    return charges / seconds


def _storm(requests: int) -> dict[str, Any]:
    """Mixed requests while workers are killed: the row says how many; `check` raises if it must."""
    with tempfile.TemporaryDirectory() as directory:
        made = Made(Path(directory) / "storm", cap="100000")
        after = storm(made, requests, STORM_CLIENTS, workers=2)
        found = check(made, after)
    told = ", ".join(f"{number} {name}" for name, number in found.items())
    # Charges of models and of the question that each client asks afterwards are left out; a job
    # that was lost after its charge stays in.
    paid = found["charges"] - found["models"] - STORM_CLIENTS
    return {
        "name": f"{requests:,} requests of {STORM_CLIENTS} clients in {after.seconds:.0f} s: {told}",
        "ours": f"{found['answers']} released",
        "peer": f"{paid} charged",
        "ratio": found["answers"] / paid,
        "target": "<= 1",
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--load", action="store_true", help="only the rows about speed")
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    rows = run_load(arguments.workers, arguments.seconds)
    for row in rows if arguments.load else [*rows, _storm(STORM_REQUESTS)]:
        print(row)
