"""What a merged model guarantees: who paid, and what one person paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt

from bocage.epsilon import Epsilon
from bocage.learners.papers.batches import MERGED
from bocage.learners.papers.rdt import RandomTrees
from bocage.model import Batch, Certificate, PlanLine
from bocage.parties.plan import PartyPlan, Share


def certificate_of(plan: PartyPlan, parties: Mapping[str, int | None], *, trusted: bool) -> Certificate:
    """The price and who paid it: `parties` with the numbers of their ledger entries."""
    question = "leaf counts of all trees"
    if plan.vertical:
        shares = [share for share in plan.shares if share.party in parties]
        lines = [_line(f"{question} of {share.party!r}", share) for share in shares]
        notes = [*_about_columns(plan, shares, parties)]
        batches: tuple[Batch, ...] = ()
    else:
        (share,) = plan.shares
        lines = [_line(question, share)]
        deviation = sqrt(2) * float(plan.scale(share))
        batches = tuple(Batch(party, str(share.epsilon), deviation, entry) for party, entry in parties.items())
        notes = [*_about_rows(plan, len(parties))]
    listed = (
        "compared with a list of trusted ones"
        if trusted
        else ("not compared with a list of trusted ones, so that anybody can have made a contribution")
    )
    notes.append(f"The keys of the contributors were {listed}.")
    return Certificate(
        learner=RandomTrees.name,
        variant=f"{MERGED} {len(parties)} contributions to plan {plan.hash}",
        epsilon=str(Epsilon.total([line.cost for line in lines])),
        adjacency=plan.adjacency.value,
        table=plan.schema.name,
        schema=plan.schema.fingerprint,
        plan=tuple(lines),
        mechanisms=("discrete Laplace",),
        notes=tuple(notes),
        batches=batches,
        owners=len(parties),
    )


def _line(question: str, share: Share) -> PlanLine:
    """The leaf vectors of all trees of a share: a question for each of them."""
    cost = str(share.epsilon)
    return PlanLine(0, question, "discrete Laplace", cost, queries=len(share.trees))


def _about_rows(plan: PartyPlan, contributions: int) -> Iterator[str]:
    scale = float(plan.scale(plan.shares[0]))
    variance = 2 * scale**2 * contributions
    yield (
        f"Every person is in the table of one owner and pays epsilon = {plan.epsilon}; one who is in "
        "the tables of two owners pays twice that."
    )
    yield (
        f"Every count carries the noise of {contributions} contributions: a variance of "
        f"{variance:.6g}, a standard deviation of {sqrt(variance):.4g}."
    )


def _about_columns(plan: PartyPlan, shares: list[Share], parties: Mapping[str, int | None]) -> Iterator[str]:
    total = Epsilon.total([share.epsilon for share in shares])
    yield (
        "The owners hold columns of the same persons. A person is in every table, so that the prices "
        f"add up to epsilon = {total}. Algorithm 6 of Jagannathan, Pillaipakkamnatt & Wright (2012) "
        "claims the largest of them instead, by parallel composition: that is wrong, because "
        "parallel composition needs tables without a person in common."
    )
    if len(shares) < len(plan.shares):
        yield (
            f"The plan has {len(plan.shares)} parties. If the others have contributed too, a person "
            f"has paid epsilon = {plan.epsilon} for the whole plan."
        )
    for share in shares:
        entry = parties[str(share.party)]
        charged = "no ledger" if entry is None else f"entry {entry} of their ledger"
        deviation = sqrt(2) * float(plan.scale(share))
        yield (
            f"Party {share.party!r} paid epsilon = {share.epsilon} ({charged}) for {len(share.trees)} "
            f"trees over {', '.join(share.attributes)}; a count has the variance {deviation**2:.6g}."
        )
