from __future__ import annotations

import json
import stat
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.epsilon import Epsilon
from bocage.errors import BocageError, EpsilonError, LearnerError, PartyError
from bocage.learners.papers.structure import Structure
from bocage.parties import PartyPlan, Share, plan_columns, plan_rows
from bocage.parties.documents import canonical, digest
from bocage.private import Adjacency
from parties.owners import PATIENTS, column_plan, row_plan


def test_a_plan_for_rows_has_one_share_with_the_whole_epsilon():
    plan = row_plan(epsilon="0.5", trees=3, height=2)
    assert not plan.vertical
    assert plan.epsilon == Epsilon.of("0.5")
    assert plan.share_of("anybody") is plan.shares[0]
    assert len(plan.shares[0].trees) == 3
    assert plan.schema_of(plan.shares[0]) is PATIENTS


def test_a_plan_for_columns_splits_epsilon_so_that_the_sum_is_what_was_asked():
    parties = {"a": ["smokes"], "b": ["home"], "c": ["age"]}
    plan = plan_columns(PATIENTS, 1, parties, trees=1, height=1)
    assert [str(share.epsilon) for share in plan.shares] == [
        "0.333333334",
        "0.333333333",
        "0.333333333",
    ]
    assert plan.epsilon == Epsilon.of(1)
    own = plan.schema_of(plan.share_of("c"))
    assert [a.name for a in own.attributes] == ["age"]
    assert own.label == PATIENTS.label


def test_a_plan_drawn_again_is_another_plan():
    assert row_plan().hash != row_plan().hash


