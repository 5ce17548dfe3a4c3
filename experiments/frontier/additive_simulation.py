"""A prototype of the additive model with seeded noise in floating point. Research only: not private.

It tries rules on development data before they are carried into ``bocage.learners.additive``, whose
search for the minimum it shares. Its noise is that of tables whose sums are free, where the learner now draws
tables that agree on their sums::

    python -m experiments.frontier.additive_simulation --keel PATH [--only NAME] [--out FILE]
"""

from __future__ import annotations

import argparse
import csv
import zlib
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import numpy as np
from experiments.common.data import folds
from experiments.frontier.additive_tables import tables
from experiments.frontier.simulation import Data

from bocage.mechanisms import Tables, deviations
from bocage.private.cells import CellRows
from bocage.private.descent import Descent
from bocage.private.design import PENALTY_BITS, Block, Calibration, Design
from bocage.private.mending import MOST_LABELS
from bocage.private.shares import groups_of
from bocage.schema import Categorical, Schema

EPSILONS = (0.1, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Rule:
    """One configuration."""

    share: float = 0.05  # of epsilon for the class counts
    share_of: str = "fixed"  # or "clamp": share / epsilon between `least` and `most`
    least: float = 0.01
    most: float = 0.05
    prior: str = "raw"  # shrunk, zero
    trust: float = 1.0  # variance of the log-odds before anything is known
    floor: float = 0.0  # rows times epsilon that are assumed at least
    shrinkage: float = 10.0
    by_tables: float = 0.0  # shrinkage for each table
    intercept: float = 1.0  # share of the noise budget, tables have 1
    shrink_intercept: bool = True
    cells: int = 8
    enough: float = 300.0
    stack: tuple[int, ...] = (2, 4, 8, 16, 32)
    stein: str = ""
    ladder: float = 0.0  # records times epsilon for each parameter that finer cells need
    top: int = 32
    coarse: float = 0.0  # records times epsilon for each parameter below which cells are fewer
    power: float = 0.0  # shares of the noise budget by this power of the tables' noise
    scaled: float = 0.0  # the prior is scaled by this power of what penalties leave of tables


BASE = Rule()
TAKEN = Rule(
    prior="shrunk",
    floor=40.0,
    coarse=10.0,
    scaled=1.0,
    intercept=0.3,
    share=0.03,
    enough=1e9,
    ladder=50.0,
)


def ball(rng: np.random.Generator, size: int) -> np.ndarray:
    """A uniform point of B_c."""
    if size == 1:
        return np.array([rng.uniform(-1, 1)])
    parts = rng.exponential(size=size)
    j = np.arange(1, size)
    gaps = parts[:-1] / parts.sum() / np.minimum(j, size - j)
    values = np.concatenate([[0.0], np.cumsum(gaps)])
    return rng.permutation(values - values.mean())


def chosen_blocks(data: Data, rule: Rule, rows: float, epsilon: float) -> list[tuple[int, ...]]:
    """The levels of each attribute."""
    few = rule.cells
    sizes = [few if n else a for a, n in zip(data.arity, data.numeric, strict=True)]
    parameters = sum(s - 1 for s in sizes) * (data.classes - 1)
    stacked = rows * epsilon >= rule.enough * parameters
    while (
        rule.coarse and few > 2 and rows * epsilon < rule.coarse * parameters and any(data.numeric)
    ):
        few //= 2
        sizes = [few if n else a for a, n in zip(data.arity, data.numeric, strict=True)]
        parameters = sum(s - 1 for s in sizes) * (data.classes - 1)
    while rule.ladder and few < rule.top:
        finer = sum(
            (2 * few if n else a) - 1 for a, n in zip(data.arity, data.numeric, strict=True)
        )
        if rows * epsilon < rule.ladder * finer * (data.classes - 1):
            break
        few *= 2
    return [
        ((rule.stack if stacked else (few,)) if n else (a,))
        for a, n in zip(data.arity, data.numeric, strict=True)
    ]


def schema_of(sizes: list[int], labels: int) -> Schema:
    columns = tuple(
        Categorical(f"a{i}", tuple(map(str, range(size)))) for i, size in enumerate(sizes)
    )
    return Schema("simulated", columns, Categorical("y", tuple(map(str, range(labels)))))


def cell_rows(
    codes: list[np.ndarray], labels: np.ndarray, design: Design, schema: Schema
) -> CellRows:
    whole = np.stack([*codes, labels]).astype(np.uint16)
    return CellRows(lambda: iter([whole]), design, schema)


@dataclass
class Fitted:
    design: Design
    intercept: np.ndarray
    tables: np.ndarray
    prior: np.ndarray

    def scores(self, codes: list[np.ndarray]) -> np.ndarray:
        total = np.repeat((self.prior + self.intercept)[None], len(codes[0]), 0)
        for at, cell in zip(self.design.offsets, codes, strict=True):
            total += self.tables[at + cell]
        if self.design.reference:
            total = np.concatenate([np.zeros((len(total), 1)), total], 1)
        return total


def class_share(rule: Rule, epsilon: float) -> float:
    if rule.share_of == "clamp":
        return min(max(rule.share / epsilon, rule.least), rule.most)
    return rule.share


def prior_of(counts: np.ndarray, rows: float, noise: float, rule: Rule) -> np.ndarray:
    """Log-odds against the first label."""
    if rule.prior == "zero":
        return np.zeros(len(counts) - 1)
    if len(counts) > MOST_LABELS:  # every label has a column
        return np.log(np.maximum(counts / rows, max(1 / rows, 0.005)))
    if rule.prior == "shrunk":
        # shares pulled to equal ones: noise variance of a share against that of a random one
        labels = len(counts)
        own = rule.trust / (12 if labels == 2 else 18)
        v = 2 / noise**2 / rows**2
        v = v * (0.5 if labels == 2 else 1.0)
        shares = 1 / labels + (counts / rows - counts.sum() / rows / labels) * own / (own + v)
    else:
        shares = counts / rows
    shares = np.maximum(shares, max(1 / rows, 0.005))
    return np.log(shares[1:] / shares[0])


def calibrated(
    design: Design, epsilon: float, rows: float, rule: Rule
) -> tuple[list, Calibration, list]:
    sizes, labels = design.sizes, design.labels
    squares = sum((1 - 1 / s if s > 1 else 1.0) for s in sizes)
    loss = epsilon if labels == 2 else epsilon / 4
    rate = epsilon if labels == 2 else epsilon - loss * (labels - 2) / (labels - 1)
    floor = squares / loss
    groups = [[0], *([i + 1 for i in group] for group in groups_of(sizes[1:]))]
    weight = {i: rule.intercept if i == 0 else 1.0 for i in range(len(sizes))}
    if rule.power:
        for i, size in enumerate(sizes):
            if i:
                own = deviations(Tables(1, (size,), design.columns))[0]
                weight[i] = (own / deviations(Tables(1, (3,), design.columns))[0]) ** rule.power
    whole = sum(weight.values())
    bodies = [
        Tables(rate * sum(weight[i] for i in g) / whole, tuple(sizes[i] for i in g), design.columns)
        for g in groups
        if sum(weight[i] for i in g) > 0
    ]
    groups = [g for g in groups if sum(weight[i] for i in g) > 0]
    order = [i for g in groups for i in g]
    spread = dict(zip(order, (d for b in bodies for d in deviations(b)), strict=True))
    factor = 4 if labels == 2 else labels
    shrinkage = max(rule.shrinkage, rule.by_tables * len(design.blocks))
    penalties = []
    for i, size in enumerate(sizes):
        if i not in spread:
            penalties.append(1e12)
            continue
        own = shrinkage if i or rule.shrink_intercept else 1.0
        penalties.append(max(floor, own * spread[i] ** 2 * factor * size / rows))
    units = tuple(ceil(p * 2**PENALTY_BITS) for p in penalties)
    return (
        list(zip(groups, bodies, strict=True)),
        Calibration((), (), units, 1.0),
        [spread.get(i, 0.0) for i in range(len(sizes))],
    )


def draw(drawn: list, design: Design, rng: np.random.Generator) -> np.ndarray:
    noise = np.zeros((sum(design.sizes), design.columns))
    for group, body in drawn:
        dimension = body.columns * sum(max(s - 1, 1) for s in body.sizes)
        radius = rng.gamma(dimension + 1) / float(body.rate)
        for i in group:
            start, size = design.starts[i], design.sizes[i]
            for c in range(design.columns):
                noise[start : start + size, c] = radius * ball(rng, size)
    return noise


def fit(data: Data, train: np.ndarray, rule: Rule, epsilon: float, rng: np.random.Generator):
    """A model and the codes of all rows for it."""
    y = data.labels[train]
    first = class_share(rule, epsilon) * epsilon
    exact = np.bincount(y, minlength=data.classes)
    counts = exact + rng.laplace(scale=1 / first, size=data.classes)
    rest = epsilon - first
    rows = max(counts.sum(), 10.0, rule.floor / epsilon)
    prior = prior_of(counts, rows, first, rule)
    levels = chosen_blocks(data, rule, rows, rest)
    codes = [data.codes[:, i] * own[-1] // data.arity[i] for i, own in enumerate(levels)]
    schema = schema_of([own[-1] for own in levels], data.classes)
    blocks = tuple(Block((f"a{i}",), (own[-1],), own) for i, own in enumerate(levels))
    design = Design(blocks, data.classes)
    drawn, calibration, spread = calibrated(design, rest, rows, rule)
    noise = draw(drawn, design, rng)
    if rule.scaled:
        left = [
            1 / (1 + p / 2**PENALTY_BITS * (4 if data.classes == 2 else data.classes) * size / rows)
            for p, size in list(zip(calibration.penalties, design.sizes, strict=True))[1:]
        ]
        power = rule.scaled
        if power < 0:  # the less even the labels are, the more of the prior is kept
            shares = np.exp(np.concatenate([[0.0], prior]))
            power *= -(1 - shares.max() / shares.sum()) * data.classes / (data.classes - 1)
        prior = prior * np.mean(left) ** power
    found = minimum(design, schema, [c[train] for c in codes], y, calibration, prior, noise)
    if rule.stein:
        found = stein(found, design, calibration, spread, rows, rule)
    return Fitted(design, *design.expand(found), prior), codes


def minimum(  # noqa: PLR0917 - what is minimized
    design, schema, codes, y, calibration, prior, noise, steps=7
):
    descent = Descent(cell_rows(codes, y, design, schema), design, calibration, prior, noise)
    descent.run(steps)
    return descent.at


def stein(at, design, calibration, spread, rows, rule):  # noqa: PLR0917 - likewise
    """Positive-part shrinkage of every table, given the size of its noise."""
    at = at.copy()
    factor = 4 if design.labels == 2 else design.labels
    for i, (start, size) in enumerate(zip(design.starts, design.sizes, strict=True)):
        if i == 0:
            continue
        penalty = calibration.penalties[i] / 2**PENALTY_BITS
        h = rows / factor / size
        expected = spread[i] ** 2 / (h + penalty) ** 2 * size * design.columns
        own = (at[start : start + size] ** 2).sum()
        d = (size - 1) * design.columns
        if rule.stein == "hard":
            keep = max(0.0, 1 - expected / max(own, 1e-12))
        elif rule.stein == "stein":
            keep = max(0.0, 1 - (max(d - 2, 0.5) / d) * expected / max(own, 1e-12))
        else:
            keep = own / (own + expected)
        at[start : start + size] *= keep
    return at


def accuracy(data: Data, rule: Rule, epsilon: float, count: int, fitter=fit) -> list[float]:
    found = []
    for repetition in range(-(-count // 10)):
        for k, (train, test) in enumerate(folds(data.labels, 10, repetition, 6)):
            if len(found) < count:
                seed = zlib.crc32(f"{data.name} {epsilon} {repetition} {k}".encode())
                model, codes = fitter(data, train, rule, epsilon, np.random.default_rng(seed))
                scores = model.scores([c[test] for c in codes])
                found.append(float((scores.argmax(1) == data.labels[test]).mean()))
    return found


def folds_for(data: Data) -> int:
    return 30 if len(data.labels) < 1200 else 10 if len(data.labels) < 6000 else 3


CONFIGURATIONS: dict[str, Rule] = {
    "before": BASE,
    "prior pulled": replace(BASE, prior="shrunk", floor=40.0),
    "no prior": replace(BASE, prior="zero", floor=40.0),
    "taken": TAKEN,
    "whole prior": replace(TAKEN, scaled=0.0),
    "no intercept": replace(TAKEN, intercept=0.0),
    "intercept like a table": replace(TAKEN, intercept=1.0),
    "8 cells": replace(TAKEN, coarse=0.0, ladder=0.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", type=Path, required=True, help="directory of the raw files")
    parser.add_argument("--only", action="append", help="this configuration (repeatable)")
    parser.add_argument("--out", type=Path, default=Path("additive_simulation.csv"))
    given = parser.parse_args()
    with given.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for name, rule in CONFIGURATIONS.items():
            for data in tables(given.keel) if not given.only or name in given.only else ():
                means = [np.mean(accuracy(data, rule, e, folds_for(data))) for e in EPSILONS]
                writer.writerow([name, data.name, *(f"{100 * mean:.2f}" for mean in means)])
                file.flush()


if __name__ == "__main__":
    main()
