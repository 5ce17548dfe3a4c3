"""Tables of attributes by label: which cells are counted, and by what noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bocage.epsilon import Epsilon
from bocage.learners.base import label_of
from bocage.model.bins import Cuts
from bocage.plan import Branch, Cells, Cut
from bocage.private import ConsistentCounts, Ensemble, OpenCells
from bocage.private.noise_shares import LARGEST
from bocage.schema import Schema

Floats = NDArray[np.float64]


@dataclass
class Counted:
    """Noisy tables of shape (cells, labels), and what is known of their noise.

    Attributes
    ----------
    variances
        For each table that of a cell, if the cells were independent.
    totals
        What the tables say of the labels' totals, with a variance each.
    """

    tables: list[Floats]
    variances: list[float]
    totals: list[tuple[Floats, float]]


def count_tables(cells: OpenCells, columns: Sequence[Sequence[tuple[str, Cuts]]], epsilon: Epsilon) -> Counted:
    """Count columns, each cut into cells, by label, alone or several together.

    Large tables have Laplace noise, and a share of epsilon of their own.
    """
    label = label_of(cells.schema)
    routers = [cells_of(cells.schema, names) for names in columns]
    sizes = [router.count for router in routers]
    small = [i for i, size in enumerate(sizes) if size <= LARGEST]
    large = [i for i, size in enumerate(sizes) if size > LARGEST]
    few, many = epsilon.split([len(small), len(large)]) if small and large else (epsilon, epsilon)
    counts = Counted([np.empty((size, label.cells)) for size in sizes], [0.0] * len(sizes), [])
    if small:
        consistent = ConsistentCounts(tuple(routers[i] for i in small), label.name, few)
        noisy, spread = cells.ask(consistent), consistent.spread(cells.terms)
        for i, table, variance in zip(small, noisy, spread.cells, strict=True):
            counts.tables[i], counts.variances[i] = table.astype(float), variance
        for group, variance in spread.groups:
            sums = [noisy[at].sum(axis=0) for at in group]
            counts.totals.append((np.mean(sums, axis=0), variance))
    if large:
        noisy = cells.ask(Ensemble(tuple(routers[i] for i in large), label.name, many))
        variance = cells.deviation(many, len(large)) ** 2
        for i, table in zip(large, noisy, strict=True):
            counts.tables[i], counts.variances[i] = table.astype(float), variance
            counts.totals.append((counts.tables[i].sum(axis=0), variance * sizes[i]))
    return counts


def cells_of(schema: Schema, columns: Sequence[tuple[str, Cuts]]) -> Cells:
    """All combinations of runs of codes, the last column's fastest.

    A column comes with the codes at which its runs but the first begin.
    """
    nodes: list[Branch | Cut] = []
    count = 0

    def grow(depth: int) -> int:
        nonlocal count
        if depth == len(columns):
            count += 1
            return ~(count - 1)
        name, cuts = columns[depth]
        if len(cuts) + 1 == schema[name].cells:
            place = len(nodes)
            nodes.append(Branch(name, ()))
            nodes[place] = Branch(name, tuple(grow(depth + 1) for _ in range(len(cuts) + 1)))
            return place
        return cut(depth, 0, len(cuts) + 1)

    def cut(depth: int, first: int, end: int) -> int:
        """The runs from `first` to `end`, halved until one is left."""
        if end - first == 1:
            return grow(depth + 1)
        name, cuts = columns[depth]
        middle, place = (first + end) // 2, len(nodes)
        nodes.append(Cut(name, 1, ~0, ~0))
        below, above = cut(depth, first, middle), cut(depth, middle, end)
        nodes[place] = Cut(name, cuts[middle - 1], below, above)
        return place

    grow(0)
    return Cells(tuple(nodes), count)
