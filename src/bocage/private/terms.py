"""The tables of an additive model, and the noise that fitting all of them at once needs.

Everything here is public: it follows from the schema, epsilon and a released number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil, prod
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bocage.errors import PlanError
from bocage.mechanisms import Body, Roots, deviations
from bocage.model.bins import Cuts, fits, lookup
from bocage.private.noise_shares import intercept, least_noise
from bocage.schema import Categorical, Schema

PENALTY_BITS = 10  # penalties are whole numbers of 2**-PENALTY_BITS
MOST_CURVATURE = 2**25  # numbers; a quarter of a gigabyte
_PRODUCT_LABELS = 3  # up to so many labels each column is a table of its own


@dataclass(frozen=True)
class Block:
    """One term of the model: the cells of one column, or of several together.

    Attributes
    ----------
    cells
        Into how many runs the codes of each column are put together; as many as there are codes
        keeps them apart.
    levels
        Sizes of the tables that are fitted and added up: each divides the next, and the last is the
        number of cells. One level is one table; several are a coarse table and finer corrections.
    cuts
        For each column the codes at which its runs but the first begin, or none if they are of equal
        length; empty if all are. Public: declared, or released before.
    """

    columns: tuple[str, ...]
    cells: tuple[int, ...]
    levels: tuple[int, ...]
    cuts: tuple[Cuts, ...] = ()

    @property
    def size(self) -> int:
        return prod(self.cells)

    def check(self, schema: Schema) -> None:
        cuts = self.cuts or ((),) * len(self.columns)
        fit = len(self.columns) == len(self.cells) == len(cuts) == len(set(self.columns)) and all(
            fits(schema[name], cells, own) and (cells > 1 or isinstance(schema[name], Categorical))
            for name, cells, own in zip(self.columns, self.cells, cuts, strict=True)
        )
        nested = all(b % a == 0 for a, b in zip(self.levels, self.levels[1:], strict=False))
        if not fit or not nested or not self.levels or self.levels[-1] != self.size:
            raise PlanError(
                f"a term of {', '.join(map(repr, self.columns))} needs all values of a categorical "
                "column, runs of a numeric one, and levels that divide one another."
            )

    def lookup(self, schema: Schema) -> list[NDArray[np.uint16]]:
        """For each column the cell of each code."""
        tables = lookup(schema, self.columns, self.cells, self.cuts)
        return [table.astype(np.uint16) for table in tables]


@dataclass(frozen=True)
class Design:
    """All terms of a model for `labels` labels.

    Parameters (rows of a matrix with `columns` columns) are the tables of all levels, end to end,
    the intercept first. Fine tables are one per block, the levels added up.
    """

    blocks: tuple[Block, ...]
    labels: int

    @property
    def reference(self) -> int:
        """1 if the first label has no column: its score is 0."""
        return int(self.labels <= _PRODUCT_LABELS)

    @property
    def columns(self) -> int:
        return self.labels - self.reference

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of all fitted tables, the intercept first."""
        return (1, *(size for block in self.blocks for size in block.levels))

    @cached_property
    def starts(self) -> list[int]:
        """Where the parameters of each fitted table begin."""
        return [0, *accumulate(self.sizes[:-1])]

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the fine table of each block begins."""
        sizes = [block.size for block in self.blocks]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)

    @cached_property
    def fine(self) -> int:
        return sum(block.size for block in self.blocks)

    def check(self, schema: Schema) -> None:
        if not self.blocks:
            raise PlanError("an additive model needs a term at least.")
        for block in self.blocks:
            block.check(schema)
        together = self.columns if self.reference else 1
        if together * self.columns * max(self.fine, sum(self.sizes)) ** 2 > MOST_CURVATURE:
            raise PlanError(
                f"an additive model of {self.fine} cells and {self.labels} labels is too large to "
                "be fitted at once: name fewer attributes, or take coarser cells."
            )

    def expand(self, parameters: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The intercept and the fine tables, end to end."""
        tables, start = [], 1
        for block in self.blocks:
            table = None
            for size in block.levels:
                part = np.repeat(parameters[start : start + size], block.size // size, axis=0)
                table = part if table is None else table + part
                start += size
            tables.append(table)
        return parameters[0], np.concatenate([table for table in tables if table is not None])

    def collect(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Sums over the cells of the fine tables as sums over those of all fitted tables."""
        parts = [sums[: self.blocks[0].size].sum(axis=0)[None]]
        for block, start in zip(self.blocks, self.offsets.tolist(), strict=True):
            own = sums[start : start + block.size]
            parts += [own.reshape(size, block.size // size, -1).sum(axis=1) for size in block.levels]
        return np.concatenate(parts)

    def spread_over(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value of each fitted table for every one of its parameters."""
        return np.repeat(values, self.sizes)


@dataclass(frozen=True)
class Calibration:
    """Noise and penalties of one fit.

    Attributes
    ----------
    bodies, order
        What is drawn, and which fitted tables the tables drawn are, in their order.
    penalties
        Of each fitted table, in units of ``2**-PENALTY_BITS``.
    kept
        How much of a table its penalty leaves, on average, if its cells have average curvature, and
        so of the prior. With many labels the prior is kept whole: few of them are frequent, and
        tables that are mostly noise must not outvote it.
    """

    bodies: tuple[Body, ...]
    order: tuple[int, ...]
    penalties: tuple[int, ...]
    kept: float


def calibrate(design: Design, epsilon: Fraction, rows: int, shrinkage: int) -> Calibration:
    """The noise that makes the fit `epsilon`-private, and penalties that are at least what it needs.

    A record has one active cell in each fitted table: with the centered indicator of its cell,
    whose square is 1 - 1/c (1 for the intercept), let S be the sum of the squares. All penalties
    are at least S / rho, where rho = epsilon for two labels and epsilon / 4 otherwise, and the
    rates of the noise add up to epsilon for two labels and to epsilon - rho (K-2) / (K-1)
    otherwise; see `AdditiveFit`.

    Beyond that, a penalty that is `shrinkage` times the variance of the noise over the curvature
    of an average cell keeps the noise of small cells out of the model. With two or three labels, that
    of the intercept is what it would be with a small rate of its own.

    How the rates are shared out is free: every table has the same share, and with two or three labels
    the intercept less; see `least_noise`.
    """
    sizes, labels = design.sizes, design.labels
    squares = sum((1 - Fraction(1, size) if size > 1 else Fraction(1)) for size in sizes)
    loss = epsilon if labels == 2 else epsilon / 4
    rate = epsilon if labels == 2 else epsilon - loss * Fraction(labels - 2, labels - 1)
    floor = ceil(squares / loss * 2**PENALTY_BITS)
    if design.reference:
        shared = least_noise(sizes, design.columns, rate)
    else:
        shared = [([i], Roots(rate / len(sizes), size, labels)) for i, size in enumerate(sizes)]
    bodies = tuple(body for _, body in shared)
    order = tuple(i for group, _ in shared for i in group)
    spread = dict(zip(order, (d for body in bodies for d in deviations(body)), strict=True))
    if design.reference:  # the prior does its work: it stays small, however little its noise is
        spread[0] = deviations(intercept(len(sizes) - 1, design.columns, rate))[0]
    factor = 4 if labels == 2 else labels
    penalties = [
        max(floor, ceil(shrinkage * spread[i] ** 2 * factor * size / rows * 2**PENALTY_BITS))
        for i, size in enumerate(sizes)
    ]
    weights = [penalty / 2**PENALTY_BITS * factor * size / rows for penalty, size in zip(penalties, sizes, strict=True)]
    kept = fmean(1 / (1 + weight) for weight in weights[1:]) if design.reference else 1.0
    return Calibration(bodies, order, tuple(penalties), kept)
