"""Noise that is one unit of one direction at a time: it shows which way noise can move a release.

A release of counts is what was counted plus a linear image of what was drawn. Probed with every
direction of the noise, it gives the matrix of that map, whatever the code in between does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from bocage.mechanisms import ConsistentTables
from private.noises import SilentNoise


@dataclass
class Draw:
    """What was drawn at once: independent numbers of a scale, or tables of a body."""

    size: int
    scale: object = None
    body: ConsistentTables | None = None

    def tables(self, direction):
        """The tables of one direction: of each table a cell against the last, or all last cells."""
        found = [np.full((size, 1), 0, object) for size in self.body.sizes]
        for table in found:
            if direction < len(table) - 1:
                table[direction, 0], table[-1, 0] = 1, -1
                return found
            direction -= len(table) - 1
        for table in found:
            table[-1, 0] = 1
        return found


class Fixed:
    bits = 8

    def __init__(self, tables):
        self._tables = [table * 2**self.bits for table in tables]

    def bounds(self):
        return [(table, table) for table in self._tables]

    def refine(self):
        raise AssertionError("whole numbers leave nothing open")


@dataclass
class Probe(SilentNoise):
    """Draws nothing but one unit in the direction of that number, over all draws together."""

    direction: int = -1
    draws: list[Draw] = field(default_factory=list)

    @property
    def dimension(self):
        return sum(draw.size for draw in self.draws)

    def _own(self, draw):
        own = self.direction - self.dimension
        self.draws.append(draw)
        return own if 0 <= own < draw.size else None

    def laplace(self, scale, size):
        own = self._own(Draw(size, scale=scale))
        return np.array([i == own for i in range(size)], np.int64)

    def perturb(self, bodies):
        tables = []
        for body in bodies:
            assert isinstance(body, ConsistentTables)
            draw = Draw(body.dimension, body=body)
            own = self._own(draw)
            nothing = [np.full((size, 1), 0, object) for size in body.sizes]
            tables += nothing if own is None else draw.tables(own)
        return Fixed(tables)


def directions(release):
    """The draws of a release, and its matrix: a column for each direction. `release` takes a noise."""
    silent = Probe()
    base = release(silent)
    columns = [release(Probe(i)) - base for i in range(silent.dimension)]
    return silent.draws, np.array(columns, float).T.reshape(len(base), len(columns))


def carried(matrix, moved):
    """Whether all of what a record moves can be the noise's doing: nothing else is released of it."""
    if not matrix.size:
        return not np.any(moved)
    found = np.linalg.lstsq(matrix, moved, rcond=None)[0]
    return bool(np.allclose(matrix @ found, moved, atol=1e-9))


def loss(draws, matrix, moved):
    """The least rate * norm of noise that moves a release like this: its privacy loss.

    A density exp(-rate * norm), seen through a linear map, has a density that is bounded so. The
    variables are those of the directions; each table of a body has an L1 norm, the body the largest.
    """
    many = matrix.shape[1]
    norms, cost, rows = 0, [0.0] * many, []

    def bounded(parts, by):
        """Add variables p with p >= |part|, whose sum is at most the variable `by`."""
        first = len(cost)
        for at, part in enumerate(parts):
            cost.append(0.0)
            rows.extend({**{i: sign * v for i, v in part.items()}, first + at: -1.0} for sign in (1, -1))
        rows.append({**{first + at: 1.0 for at in range(len(parts))}, by: -1.0})

    for draw in draws:
        own = range(norms, norms + draw.size)
        norms += draw.size
        by = len(cost)
        if draw.body is None:
            cost.append(1 / float(draw.scale))
            bounded([{i: 1.0} for i in own], by)
            continue
        cost.append(float(draw.body.rate))
        images = [draw.tables(i) for i in range(draw.size)]
        for table in range(len(draw.body.sizes)):
            cells = [
                {i: float(v) for i, image in zip(own, images, strict=True) if (v := image[table][c, 0])}
                for c in range(draw.body.sizes[table])
            ]
            bounded(cells, by)
    wide = np.zeros((len(rows), len(cost)))
    for line, row in zip(wide, rows, strict=True):
        for i, value in row.items():
            line[i] = value
    equal = np.concatenate([matrix, np.zeros((len(matrix), len(cost) - many))], axis=1)
    bounds = [(None, None)] * many + [(0, None)] * (len(cost) - many)
    found = linprog(cost, wide, np.zeros(len(rows)), equal, moved, bounds)
    return found.fun if found.status == 0 else np.inf
