"""An owner follows a plan: one durable charge, one scan, one signed release."""

from __future__ import annotations

from bocage.errors import PartyError
from bocage.learners.base import label_of
from bocage.parties import documents
from bocage.parties.contribution import Contribution
from bocage.parties.keys import Signer
from bocage.parties.plan import PartyPlan, Share
from bocage.private import IntArray, PrivateTable
from bocage.private.query import Terms
from bocage.private.table import WHOLE
from bocage.private.tables.ensemble import Ensemble


def contribute(plan: PartyPlan, table: PrivateTable, party: str, signer: Signer) -> Contribution:
    """Release the noisy leaf counts of a plan's trees, charged to the table's own ledger.

    Parameters
    ----------
    plan
        What the coordinator published.
    table
        The owner's table, with the schema and the adjacency of the plan; `where` leaves rows out.
    party
        The owner's name; for a plan over columns, one that it names.
    signer
        The owner's key.

    Privacy
    -------
    A record is in one leaf of each tree: noise of scale trees / epsilon on every counter, and the
    share's epsilon is charged before a row is read. The contribution is kept in the ledger: asked
    again, the very same one comes back, free, and new noise is never drawn for the same plan. If
    the process dies after the charge and before it is kept, nothing was released, and the next call
    finishes what is paid for.

    By contributing to a plan over rows the owner declares that no person of the table is in the
    table of another owner.
    """
    share = plan.share_of(party)
    query = _checked(plan, share, table)

    def signed(counts: list[IntArray], entry: int | None) -> bytes:
        return Contribution.signed(plan, party, counts, signer, entry).to_json()

    body = table.once(request_of(plan, share), query, about(plan, share), signed)
    kept = Contribution.from_bytes(body)
    if (kept.party, kept.key) != (party, signer.public):
        raise PartyError(
            f"this table has contributed to the plan already, as {kept.party!r} with the key "
            f"{kept.key}. A second contribution would be a second release: ask for another plan."
        )
    return kept


def request_of(plan: PartyPlan, share: Share) -> str:
    """The key under which the ledger keeps a contribution."""
    return documents.digest(documents.canonical(["contribution", plan.hash, share.party]))


def about(plan: PartyPlan, share: Share) -> dict[str, str | int]:
    """What the ledger keeps of the charge, beside the question."""
    return {
        "ask": "contribution",
        "plan": plan.hash,
        "trees": len(share.trees),
        "epsilon": str(share.epsilon),
    }


def _checked(plan: PartyPlan, share: Share, table: PrivateTable) -> Ensemble:
    """The question of a share; refuse what cannot be asked, before anything is charged."""
    if table.is_made_up:
        raise PartyError("a dry run has no rows to contribute.")
    schema = plan.schema_of(share)
    if table.schema.fingerprint != schema.fingerprint:
        raise PartyError(
            f"the table {table.schema.name!r} does not have the schema of the plan. Open it with "
            "the schema that the plan has for this party."
        )
    if table.adjacency is not plan.adjacency:
        raise PartyError(f"the plan is for the adjacency {plan.adjacency}, the table is open for {table.adjacency}.")
    cells = tuple(tree.cells(schema) for tree in share.trees)
    query = Ensemble(cells, label_of(schema).name, share.epsilon)
    query.check(Terms(schema, plan.adjacency), WHOLE)
    return query
