"""Noise and selection against OpenDP: rates per CPU second, taken in the same run.

`python benchmarks/noise.py` prints the table; `run()` returns its rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from bocage.mechanisms import Contest, Noise, OpenDPNoise, Selection, SystemNoise

DRAWS = 1_000_000
CALLS = 1_000
# Scale, and how many draws OpenDP is asked for: as many as we are at the scales with a target.
LAPLACE = [(1, DRAWS), (10, DRAWS), (1_000, DRAWS // 10), (10_000_000, DRAWS // 10)]


def run() -> list[dict[str, Any]]:
    ours, peer = SystemNoise(), OpenDPNoise()
    rows = [
        _row(
            f"discrete Laplace, scale {scale:,}, 1e6 draws",
            _rate(DRAWS, lambda s=scale: ours.laplace(Fraction(s), DRAWS)),
            _rate(draws, lambda s=scale, n=draws: peer.laplace(Fraction(s), n), repeats=1),
            10,
        )
        for scale, draws in LAPLACE
    ]
    rows.append(
        _row(
            "discrete Laplace, scale 10, one draw a call",
            *(_rate(CALLS, lambda n=noise: _one_by_one(n)) for noise in (ours, peer)),
            2,
        )
    )
    scores = np.random.default_rng(1).integers(0, 1000, (2000, 30))
    many = [Contest(row, Fraction(1, 10)) for row in scores]
    large = [Contest(np.arange(100_000), Fraction(1, 10))]
    rows += [
        _row(
            f"{selection.value.replace('_', '-')}, {name}",
            *(_rate(len(c), lambda n=n, c=c, s=selection: n.select(c, s)) for n in (ours, peer)),
            2,
        )
        for selection in Selection
        for name, c in (("2,000 contests of 30", many), ("1 contest of 100,000", large))
    ]
    return rows


def _one_by_one(noise: Noise) -> None:
    for _ in range(CALLS):
        noise.laplace(Fraction(10), 1)


def _rate(count: int, work: Callable[[], object], repeats: int = 3) -> float:
    """Return how many are done in a CPU second, at best."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return count / min(times)


def _row(name: str, ours: float, peer: float, target: int) -> dict[str, Any]:
    return {
        "name": name,
        "ours": f"{ours:,.0f} /s",
        "peer": f"{peer:,.0f} /s",
        "ratio": ours / peer,
        "target": f">= {target}",
    }


def main() -> None:
    print(f"{'per CPU second':<46}{'Bocage':>16}{'OpenDP':>14}{'ratio':>8}{'target':>9}")
    for row in run():
        print(f"{row['name']:<46}{row['ours']:>16}{row['peer']:>14}{row['ratio']:>8.1f}{row['target']:>9}")


if __name__ == "__main__":
    main()
