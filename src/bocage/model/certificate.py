"""What was guaranteed to the people behind the rows when a model was made; or that nothing was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from bocage.epsilon import Epsilon
from bocage.errors import EpsilonError, ModelError
from bocage.model import reading

MOST_LINES = 2**20


_NEIGHBORS = {
    "add_remove": "one of them has one record more",
    "replace": "they differ in one record",
}


@dataclass(frozen=True)
class PlanLine:
    """Questions of one kind that were asked of the whole table, or of all its parts at once.

    Parameters
    ----------
    level
        Depth in the tree at which they were asked.
    question, mechanism
        In words: ``"label counts of every leaf"``, ``"discrete Laplace"``.
    epsilon
        What they cost together, as a decimal number.
    queries
        How many equal questions share that cost.
    """

    level: int
    question: str
    mechanism: str
    epsilon: str
    queries: int = 1

    @property
    def cost(self) -> Epsilon:
        return _amount(self.epsilon, "a line of the plan")

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        line = reading.keys(document, _names(cls), "a line of the plan")
        return cls(
            reading.whole(line["level"], 0, 2**31 - 1, "the level of a line of the plan"),
            reading.text(line["question"], "the question of a line of the plan"),
            reading.text(line["mechanism"], "the mechanism of a line of the plan"),
            reading.text(line["epsilon"], "the epsilon of a line of the plan"),
            reading.whole(line["queries"], 1, 2**31 - 1, "the number of queries of a line"),
        )


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
        return _amount(self.epsilon, "a batch of a certificate")

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        batch = reading.keys(document, _names(cls), "a batch of a certificate")
        return cls(
            reading.text(batch["name"], "the name of a batch"),
            reading.text(batch["epsilon"], "the epsilon of a batch"),
            reading.positive(batch["deviation"], "the deviation of a batch"),
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
        All questions asked; their costs add up to `epsilon`.
    mechanisms
        Where the noise came from.
    entry
        Number of the ledger entry that was charged, if there was a ledger.
    notes
        What else a reader should know.
    batches
        If the model was made from batches: all of them. Then `epsilon`, `plan` and `entry` are
        those of the batch that cost most.

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

    def __post_init__(self) -> None:
        names = [batch.name for batch in self.batches]
        if len(set(names)) < len(names):
            raise ModelError(f"a certificate of {self.learner} names a batch twice.")
        if self.epsilon is None:
            return
        asked = _amount(self.epsilon, "the certificate")
        planned = Epsilon.total([line.cost for line in self.plan])
        if planned != asked:
            raise ModelError(
                f"a certificate of {self.learner} claims epsilon={self.epsilon}, "
                f"but the lines of its plan add up to {planned}."
            )
        if self.batches and max(batch.cost for batch in self.batches) != asked:
            raise ModelError(
                f"a certificate of {self.learner} claims epsilon={self.epsilon}, "
                "which is not what its most expensive batch cost."
            )

    def statement(self) -> str:
        """The guarantee in plain words."""
        return "\n".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        made = f"This model was made by {self.learner} ({self.variant}) from table {self.table!r}."
        if self.epsilon is None:
            yield made
            yield (
                "NO PRIVACY IS GUARANTEED. This variant exists for study. The model may reveal "
                "facts about single persons whose records it was made from. Do not use it on, or "
                "publish it from, records that are not public."
            )
        else:
            yield made
            yield (
                f"It is differentially private with epsilon = {self.epsilon}: for two tables that "
                f"are neighbors ({_NEIGHBORS.get(self.adjacency, self.adjacency)}), no model is more "
                f"than exp({self.epsilon}) times as likely to come from one table as from the other. "
                "This limits what anyone can learn from the model about any one record, whatever "
                "else they know."
            )
            yield f"The costs of all questions asked add up to epsilon = {self.epsilon}, exactly:"
            for line in self.plan:
                shared = "" if line.queries == 1 else f" shared by {line.queries} questions"
                yield (
                    f"  level {line.level}: {line.question}: {line.epsilon}{shared} "
                    f"({line.mechanism})"
                )
            if self.batches:
                yield "By the owner's declaration no person is in two of these batches:"
                for batch in self.batches:
                    charged = "" if batch.entry is None else f", ledger entry {batch.entry}"
                    yield f"  batch {batch.name!r}: epsilon {batch.epsilon}{charged}"
                yield "A person who is in several batches all the same pays the sum of their costs."
            if self.entry is None:
                yield "No ledger: a study on public data. Nothing keeps count of repeated runs."
            else:
                yield f"The table's ledger was charged; the charge is entry {self.entry}."
        if self.mechanisms:
            yield f"Mechanisms: {', '.join(self.mechanisms)}."
        yield from self.notes
        yield f"Schema {self.schema}."

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        document = asdict(self)
        document["plan"] = [asdict(line) for line in self.plan]
        document["batches"] = [asdict(batch) for batch in self.batches]
        if not self.batches:  # most models: their files read as they always did
            del document["batches"]
        return document | {"mechanisms": list(self.mechanisms), "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        """Read what `to_dict` wrote; refuse anything else."""
        if isinstance(document, dict):
            document = {"batches": [], **document}
        entries = reading.keys(document, _names(cls), "a certificate")
        epsilon = entries["epsilon"]

        def word(key: str) -> str:
            return reading.text(entries[key], f"the {key} of a certificate")

        def words(key: str) -> tuple[str, ...]:
            return tuple(reading.text(w, f"an entry of {key}") for w in _list(entries, key))

        return cls(
            learner=word("learner"),
            variant=word("variant"),
            adjacency=word("adjacency"),
            table=word("table"),
            schema=word("schema"),
            mechanisms=words("mechanisms"),
            notes=words("notes"),
            epsilon=None if epsilon is None else reading.text(epsilon, "epsilon"),
            plan=tuple(PlanLine.from_dict(line) for line in _list(entries, "plan")),
            entry=_entry(entries["entry"]),
            batches=tuple(Batch.from_dict(batch) for batch in _list(entries, "batches")),
        )


def _entry(value: Any) -> int | None:
    return None if value is None else reading.whole(value, 0, 2**63 - 1, "a ledger entry")


def _list(entries: dict[str, Any], key: str) -> list[Any]:
    return reading.listed(entries[key], f"the {key} of a certificate", most=MOST_LINES)


def _names(cls: type[PlanLine | Batch | Certificate]) -> list[str]:
    return [field.name for field in fields(cls)]


def _amount(value: str, what: str) -> Epsilon:
    try:
        return Epsilon.of(value)
    except EpsilonError as error:
        raise ModelError(f"{what}: {error}") from None
