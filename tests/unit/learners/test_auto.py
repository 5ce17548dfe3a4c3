"""`auto` takes a tree or tables by a public rule, and spends what it planned."""

from __future__ import annotations

import numpy as np
import pytest

from bocage import protect, study
from bocage.accounting import MemoryAccount
from bocage.engine.memory import MemoryEngine
from bocage.epsilon import Epsilon
from bocage.errors import PlanError
from bocage.learners import LEARNERS, Auto
from bocage.mechanisms import Adjacency
from bocage.model import AdditiveModel, Certificate, Tree, TreeBuilder
from bocage.private import Kind
from bocage.private.desk import LiveDesk
from bocage.private.query import Terms
from bocage.private.table import WHOLE, PrivateTable
from bocage.schema import Categorical, Schema
from private.noises import SilentNoise


def schema(attributes, labels):
    columns = tuple(Categorical(f"c{i}", ("a", "b", "c")) for i in range(attributes))
    return Schema("t", columns, Categorical("y", tuple(map(str, range(labels)))))


@pytest.mark.parametrize(
    ("attributes", "labels", "rows", "tables"),
    [
        (8, 2, 10_000, True),
        (8, 3, 10_000, True),
        (8, 4, 10_000, False),  # many labels
        (8, 2, 200, False),  # too few records for 16 parameters
        (3, 2, 10_000, False),  # a leaf for each of 27 combinations
    ],
)
def test_the_rule_reads_public_numbers_only(attributes, labels, rows, tables):
    assert Auto().takes_tables(schema(attributes, labels), rows, 1.0) is tables


@pytest.mark.parametrize(("labels", "kind"), [(2, AdditiveModel), (4, Tree)])
def test_either_model_has_the_certificate_of_the_whole_budget(tmp_path, labels, kind):
    public = schema(8, labels)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 1000) for column in public}
    with protect(rows, public, ledger=tmp_path / "l.db", cap=3, create=True) as table:
        analyst = table.analyst("ann", 2)
        model = Auto().fit(analyst, "1")
        assert str(analyst.spent()) == "1"
    assert isinstance(model, kind)
    assert model.certificate.learner == "auto"
    assert model.certificate.epsilon == "1"
    assert [line.epsilon for line in model.certificate.plan] == ["0.05", "0.95"]


def test_much_data_is_tried_with_both_and_a_tree_wins_where_pairs_decide(tmp_path):
    public = schema(8, 2)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 20_000) for column in public}
    rows["y"] = np.where((rows["c0"] == "a") == (rows["c1"] == "a"), "1", "0")
    with protect(rows, public, ledger=tmp_path / "l.db", cap=9, create=True) as table:
        analyst = table.analyst("ann", 8)
        model = Auto().fit(analyst, "8")
        assert str(analyst.spent()) == "8"
    assert isinstance(model, Tree)
    assert (model.predict(rows) == rows["y"]).mean() > 0.95


def test_a_comparison_counts_the_difference_and_needs_the_same_schema():
    public = schema(2, 2)
    rows = {"c0": ["a", "a", "b", "c"], "c1": ["a"] * 4, "y": ["1", "1", "0", "1"]}

    def constant(code, of):
        builder = TreeBuilder(of)
        builder.label(0, code)
        return builder.freeze(Certificate(learner="t", variant="", epsilon=None, adjacency="add_remove",
            table="t", schema=of.fingerprint, plan=(), mechanisms=(), entry=None, notes=()))  # fmt: skip

    desk = LiveDesk(
        Terms(public, Adjacency.ADD_REMOVE), MemoryEngine(rows, public), SilentNoise(), Kind.RELEASE
    )
    table = PrivateTable(desk, MemoryAccount.of(Epsilon.of(9)), WHOLE)
    level = table.reserve("1", "test")
    half = Epsilon.of("0.5")
    assert level.compare(constant(1, public), constant(0, public), "y", half) == 2
    other = constant(0, schema(3, 2))
    with pytest.raises(PlanError, match="own schema"):
        level.compare(constant(1, public), other, "y", half)


def test_it_learns():
    public = schema(6, 2)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 4000) for column in public}
    rows["y"] = np.where(sum(rows[f"c{i}"] == "a" for i in range(6)) > 2, "1", "0")
    model = Auto().fit(study(rows, public), "2")
    assert (model.predict(rows) == rows["y"]).mean() > 0.85
    assert LEARNERS["auto"] is Auto
