"""Questions, and partitions that are kept."""

from __future__ import annotations

from fastapi import Response

from bocage.service.api.routing import Caller, Id, IdempotencyKey, Served, TableName, router
from bocage.service.core import documents, questions

routes = router()


@routes.post("/tables/{table}/query", tags=["questions"], response_model=documents.AnswerDocument)
def ask_a_question(
    service: Served,
    analyst: Caller,
    table: TableName,
    request: documents.QueryRequest,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Release, price or rehearse one question. A release is charged before a row is read."""
    answer = questions.query(service, analyst, table, request, idempotency_key)
    return Response(answer.to_json(), media_type="application/json")


@routes.post("/tables/{table}/account", tags=["questions"])
def show_an_account(
    service: Served, analyst: Caller, table: TableName, request: documents.BalanceRequest
) -> documents.BalanceDocument:
    """What was spent on a part of a table, and what remains. Charges nothing."""
    return questions.balance(service, analyst, table, request)


@routes.post("/tables/{table}/partitions", tags=["questions"])
def keep_a_partition(
    service: Served, analyst: Caller, table: TableName, request: documents.PartitionRequest
) -> documents.PartitionDocument:
    """Keep a partition under a handle. What is spent on its parts costs the maximum."""
    return questions.keep_partition(service, analyst, table, request)


@routes.get("/partitions/{handle}", tags=["questions"])
def show_a_partition(service: Served, analyst: Caller, handle: Id) -> documents.PartitionDocument:
    """A kept partition: its plan and the keys of its parts."""
    kept = service.records.handle(analyst, handle)
    steps = documents.PartitionRequest.model_validate({"plan": kept.plan}).plan
    keys = questions.partition_keys(service, analyst, kept.table, steps)
    return documents.PartitionDocument(handle=kept.id, table=kept.table, plan=steps, keys=keys)
