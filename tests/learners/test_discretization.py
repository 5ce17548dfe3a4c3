"""Cells of numeric attributes that follow the rows: what they cost, where they begin, when they stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage import study
from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.learners import Additive, Bayes
from bocage.learners.discretization import Spread, Spreads, count_spreads, public_grid
from bocage.mechanisms import Adjacency
from bocage.private import Kind
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Numeric, Schema
from models import certificate_of
from private.noises import SilentNoise

SCHEMA = Schema(
    "incomes",
    (Numeric("gain", 0, 100_000), Numeric("age", 0, 128), Numeric("heat", 0, 1000)),
    Categorical("rich", ("no", "yes")),
)
ROWS = 8000


def incomes(rows=ROWS, seed=0):
    """Most gain nothing and few very much; ages are even; heat is near 300 in a range up to 1000."""
    rng = np.random.default_rng(seed)
    gain = np.where(rng.random(rows) < 0.5, 0, rng.lognormal(7, 1, rows))
    heat = 300 + rng.normal(size=rows)
    rich = np.where(rng.random(rows) < 0.05, rng.random(rows) < 0.5, (gain > 1000) ^ (heat > 301))
    columns = {"gain": gain, "age": rng.uniform(0, 128, rows), "heat": heat}
    return {**columns, "rich": np.where(rich, "yes", "no")}


def level_of(rows, epsilon):
    executor = LiveExecutor(
        Terms(SCHEMA, Adjacency.ADD_REMOVE),
        MemoryEngine(rows, SCHEMA),
        SilentNoise(),
        Kind.RELEASE,
    )
    account = MemoryAccount.of(Epsilon.of(epsilon))
    return PrivateTable(executor, account, WHOLE).reserve(Epsilon.of(epsilon), "cells")


def masses(name, cuts, rows):
    """The share of the rows in each cell."""
    codes = [SCHEMA[name].cell_of(value) for value in rows[name]]
    return np.bincount(np.searchsorted(cuts, codes, "right"), minlength=len(cuts) + 1) / len(codes)


def test_uneven_attributes_have_cells_of_about_as_many_rows_and_even_ones_stay_as_they_are():
    rows = incomes()
    spreads, left = count_spreads(level_of(rows, 8), SCHEMA.attributes, ROWS, Epsilon.of(8))
    assert spreads.cuts("age", 8) == ()
    gain = masses("gain", spreads.cuts("gain", 8), rows)
    assert gain[0] == pytest.approx(np.mean(rows["gain"] < 100_000 / 1024))  # nothing: its own cell
    assert gain[1:].max() < 0.2
    heat = masses("heat", spreads.cuts("heat", 4), rows)
    assert heat.max() < 0.5  # ten of the 1024 codes hold all rows: found in the second round
    assert left == Epsilon.of("7.52")  # two per cent of epsilon for each of three rounds


def test_what_is_left_is_what_was_not_charged():
    level = level_of(incomes(), 1)
    _, left = count_spreads(level, SCHEMA.attributes, ROWS, Epsilon.of(1))
    assert level.remaining() == left < Epsilon.of(1)


@pytest.mark.parametrize("rows", [1, 40, 140])
def test_nothing_is_counted_where_its_noise_would_hide_the_rows(rows):
    level = level_of(incomes(rows), 1)
    spreads, left = count_spreads(level, SCHEMA.attributes, rows, Epsilon.of(1))
    assert not spreads
    assert left == level.remaining() == Epsilon.of(1)
    assert spreads.cuts("gain", 8) == ()


def test_without_numeric_attributes_nothing_is_spent():
    level = level_of(incomes(10), 1)
    assert count_spreads(level, [], 10**6, Epsilon.of(1)) == (Spreads(), Epsilon.of(1))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 3000).flatmap(lambda n: st.tuples(st.just(n), st.integers(2, min(n, 32)))),
    st.data(),
)
def test_cells_are_as_many_as_asked_for_and_never_finer_than_the_codes(shape, data):
    codes, cells = shape
    edges = public_grid(codes)
    assert edges[0] == 0
    assert edges[-1] == codes
    counts = data.draw(st.lists(st.integers(0, 1000), min_size=len(edges) - 1, max_size=len(edges) - 1))
    cuts = Spread(edges, np.array(counts) + 1e-3).cuts(cells)
    assert not cuts or len(cuts) == cells - 1
    assert list(cuts) == sorted({*cuts} & {*range(1, codes)})


@pytest.mark.parametrize("learner", [Additive(), Bayes()])
def test_a_learner_sees_what_lies_in_a_small_part_of_the_range(learner):
    new = incomes(2000, seed=1)
    model = learner.fit(study(incomes(), SCHEMA), "2")
    even = Additive(cells="few").fit(study(incomes(), SCHEMA), "2")
    assert (model.predict(new) == new["rich"]).mean() > 0.8
    assert (even.predict(new) == new["rich"]).mean() < 0.75
    assert any(term.cuts for term in model.terms)
    assert not any(term.cuts for term in even.terms)


@pytest.mark.parametrize(("learner", "known"), [(Additive(), {"deviation": 1.0}), (Bayes(), {"variance": 1.0})])
def test_every_share_is_used_if_cells_and_pairs_are_chosen(learner, known):
    level = level_of(incomes(), 8)
    certificate = certificate_of(SCHEMA)
    rest = {"counts": np.array([ROWS // 2, ROWS // 2]), "epsilon": Epsilon.of(8), **known}
    model = learner.tables(level, certificate=certificate, **rest)
    assert str(level.remaining()) == "0"
    both = [term for term in model.terms if len(term.columns) == 2]
    assert any(any(term.cuts) for term in both)
