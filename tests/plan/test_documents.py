"""A question has one document form: its memo, its way over the wire, and the steps to its rows."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from bocage.errors import PlanError
from bocage.plan.documents import (
    ASKS,
    STEPS,
    CellSplit,
    CountsAsk,
    HandleStep,
    PartitionStep,
    PartStep,
    QuantileAsk,
    SplitStep,
    TreeStep,
    WhereStep,
    step_of,
)


def test_a_question_has_the_same_members_in_a_memo_and_on_the_wire():
    median = QuantileAsk(column="age", level="1/2", epsilon="0.1")
    members = {"column": "age", "level": "1/2", "epsilon": "0.1"}
    assert median.memo() == {"ask": "quantile", **members}
    assert median.wire() == {"kind": "noisy_quantile", **members}


def test_members_are_told_by_name_and_stay():
    with pytest.raises(TypeError):
        CountsAsk("city", "1")
    counts = CountsAsk(by="city", epsilon="1")
    with pytest.raises(FrozenInstanceError):
        counts.by = "sex"


def test_no_two_questions_or_steps_have_one_name():
    for names in ([ask.ask for ask in ASKS], [ask.kind for ask in ASKS], [s.op for s in STEPS]):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "step",
    [
        WhereStep(predicate="age < 3"),
        PartitionStep(by="age", edges=[3, 5.5, "7"]),
        PartitionStep(by="city", values=["Nice"]),
        TreeStep(document={"format": "bocage.tree"}),
        TreeStep(model="m", tree=2),
        SplitStep(splits=[CellSplit(cell=0, column="age", threshold=4)]),
        SplitStep(splits=[CellSplit(cell=1, column="sex"), CellSplit(cell=0, column="city")]),
        PartStep(key="F"),
        HandleStep(handle="h"),
    ],
)
def test_a_step_that_travelled_is_the_same_step(step):
    assert step_of(json.loads(json.dumps(step.wire()))) == step


def test_what_is_as_by_default_need_not_be_said():
    assert PartitionStep(by="sex").wire() == {"op": "partition", "by": "sex"}
    assert step_of({"op": "partition", "by": "sex", "edges": None}) == PartitionStep(by="sex")


def test_a_step_that_nobody_knows_is_refused_with_those_that_are():
    with pytest.raises(PlanError, match=r"'peek'.*where, partition, partition_tree, split, part"):
        step_of({"op": "peek"})
