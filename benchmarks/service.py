"""Questions over HTTP with SQLite at full sync, against the bare charges of the same ledger.

A service of one worker process answers small counts, each afresh and with an idempotency key, so
that every answer waits for the disk twice: for its charge, and for the answer being kept. Clients
wait for one answer before they ask the next. Questions that wait at the same time share commits,
which is how many clients get past the bare ledger, whose charges wait for the disk one by one.

The answers of the first rows leave at once. One row has the padding that is the default, where an
answer leaves at a multiple of 50 ms: it bounds what one client gets, not what many get.
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "service"))  # homes and processes

from running import Made, count, running
from storm import check, storm

from bocage.accounting import Scope, open_ledger
from bocage.epsilon import Epsilon

CLIENTS = (1, 16, 64)
SECONDS = 10.0
BODY = json.dumps(count("0.000001", fresh=True)).encode()
STORM_REQUESTS, STORM_CLIENTS = 10_000, 64


def run(rows: int | None = None) -> list[dict[str, Any]]:
    """All rows; `rows` stands for a smaller number of requests of the storm."""
    with tempfile.TemporaryDirectory() as directory:
        made = Made(Path(directory) / "load", cap="100000")
        key = made.analyst("ann", "100000")
        found = []
        with running(made, warm_up=True) as service:
            _load(service.port, key, 4, 1.0)  # the first questions load what all others use
            for clients in CLIENTS:
                before, times = _bare(made), _load(service.port, key, clients, SECONDS)
                bare = (before + _bare(made)) / 2  # the disk has good and bad moments
                found.append(_row(f"{clients} clients", times, SECONDS, bare, ">= 0.5"))
        with running(made, warm_up=True, padding_milliseconds=50) as service:
            times = _load(service.port, key, 64, SECONDS)
            found.append(_row("64 clients, padded to 50 ms", times, SECONDS, bare, ">= 0.5"))
    return [*found, _storm(rows or STORM_REQUESTS)]


def _row(name: str, times: list[float], seconds: float, bare: float, target: str) -> dict[str, Any]:
    times = sorted(times)
    rate = len(times) / seconds
    middle, late = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    return {
        "name": f"counts a second, {name}, p50 {middle:.0f} ms, p99 {late:.0f} ms",
        "ours": rate,
        "peer": bare,
        "ratio": rate / bare,
        "target": target,
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


def _load(port: int, key: str, clients: int, seconds: float) -> list[float]:
    """How long each answer took, of clients that ask for `seconds`."""
    times: list[float] = []
    end = time.perf_counter() + seconds

    def ask(client: int) -> None:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        number = 0
        while (began := time.perf_counter()) < end:
            number += 1
            headers["Idempotency-Key"] = f"{client}-{number}-{end}"
            line.request("POST", "/v1/tables/people/query", BODY, headers)
            answer = line.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
            times.append(time.perf_counter() - began)
        line.close()

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


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
    for row in run():
        print(row)
