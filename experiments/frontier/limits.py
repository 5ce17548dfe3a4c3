"""What one draw can have on votes, and what the mean of many would have; for research only, nothing here is private.

A Markov chain visits integer scores: each attribute counts `weight` times, yes against no and nothing where it is
missing. Its law is that of one draw for epsilon 2, whose score is the rows predicted right, or a likelihood whose
logarithm is cut to the same range. `one` is how often such a draw is right on test rows, `all` how often the mean of
thousands is, which no epsilon of 2 pays for::

    python -m experiments.frontier.limits
"""

from __future__ import annotations

from itertools import product

import numba
import numpy as np
from experiments.frontier import rivals

RATE = 1.9  # of epsilon 2, after the number of rows
STEPS, BURNT, EVERY = 60_000, 15_000, 20
SHARES = (0.05, 0.2, 0.5, 0.8)  # of attributes that count, beforehand
SCORES = (
    (0, 1.0),
    (2, 2.0),
    (2, 4.0),
    (4, 2.0),
    (4, 4.0),
    (4, 8.0),
)  # cut, margin that e to 1 stands for


@numba.njit
def scored(margins: np.ndarray, cut: int, scale: float) -> float:
    """RATE times a score of range 1: rows right, or their likelihood with odds up to e**cut if there is a cut."""
    total = 0.0
    for margin in margins:
        if cut == 0:
            total += RATE if margin > 0 else 0.0
        else:
            odds = min(max(margin / scale, -cut), cut)
            total -= RATE / cut * np.log1p(np.exp(-odds))
    return total


@numba.njit
def visited(
    known: tuple[np.ndarray, np.ndarray],
    asked: tuple[np.ndarray, np.ndarray],
    score: tuple[int, float],
    prior: tuple[int, float],
    seed: int,
) -> tuple[float, float, float]:
    """How often one is right, all are, and one is on the rows that it was drawn from."""
    np.random.seed(seed)  # noqa: NPY002 - the generator of compiled loops
    (x, sign), (x_asked, sign_asked), (most, odds) = known, asked, prior
    attributes = x.shape[1]
    weights, offset = np.zeros(attributes, np.int64), 1
    margins = offset * sign
    now = scored(margins, *score)
    one, own, votes, count = 0.0, 0.0, np.zeros(len(sign_asked)), 0
    for step in range(STEPS):
        place, other = np.random.randint(attributes), np.random.randint(attributes)  # noqa: NPY002 - likewise
        kind = np.random.random()  # noqa: NPY002 - likewise
        new, shifted = weights.copy(), offset
        if kind < 0.15:
            shifted = offset + 2 * np.random.randint(-2, 3)  # noqa: NPY002 - likewise
        elif kind < 0.75:
            new[place] = np.random.randint(-most, most + 1)  # noqa: NPY002 - likewise
        else:
            new[place], new[other] = weights[other], weights[place]
        if abs(shifted) <= 2 * most + 1:
            moved = new - weights
            proposed = margins + (shifted - offset + 2 * moved[place] * x[:, place]) * sign
            if other != place:
                proposed += 2 * moved[other] * x[:, other] * sign
            then, gain = scored(proposed, *score), odds * ((new != 0).sum() - (weights != 0).sum())
            slowly = min(step / BURNT, 1.0)
            if np.log(np.random.random()) < slowly * (then - now) + gain:  # noqa: NPY002 - likewise
                weights, offset, margins, now = new, shifted, proposed, then
        if step >= BURNT and step % EVERY == 0:
            sums = 2 * (x_asked * weights).sum(1) + offset
            one += (sums * sign_asked > 0).mean()
            own += (margins > 0).mean()
            votes += np.sign(sums)
            count += 1
    return one / count, (votes * sign_asked > 0).mean(), own / count


def main() -> None:
    table = np.load(rivals.table_file("votes"))
    x, sign = np.array([1, -1, 0])[table["x"].astype(int)], 2 * table["y"].astype(int) - 1
    print("| score | weights up to |", " | ".join(map(str, SHARES)), "|")
    print("|---|---|" + "---|" * len(SHARES))
    for score, most in product(SCORES, (1, 3, 5)):
        shown = []
        for share in SHARES:
            prior = most, np.log(share / (1 - share) / (2 * most))
            found = [
                visited((x[train], sign[train]), (x[test], sign[test]), score, prior, seed)
                for seed in range(2)
                for train, test in rivals.folds_of("votes", seed, 6)
            ]
            shown.append(" / ".join(f"{100 * number:.1f}" for number in np.mean(found, axis=0)))
        words = "rows right" if score[0] == 0 else f"likelihood, cut at {score[0]}, /{score[1]:g}"
        print(f"| {words} | {most} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
