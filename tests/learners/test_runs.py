"""Levels too large for one question are asked in runs of cells, for the same price."""

from __future__ import annotations

import pytest

from bocage.epsilon import Epsilon
from bocage.learners import DPDF, DiffPC45, DiffPID3, PrivateID3, SulqID3
from bocage.model import Forest
from bocage.private.choose import Choose
from bocage.private.tables.histograms import Histograms
from bocage.schema import Categorical, Numeric, Schema
from learners.oracle import nested
from learners.spy import some_records, some_rows
from learners.test_plans import fit_on_a_ledger

WIDE = Schema(
    "wide",
    tuple(Categorical(f"a{i}", ("p", "q", "r", "s")) for i in range(4)),
    label=Categorical("c", ("n", "y")),
)
GRID = Schema(
    "grid",
    (Categorical("a", ("p", "q", "r")), Numeric("x", lower=0, upper=9, step=1)),
    label=Categorical("c", ("n", "y")),
)


@pytest.mark.parametrize(
    ("learner", "schema"),
    [
        (DiffPID3(3), WIDE),
        (SulqID3(3), WIDE),
        (PrivateID3(3), WIDE),
        (DPDF(2, 4, support=1), WIDE),
        (DiffPC45(3, prune=False), GRID),
    ],
    ids=lambda value: value.name,
)
def test_runs_of_cells_cost_and_say_what_the_level_would(monkeypatch, learner, schema):
    rows, epsilon = some_rows(schema, 3, 300), Epsilon.of(10**6)
    whole, _, _, expected = fit_on_a_ledger(schema, learner, epsilon, rows, silent=True)
    # One cell at a time has a choice: 2 labels x (1 + 16 codes). A level has up to 64 cells.
    for module in ("bocage.private.query", "bocage.plan.question"):
        monkeypatch.setattr(f"{module}.MOST_COUNTERS", 40)
    parts, charges, spent, model = fit_on_a_ledger(schema, learner, epsilon, rows, silent=True)
    assert [charge.epsilon for charge in charges] == [spent] == [epsilon]
    assert parts.engine.scans > whole.engine.scans
    choices = [draw for draw in parts.draws if isinstance(draw.query, Choose | Histograms)]
    assert len({draw.cells for draw in choices}) > 2
    assert all(parts.used_by(record) == epsilon.fraction for record in some_records(schema, 1))
    if not isinstance(learner, SulqID3):  # which breaks ties at random
        trees = zip(*[m.trees if isinstance(m, Forest) else [m] for m in (model, expected)])  # noqa: B905 - of one length by the same learner
        assert all(nested(one) == nested(other) for one, other in trees)


def test_a_tree_stops_growing_before_a_model_could_not_hold_it(monkeypatch):
    monkeypatch.setattr("bocage.learners.frontier.MOST_NODES", 30)
    rows = some_rows(WIDE, 3, 300)
    for learner in (DiffPID3(4), SulqID3(4), PrivateID3(), DPDF(2, 5, support=0)):
        executor, _, _, model = fit_on_a_ledger(WIDE, learner, Epsilon.of(10**6), rows, silent=True)
        for tree in model.trees if isinstance(model, Forest) else [model]:
            assert len(tree) <= 30
        assert executor.used_by({c.name: 0 for c in WIDE}) == 10**6


def test_private_id3_stops_at_its_own_bound():
    rows = some_rows(WIDE, 3, 300)
    sizes = []
    for most in (1, 2, 20_000):
        _, _, _, tree = fit_on_a_ledger(WIDE, PrivateID3(most_nodes=most), Epsilon.of(10**6), rows, silent=True)
        sizes.append(len(tree))
    assert sizes[:2] == [1, 5]  # the root alone; the root is split, then the bound is reached
    assert sizes[2] > 21
