"""Where the cells of numeric attributes begin: counts without labels that are paid for, and a public rule.

Cells of equal length say nothing of an attribute whose values lie in a small part of its range. So the
rows in each eighth of the range are counted first, where that costs little. Attributes that turn out to
be uneven are counted again in finer parts, and their cells hold about as many rows each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.learners.noisy_tables import cells_of
from bocage.model.bins import Cuts
from bocage.private import ConsistentCounts, Ensemble, OpenCells
from bocage.schema import Numeric

EIGHTHS, PARTS = 8, 16  # of the range: those that are looked at, and finer ones
WHOLE, LEAST = 1000, 20  # thousandths of epsilon that a round of counts has, at least
LOOK, MOST_LOOK = 6, 50  # deviations of the noise that all rows should make, and what that may cost
FINE, MOST_FINE = 18, 100  # ... of counts in finer parts
FEWEST = 3.5  # ... without which nothing is counted
ROUNDS = 2  # in finer parts
HEAVY = 0.25  # of the rows in one part: it is counted again, in parts of its own
FLAT = 0.25  # of the rows: an attribute is even if no eighth of its range has more


@dataclass(frozen=True)
class Spread:
    """How the rows are spread over the codes of an attribute, as far as noisy counts say.

    Attributes
    ----------
    edges
        The codes at which the counted parts begin, and the number of codes.
    counts
        The rows of each part, none of them negative.
    doubt
        How many rows more than `FLAT` of them an eighth of an uneven attribute has.
    """

    edges: Cuts
    counts: NDArray[np.float64]
    doubt: float = 0.0

    def even(self) -> bool:
        """Whether cells of equal length do."""
        places = np.arange(EIGHTHS + 1) * self.edges[-1] / EIGHTHS
        upto = np.interp(places, self.edges, np.append(0.0, self.counts.cumsum()))
        return bool(np.diff(upto).max() <= FLAT * upto[-1] + self.doubt)

    def cuts(self, cells: int) -> Cuts:
        """Where the cells but the first begin; none if an even attribute keeps cells of equal length.

        The heaviest cell is halved until there are enough. Values that are frequent have a cell of
        their own then, and the rest is shared by the others. Inside a part, codes are equally frequent.
        """
        if self.even():
            return ()
        codes = self.edges[-1]
        upto = np.interp(np.arange(codes + 1), self.edges, np.append(0.0, self.counts.cumsum()))
        ranges = [(0, codes)]
        while len(ranges) < cells:
            rows = [upto[end] - upto[first] if end - first > 1 else -1.0 for first, end in ranges]
            at = int(np.argmax(rows))
            first, end = ranges[at]
            middle = (upto[first] + upto[end]) / 2
            place = first + 1 + int(np.abs(upto[first + 1 : end] - middle).argmin())
            ranges[at : at + 1] = [(first, place), (place, end)]
        return tuple(first for first, _ in ranges[1:])


class Spreads(dict[str, Spread]):
    """What is known of the numeric attributes; nothing of those that were not counted."""

    def cuts(self, name: str, cells: int) -> Cuts:
        """Where the cells of an attribute begin; none for cells of equal length."""
        return self[name].cuts(cells) if name in self else ()


def count_spreads(
    cells: OpenCells,
    columns: Sequence[Numeric],
    rows: int,
    epsilon: Epsilon,
    *,
    laplace: bool = False,
) -> tuple[Spreads, Epsilon]:
    """Count numeric attributes where that is affordable: what is known of them, and what is left.

    With Laplace noise alone if that is asked for, which every provider has.

    Privacy
    -------
    One record is in one part of each attribute that is counted. The eighths have the noise of
    :class:`~bocage.private.tables.consistent_counts.ConsistentCounts`, and finer parts discrete Laplace noise with the
    number of attributes as sensitivity, see :class:`~bocage.private.tables.ensemble.Ensemble`. Which attributes
    are counted again, in which parts and at what price follows from the schema, the given number of
    rows and the counts before. Sequential composition of at most three rounds.
    """
    spreads, left = Spreads(), epsilon
    grids = {column.name: _evenly(0, column.cells, EIGHTHS) for column in columns}
    for turn in range(1 + ROUNDS):
        if not grids:
            break
        wanted, most = (FINE, MOST_FINE) if turn else (LOOK, MOST_LOOK)
        due = ceil(wanted * sqrt(2) * len(grids) * WHOLE / (rows * float(epsilon)))
        share = min(max(due, LEAST), most)
        price = epsilon.split([share, WHOLE - share])[0]
        plain = laplace or turn > 0
        routers = tuple(cells_of(cells.schema, [(name, grid[1:-1])]) for name, grid in grids.items())
        query = (Ensemble if plain else ConsistentCounts)(routers, None, price)
        deviation = _deviation(query, cells)
        if rows < FEWEST * deviation:
            break
        left -= price
        tables = cells.ask(query)
        grids, counted = {}, zip(grids.items(), tables, strict=True)
        for (name, grid), noisy in counted:
            # What is as likely nothing is nothing; a few rows are thought to be anywhere.
            counts = np.where(noisy[:, 0] < deviation / sqrt(2), 0, noisy[:, 0])
            anywhere = sqrt(2) * deviation * np.diff(grid) / grid[-1]
            spreads[name] = Spread(grid, counts + anywhere, 0.0 if turn else deviation)
            heavy = counts > HEAVY * rows + sqrt(2) * deviation
            finer = {*grid, *_parts(grid, heavy), *(() if turn else public_grid(grid[-1]))}
            if not spreads[name].even() and len(finer) > len(grid):
                grids[name] = tuple(sorted(finer))
    return spreads, left


def public_grid(codes: int) -> Cuts:
    """Codes from 0 on at which parts begin, finer towards both ends, and the number of codes."""
    edges = {*_evenly(0, codes, PARTS)}
    step = codes // 2
    while step:
        edges |= {step, codes - step}
        step //= 2
    return tuple(sorted(edges))


def _evenly(first: int, end: int, parts: int) -> Cuts:
    return tuple(sorted({first + i * (end - first) // parts for i in range(parts + 1)}))


def _parts(grid: Cuts, heavy: NDArray[np.bool_]) -> Iterator[int]:
    """Where the parts of heavy parts begin."""
    for first, end, own in zip(grid, grid[1:], heavy.tolist(), strict=False):
        if own:
            yield from _evenly(first, end, PARTS)


def _deviation(query: Ensemble, cells: OpenCells) -> float:
    """Of the noise of one count: public arithmetic."""
    if isinstance(query, ConsistentCounts):
        return sqrt(max(query.spread(cells.terms).cells))
    return cells.deviation(query.epsilon, len(query.routers))
