"""Exact privacy loss of the counts by which numeric attributes are cut.

What is counted next follows from what was released. So every round is taken as it was asked, and its loss is
worked out between all neighbors: that of a whole search is at most the sum of the prices of its rounds.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from bocage.epsilon import Epsilon
from bocage.learners.discretization import count_spreads
from bocage.learners.noisy_tables import cells_of
from bocage.mechanisms import Adjacency
from bocage.private.cells import OpenCells
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.tables.ensemble import Ensemble
from bocage.schema import Categorical, Numeric, Schema
from private.noises import SilentRecordingNoise
from private.tables import table

TINY = Schema(
    "tiny",
    (Numeric("x", lower=0, upper=1024), Numeric("y", lower=0, upper=400, cells=400)),
    label=Categorical("c", ("no", "yes")),
    row_cap=8,
)
CODES = [*product((0, 500, 501, 1023), (0, 200, 399))]


def rows_of(records):
    columns = np.array([*records]) + 0.5
    return {"x": columns[:, 0], "y": columns[:, 1], "c": ["no"] * len(records)}


def counts_of(routers, records):
    """How many of the records are in each cell of each router."""
    codes = {"x": np.array([x for x, _ in records]), "y": np.array([y for _, y in records])}
    return [np.bincount(router.route(codes, len(records)), minlength=router.count) for router in routers]


@pytest.fixture
def asked(monkeypatch):
    """Every round that was asked: its routers and its price."""
    found, ask = [], OpenCells.ask

    def watched(self, query):
        found.append((type(query), query.routers, query.epsilon))
        return ask(self, query)

    monkeypatch.setattr(OpenCells, "ask", watched)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_round_loses_its_price_and_no_more_and_the_prices_are_what_is_gone(asked, adjacency):
    whole = Epsilon.of(2000)
    noise = SilentRecordingNoise()
    records = [(500, 200), (500, 200), (501, 201), (500, 200)]
    private = table(rows_of(records), TINY, noise=noise, adjacency=adjacency)
    level = private.reserve(whole, "cells")
    noise.bodies.clear()
    _, left = count_spreads(level, TINY.attributes, len(records), whole)
    assert [kind for kind, _, _ in asked] == [ConsistentCounts, Ensemble, Ensemble]
    assert level.remaining() == left == whole - Epsilon.total([price for *_, price in asked])
    bodies, scales = noise.bodies[-1], [scale for scale, _ in noise.scales]
    for kind, routers, price in asked:
        scale = None if kind is ConsistentCounts else scales.pop(0)
        largest = Fraction(0)
        for rest in combinations_with_replacement(CODES, 1):
            for one, other in product(CODES, CODES):
                before = [*rest, one] if adjacency is Adjacency.REPLACE else [*rest]
                pairs = zip(counts_of(routers, before), counts_of(routers, [*rest, other]), strict=True)
                moved = [after - old for old, after in pairs]
                sizes = [int(np.abs(table).sum()) for table in moved]
                if kind is Ensemble:
                    loss = sum(sizes) / scale
                else:
                    assert len({int(table.sum()) for table in moved}) == 1
                    loss = sum(body.rate for body in bodies) * max(sizes)
                largest = max(largest, loss)
        assert largest == price.fraction


def test_counts_without_a_label_are_those_of_rows():
    records = [(0, 20), (0, 20), (1, 399), (63, 0)]
    private = table(rows_of(records), TINY, noise=SilentRecordingNoise())
    level = private.reserve(Epsilon.of(2), "counts")
    routers = cells_of(TINY, [("x", (1, 32))]), cells_of(TINY, [("y", (21,))])
    for query in (Ensemble, ConsistentCounts):
        tables = level.ask(query(routers, None, Epsilon.of(1)))
        assert [table[:, 0].tolist() for table in tables] == [[2, 1, 1], [3, 1]]
        assert query(routers, None, Epsilon.of(1)).describe()["label"] is None
