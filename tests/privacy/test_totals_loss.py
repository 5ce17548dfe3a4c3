"""What leans on totals: no released combination of counts that a record moves is without noise.

Questions of many kinds, on every router over a tiny column: with rows outside of all cells, with
cells that no row can reach, with one cell, with none but rows outside. The noise is probed direction by
direction (`probing`), so that the matrix of what is released is that of the code which runs.
"""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest

from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.mechanisms import Adjacency
from bocage.plan import OUTSIDE, Branch, Cells, Cut
from bocage.private import Count, Counts, Ensemble, Histograms, ScoredCounts
from bocage.private.joint.score.family import DrawnScorecard
from bocage.private.query import Place
from bocage.private.table import WHOLE
from bocage.private.tables import consistent_counts
from bocage.private.tables.consistent_counts import MOST_CELLS, ConsistentCounts
from bocage.private.terms import Block, Design
from bocage.schema import Categorical, Numeric, Schema
from privacy.probing import carried, directions, loss
from private.noises import SilentNoise
from private.tables import table

TINY = Schema(
    "tiny",
    (Categorical("a", ("u", "v", "w")), Numeric("x", lower=0, upper=3, step=1)),
    label=Categorical("c", ("no", "yes")),
    row_cap=8,
)
RECORDS = list(product(("u", "v", "w"), (0, 3), ("no", "yes")))
SOME = [("u", 0, "no"), ("w", 3, "yes"), ("w", 0, "yes")]
ROUTERS = [
    Cells(),
    *[Cells((Branch("a", to),), 1) for to in product((~0, OUTSIDE), repeat=3)],
    *[Cells((Branch("a", to),), 2) for to in product((~0, ~1, OUTSIDE), repeat=3)],
]
ONE = Epsilon.of(1)
LEFT = Place(WHOLE.where, Cells((Branch("a", (~0, OUTSIDE, ~1)),), 2), ("p", "q"))


def columns(records):
    return {c.name: [record[i] for record in records] for i, c in enumerate(TINY)}


def flat(found):
    """All released numbers, end to end."""
    if isinstance(found, dict):
        return flat(list(found.values()))
    if isinstance(found, list):
        return np.concatenate([flat(one) for one in found])
    return np.asarray(found, float).ravel()


def released(ask, records, adjacency=Adjacency.ADD_REMOVE):
    """A release of these records, as a function of the noise."""

    def release(noise):
        private = table(columns(records), TINY, noise=noise, adjacency=adjacency)
        return flat(ask(private))

    return release


def worst(ask, adjacency=Adjacency.ADD_REMOVE, *, exactly=True):
    """The largest loss of a release over all neighbors of two tables; infinite without noise."""
    found = 0.0
    for records in ([], SOME):
        draws, matrix = directions(released(ask, records, adjacency))
        silent = released(ask, records, adjacency)(SilentNoise())
        moves = set()
        for record in RECORDS:
            others = [*records, record] if adjacency is Adjacency.ADD_REMOVE else [*records[1:], record]
            if adjacency is Adjacency.ADD_REMOVE or records:
                after = released(ask, others, adjacency)(SilentNoise())
                moves.add(tuple((after - silent).tolist()))
        for moved in sorted(moves):
            if not carried(matrix, np.array(moved)):
                return np.inf
            if exactly:
                found = max(found, loss(draws, matrix, np.array(moved)))
    return found


def tables_of(routers, label="c", kind=ConsistentCounts):
    return lambda private: private.reserve(1, "tables").ask(kind(tuple(routers), label, ONE))


@pytest.mark.slow
def test_no_combination_of_tables_is_without_noise_whatever_their_routers_leave_outside():
    for pair in combinations(ROUTERS, 2):
        assert worst(tables_of(pair), exactly=False) == 0, pair


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("kind", [ConsistentCounts, Ensemble])
@pytest.mark.parametrize("label", ["c", None])
def test_tables_of_any_routers_lose_epsilon_at_most(kind, label, adjacency):
    every = [*combinations(ROUTERS, 2), *combinations(ROUTERS[::3], 3)]
    losses = [worst(tables_of(some, label, kind), adjacency) for some in every[::41]]
    losses += [worst(tables_of([one], label, kind), adjacency) for one in ROUTERS[::5]]
    assert max(losses) == pytest.approx(1)


def test_the_check_finds_tables_that_are_drawn_without_a_cell_for_rows_outside(monkeypatch):
    monkeypatch.setattr(consistent_counts, "leaves_rows_outside", lambda _: False)
    covering = Cells((Branch("a", (~0, ~1, ~1)),), 2)
    partly = Cells((Branch("a", (~0, ~1, OUTSIDE)),), 2)
    assert worst(tables_of([covering, partly])) == np.inf
    assert worst(tables_of([covering, covering])) == pytest.approx(1)


