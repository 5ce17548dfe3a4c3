"""What was guaranteed to the people behind the rows when a model was made; or that nothing was."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from bocage.documents.entries import Entries
from bocage.epsilon import UNIT, Epsilon
from bocage.errors import ModelError
from bocage.model.certificate.concentrated import Relaxed, relaxed
from bocage.model.certificate.releases import PlanLine, amount_of, composed
from bocage.model.certificate.statement import sentences

_read = Entries(ModelError)

MOST_LINES = 2**20


@dataclass(frozen=True)
class Batch:
    """One batch of the table that a model was made from; no person is in two of them.

    Parameters
    ----------
    name
        As the owner declared it.
    epsilon
        What the batch cost, as a decimal number.
    deviation
        Standard deviation of the noise that the batch added to every released count.
    entry
        Number of the ledger entry that was charged, if there was a ledger.
    """

    name: str
    epsilon: str
    deviation: float
    entry: int | None = None

    @property
    def cost(self) -> Epsilon:
        return amount_of(self.epsilon, "a batch of a certificate")

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        batch = _read.fields(document, _names(cls), "a batch of a certificate")
        return cls(
            _read.text(batch["name"], "the name of a batch"),
            _read.text(batch["epsilon"], "the epsilon of a batch"),
            _read.positive(batch["deviation"], "the deviation of a batch"),
            _entry(batch["entry"]),
        )


@dataclass(frozen=True)
class Certificate:
    """What is guaranteed about a model.

    Parameters
    ----------
    learner, variant
        The algorithm, and which version of it.
    epsilon
        The whole privacy loss as a decimal number, or None: then nothing is guaranteed.
    adjacency
        When two tables count as neighbors: ``"add or remove one row"``.
    table, schema
        Name of the table, and the fingerprint of its schema.
    plan
        All that was released for the model, as the executor wrote it; together no more than `epsilon`.
        Models of older versions have the learner's plan, whose costs add up to `epsilon`.
    mechanisms
        Where the noise came from.
    entry
        Number of the ledger entry that was charged, if there was a ledger.
    notes
        What else a reader should know.
    batches
        If the model was made from batches: all of them. Then `epsilon`, `plan` and `entry` are
        those of the batch that cost most.
    settled
        Whether no answer had a say in what was asked next.
    owners
        If the model was merged from contributions: of how many owners. Each has a ledger of their
        own, so that there is no `entry`; `batches` are then their tables, or `notes` name them.

    Privacy
    -------
    Batches have no person in common, by the owner's declaration: a model made from several of them
    costs every person what their own batch cost, so the maximum. A person who is in two batches
    all the same pays for both.

    A certificate states a claim of the learner that issued it; it proves nothing by itself. The
    claim can be checked against the ledger, by the number of its entry.
    """

    learner: str
    variant: str
    epsilon: str | None
    adjacency: str
    table: str
    schema: str
    plan: tuple[PlanLine, ...] = ()
    mechanisms: tuple[str, ...] = ()
    entry: int | None = None
    notes: tuple[str, ...] = ()
    batches: tuple[Batch, ...] = ()
    owners: int = 0
    settled: bool = False

    def __post_init__(self) -> None:
        names = [batch.name for batch in self.batches]
        if len(set(names)) < len(names):
            raise ModelError(f"a certificate of {self.learner} names a batch twice.")
        if self.owners and self.entry is not None:
            raise ModelError("a model of several owners has no ledger entry of its own.")
        if self.epsilon is None:
            return
        asked = amount_of(self.epsilon, "the certificate")
        for line in self.plan:
            line.check()
        planned = self.used
        if planned != asked and not (self.executed and planned < asked):
            raise ModelError(
                f"a certificate of {self.learner} claims epsilon={self.epsilon}, "
                f"but the lines of its plan add up to {planned}."
            )
        if self.batches and max(batch.cost for batch in self.batches) != asked:
            raise ModelError(
                f"a certificate of {self.learner} claims epsilon={self.epsilon}, "
                "which is not what its most expensive batch cost."
            )

    @property
    def used(self) -> Epsilon:
        """What the mechanisms used on any one record at most; `epsilon` is what was charged for it."""
        return Epsilon(int(composed(self.plan, lambda line: line.cost.fraction) * UNIT))

    @property
    def executed(self) -> bool:
        """Whether the lines are of what was released, and not of a plan."""
        return bool(self.plan) and all(line.rho is not None for line in self.plan)

    def relaxed(self, delta: float | None = None) -> Relaxed | None:
        """The promise of the same release with a `delta`; without one 1e-6, if epsilon is smaller then."""
        return relaxed(self, delta)

    def statement(self) -> str:
        """The guarantee in plain words."""
        return "\n".join(sentences(self))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        document = asdict(self)
        document["plan"] = [line.to_dict() for line in self.plan]
        document["batches"] = [asdict(batch) for batch in self.batches]
        for rare in (
            "batches",
            "owners",
            "settled",
        ):  # most models have none, and read as they always did
            if not document[rare]:
                del document[rare]
        return document | {"mechanisms": list(self.mechanisms), "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        """Read what `to_dict` wrote; refuse anything else."""
        if isinstance(document, dict):
            document = {"batches": [], "owners": 0, "settled": False, **document}
        entries = _read.fields(document, _names(cls), "a certificate")
        epsilon = entries["epsilon"]

        def word(key: str) -> str:
            return _read.text(entries[key], f"the {key} of a certificate")

        def words(key: str) -> tuple[str, ...]:
            return tuple(_read.text(w, f"an entry of {key}") for w in _list(entries, key))

        return cls(
            learner=word("learner"),
            variant=word("variant"),
            adjacency=word("adjacency"),
            table=word("table"),
            schema=word("schema"),
            mechanisms=words("mechanisms"),
            notes=words("notes"),
            epsilon=None if epsilon is None else _read.text(epsilon, "epsilon"),
            plan=tuple(PlanLine.from_dict(line) for line in _list(entries, "plan")),
            entry=_entry(entries["entry"]),
            batches=tuple(Batch.from_dict(batch) for batch in _list(entries, "batches")),
            owners=_read.integer(entries["owners"], 0, 2**31 - 1, "the owners of a certificate"),
            settled=_read.boolean(entries["settled"], "whether a certificate is settled"),
        )


def _entry(value: Any) -> int | None:
    return None if value is None else _read.integer(value, 0, 2**63 - 1, "a ledger entry")


def _list(entries: dict[str, Any], key: str) -> list[Any]:
    return _read.items(entries[key], f"the {key} of a certificate", most=MOST_LINES)


def _names(cls: type[Batch | Certificate]) -> list[str]:
    return [field.name for field in fields(cls)]
