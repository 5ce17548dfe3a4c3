"""A certificate in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bocage.model.certificate.certificate import Certificate
    from bocage.model.certificate.concentrated import Relaxed

_NEIGHBORS = {
    "add_remove": "one of them has one record more",
    "replace": "they differ in one record",
}
_UNCOUNTED = "Nothing keeps count of repeated runs"


def sentences(certificate: Certificate) -> Iterator[str]:
    """What is guaranteed, what it cost and where that is on record; or that nothing is."""
    whose = f"table {certificate.table!r}"
    if certificate.owners:
        whose = f"the tables {certificate.table!r} of {_counted(certificate.owners, 'owner')}"
    yield f"This model was made by {certificate.learner} ({certificate.variant}) from {whose}."
    epsilon = certificate.epsilon
    if certificate.adjacency == "local":
        yield from _at_the_source(certificate)
    elif epsilon is None:
        yield (
            "NO PRIVACY IS GUARANTEED. This variant exists for study. The model may reveal "
            "facts about single persons whose records it was made from. Do not use it on, or "
            "publish it from, records that are not public."
        )
    else:
        yield (
            f"It is differentially private with epsilon = {epsilon}: for two tables that are "
            f"neighbors ({_NEIGHBORS.get(certificate.adjacency, certificate.adjacency)}), no model "
            f"is more than exp({epsilon}) times as likely to come from one table as from the other. "
            "This limits what anyone can learn from the model about any one record, whatever "
            "else they know."
        )
        yield from _releases(certificate)
        weaker = certificate.relaxed()
        if weaker is not None:
            yield _weaker(weaker)
        yield from _parts(certificate)
        yield _ledgers(certificate)
    if certificate.mechanisms:
        yield f"Mechanisms: {', '.join(certificate.mechanisms)}."
    yield from certificate.notes
    yield f"Schema {certificate.schema}."


def _releases(certificate: Certificate) -> Iterator[str]:
    """What was asked, and what it cost."""
    epsilon, used = certificate.epsilon, str(certificate.used)
    whole = ", exactly" if used == epsilon else ""
    yield f"The costs of all questions asked add up to epsilon = {used}{whole}:"
    for line in certificate.plan:
        shared = "" if line.queries == 1 else f" shared by {line.queries} questions"
        part = f" in part {'.'.join(map(str, line.within))}" if line.within else ""
        yield (f"  level {line.level}{part}: {line.question}: {line.epsilon}{shared} ({line.mechanism})")
    if any(line.within for line in certificate.plan):
        yield (
            "No record is in two parts that differ in their last number only, or in two parts of "
            "these: of such parts the most expensive one counts."
        )
    if used != epsilon:
        yield (
            f"Charged was epsilon = {epsilon}, of which {used} was used. What is charged counts: the "
            "rest is spent as well, and nothing was released for it."
        )


def _weaker(weaker: Relaxed) -> str:
    """The second promise."""
    start = (
        f"The same model is also (epsilon = {weaker.epsilon:g}, delta = {weaker.delta:g})-"
        f"differentially private, through zero-concentrated privacy with rho = {float(weaker.rho):.3g}: "
        "the smaller factor holds but for a probability of delta."
    )
    if weaker.settled:
        return start
    return (
        f"A second promise, (epsilon = {weaker.epsilon:g}, delta = {weaker.delta:g}), holds for this very "
        f"model, through zero-concentrated privacy with rho = {float(weaker.rho):.3g}: but for a "
        f"probability of delta = {weaker.delta:g} over all models that might have been released, the "
        "table that it was made from makes the one that is released no more likely than a neighbor of that "
        "table does by more than the smaller factor. What was asked, and with it that epsilon, depends on "
        "answers."
    )


def _at_the_source(certificate: Certificate) -> Iterator[str]:
    """What holds because every person distorted their own record."""
    yield "Nobody saw a record: every person distorted their own before it was sent."
    if certificate.epsilon is None:
        yield (
            "NO PRIVACY IS GUARANTEED FOR WHOLE RECORDS: some answers were sent without local "
            "differential privacy. What protects each answer, if anything, stands below."
        )
    else:
        yield (
            f"The records have local differential privacy with epsilon = {certificate.epsilon}: "
            "whatever was sent, and so whatever this model is, no true record makes it more than "
            f"exp({certificate.epsilon}) times as likely as another does. It is the sum over the "
            "answers, exactly:"
        )
        for line in certificate.plan:
            yield f"  {line.question}: {line.epsilon} ({line.mechanism})"


def _parts(certificate: Certificate) -> Iterator[str]:
    """The batches of one owner, or the tables of several owners, and what each of them cost."""
    if not certificate.batches:
        return
    owners, several = certificate.owners, "tables" if certificate.owners else "batches"
    whose = "owners'" if owners else "owner's"
    yield f"By the {whose} declaration no person is in two of these {several}:"
    for part in certificate.batches:
        name = f"{'table of' if owners else 'batch'} {part.name!r}"
        charged = f"entry {part.entry} of their ledger" if owners else f"ledger entry {part.entry}"
        charged = "no ledger" if part.entry is None else charged
        yield f"  {name}: epsilon {part.epsilon}, {charged}"
    yield f"A person who is in several {several} all the same pays the sum of their costs."


def _ledgers(certificate: Certificate) -> str:
    """Where the charges are on record."""
    if certificate.owners:
        return (
            "Every owner has a ledger of their own, or none, as is said for each of them; no ledger "
            "knows the charges of all."
        )
    if certificate.batches:
        missing = [part for part in certificate.batches if part.entry is None]
        if not missing:
            return "The ledger was charged for every batch, by the entries above."
        if len(missing) < len(certificate.batches):
            return f"For batches without an entry there was no ledger. {_UNCOUNTED} on them."
    if certificate.entry is None:
        return f"No ledger: a study on public data. {_UNCOUNTED}."
    return f"The table's ledger was charged; the charge is entry {certificate.entry}."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