def test_tables_without_rows_outside_have_the_noise_that_they_always_had():
    covering = Cells((Cut("x", 2, ~0, 1), Branch("a", (~1, ~2, ~2))), 3)
    query = ConsistentCounts((covering, Cells()), "c", ONE)
    assert query.sizes == [3, 1]
    outside = Cells((Cut("x", 2, ~0, 1), Branch("a", (~1, ~1, OUTSIDE))), 2)
    assert ConsistentCounts((covering, outside), "c", ONE).sizes == [3, 3]


SHEET = DrawnScorecard(((Block(("a",), (3,), (3,)), (0, 1, 2)),), 1, (0, 1))
OTHERS = {
    "count": lambda t: t.noisy_count(1).values,
    "counts": lambda t: t.noisy_counts(["a", "c"], 1).values,
    "count of what passes a filter": lambda t: t.where("a != 'v'").noisy_count(1).values,
    "count by some values": lambda t: t.partition("a", values=["w", "u"]).noisy_count(1).values,
    "counts by some values": lambda t: t.partition("a", values=["w"]).noisy_counts("c", 1).values,
    "sum by some values": lambda t: t.partition("a", values=["w", "u"]).noisy_sum("x", 1).values,
    "totals": lambda t: _left(t).ask(Count(ONE)),
    "counts of cells": lambda t: _left(t).ask(Counts(("c",), ONE)),
    "histograms": lambda t: _left(t).ask(Histograms((("a", "x"), ("x",)), "c", ONE)),
    "histograms without a label": lambda t: _left(t).ask(Histograms((("a",), ("x",)), None, ONE)),
    "rows by points": lambda t: t.reserve(1, "points").fit(ScoredCounts(SHEET, "c", ONE)),
    "rows by points that pass a filter": lambda t: (
        t.where("a != 'v'").reserve(1, "points").fit(ScoredCounts(SHEET, "c", ONE))
    ),
}


def _left(private):
    level = private.reserve(1, "cells")
    level._place = LEFT
    return level


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("ask", OTHERS.values(), ids=OTHERS)
def test_counts_lose_epsilon_at_most_where_rows_are_outside(ask, adjacency):
    assert worst(ask, adjacency) <= 1 + 1e-9


def test_the_check_finds_a_count_that_is_the_rest_of_a_total():
    def rest(private):
        counts = private.reserve(1, "rest").ask(Count(ONE))
        exact = len(private._executor.engine._codes["a"])
        return [counts, exact - counts]

    assert worst(rest) == np.inf


@pytest.mark.parametrize("kind", [ConsistentCounts, Ensemble])
def test_routers_count_a_whole_table_or_nothing_is_charged(kind):
    level = _left(table(columns(SOME), TINY))
    with pytest.raises(PlanError, match="before it is split"):
        level.ask(kind(tuple(ROUTERS[:2]), "c", ONE))
    with pytest.raises(PlanError, match="a router at least"):
        table(columns(SOME), TINY).reserve(1, "none").ask(kind((), "c", ONE))
    assert level.remaining() == ONE


def test_a_table_too_large_for_its_weights_is_refused_before_the_charge():
    wide = Schema("wide", (Numeric("x", lower=0, upper=MOST_CELLS, step=1),))
    level = table({"x": [1.0]}, wide).reserve(1, "wide")
    router = Cells((Branch("x", tuple(~i for i in range(MOST_CELLS + 1))),), MOST_CELLS + 1)
    with pytest.raises(PlanError, match=r"at most 1024 cells, not 1025"):
        level.ask(ConsistentCounts((router,), None, ONE))
    assert level.remaining() == ONE


def test_every_record_has_one_cell_in_every_table_of_an_additive_fit():
    """Tables of a fit agree on their sums because blocks have no outside: all codes have a cell."""
    for block in (
        Block(("a",), (3,), (3,)),
        Block(("x",), (2,), (1, 2)),
        Block(("x",), (3,), (3,), ((1, 3),)),
        Block(("a", "x"), (3, 4), (12,)),
        Block(("x",), (1,), (1,)),
    ):
        try:
            block.check(TINY)
        except PlanError:
            assert block.size == 1
            continue
        design = Design((block,), 2)
        lookups = block.lookup(TINY)
        for codes in product(*(range(TINY[name].cells) for name in block.columns)):
            place = 0
            for code, size, own in zip(codes, block.cells, lookups, strict=True):
                assert own[code] < size
                place = place * size + int(own[code])
            one = np.zeros((design.fine, 1), np.int64)
            one[place] = 1
            ends = [*design.starts, sum(design.sizes)]
            moved = design.collect(one)[:, 0]
            assert all(moved[start:end].sum() == 1 for start, end in pairwise(ends))
