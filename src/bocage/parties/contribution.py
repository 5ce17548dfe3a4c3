"""What one owner hands over: the noisy leaf counts of all trees, bound to a plan and signed."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bocage.documents.entries import Entries
from bocage.errors import PartyError
from bocage.parties import counts, documents
from bocage.parties.keys import Signer, verify
from bocage.parties.plan import MOST_COUNTS, MOST_TREES, PartyPlan, check_name
from bocage.private import IntArray

_read = Entries(PartyError)

FORMAT, VERSION = "bocage.contribution", 1
HEADER = (
    *("format", "version", "plan", "schema", "party", "key", "epsilon", "entry", "nonce"),
    *("shapes", "digest", "signature"),
)
_HEX = {"plan": 64, "schema": 64, "key": 64, "nonce": 32, "signature": 128, "digest": 64}


Expected = Callable[["Contribution"], object]


@dataclass(frozen=True, eq=False)
class Contribution:
    """Released values of one owner. They cost what the plan says and can be copied freely.

    Parameters
    ----------
    plan
        Hash of the plan.
    schema
        Fingerprint of the schema of the owner's table.
    party, key
        The owner's name and public key.
    epsilon
        What the owner's ledger was charged, as a decimal number.
    entry
        Number of the ledger entry that was charged; None if there was no ledger.
    nonce
        Random, so that no two contributions are the same.
    shapes
        Leaves and labels of every tree.
    values
        The noisy counts: tree by tree, leaf by leaf, label by label.
    signature
        Of everything above by `key`.
    """

    plan: str
    schema: str
    party: str
    key: str
    epsilon: str
    entry: int | None
    nonce: str
    shapes: tuple[tuple[int, int], ...]
    values: IntArray
    signature: str = ""

    def __post_init__(self) -> None:
        values = np.array(self.values, np.int64)  # a copy: nobody else can change it
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @classmethod
    def signed(
        cls,
        plan: PartyPlan,
        party: str,
        counts: Sequence[IntArray],
        signer: Signer,
        entry: int | None = None,
    ) -> Contribution:
        """Bind released counts, one array of shape (leaves, labels) per tree, to a plan."""
        share = plan.share_of(party)
        unsigned = cls(
            plan=plan.hash,
            schema=plan.schema_of(share).fingerprint,
            party=party,
            key=signer.public,
            epsilon=str(share.epsilon),
            entry=entry,
            nonce=secrets.token_hex(16),
            shapes=tuple((len(table), table.shape[1]) for table in counts),
            values=np.concatenate([table.ravel() for table in counts]),
        )
        signature = signer.sign(unsigned.message())
        return replace(unsigned, signature=signature)

    def header(self) -> dict[str, Any]:
        """All but the counts, of which it has the hash."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "plan": self.plan,
            "schema": self.schema,
            "party": self.party,
            "key": self.key,
            "epsilon": self.epsilon,
            "entry": self.entry,
            "nonce": self.nonce,
            "shapes": [list(shape) for shape in self.shapes],
            "digest": self.digest,
            "signature": self.signature,
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the counts as little-endian integers of 64 bits."""
        return documents.digest(self.values.astype("<i8", copy=False).data)

    def message(self) -> bytes:
        """What is signed. It begins with what it is, so that it cannot pass for anything else."""
        header = {key: value for key, value in self.header().items() if key != "signature"}
        return b"bocage contribution 1\0" + documents.canonical(header)

    def is_authentic(self) -> bool:
        """Whether the owner of `key` signed exactly this."""
        return verify(self.key, self.signature, self.message())

    def counts(self) -> list[IntArray]:
        """For every tree its counts, of shape (leaves, labels)."""
        ends = np.cumsum([leaves * labels for leaves, labels in self.shapes])
        pieces = np.split(self.values, ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, self.shapes, strict=True)]

    def to_json(self) -> bytes:
        """As a JSON file holds it."""
        lists = [table.ravel().tolist() for table in self.counts()]
        return documents.canonical({**self.header(), "counts": lists})

    @classmethod
    def from_bytes(cls, content: bytes, expected: Expected | None = None) -> Contribution:
        """Read a JSON or a Parquet file; refuse anything else. The signature is checked later.

        `expected` sees the header, as a contribution without counts, before the counts are read:
        what it raises is the refusal.
        """
        if content.startswith(b"PAR1"):
            from bocage.parties import parquet  # noqa: PLC0415 - it builds on this class

            return parquet.from_parquet(content, expected)
        parts = counts.split(content)
        document = documents.parse(content) if parts is None else documents.parse(parts[0], documents.HEADER)
        documents.head(document, FORMAT, VERSION)
        with documents.about("the contribution is refused"):
            if parts is None:
                _read.fields(document, (*HEADER, "counts"), "a contribution")
                lists = document.pop("counts")
        claimed = header_of(document, expected)
        with documents.about("the contribution is refused"):
            wanted = [leaves * labels for leaves, labels in claimed.shapes]
            if parts is None:
                sizes, values = counts.from_lists(lists)
            else:
                sizes, values = counts.from_text(parts[1], sum(wanted))
            if sizes != wanted or sum(sizes) != len(values):
                raise PartyError("its counts are not as many as its shapes say.")
            return with_counts(claimed, values, document["digest"])

    def save(self, path: str | Path) -> None:
        """Write a Parquet file if the name ends in .parquet, else JSON; all of it or nothing."""
        path = Path(path)
        if path.suffix.lower() == ".parquet":
            from bocage.parties import parquet  # noqa: PLC0415 - it builds on this class

            documents.write(path, parquet.to_parquet(self))
        else:
            documents.write(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Contribution:
        """Read a file that `save` wrote; refuse anything else."""
        with documents.about(path):
            return cls.from_bytes(documents.read(Path(path)))


def header_of(document: dict[str, Any], expected: Expected | None) -> Contribution:
    """A contribution without its counts, from its header, if it is what is expected."""
    with documents.about("the contribution is refused"):
        documents.head(document, FORMAT, VERSION)
        _read.fields(document, HEADER, "a contribution")
        for key, length in _HEX.items():
            if not re.fullmatch(rf"[0-9a-f]{{{length}}}", _read.text(document[key], f'"{key}"')):
                raise PartyError(f'"{key}" has {length} hexadecimal digits.')
        entry = document["entry"]
        claimed = Contribution(
            plan=document["plan"],
            schema=document["schema"],
            party=check_name(document["party"]),
            key=document["key"],
            epsilon=_read.text(document["epsilon"], '"epsilon"'),
            entry=None if entry is None else _read.integer(entry, 0, 2**63 - 1, '"entry"'),
            nonce=document["nonce"],
            shapes=shapes_of(document),
            values=np.empty(0, np.int64),
            signature=document["signature"],
        )
    if expected is not None:
        expected(claimed)
    return claimed


def with_counts(claimed: Contribution, values: IntArray, digest: str) -> Contribution:
    """The contribution that a header is of, if these are its counts."""
    contribution = replace(claimed, values=values)
    if contribution.digest != digest:
        raise PartyError("its counts were changed: they do not have the hash of its header.")
    return contribution


def shapes_of(header: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    """Leaves and labels of each tree, if there are not too many."""
    shapes = []
    for shape in _read.items(header.get("shapes"), '"shapes"', most=MOST_TREES):
        if not isinstance(shape, list) or len(shape) != 2:
            raise PartyError("a shape is a number of leaves and a number of labels.")
        leaves, labels = (_read.integer(n, 1, MOST_COUNTS, "a shape") for n in shape)
        shapes.append((leaves, labels))
    if sum(leaves * labels for leaves, labels in shapes) > MOST_COUNTS:
        raise PartyError(f"a contribution has at most {MOST_COUNTS} counts.")
    return tuple(shapes)
