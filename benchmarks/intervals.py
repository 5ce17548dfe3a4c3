"""How often the 95 % intervals of averages and quantiles hold, and how wide they are.

    python benchmarks/intervals.py

Prints the table of docs/topics/sensitivity.md: 20,000 releases of an average and 2,000 of a quantile for
each line, with real noise, of rows that are made up.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.plan import ALWAYS, Cells, Tally
from bocage.private.quantile import Quantile
from bocage.private.query import Place, Terms
from bocage.private.sums import Average
from bocage.schema import Numeric, Schema

COLUMN = Numeric("x", lower=0, upper=1023, step=1)
TERMS = Terms(Schema("t", (COLUMN,)), Adjacency.ADD_REMOVE)
TIMES = {Average: 20_000, Quantile: 2_000}
EPSILONS = ("0.05", "0.5", "5")


def rows(size: int) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Rows that are spread evenly, unevenly, and over two places only."""
    random = np.random.default_rng(size)
    spreads = {
        "even": random.integers(0, 1024, size),
        "log-normal": np.clip(np.exp(random.normal(5, 1, size)), 0, 1023).astype(int),
        "two places": np.where(random.random(size) < 0.4, 20, 900),
    }
    for name, codes in spreads.items():
        yield name, np.bincount(codes, minlength=1024)


def line(query: Average | Quantile, counts: NDArray[np.int64]) -> tuple[float, float, str]:
    """The share of releases whose interval holds, its mean width, and the first note."""
    times, codes = TIMES[type(query)], np.arange(1024)
    held, width, note = 0, 0.0, ""
    upto = counts.cumsum()
    exact = (
        float(counts @ codes / upto[-1])
        if isinstance(query, Average)
        else float(np.searchsorted(upto * query.level.denominator, query.level.numerator * upto[-1]))
    )
    for _ in range(times // 1000):
        place = Place(ALWAYS, Cells((), 1000), tuple(map(str, range(1000))))
        many = np.tile(counts, (1000, 1))
        tally = Tally(many.sum(axis=1, keepdims=True), {"x": many[:, :, None]}, {"x": many @ codes})
        answer = query.release(tally, TERMS, place, SystemNoise())
        lows, highs = np.array(answer.lows, float), np.array(answer.highs, float)
        held += int(((lows <= exact) & (exact <= highs)).sum())
        width += float((highs - lows).sum())
        note = note or answer.note
    return held / times, width / times, note


def main() -> None:
    print("| rows | ε | average | median | 0.1 quantile |\n|---|---|---|---|---|")
    levels = (Fraction(1, 2), Fraction(1, 10))
    for size, epsilon in product((100, 1000, 100_000), EPSILONS):
        own = Epsilon.of(epsilon)
        for name, counts in rows(size):
            shown = [f"{size:,} {name}", epsilon]
            for query in (Average("x", own), *(Quantile("x", level, own) for level in levels)):
                holds, width, note = line(query, counts)
                marked = "c" if "conservative" in note else ""
                shown.append(f"{100 * holds:.1f} %{marked}, {width:.3g}")
            print(f"| {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
