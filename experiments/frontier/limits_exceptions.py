"""Votes where one split is wrong: could exceptions to it be learned there? For research only, nothing here is private.

177 of 435 rows said yes to `physician-fee-freeze`, and 14 of them are democrats all the same. Whatever learns to tell
these has nearly all of epsilon for them, as branches are disjoint. Two ways, and how many of the 435 rows more each
is right for on test rows::

    python -m experiments.frontier.limits_exceptions
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from experiments.common.data import folds
from experiments.frontier import rivals

SPLIT, YES = 3, 0  # physician-fee-freeze and its value, by code
REPEATS = 10  # of ten folds
Part = tuple[np.ndarray, np.ndarray]


def parts() -> Iterator[tuple[Part, Part]]:
    """Other attributes and the sign of the label (1 for those the split is wrong for), to learn from and to test."""
    table = np.load(rivals.table_file("votes"))
    codes, labels = table["x"].astype(int), table["y"].astype(int)
    wrong = 1 - np.bincount(labels[codes[:, SPLIT] == YES]).argmax()
    others, sign = np.delete(codes, SPLIT, axis=1), np.where(labels == wrong, 1, -1)
    for repeat in range(REPEATS):
        for both in folds(labels, 10, repeat, 6):
            yes = [rows[codes[rows, SPLIT] == YES] for rows in both]
            yield (others[yes[0]], sign[yes[0]]), (others[yes[1]], sign[yes[1]])


def drawn_rule(known: Part, asked: Part, rate: float, length: int) -> float:
    """One rule (so many attributes with a value each) or none, half of the prior each, by one draw."""
    weight, gained = 1.0, 0.0
    chosen = list(combinations(range(known[0].shape[1]), length))
    share = 1 / (len(chosen) * 3**length)
    for columns in chosen:
        for values in product(range(3), repeat=length):
            gain, gain_asked = (
                int(sign[(codes[:, columns] == values).all(axis=1)].sum())
                for codes, sign in (known, asked)
            )
            own = share * np.exp(rate * gain)
            weight, gained = weight + own, gained + own * gain_asked
    return gained / weight


def regression(
    known: Part, asked: Part, penalty: float, epsilon: float, rng: np.random.Generator
) -> float:
    """Objective perturbation, K-norm noise of a cube; yes against no, nothing where it is missing."""
    x, asked_x = (
        np.c_[np.ones(len(codes)), np.array([1.0, -1.0, 0.0])[codes]] for codes, _ in (known, asked)
    )
    size = x.shape[1]
    penalties = np.r_[1.0, np.full(size - 1, penalty)]
    noise = np.zeros(size)
    if epsilon:
        rate = rate_of(epsilon, float((1 / penalties).sum()))
        noise = rng.gamma(size + 1, 1 / rate) * rng.uniform(-1, 1, size)
    weights = np.zeros(size)
    for _ in range(50):
        chance = 1 / (1 + np.exp(known[1] * (x @ weights)))
        slope = penalties * weights + noise - x.T @ (known[1] * chance)
        curve = (x * (chance * (1 - chance))[:, None]).T @ x + np.diag(penalties)
        step = np.linalg.solve(curve, slope)
        weights -= step * min(1.0, 2.0 / np.abs(x @ step).max(initial=1e-9))
        if np.abs(slope).max() < 1e-6:
            break
    return float(asked[1][asked_x @ weights > 0].sum())


def rate_of(epsilon: float, curvature: float) -> float:
    """What noise may cost beside the change of curvature, for every chance that a row is wrong."""
    chance = np.linspace(0.01, 1, 100)
    return float(
        ((epsilon - np.log1p(chance * (1 - chance) * curvature)) / chance).min().clip(min=1e-3)
    )


def main() -> None:
    rng = np.random.default_rng(6)
    print("| | rows more |\n|---|---|")
    for length, rate in product((1, 2, 3), (1.0, 1.7, 3.0)):
        found = [drawn_rule(known, asked, rate, length) for known, asked in parts()]
        print(f"| rules of {length}, rate {rate:g} | {10 * np.mean(found):+.1f} |", flush=True)
    for penalty, epsilon in product((2.0, 3.0, 5.0, 10.0), (0.0, 1.7)):
        draws = 20 if epsilon else 1
        found = [
            regression(known, asked, penalty, epsilon, rng)
            for known, asked in parts()
            for _ in range(draws)
        ]
        words = f"epsilon {epsilon:g}" if epsilon else "without privacy"
        print(f"| regression, penalty {penalty:g}, {words} | {10 * np.mean(found):+.1f} |")


if __name__ == "__main__":
    main()
