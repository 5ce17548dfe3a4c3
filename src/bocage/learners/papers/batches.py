"""New data without starting again: which batches a forest is made of, and what noise they left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from bocage.errors import LearnerError
from bocage.learners.base import Learner
from bocage.model import Batch, Certificate, Forest, PlanLine
from bocage.private import PrivateTable

MERGED = "merged from"  # how the variant of a model begins that several owners made


@dataclass(frozen=True)
class NoiseAfter:
    """The noise of a forest that was updated.

    Attributes
    ----------
    batches
        How many were added up.
    deviation
        Standard deviation of the noise on each count: the variances of the batches add up.
    rebuilt
        What it would be if all rows were counted at once, for the epsilon of the largest batch.
    typical
        Rows of one label in an average leaf, from the released counts.
    """

    batches: int
    deviation: float
    rebuilt: float
    typical: float

    @property
    def variance(self) -> float:
        """Of the noise on each count: the sum of the batches' variances."""
        return self.deviation**2

    @property
    def rebuild(self) -> bool:
        """Whether a rebuild would lift a typical count out of the noise."""
        return self.batches > 1 and self.rebuilt < self.typical < self.deviation

    @property
    def advice(self) -> str:
        noise = (
            f"After {self.batches} batch{'es' if self.batches > 1 else ''} the noise on every count "
            f"has a variance of {self.variance:.6g}, a standard deviation of {self.deviation:.1f}; "
            f"counted at once it would be {self.rebuilt:.1f}. A typical count is {self.typical:.1f}."
        )
        if self.rebuild:
            return (
                f"{noise} Rebuild on all rows, if the budget allows for it: that is a new release, "
                "and everybody pays for it again."
            )
        if self.batches > 1 and self.typical <= self.rebuilt:
            return f"{noise} A rebuild would not help at this epsilon: take a smaller height."
        return f"{noise} Go on adding batches."


def noise_after(forest: Forest) -> NoiseAfter:
    """The noise that the batches left in a forest, and whether to rebuild it.

    Privacy
    -------
    Computed from the certificate and released counts: free.
    """
    batches = forest.certificate.batches
    if not batches:
        raise LearnerError("the forest was not made from batches; its noise is in its certificate.")
    counts = [tree.counts[tree.is_leaf].mean() for tree in forest.trees]
    return NoiseAfter(
        len(batches),
        sqrt(sum(batch.deviation**2 for batch in batches)),
        min(batch.deviation for batch in batches),
        max(float(np.mean(counts)), 0.0),
    )


def with_batch(fresh: Certificate, batch: Batch, known: Certificate | None = None) -> Certificate:
    """The certificate of a batch, or of the batches of `known` and this one.

    Privacy
    -------
    The batches are parts of a partition, and the releases of each are listed as such: of every kind of
    loss the largest counts, whichever batch has it. For a person of one batch it may have been settled
    what is asked, for a person of another it was not: then it is said of nobody.
    """
    if known is None:
        return replace(fresh, batches=(batch,))
    batches = (*known.batches, batch)
    dearest = max(batches, key=lambda b: b.cost.nano)
    base = fresh if dearest is batch else known
    before = _within(known.plan, 1) if len(known.batches) == 1 else known.plan
    return replace(
        base,
        batches=batches,
        plan=(*before, *_within(fresh.plan, len(batches))),
        mechanisms=tuple(dict.fromkeys((*known.mechanisms, *fresh.mechanisms))),
        notes=tuple(dict.fromkeys((*known.notes, *fresh.notes))),
        settled=known.settled and fresh.settled,
    )


def _within(lines: Iterable[PlanLine], number: int) -> Iterator[PlanLine]:
    """The lines of one batch, as those of a part of all batches."""
    return (replace(line, within=(1, number, *line.within)) for line in lines)


def check_grown(learner: Learner, forest: Forest) -> None:
    """Refuse a forest that this learner did not grow."""
    made = forest.certificate
    if made.learner != learner.name or forest.voting != "counts":
        raise LearnerError(f"{learner.name} cannot update a forest made by {made.learner}. Nothing was charged.")
    if made.variant.startswith(MERGED):
        if made.batches:
            way = (
                "Open the new rows as a batch, contribute them to the same plan under a name and a "
                "key of their own, and merge again: merging is free."
            )
        else:
            way = "To count new rows, draw a new plan: that is a new release."
        raise LearnerError(
            "the forest was merged from the contributions of several owners, each with a ledger of "
            f"their own, so that no one of them updates it. {way} Nothing was charged."
        )
    parts = learner.parameters()["parts"]
    if not is_parted_by(forest, parts):
        raise LearnerError(
            f"the forest was not grown with parts={parts}: update it with the parts that its "
            f"certificate has ({made.variant}). Nothing was charged."
        )


def is_parted_by(forest: Forest, column: str | None) -> bool:
    """Whether each tree counted the records of one value of this column; None for all records."""
    return f", parts={column}, attributes=" in forest.certificate.variant


def check_update(learner: Learner, forest: Forest, table: PrivateTable) -> str:
    """The name of the batch, or a clear refusal before anything is charged."""
    check_grown(learner, forest)
    made = forest.certificate
    if made.schema != table.schema.fingerprint:
        raise LearnerError(
            f"the forest is about a table with another schema than {table.schema.name!r} has now. Nothing was charged."
        )
    if made.adjacency != table.adjacency.value:
        raise LearnerError(
            f"the forest was made for neighbors by {made.adjacency!r}, the batch is protected for "
            f"{table.adjacency.value!r}. Nothing was charged."
        )
    if not made.batches:
        raise LearnerError(
            "the forest was grown on rows that were not declared a batch, so that anybody may be "
            "in it and in the new batch. Open the first rows with batch=... too. Nothing was charged."
        )
    if table.batch is None:
        raise LearnerError(
            "these rows were not declared a batch: open them with protect(..., batch=...), if no "
            "person in them is in another batch. Nothing was charged."
        )
    if table.batch in [batch.name for batch in made.batches]:
        raise LearnerError(
            f"batch {table.batch!r} is in the forest already. To count it again, grow a new forest: "
            "that is a new release. Nothing was charged."
        )
    return table.batch
