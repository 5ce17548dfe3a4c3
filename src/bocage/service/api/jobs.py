"""Models in the making."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse

from bocage.errors import BocageError
from bocage.service.api.routing import Caller, Id, IdempotencyKey, Served, TableName, router
from bocage.service.core import documents, errors
from bocage.service.core.analyst_store import OPEN, Job
from bocage.service.core.jobs import document
from bocage.service.core.limits import Limited
from bocage.service.core.service import Service

routes = router()
EVENT_SECONDS = 0.25
MOST_STREAMS = 32  # of one analyst in one worker process
_streams: Counter[str] = Counter()
Limit = Annotated[int, Query(ge=1, le=1000)]
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`event: progress` with a job for every level, `event: end` with the last",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@routes.post(
    "/tables/{table}/learn",
    tags=["learning"],
    status_code=202,
    responses={200: {"model": documents.LearnPreview, "description": "The plan and its price"}},
)
def learn(
    service: Served,
    analyst: Caller,
    table: TableName,
    request: documents.LearnRequest,
    *,
    idempotency_key: IdempotencyKey = None,
    response: Response,
) -> documents.JobAccepted | documents.LearnPreview:
    """Price a model, or grow it as a job whose whole price is charged before this answers."""
    made = service.jobs.learn(analyst, table, request, idempotency_key)
    if isinstance(made, documents.LearnPreview):
        response.status_code = 200
        return made
    return documents.JobAccepted(job=made.id, status=document(made))


@routes.get("/jobs", tags=["learning"])
def list_jobs(service: Served, analyst: Caller, limit: Limit = 100) -> list[documents.JobDocument]:
    """The jobs of this analyst, newest first."""
    return [document(job) for job in service.records.jobs(analyst, limit)]


@routes.get("/jobs/{job}", tags=["learning"])
def show_job(service: Served, analyst: Caller, job: Id) -> documents.JobDocument:
    """How far a job is."""
    return document(service.records.job(analyst, job))


@routes.delete("/jobs/{job}", tags=["learning"])
def cancel_job(service: Served, analyst: Caller, job: Id) -> documents.JobDocument:
    """End a job before its next level. What was charged stays charged."""
    return document(service.jobs.cancel(analyst, job))


@routes.get("/jobs/{job}/events", tags=["learning"], response_class=StreamingResponse, responses=_STREAM)
async def follow_job(service: Served, request: Request, analyst: Caller, job: Id) -> StreamingResponse:
    """The progress of a job as server-sent events, until it or the key ends."""
    if _streams[analyst] >= MOST_STREAMS:
        raise Limited(f"{MOST_STREAMS} jobs of this analyst are followed already.", 5)
    first = await to_thread.run_sync(service.records.job, analyst, job)
    events = _events(service, first, request.state.key)
    return StreamingResponse(events, media_type="text/event-stream")


async def _events(service: Service, job: Job, key: str) -> AsyncIterator[str]:
    _streams[job.analyst] += 1
    try:
        async for event in _changes(service, job, key):
            yield event
    finally:
        _streams[job.analyst] -= 1


async def _changes(service: Service, job: Job, key: str) -> AsyncIterator[str]:
    shown: Job | None = None
    quiet = 0.0
    while True:
        if job != shown:
            shown, quiet = job, 0.0
            name = "progress" if job.state in OPEN else "end"
            yield f"event: {name}\ndata: {document(job).model_dump_json()}\n\n"
            if name == "end":
                return
        elif quiet >= 15:
            quiet = 0.0
            yield ": still here\n\n"  # so that no proxy takes the silence for an end
        await asyncio.sleep(EVENT_SECONDS)
        quiet += EVENT_SECONDS
        try:
            job = await to_thread.run_sync(_look, service, job, key)
        except BocageError as error:
            yield f"event: error\ndata: {errors.body_of(error).model_dump_json()}\n\n"
            return


def _look(service: Service, job: Job, key: str) -> Job:
    """The job as it is now, for someone who may still see it."""
    service.registry.require_key(job.analyst, key)
    service.tables.require_open(job.analyst, job.table)
    return service.records.job(job.analyst, job.id)
