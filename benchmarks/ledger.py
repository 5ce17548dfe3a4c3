"""What a durable charge costs, with few entries on record and with many.

Ours is a committed transaction on disk; the peers keep a list in memory. Lengths of the peers' lists
are short because their time per charge grows with them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bocage.accounting import Action, Ledger, Scope, chain, open_ledger
from bocage.epsilon import Epsilon

ENTRIES = 100_000
ROUNDS = 1_000
PEER_ENTRIES = 2_000
CAP = Epsilon.of(1000)
ALICE = Scope.table("people").analyst("alice")


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as directory:
        short, long = (_ledger(Path(directory) / name) for name in ("short.db", "long.db"))
        _fill(long, ENTRIES)
        # Taken in turns, so that a machine that is busy for a while is busy for both.
        times = [(_timed(_charge, short), _timed(_charge, long)) for _ in range(ROUNDS)]
        short.close()
        long.close()
    rows: list[dict[str, Any]] = []
    for i, clock in enumerate(("durable charge", "processor time of a charge")):
        first = median(early[i] for early, _ in times)
        late = median(end[i] for _, end in times)
        growth = late / first
        rows.append(
            {
                "name": f"{clock}, {ENTRIES:,} entries vs the first {ROUNDS:,}",
                "ours": f"{late * 1e6:.0f} µs",
                "peer": f"{first * 1e6:.0f} µs",
                "ratio": growth,
                "target": "<= 1.2",
            }
        )
    for name, prepare in (("OpenDP's filter", _opendp), ("diffprivlib's accountant", _diffprivlib)):
        try:
            spend = prepare()
        except ImportError:
            continue
        their_times = [_timed(spend)[1] for _ in range(PEER_ENTRIES)]
        theirs = median(their_times[-100:]) / median(their_times[:100])
        rows.append(
            {
                "name": f"growth of a charge at {ENTRIES:,} entries vs {name} at {PEER_ENTRIES:,}",
                "ours": f"{growth:.2f}x",
                "peer": f"{theirs:.2f}x",
                "ratio": theirs / growth,
                "target": ">= 2",
            }
        )
    return rows


def _ledger(path: Path) -> Ledger:
    ledger = open_ledger(path, create=True)
    ledger.analyst(ledger.table("people", CAP), "alice", CAP)
    return ledger


def _charge(ledger: Ledger) -> None:
    ledger.charge(ALICE, Epsilon(1), '{"ask":"noisy_count"}')


def _fill(ledger: Ledger, entries: int) -> None:
    """The same entries as by `charge`, without waiting for the disk at each."""
    with ledger._store.write() as transaction:  # noqa: SLF001 - no user has a reason to do this
        for _ in range(entries):
            chain.append(transaction, Action.CHARGE, ALICE, Epsilon(1), memo='{"ask":"noisy_count"}')


def _timed(action: Callable[..., object], *arguments: object) -> tuple[float, float]:
    """Seconds by the clock and seconds of the processor."""
    clock, processor = time.perf_counter(), time.thread_time()
    action(*arguments)
    return time.perf_counter() - clock, time.thread_time() - processor


def _opendp() -> Callable[[], object]:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    odometer = dp.c.make_fully_adaptive_composition(*space, dp.max_divergence())
    queryable = dp.c.make_privacy_filter(odometer, d_in=1, d_out=1000.0)(0)
    noise = dp.m.make_laplace(*space, scale=1e6)
    return lambda: queryable(noise)


def _diffprivlib() -> Callable[[], object]:
    from diffprivlib import BudgetAccountant

    accountant = BudgetAccountant(epsilon=1000, delta=0)
    return lambda: accountant.spend(1e-6, 0)


if __name__ == "__main__":
    for row in run():
        print(row)
