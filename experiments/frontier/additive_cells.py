"""Cells of numeric attributes that follow the data, in floating point. Research only: not private.

Tables of skewed numeric attributes, and ways to cut them, tried with the prototypes of the additive
model and of tables of counts::

    python -m experiments.frontier.additive_cells --keel PATH --out FILE [--only NAME] [--learner bayes]
"""

# ruff: noqa: PLR0917 - all ways and learners take the same arguments

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from experiments.common.data import folds
from experiments.frontier import additive_simulation as additive
from experiments.frontier import bayes_simulation as bayes
from experiments.frontier.additive_skewed import tables
from experiments.frontier.simulation import Data

from bocage import study
from bocage.learners import Additive, Auto, Bayes, ReadableTree
from bocage.learners.cutting import Spreads
from bocage.schema import Categorical, Numeric, Schema

EPSILONS = (0.1, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Way:
    """How numeric attributes are cut."""

    share: float = 0.1  # of epsilon for the counts, at most; 0 for equal width
    exact: bool = False  # counts without noise, at no cost: what there is to gain
    target: float = 50.0  # records for each noise scale that are enough
    enough: float = 10.0  # ... and that are needed
    least: float = 0.005  # share, at least
    uniform: int = 16  # equal parts of the range in the public grid
    ends: bool = True  # ... and halves of halves towards both ends
    rounds: int = 2  # how often heavy cells are counted again
    heavy: float = 0.25  # of the rows in one cell: then it is counted again
    prior: float = 2.0  # noise scales of rows, spread evenly over the range
    floor: float = 1.0  # noise scales below which a count is taken for nothing
    wide: float = 0.0  # weight of the width beside that of the rows
    flat: float = 0.0  # share of the rows in one of `parts` up to which cells stay as they are
    parts: int = 8
    look: float = 0.0  # records for each noise scale that are enough in the first round
    look_share: float = 0.0  # of epsilon, at most, for that
    eighths: bool = False  # whether that counts eighths of the range only
    heavy_margin: float = 0.0  # noise scales that a heavy cell needs besides
    margin: float = 0.0  # deviations of the noise of that share besides
    each: bool = False  # whether each round may have the whole share
    public: str = ""  # "halves": public cells, finer towards the ends, at no cost


ONE = Way(share=0.1, enough=5, flat=0.3, target=25)  # one fine look at all attributes
EIGHTHS = replace(
    ONE, look=8.0, eighths=True, look_share=0.05, margin=1.0, heavy_margin=2.0, each=True, rounds=3
)
WAYS = {
    "width": Way(share=0),
    "oracle": Way(exact=True, rounds=9),
    "oracle, flat": Way(exact=True, rounds=9, flat=0.3),
    "halves": Way(public="halves"),
    "target 50": Way(share=0.2, enough=5),
    "prior 10": Way(share=0.2, enough=5, prior=10),
    "wide 0.3": Way(share=0.2, enough=5, wide=0.3),
    "wide 1": Way(share=0.2, enough=5, wide=1),
    "A": ONE,
    "B": replace(ONE, target=50),
    "C": replace(ONE, flat=0.2, wide=0.3),
    "D": replace(ONE, enough=3, share=0.15),
    "E": replace(ONE, rounds=1),
    "J": replace(ONE, heavy_margin=2.0, share=0.05),
    "L": replace(ONE, look=8.0, heavy_margin=2.0),
    "N": EIGHTHS,
    "N2": replace(EIGHTHS, look_share=0.1),
    "N3": replace(EIGHTHS, margin=0.5),
    "N5": replace(EIGHTHS, rounds=2),
    "N6": replace(EIGHTHS, margin=2.0),
    "N8": replace(EIGHTHS, flat=0.25),
    "N9": replace(EIGHTHS, flat=0.2),
    "N10": replace(EIGHTHS, least=0.02),
    "taken": replace(EIGHTHS, flat=0.25, least=0.02),  # N11
    "N12": replace(EIGHTHS, flat=0.22, least=0.02),
}


def public_grid(codes: int, way: Way) -> np.ndarray:
    """Edges among the codes, from 0 to `codes`."""
    edges = {i * codes // way.uniform for i in range(way.uniform + 1)} | {0, codes}
    step = codes if way.ends else 1
    while step > 1:
        step //= 2
        edges |= {step, codes - step}
    return np.array(sorted(edges))


def cut(edges: np.ndarray, mass: np.ndarray, cells: int) -> list[int]:
    """Edges of at most so many cells: the heaviest is halved as long as it can be.

    Between two edges the codes are taken for equally frequent.
    """
    codes = np.arange(edges[-1] + 1)
    total = np.interp(codes, edges, np.concatenate([[0.0], np.cumsum(mass)]))
    parts = [(0, int(edges[-1]))]

    def weight(part: tuple[int, int]) -> float:
        return -1.0 if part[1] - part[0] < 2 else float(total[part[1]] - total[part[0]])

    while len(parts) < cells:
        at = max(range(len(parts)), key=lambda i: weight(parts[i]))
        first, end = parts[at]
        if weight(parts[at]) <= 0:
            break
        middle = (total[first] + total[end]) / 2
        place = first + 1 + int(np.abs(total[first + 1 : end] - middle).argmin())
        parts[at : at + 1] = [(first, place), (place, end)]
    return [first for first, _ in parts[1:]]


def width_cuts(codes: int, cells: int) -> list[int]:
    return sorted({-(-i * codes // cells) for i in range(1, cells)})


def found_cuts(
    columns: list[np.ndarray],
    sizes: list[int],
    cells: int,
    way: Way,
    epsilon: float,
    rows: float,
    rng: np.random.Generator,
) -> tuple[list[list[int]], float]:
    """For each column its cuts, and what they cost."""
    plain = [width_cuts(size, min(cells, size)) for size in sizes]
    if not way.share or not columns:
        return plain, 0.0
    spent, open_ = 0.0, list(range(len(columns)))
    grids = [np.arange(9) * size // 8 if way.eighths else public_grid(size, way) for size in sizes]
    known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    noise: dict[int, float] = {}
    for turn in range(way.rounds):
        first = bool(way.look) and not turn
        target, most = (way.look, way.look_share or way.share) if first else (way.target, way.share)
        wanted = min(
            max(target * len(open_) / rows / epsilon, way.least), most - spent * (not way.each)
        )
        scale = 0.0 if way.exact else len(open_) / max(wanted * epsilon, 1e-9)
        if not open_ or rows < way.enough * scale:
            break
        spent += 0.0 if way.exact else wanted
        again = []
        for i in open_:
            edges = grids[i]
            counts = np.diff(np.searchsorted(np.sort(columns[i]), edges)).astype(float)
            counts += rng.laplace(scale=scale, size=len(counts)) if scale else 0.0
            mass = np.where(counts < way.floor * scale, 0.0, counts)
            noise[i] = scale
            known[i] = (
                edges,
                mass + (way.prior * scale + way.wide * rows + 1e-9) * np.diff(edges) / edges[-1],
            )
            grids[i] = finer(edges, mass, way.heavy * rows + way.heavy_margin * scale)
            if first and way.eighths:
                grids[i] = np.union1d(grids[i], public_grid(sizes[i], way))
            uneven = first and not is_flat(*known[i], scale, way)
            if uneven or (len(grids[i]) > len(edges) and not (first and way.eighths)):
                again.append(i)
        open_ = again
    own = []
    for i, size in enumerate(sizes):
        seen = i in known
        margin = way.margin if seen and way.eighths and len(known[i][1]) == 8 else 0.0
        flat = not seen or is_flat(*known[i], noise[i], replace(way, margin=margin))
        own.append(plain[i] if flat else cut(*known[i], min(cells, size)))
    return own, spent * epsilon


def is_flat(edges: np.ndarray, mass: np.ndarray, noise: float, way: Way) -> bool:
    """Whether no part of equal width holds many of the rows."""
    places = np.arange(way.parts + 1) * edges[-1] / way.parts
    upto = np.interp(places, edges, np.concatenate([[0.0], np.cumsum(mass)]))
    heavy = int(np.diff(upto).argmax())
    parts = np.searchsorted(edges, places[[heavy, heavy + 1]])
    doubt = way.margin * noise * (2 * max(parts[1] - parts[0], 1)) ** 0.5
    return bool(np.diff(upto).max() <= way.flat * upto[-1] + doubt)


def finer(edges: np.ndarray, mass: np.ndarray, heavy: float) -> np.ndarray:
    """The grid with heavy cells cut into sixteen, evenly."""
    more = set(edges.tolist())
    for low, high, own in zip(edges[:-1].tolist(), edges[1:].tolist(), mass.tolist(), strict=True):
        if own > heavy and high - low > 1:
            more |= {low + i * (high - low) // 16 for i in range(16)}
    return np.array(sorted(more))


def halves(codes: int, cells: int) -> list[int]:
    """Public cuts, finer towards both ends."""
    found = {codes // 2}
    step = codes // 4
    while len(found) < cells - 1 and step:
        found |= {step, codes - step}
        step //= 4 if cells <= 8 else 2
    return sorted(found)[: cells - 1]


def recoded(
    data: Data, train: np.ndarray, way: Way, cells: int, epsilon: float, rows: float, rng
) -> tuple[Data, float]:
    numeric = [i for i, n in enumerate(data.numeric) if n]
    columns, sizes = [data.codes[train, i] for i in numeric], [data.arity[i] for i in numeric]
    if way.public:
        cuts, spent = [halves(s, min(cells, s)) for s in sizes], 0.0
    else:
        cuts, spent = found_cuts(columns, sizes, cells, way, epsilon, rows, rng)
    codes, arity = data.codes.copy(), list(data.arity)
    for i, own in zip(numeric, cuts, strict=True):
        codes[:, i] = np.searchsorted(own, data.codes[:, i], side="right")
        arity[i] = len(own) + 1
    kept = [i for i in range(len(arity)) if arity[i] > 1]
    return Data(
        data.name,
        codes[:, kept],
        tuple(arity[i] for i in kept),
        (False,) * len(kept),
        data.labels,
        data.classes,
    ), spent


def additive_right(data: Data, way: Way, epsilon: float, train, test, rng) -> float:
    rule = (
        additive.TAKEN
        if data.classes <= 3
        else replace(additive.TAKEN, prior="raw", scaled=0.0, share=0.05)
    )
    rows = len(train) + rng.laplace(scale=1 / (0.03 * epsilon))
    levels = additive.chosen_blocks(data, rule, max(rows, 40 / epsilon), epsilon)
    few = next((own[-1] for own, n in zip(levels, data.numeric, strict=True) if n), 8)
    table, spent = recoded(data, train, way, few, epsilon, rows, rng.spawn(1)[0])
    model, codes = additive.fit(table, train, rule, epsilon - spent, rng)
    scores = model.scores([c[test] for c in codes])
    return float((scores.argmax(1) == data.labels[test]).mean())


def bayes_right(data: Data, way: Way, epsilon: float, train, test, rng) -> float:
    rows = len(train) + rng.laplace(scale=1 / (0.05 * epsilon))
    table, spent = recoded(data, train, way, 8, epsilon, rows, rng.spawn(1)[0])
    return bayes.Fit(
        bayes.Fold(table, 8, train, test), bayes.Way(), epsilon - spent, rng
    ).accuracy()


def shipped(make) -> Callable[..., float]:
    """The learner itself, with its own noise; the way of equal width leaves out what counts attributes."""

    def right(data: Data, way: Way, epsilon: float, train, test, _) -> float:
        columns = tuple(
            Numeric(f"a{i}", 0, size, size)
            if number
            else Categorical(f"a{i}", tuple(map(str, range(size))))
            for i, (size, number) in enumerate(zip(data.arity, data.numeric, strict=True))
        )
        schema = Schema("made", columns, Categorical("y", tuple(map(str, range(data.classes)))))

        def rows(which: np.ndarray) -> dict[str, np.ndarray]:
            found = {
                f"a{i}": own + 0.5 if number else own.astype(str)
                for i, (own, number) in enumerate(
                    zip(data.codes[which].T, data.numeric, strict=True)
                )
            }
            return {**found, "y": data.labels[which].astype(str)}

        with ExitStack() as stack:
            if not way.share:
                for module in ("additive", "bayes", "readable"):
                    place = f"bocage.learners.{module}.count_spreads"
                    stack.enter_context(patch(place, lambda *asked, **_: (Spreads(), asked[3])))
            model = make().fit(stack.enter_context(study(rows(train), schema)), str(epsilon))
        return float((model.predict(rows(test)) == data.labels[test].astype(str)).mean())

    return right


LEARNERS = {
    "additive": additive_right,
    "bayes": bayes_right,
    "shipped additive": shipped(Additive),
    "shipped bayes": shipped(Bayes),
    "shipped readable": shipped(ReadableTree),
    "shipped auto": shipped(Auto),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--keel", type=Path, required=True, help="directory of balanced and imbalanced"
    )
    parser.add_argument("--only", action="append", help="this way (repeatable)")
    parser.add_argument("--table", action="append", help="this table (repeatable)")
    parser.add_argument("--folds", type=int, default=10**9, help="at most")
    parser.add_argument("--most", type=int, default=10**9, help="rows of a table")
    parser.add_argument("--group", action="append", help="this group of tables (repeatable)")
    parser.add_argument("--learner", choices=LEARNERS, default="additive")
    parser.add_argument("--epsilon", type=float, action="append")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with given.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for group, data in tables(given.keel):
            if given.table and data.name not in given.table:
                continue
            if len(data.labels) > given.most or (given.group and group not in given.group):
                continue
            if "additive" in given.learner and data.classes > 6:
                continue
            for name, way in WAYS.items():
                if given.only and name not in given.only:
                    continue
                for epsilon in given.epsilon or EPSILONS:
                    right = measured(data, way, epsilon, LEARNERS[given.learner], given.folds)
                    writer.writerow(
                        (
                            given.learner,
                            name,
                            group,
                            data.name,
                            epsilon,
                            len(right),
                            f"{100 * np.mean(right):.3f}",
                        )
                    )
            file.flush()


def measured(data: Data, way: Way, epsilon: float, right, most: int) -> list[float]:
    found: list[float] = []
    count = 20 if len(data.labels) < 2500 else 8 if len(data.labels) < 9000 else 3
    if len(data.arity) > 30:
        count = max(count // 3, 2)
    count = min(count, most)
    for repetition in range(-(-count // 10)):
        for k, (train, test) in enumerate(
            folds(data.labels, 10, repetition, 6)[: count - 10 * repetition]
        ):
            seed = zlib.crc32(f"{data.name} {epsilon} {repetition} {k}".encode())
            found.append(right(data, way, epsilon, train, test, np.random.default_rng(seed)))
    return found


if __name__ == "__main__":
    main()