def test_the_rule_of_the_learner_sizes_the_trees_from_declared_rows():
    plan = plan_rows(PATIENTS, 1, rows=100_000)
    assert len(plan.shares[0].trees) == 20
    with pytest.raises(PartyError, match="declare the rows of all owners"):
        plan_rows(PATIENTS, 1, trees=3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"trees": 0}, "trees from 1"),
        ({"height": 99}, "height from 1"),
        ({"epsilon": 0}, "greater than 0"),
        ({"epsilon": "0.000000001"}, "too small: the noise would be larger than any table"),
        ({"attributes": ["nothing"]}, "no attribute 'nothing'"),
        ({"schema": replace(PATIENTS, label=None)}, "declares no label"),
        ({"adjacency": "other"}, "add_remove or replace"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(change, reason):
    with pytest.raises(BocageError, match=reason):
        plan_rows(**{"schema": PATIENTS, "epsilon": 1, "trees": 100, "height": 1, **change})


@pytest.mark.parametrize(
    ("parties", "reason"),
    [
        ({"a": ["age"]}, "two parties or more"),
        ({"a": ["age"], "b": ["age", "home"]}, "belongs to one party only"),
        ({"a": ["age"], "b": ["nothing"]}, "no attribute 'nothing'"),
        ({"a": ["age"], "b\n": ["home"]}, "printable"),
        ({"a": ["age"], "": ["home"]}, "printable"),
    ],
)
def test_columns_that_cannot_be_shared_are_refused(parties, reason):
    with pytest.raises((PartyError, LearnerError), match=reason):
        plan_columns(PATIENTS, 1, parties, trees=1, height=1)


def test_more_parties_than_units_of_epsilon_are_refused():
    with pytest.raises(EpsilonError, match="too small to be shared"):
        plan_columns(PATIENTS, "0.000000001", {"a": ["age"], "b": ["home"]}, trees=1, height=1)


@given(
    epsilon=st.integers(10**6, 10**10),
    trees=st.integers(1, 4),
    height=st.integers(1, 4),
    vertical=st.booleans(),
    adjacency=st.sampled_from(Adjacency),
)
def test_a_plan_reads_back_as_it_was_written(epsilon, trees, height, vertical, adjacency):
    make = column_plan if vertical else row_plan
    plan = make(epsilon=Epsilon(epsilon), trees=trees, height=height, adjacency=adjacency)
    again = PartyPlan.from_json(plan.to_json())
    assert again == plan
    assert again.hash == plan.hash
    pretty = json.dumps(json.loads(plan.to_json()), indent=2).encode()
    assert PartyPlan.from_json(pretty) == plan


def test_a_plan_file_is_public_and_never_overwritten(tmp_path):
    path = tmp_path / "plan.json"
    plan = row_plan()
    plan.save(path)
    assert stat.S_IMODE(path.stat().st_mode) & 0o400
    assert PartyPlan.load(path) == plan
    with pytest.raises(PartyError, match="exists already"):
        row_plan().save(path)
    assert PartyPlan.load(path) == plan
    assert [p.name for p in tmp_path.iterdir()] == ["plan.json"]


CHANGES = {
    "format": "bocage.tree",
    "version": 0,
    "id": "0" * 32,
    "label": "age",
    "adjacency": "replace",
    "epsilon": "0.6",
    "shares": [],
    "hash": "0" * 64,
    "schema": {**PATIENTS.to_dict(), "row_cap": 7},
}


def test_every_field_of_a_plan_is_listed_here():
    assert set(json.loads(row_plan().to_json())) == set(CHANGES)


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("value", ["as listed", None, 1.5, [], {}, "x"])
def test_changing_any_field_of_a_plan_is_noticed(field, value):
    document = json.loads(row_plan().to_json())
    changed = CHANGES[field] if value == "as listed" else value
    with pytest.raises(PartyError):
        PartyPlan.from_json(canonical({**document, field: changed}))
    with pytest.raises(PartyError):
        PartyPlan.from_json(canonical({k: v for k, v in document.items() if k != field}))


@pytest.mark.parametrize("field", ["party", "attributes", "epsilon", "trees"])
@pytest.mark.parametrize("value", [None, 1.5, [], "x", "0.6", [["a"]], [[None, None]]])
def test_changing_any_field_of_a_share_is_noticed(field, value):
    document = json.loads(column_plan().to_json())
    document["shares"][1][field] = value
    with pytest.raises(PartyError):
        PartyPlan.from_json(canonical(document))


@pytest.mark.parametrize(
    ("splits", "reason"),
    [
        ((), "do not match"),
        ((None, None), "do not match"),
        ((("smokes", None), None), "do not match"),
        ((("smokes", None), None, None, None), "do not match"),
        ((("age", None), None, None), "do not allow"),
        ((("age", 0), None, None), "from 1 to"),
        ((("age", 101), None, None), "do not allow"),
        ((("smokes", 1), None, None), "do not allow"),
        ((("ill", None), None, None), "not its owner's"),
        ((("bank", None), None, None), "not its owner's"),
        ((("age", 50), None) * 129 + (None,), "128 levels"),
    ],
)
def test_a_plan_whose_nodes_make_no_tree_is_refused_even_with_the_right_hash(splits, reason):
    plan = row_plan()
    document = json.loads(plan.to_json())
    document["shares"][0]["trees"][0] = [s and list(s) for s in splits]
    del document["hash"]
    forged = canonical({**document, "hash": digest(canonical(document))})
    with pytest.raises(PartyError, match=reason):
        PartyPlan.from_json(forged)


def test_too_many_counts_are_refused():
    share = row_plan().shares[0]
    tree = Structure((("age", 50), None, None))
    with pytest.raises(PartyError, match="1 to 1024 trees"):
        PartyPlan("0" * 32, PATIENTS, Adjacency.ADD_REMOVE, (replace(share, trees=(tree,) * 1025),))


def test_shares_for_rows_and_for_columns_do_not_mix():
    plan = row_plan()
    share = plan.shares[0]
    for shares in ((), (share, share), (share, Share("a", (), share.epsilon, share.trees))):
        with pytest.raises(PartyError, match="one share for all owners of rows"):
            replace(plan, shares=shares)
