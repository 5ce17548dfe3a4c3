"""Plans as versioned JSON. Reading one gives a whole plan that has its hash, or none."""

from __future__ import annotations

from typing import Any

from bocage.documents.entries import Entries
from bocage.epsilon import Epsilon
from bocage.errors import PartyError
from bocage.learners.base import label_of
from bocage.learners.papers.structure import Structure
from bocage.parties import documents
from bocage.parties.plan import PartyPlan, Share, adjacency_named, check_name
from bocage.parties.trees import MOST_COUNTS, MOST_TREES
from bocage.schema import Schema

_read = Entries(PartyError)

FORMAT, VERSION = "bocage.plan", 1
_KEYS = ("format", "version", "id", "schema", "label", "adjacency", "epsilon", "shares", "hash")
_SHARE_KEYS = ("party", "attributes", "epsilon", "trees")


def to_json(plan: PartyPlan) -> bytes:
    return documents.canonical({**content_of(plan), "hash": plan.hash})


def from_json(content: bytes) -> PartyPlan:
    document = documents.parse(content)
    documents.head(document, FORMAT, VERSION)
    with documents.about("the plan is refused"):
        _read.fields(document, _KEYS, "a plan")
        shares = _read.items(document["shares"], '"shares"', most=MOST_TREES)
        plan = PartyPlan(
            _read.text(document["id"], '"id"'),
            Schema.from_dict(document["schema"]),
            adjacency_named(document["adjacency"]),
            tuple(_share(share) for share in shares),
        )
        again = documents.parse(to_json(plan))
        if {**again, "hash": ""} != {**document, "hash": ""}:
            raise PartyError("its entries contradict each other.")
        if plan.hash != document["hash"]:
            raise PartyError("it was changed: its content does not have its hash.")
    return plan


def content_of(plan: PartyPlan) -> dict[str, Any]:
    """All that the hash of a plan is about."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": plan.id,
        "schema": plan.schema.to_dict(),
        "label": label_of(plan.schema).name,
        "adjacency": plan.adjacency.value,
        "epsilon": str(plan.epsilon),
        "shares": [
            {
                "party": share.party,
                "attributes": list(share.attributes),
                "epsilon": str(share.epsilon),
                "trees": [[s and list(s) for s in tree.splits] for tree in share.trees],
            }
            for share in plan.shares
        ],
    }


def _share(document: Any) -> Share:
    _read.fields(document, _SHARE_KEYS, "a share")
    party = document["party"]
    columns = _read.items(document["attributes"], '"attributes"')
    trees = _read.items(document["trees"], '"trees"', most=MOST_TREES)
    return Share(
        None if party is None else check_name(party),
        tuple(_read.text(name, "an attribute") for name in columns),
        Epsilon.of(_read.text(document["epsilon"], '"epsilon"')),
        tuple(_structure(tree) for tree in trees),
    )


def _structure(document: Any) -> Structure:
    splits = _read.items(document, "a tree", most=MOST_COUNTS)
    return Structure(tuple(None if split is None else _split(split) for split in splits))


def _split(document: Any) -> tuple[str, int | None]:
    if not isinstance(document, list) or len(document) != 2:
        raise PartyError("a split is a column and a threshold.")
    column, threshold = document
    if threshold is not None:
        threshold = _read.integer(threshold, 1, 2**31 - 1, "a threshold")
    return _read.text(column, "the column of a split"), threshold
