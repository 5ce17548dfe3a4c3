"""Requests that ask are read, refused and told apart as they were before their form was shared.

`question_documents.json` was written when each document was a class of its own. A request is known by how it is
written: what stands in a registry under an idempotency key must still be the same request.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from bocage.service.core import documents

GOLDEN = json.loads((Path(__file__).parent / "question_documents.json").read_text())


def question(kind="noisy_count", *plan, **arguments):
    return {"plan": list(plan), "ask": {"kind": kind, "epsilon": "0.1", **arguments}}


def count(*plan):
    return question("noisy_count", *plan)


GOOD = [
    count(),
    question(epsilon=1),
    question(epsilon=0.25),
    question("noisy_counts", by="city"),
    question("noisy_counts", by=["city", "sex"]),
    question("noisy_sum", column="age"),
    question("noisy_avg", column="age"),
    question("noisy_quantile", column="age"),
    question("noisy_quantile", column="age", level=0.25),
    question("noisy_quantile", column="age", level="1/3"),
    question("noisy_mode", column="city"),
    question("noisy_mode", selection="exponential", column="city"),
    question("choose", among=["city", "age"], criterion="max"),
    question("choose", among=[["city"], ["age"]], criterion="gini", label="buys"),
    {**count(), "fresh": True, "mode": "dry_run", "rows": 7},
    count({"op": "where", "predicate": "age < 9"}),
    count({"op": "partition", "by": "age", "edges": [3, 6.5, "7"]}),
    count({"op": "partition", "values": ["Nice"], "by": "city"}, {"op": "part", "key": "Nice"}),
    count({"op": "partition_tree", "model": "m"}),
    count({"op": "partition_tree", "document": {"format": "bocage.tree"}, "tree": 2}),
    count({"op": "handle", "handle": "h"}, {"op": "split", "splits": [{"cell": 1, "column": "sex"}]}),
    count({"op": "split", "splits": [{"cell": 0, "column": "age", "threshold": 5}]}),
]
BAD = [
    {"ask": {"epsilon": 1}},
    {"ask": {"kind": "noisy_count"}},
    {"ask": "noisy_count"},
    question("noisy_median", column="age"),
    question("noisy_count", column="age"),
    question("noisy_sum"),
    question("noisy_sum", column=7),
    question("noisy_sum", column="x" * 1001),
    question("noisy_counts", by=["a", "b", "c"]),
    question("noisy_counts", by=3),
    question("noisy_quantile", column="age", level=[1]),
    question("noisy_mode", column="city", selection="at random"),
    question("choose", among="city", criterion="max"),
    question("choose", among=["city", ["age"]], criterion="max"),
    question(epsilon="1" * 61),
    question(epsilon=None),
    count({"predicate": "age < 9"}),
    count({"op": "peek"}),
    count({"op": "where"}),
    count({"op": "where", "predicate": "x" * (2**16 + 1)}),
    count({"op": "partition", "by": "age", "edges": [None]}),
    count({"op": "partition", "by": "city", "values": [1]}),
    count({"op": "partition_tree", "tree": -1}),
    count({"op": "partition_tree", "document": []}),
    count({"op": "split", "splits": [{"cell": -1, "column": "age"}]}),
    count({"op": "split", "splits": [{"cell": 1, "column": "age", "threshold": 2**31 + 1}]}),
    count({"op": "split", "splits": [{"cell": True, "column": "age", "left": 1}]}),
    count(*[{"op": "part", "key": "F"}] * 65),
]


def refusals(body):
    with pytest.raises(ValidationError) as caught:
        documents.QueryRequest.model_validate(body)
    return [[error["type"], *error["loc"]] for error in caught.value.errors()]


def test_the_schema_of_version_1_stands_and_may_grow():
    schema, before = documents.QueryRequest.model_json_schema(), GOLDEN["schema"]
    asks = [one["properties"].pop("ask")["discriminator"]["mapping"] for one in (schema, before)]
    assert asks[0].items() >= asks[1].items()
    now = schema.pop("$defs")
    assert {name: now[name] for name in before["$defs"]} == before.pop("$defs")
    assert schema == before


def test_requests_are_written_as_they_were():
    requests = [documents.QueryRequest.model_validate(body) for body in GOOD]
    assert [request.written for request in requests] == GOLDEN["written"]
    again = [documents.QueryRequest.model_validate(json.loads(one.written)) for one in requests]
    assert again == requests


def test_what_is_no_request_is_refused_for_the_same_reason_at_the_same_place():
    assert [refusals(body) for body in BAD] == GOLDEN["refused"]
