"""A plan that travels leads to the rows that the same calls lead to."""

from __future__ import annotations

import pytest

from bocage.errors import BocageError, PlanError
from bocage.learners import DiffPID3, RandomTrees
from bocage.model import to_dict
from bocage.plan.documents import (
    CellSplit,
    PartitionStep,
    PartStep,
    SplitStep,
    TreeStep,
    WhereStep,
)
from bocage.private.steps import follow
from private.tables import table

WHERE, SEX = WhereStep(predicate="age >= 2"), PartitionStep(by="sex")
AGES = PartitionStep(by="age", edges=[3, 6])


def no_model(name):
    raise AssertionError(name)


def split(*cells):
    return SplitStep(splits=[CellSplit(cell=c, column=n, threshold=t) for c, n, t in cells])


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        ([], lambda t: t),
        ([WHERE, WHERE], lambda t: t.where("age >= 2").where("age >= 2")),
        ([WHERE, SEX], lambda t: t.where("age >= 2").partition("sex")),
        ([SEX, AGES], lambda t: t.partition("sex").partition("age", edges=[3, 6])),
        ([SEX, PartStep(key="F"), WHERE], lambda t: t.partition("sex")["F"].where("age >= 2")),
        (
            [SEX, split((1, "age", 4), (0, "city", None))],
            lambda t: t.partition("sex").split({1: ("age", 4), 0: ("city", None)}),
        ),
    ],
)
def test_steps_lead_where_the_calls_lead(steps, calls):
    rows = table()
    there, expected = follow(rows, steps, no_model), calls(rows)
    assert (type(there), there._place) == (type(expected), expected._place)


def test_a_tree_is_a_document_or_a_model_by_its_id_or_one_of_a_forest():
    rows = table()
    tree = DiffPID3(depth=1, attributes=("sex",)).fit(rows, 1)
    forest = RandomTrees(trees=2).fit(rows, 1)
    models = {"tree": tree, "forest": forest}
    for step, expected in (
        (TreeStep(document=to_dict(tree)), tree),
        (TreeStep(model="tree"), tree),
        (TreeStep(model="forest", tree=1), forest.trees[1]),
    ):
        there = follow(rows, [step], models.__getitem__)
        assert there._place == rows.partition(expected)._place
    for wrong in (
        TreeStep(),
        TreeStep(model="tree", document=to_dict(tree)),
        TreeStep(model="tree", tree=1),
        TreeStep(model="forest", tree=2),
    ):
        with pytest.raises(PlanError):
            follow(rows, [wrong], models.__getitem__)


@pytest.mark.parametrize(
    "steps",
    [
        [PartStep(key="F")],
        [split((0, "sex", None))],
        [SEX, WHERE],
        [SEX, TreeStep(model="m")],
        [SEX, PartStep(key="X")],
        [SEX, split()],
        [SEX, split((2, "age", 4))],
        [SEX, split((0, "age", 4), (0, "age", 5))],
        [SEX, split((0, "age", None))],
        [SEX, split((0, "age", 10))],
        [SEX, split((0, "city", 1))],
    ],
)
def test_what_leads_nowhere_is_refused(steps):
    with pytest.raises(BocageError):
        follow(table(), steps, no_model)


def test_the_refusal_names_the_step_and_the_way_out():
    with pytest.raises(PlanError, match=r"step 2 of the plan: 'where' cannot follow a partition\."):
        follow(table(), [SEX, WHERE], no_model)
