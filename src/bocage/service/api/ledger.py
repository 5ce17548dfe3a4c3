"""One's own lines of the ledger, and contributions to a model of several owners."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import Query, Response

from bocage.accounting import Scope
from bocage.errors import LedgerError
from bocage.parties import PartyPlan, contribute
from bocage.service.api.jobs import Limit
from bocage.service.api.routing import Caller, IdempotencyKey, Served, TableName, router
from bocage.service.core import documents, questions
from bocage.service.core.accounts import Admission, shielded

routes = router()
After = Annotated[int, Query(ge=0, le=2**62, description="The number of the last line seen.")]


@routes.get("/ledger", tags=["account"])
def own_lines(service: Served, analyst: Caller, after: After = 0, limit: Limit = 100) -> documents.LedgerDocument:
    """The lines about this analyst's accounts, oldest first.

    Without their hashes: each is also one of the line before, which may be another's, and would
    confirm a guess of what that says.
    """
    scopes = {table.scope for table, _ in service.tables.granted(analyst)}
    entries = [
        entry for scope in scopes for entry in service.ledger.entries(Scope.table(scope).analyst(analyst), after, limit)
    ]
    page = sorted(entries, key=lambda entry: entry.number)[:limit]
    lines = [
        documents.LineDocument(
            number=entry.number,
            time=entry.time,
            action=entry.action.value,
            scope=list(entry.scope),
            epsilon=str(entry.epsilon),
            memo=entry.memo,
            request=entry.request,
        )
        for entry in page
    ]
    return documents.LedgerDocument(lines=lines, next=page[-1].number if len(page) == limit else None)


@routes.post(
    "/tables/{table}/contribute",
    tags=["parties"],
    response_class=Response,
    responses={
        200: {
            "description": "The contribution as `bocage party merge` reads it",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    },
)
def contribute_to_a_plan(
    service: Served,
    analyst: Caller,
    table: TableName,
    request: documents.ContributeRequest,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Follow a plan of several owners: noisy counts, signed by the owner's key, charged once."""
    plan = PartyPlan.from_json(json.dumps(request.plan).encode())
    admission = Admission()
    whole, _ = service.tables.asked_by(analyst, table, admission)
    if idempotency_key is not None:
        service.records.bind(analyst, idempotency_key, questions.digest_of(table, request))
    with shielded(admission):
        try:
            made = contribute(plan, whole, request.party, service.signer)
        except LedgerError as error:
            raise questions.conflict_of(error) from None
    return Response(made.to_json(), media_type="application/json")
