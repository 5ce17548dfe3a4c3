"""`auto` takes a tree or tables by a public rule, and spends what it planned."""

from __future__ import annotations

import numpy as np
import pytest

from bocage import protect, study
from bocage.learners import LEARNERS, Auto
from bocage.model import AdditiveModel, Tree
from bocage.schema import Categorical, Schema


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
    rows = {column.name: rng.choice(column.values, 3000) for column in public}
    with protect(rows, public, ledger=tmp_path / "l.db", cap=3, create=True) as table:
        analyst = table.analyst("ann", 2)
        model = Auto().fit(analyst, "1")
        assert str(analyst.spent()) == "1"
    assert isinstance(model, kind)
    assert model.certificate.learner == "auto"
    assert model.certificate.epsilon == "1"
    assert [line.epsilon for line in model.certificate.plan] == ["0.05", "0.95"]


def test_it_learns():
    public = schema(6, 2)
    rng = np.random.default_rng(0)
    rows = {column.name: rng.choice(column.values, 4000) for column in public}
    rows["y"] = np.where(sum(rows[f"c{i}"] == "a" for i in range(6)) > 2, "1", "0")
    model = Auto().fit(study(rows, public), "2")
    assert (model.predict(rows) == rows["y"]).mean() > 0.85
    assert LEARNERS["auto"] is Auto
