"""How long ``import bocage`` and ``bocage --help`` take in a new process: the best of several."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

ROUNDS = 7
LIMIT_SECONDS = 0.3


def run() -> list[dict[str, Any]]:
    bare = _best("pass")
    rows = []
    for name, program in (
        ("import bocage", "import bocage"),
        ("bocage --help", "from bocage.cli import main; main(['--help'])"),
    ):
        taken = _best(program)
        rows.append(
            {
                "name": f"{name} in a new process (bare Python: {bare:.3f} s)",
                "ours": f"{taken:.3f} s",
                "peer": f"{LIMIT_SECONDS} s allowed",
                "ratio": taken / LIMIT_SECONDS,
                "target": "<= 1",
            }
        )
    return rows


def _best(program: str) -> float:
    return min(_seconds(program) for _ in range(ROUNDS))


def _seconds(program: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    for row in run():
        print(row)
