"""What a coordinator publishes: schema, trees and price, before anybody looks at a row."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt
from pathlib import Path
from typing import Any

from bocage.documents.entries import Entries
from bocage.epsilon import Epsilon
from bocage.errors import PartyError
from bocage.learners.base import label_of
from bocage.learners.papers.structure import Structure
from bocage.model import MOST_DEPTH
from bocage.parties import documents
from bocage.private import Adjacency
from bocage.private.query import Terms
from bocage.schema import Categorical, Schema

_read = Entries(PartyError)

FORMAT, VERSION = "bocage.plan", 1
LONGEST_NAME = 200
MOST_COUNTS = 2**21  # of one contribution; a rule chooses a million at most
MOST_TREES = 2**10
MOST_CONTRIBUTIONS = 2**18  # sums of counts below 2**44 stay far inside 63 bits
SURE = 60  # noise beyond 60 scales has a probability below exp(-60), for one counter
_ID = re.compile(r"[0-9a-f]{32}")
_KEYS = ("format", "version", "id", "schema", "label", "adjacency", "epsilon", "shares", "hash")
_SHARE_KEYS = ("party", "attributes", "epsilon", "trees")


@dataclass(frozen=True)
class Share:
    """What an owner is asked for: the leaf counts of some trees, all at once.

    Parameters
    ----------
    party
        Who is asked, if the owners hold different columns; None for every owner of rows.
    attributes
        The columns that the trees may split by.
    epsilon
        What the owner's table is charged.
    trees
        Their structures, drawn from the schema.
    """

    party: str | None
    attributes: tuple[str, ...]
    epsilon: Epsilon
    trees: tuple[Structure, ...]

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """For every tree its number of leaves."""
        return tuple(tree.splits.count(None) for tree in self.trees)


@dataclass(frozen=True)
class PartyPlan:
    """A public plan that several owners follow, each with their own table, engine and ledger.

    Parameters
    ----------
    id
        Random: a plan that is drawn again is another plan.
    schema
        Of the joint table. What an owner holds of it is `schema_of`.
    adjacency
        Which two tables must look alike.
    shares
        One for all owners of rows (horizontal), or one for each owner of columns (vertical).

    Privacy
    -------
    Nothing in a plan comes from a record. Owners of rows have no person in common, so that a person
    pays the epsilon of the one share. Owners of columns have all persons in common, so that a
    person pays the sum of the shares: `epsilon` is what one person pays in either case.
    """

    id: str
    schema: Schema
    adjacency: Adjacency
    shares: tuple[Share, ...]

    def __post_init__(self) -> None:
        label_of(self.schema)
        if not _ID.fullmatch(self.id):
            raise PartyError("the id of a plan has 32 hexadecimal digits.")
        names = [share.party for share in self.shares]
        if not names or (None in names and len(names) > 1) or len(set(names)) < len(names):
            raise PartyError("a plan has one share for all owners of rows, or one for each party.")
        columns = [name for share in self.shares for name in share.attributes]
        if len(set(columns)) < len(columns):
            raise PartyError("a column belongs to one party only.")
        for share in self.shares:
            if share.party is not None:
                check_name(share.party)
            _check_trees(share.trees, share.attributes, self.schema)
            self.noise_bound(share)

    @property
    def vertical(self) -> bool:
        """Whether the owners hold columns of the same persons, not rows of different ones."""
        return self.shares[0].party is not None

    @property
    def epsilon(self) -> Epsilon:
        """What a person pays if everybody contributes."""
        return Epsilon.total([share.epsilon for share in self.shares])

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the plan in canonical JSON; contributions are bound to it."""
        return documents.digest(documents.canonical(self._content()))

    def share_of(self, party: str) -> Share:
        """What this owner is asked for."""
        check_name(party)
        if not self.vertical:
            return self.shares[0]
        for share in self.shares:
            if share.party == party:
                return share
        names = ", ".join(repr(share.party) for share in self.shares)
        raise PartyError(f"the plan has no party {party!r}. It has {names}.")

    def schema_of(self, share: Share) -> Schema:
        """The schema of the table of whoever has this share: its own columns and the label."""
        if not self.vertical:
            return self.schema
        held = tuple(a for a in self.schema.attributes if a.name in share.attributes)
        return replace(self.schema, attributes=held)

    def scale(self, share: Share) -> Fraction:
        """The scale of the noise on every counter of a contribution."""
        terms = Terms(self.schema, self.adjacency)
        return terms.scale(len(share.trees), share.epsilon)

    def noise_bound(self, share: Share) -> int:
        """How far noise can take a counter, if exp(-60) is called never."""
        bound = ceil(SURE * self.scale(share))
        if bound > 2**42:
            raise PartyError(
                f"epsilon={share.epsilon} for {len(share.trees)} trees is too small: the noise "
                "would be larger than any table."
            )
        return bound

    def total_bound(self, share: Share, counters: int) -> int:
        """How far noise can take the sum of many counters, with the same certainty.

        The logarithm of the moment generating function of the noise at t <= 1 / (2 scale) is below
        4/3 (t scale)**2; the sum follows by Chernoff's bound.
        """
        return ceil(float(self.scale(share)) * (sqrt(320 * counters) + 160))

    def _content(self) -> dict[str, Any]:
        """All that the hash of a plan is about."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "id": self.id,
            "schema": self.schema.to_dict(),
            "label": label_of(self.schema).name,
            "adjacency": self.adjacency.value,
            "epsilon": str(self.epsilon),
            "shares": [
                {
                    "party": share.party,
                    "attributes": list(share.attributes),
                    "epsilon": str(share.epsilon),
                    "trees": [[s and list(s) for s in tree.splits] for tree in share.trees],
                }
                for share in self.shares
            ],
        }

    def to_json(self) -> bytes:
        """As a file holds it."""
        return documents.canonical({**self._content(), "hash": self.hash})

    @classmethod
    def from_json(cls, content: bytes) -> PartyPlan:
        """Read what `to_json` wrote; refuse anything else: a whole plan that has its hash, or none."""
        document = documents.parse(content)
        documents.head(document, FORMAT, VERSION)
        with documents.about("the plan is refused"):
            _read.fields(document, _KEYS, "a plan")
            shares = _read.items(document["shares"], '"shares"', most=MOST_TREES)
            plan = cls(
                _read.text(document["id"], '"id"'),
                Schema.from_dict(document["schema"]),
                adjacency_named(document["adjacency"]),
                tuple(_read_share(share) for share in shares),
            )
            again = documents.parse(plan.to_json())
            if {**again, "hash": ""} != {**document, "hash": ""}:
                raise PartyError("its entries contradict each other.")
            if plan.hash != document["hash"]:
                raise PartyError("it was changed: its content does not have its hash.")
        return plan

    def save(self, path: str | Path) -> None:
        """Write a new file; all of it or nothing."""
        documents.write(Path(path), self.to_json(), replace=False)

    @classmethod
    def load(cls, path: str | Path) -> PartyPlan:
        """Read a file that `save` wrote; refuse anything else."""
        with documents.about(path):
            return cls.from_json(documents.read(Path(path)))


def check_name(party: object) -> str:
    """The name of a party: one printable line."""
    if not isinstance(party, str) or not party.isprintable() or not 0 < len(party) <= LONGEST_NAME:
        raise PartyError(f"a party has a name of 1 to {LONGEST_NAME} printable characters.")
    return party


def adjacency_named(name: Any) -> Adjacency:
    try:
        return Adjacency(name)
    except ValueError:
        raise PartyError(f"the adjacency of a plan is {' or '.join(Adjacency)}.") from None


def _check_trees(trees: Sequence[Structure], attributes: Collection[str], schema: Schema) -> None:
    """Refuse trees that a contribution could not count, or that split by what is not there."""
    if not 1 <= len(trees) <= MOST_TREES:
        raise PartyError(f"a share has 1 to {MOST_TREES} trees, not {len(trees)}.")
    names = {attribute.name for attribute in schema.attributes}
    for name in attributes:
        if name not in names:
            raise PartyError(f"the schema has no attribute {name!r}.")
    for tree in trees:
        _check_tree(tree, frozenset(attributes), schema)
    counts = sum(tree.splits.count(None) for tree in trees) * label_of(schema).cells
    if counts > MOST_COUNTS:
        raise PartyError(f"a contribution has at most {MOST_COUNTS} counts, not {counts}.")


def _check_tree(tree: Structure, attributes: frozenset[str], schema: Schema) -> None:
    """Refuse splits that are no tree: each row must reach exactly one leaf."""
    depth = [0]
    for node, split in enumerate(tree.splits):
        if node >= len(depth):
            raise PartyError("the nodes of a tree do not match the numbers of their children.")
        if split is None:
            continue
        column, threshold = split
        if column not in attributes:
            raise PartyError(f"a tree splits by {column!r}, which is not its owner's.")
        cells = schema[column].cells
        if (threshold is None) != isinstance(schema[column], Categorical) or not (
            threshold is None or 0 < threshold < cells
        ):
            raise PartyError(f"a tree splits {column!r} in a way that its values do not allow.")
        depth += [depth[node] + 1] * (cells if threshold is None else 2)
        if depth[-1] > MOST_DEPTH:
            raise PartyError(f"a tree is at most {MOST_DEPTH} levels deep.")
        if len(depth) > len(tree.splits):
            break
    if len(depth) != len(tree.splits):
        raise PartyError("the nodes of a tree do not match the numbers of their children.")


def _read_share(document: Any) -> Share:
    _read.fields(document, _SHARE_KEYS, "a share")
    party = document["party"]
    columns = _read.items(document["attributes"], '"attributes"')
    trees = _read.items(document["trees"], '"trees"', most=MOST_TREES)
    return Share(
        None if party is None else check_name(party),
        tuple(_read.text(name, "an attribute") for name in columns),
        Epsilon.of(_read.text(document["epsilon"], '"epsilon"')),
        tuple(_read_structure(tree) for tree in trees),
    )


def _read_structure(document: Any) -> Structure:
    splits = _read.items(document, "a tree", most=MOST_COUNTS)
    return Structure(tuple(None if split is None else _read_split(split) for split in splits))


def _read_split(document: Any) -> tuple[str, int | None]:
    if not isinstance(document, list) or len(document) != 2:
        raise PartyError("a split is a column and a threshold.")
    column, threshold = document
    if threshold is not None:
        threshold = _read.integer(threshold, 1, 2**31 - 1, "a threshold")
    return _read.text(column, "the column of a split"), threshold
