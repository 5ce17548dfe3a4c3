"""Prototypes beside the additive model: a shift of all scores, and tables of pairs, privately chosen."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from experiments.frontier.additive_simulation import (
    Fitted,
    Rule,
    calibrated,
    chosen_blocks,
    draw,
    fit,
    minimum,
    prior_of,
    schema_of,
)
from experiments.frontier.simulation import Data

from bocage.private.design import PENALTY_BITS, Block, Calibration, Design


@dataclass(frozen=True)
class Shifted(Rule):
    """Rules with a shift of all scores, chosen by how many rows become right."""

    prior: str = "zero"
    floor: float = 40.0
    count: float = 0.03  # of epsilon for the number of rows
    choose: float = 0.1  # of epsilon for the shift
    choose_at: float = 0.0  # this over epsilon if larger than 0, between the two below
    choose_least: float = 0.03
    choose_most: float = 0.2
    moves: tuple[float, ...] = (0.25, 0.5, 1.0, 1.5, 2.0)
    loath: float = 1.0  # log-prior against a shift
    constants: float = 1.0


def shifts(model: Fitted, rule: Shifted) -> list[np.ndarray]:
    """Public candidates, the first without effect; the last leave one label."""
    spread = np.zeros(model.design.columns)
    for block, at in zip(model.design.blocks, model.design.offsets, strict=True):
        spread += (model.tables[at : at + block.size] ** 2).mean(0)
    spread = np.sqrt(spread)
    zero = np.zeros(model.design.columns)
    moves = [0.0, *rule.moves, *(-m for m in rule.moves)]
    found = [zero]
    if model.design.columns == 1:
        found += [m * spread for m in moves[1:]]
        found += [np.array([1e9]), np.array([-1e9])]
    else:
        found += [np.array([a, b]) * spread for a in moves for b in moves if a or b]
        found += [np.array([-1e9, -1e9]), np.array([1e9, 0]), np.array([0, 1e9])]
    return found


def fit_shifted(
    data: Data, train: np.ndarray, rule: Shifted, epsilon: float, rng: np.random.Generator
):
    y = data.labels[train]
    second = rule.choose * epsilon
    if rule.choose_at:
        second = min(max(rule.choose_at, rule.choose_least * epsilon), rule.choose_most * epsilon)
    first = rule.count * epsilon
    rest = epsilon - first - second
    rows = max(len(train) + rng.laplace(scale=1 / first), 10.0, rule.floor / epsilon)
    levels = chosen_blocks(data, rule, rows, rest)
    codes = [data.codes[:, i] * own[-1] // data.arity[i] for i, own in enumerate(levels)]
    schema = schema_of([own[-1] for own in levels], data.classes)
    blocks = tuple(Block((f"a{i}",), (own[-1],), own) for i, own in enumerate(levels))
    design = Design(blocks, data.classes)
    drawn, calibration, _ = calibrated(design, rest, rows, rule)
    noise = draw(drawn, design, rng)
    prior = np.zeros(design.columns)
    found = minimum(design, schema, [c[train] for c in codes], y, calibration, prior, noise)
    model = Fitted(design, *design.expand(found), prior)
    if second:
        scores = model.scores([c[train] for c in codes])
        candidates = shifts(model, rule)
        n, best, at = len(candidates), -np.inf, 0
        for i, shift in enumerate(candidates):
            moved = scores.copy()
            moved[:, 1:] += shift
            right = (moved.argmax(1) == y).sum()
            against = (
                0.0
                if i == 0
                else rule.loath + log(n) * (rule.constants if n - i <= data.classes else 1.0)
            )
            value = second * right - against + rng.exponential()
            if value > best:
                best, at = value, i
        model.prior = candidates[at]
    return model, codes


@dataclass(frozen=True)
class Paired(Rule):
    """Rules with tables of pairs, chosen by what the single tables leave unexplained."""

    prior: str = "shrunk"
    floor: float = 40.0
    coarse: float = 10.0
    scaled: float = 1.0
    intercept: float = 0.3
    share: float = 0.03
    first: float = 0.35  # of epsilon for the single tables
    select: float = 0.1
    support: float = 150.0  # records times epsilon for each parameter, those of pairs included
    most: int = 12
    pair_cells: int = 4  # of a numeric attribute
    anchored: bool = True
    weight: float = 1.0  # share of the noise budget of a pair
    exact: bool = False  # choose without noise, for comparison
    combine: float = 1.0  # how much of the first fit is kept, in units of what variances say
    pair_shrinkage: float = 5.0  # times that of single tables
    none: float = 0.0  # share of the rows below which no pair is taken
    noise: float = 0.01  # share of the rows that the noise of a choice may have
    curvature: float = 0.15


def fit_paired(  # noqa: C901, PLR0915 - one study from top to bottom
    data: Data, train: np.ndarray, rule: Paired, epsilon: float, rng: np.random.Generator
):
    y = data.labels[train]
    share = rule.share * epsilon
    counts = np.bincount(y, minlength=data.classes) + rng.laplace(
        scale=1 / share, size=data.classes
    )
    rows = max(counts.sum(), rule.floor / epsilon)
    rest = epsilon - share
    levels = chosen_blocks(data, rule, rows, rest)
    small = [rule.pair_cells if n else a for a, n in zip(data.arity, data.numeric, strict=True)]
    k = len(levels)
    # how many pairs can be afforded, if they are of middling size
    single = sum(own[-1] - 1 for own in levels)
    sizes = sorted((small[i] - 1) * (small[j] - 1) for i in range(k) for j in range(i))
    middle = sizes[len(sizes) // 2] if sizes else 1
    m = int((rows * rest / rule.support / (data.classes - 1) - single) / middle)
    m = max(min(m, rule.most, len(sizes)), 0)
    if rule.noise:
        m = min(m, int(rule.noise * rows * rule.select * epsilon / 2 / log(max(len(sizes), 2))))
    if m < 1:
        return fit(data, train, rule, epsilon, rng)
    prior = prior_of(counts, rows, share, rule)
    codes = [data.codes[:, i] * own[-1] // data.arity[i] for i, own in enumerate(levels)]
    blocks = [Block((f"a{i}",), (own[-1],), own) for i, own in enumerate(levels)]
    design = Design(tuple(blocks), data.classes)
    schema = schema_of([own[-1] for own in levels], data.classes)
    one, chosen_budget = rule.first * epsilon, rule.select * epsilon
    drawn, calibration, before = calibrated(design, one, rows, rule)
    at = minimum(
        design, schema, [c[train] for c in codes], y, calibration, prior, draw(drawn, design, rng)
    )
    model = Fitted(design, *design.expand(at), prior)
    scores = model.scores([c[train] for c in codes])
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    residual = -p
    residual[np.arange(len(y)), y] += 1
    coarse = [data.codes[:, i] * s // data.arity[i] for i, s in enumerate(small)]
    pairs, value = [], []
    for i in range(k):
        for j in range(i):
            cell = coarse[i] * small[j] + coarse[j]
            size = small[i] * small[j]
            total = sum(
                np.abs(np.bincount(cell[train], residual[:, c], size)).sum()
                for c in range(data.classes)
            )
            expected = 0.8 * np.sqrt(rows * 0.15 * size) * data.classes / 2
            pairs.append((i, j, cell, size))
            value.append(total / 2 - expected)
    scale = 2 * m / chosen_budget
    noise = 0.0 if rule.exact else rng.gumbel(size=len(pairs)) * scale
    noisy = np.array(value) + noise
    order = np.argsort(-noisy)[:m]
    if rule.none:
        least = rule.none * rows + log(len(pairs)) * scale
        order = [
            i for i in order if noisy[i] > least + (0.0 if rule.exact else rng.gumbel() * scale)
        ]
    for number, at_pair in enumerate(order):
        _, _, cell, size = pairs[at_pair]
        codes.append(cell)
        blocks.append(Block((f"a{k + number}",), (size,), (size,)))
    both = Design(tuple(blocks), data.classes)
    schema = schema_of([block.size for block in blocks], data.classes)
    last = rest - one - (0 if rule.exact else chosen_budget)
    drawn, calibration, spread = calibrated(both, last, rows, rule)
    noise = draw(drawn, both, rng)
    units = list(calibration.penalties)
    for i, size in enumerate(both.sizes):
        if i >= len(design.sizes):
            units[i] = int(units[i] * rule.pair_shrinkage)
        elif rule.anchored and rule.combine:
            ratio = (spread[i] / before[i]) ** 2 * rule.curvature * rows / size
            units[i] = max(units[i], int(rule.combine * ratio * 2**PENALTY_BITS))
    calibration = Calibration((), (), tuple(units), 1.0)
    if rule.anchored:
        center = np.zeros_like(noise)
        center[: len(at)] = at
        penalties = np.repeat(np.array(calibration.penalties) / 2**PENALTY_BITS, both.sizes)[
            :, None
        ]
        noise -= penalties * center
    found = minimum(both, schema, [c[train] for c in codes], y, calibration, prior, noise)
    return Fitted(both, *both.expand(found), prior), codes
