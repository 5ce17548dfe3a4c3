"""The owner's console: the ledger and its verification, running jobs, released models."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from bocage.accounting import Head, Verification, export_lines
from bocage.model import Forest, from_dict, to_svg
from bocage.model.export.json import parse
from bocage.service.core import history
from bocage.service.core.exports import sign_export
from bocage.service.core.service import Service
from bocage.service.web.page import OwnerOnly, Served, page_router, render, schemas_of

routes = page_router(prefix="/owner", dependencies=[OwnerOnly])
LINES = 1000


@routes.get("/ledger")
async def ledger(request: Request, service: Served) -> Response:
    return await _book(request, service, None)


@routes.post("/ledger/verify")
async def verify(request: Request, service: Served) -> Response:
    """Replay the whole chain."""
    return await _book(request, service, await to_thread.run_sync(service.ledger.verify))


async def _book(request: Request, service: Service, verification: Verification | None) -> Response:
    def look() -> dict[str, Any]:
        head = service.ledger.head()
        entries = service.ledger.entries(after=max(0, head.number - LINES))
        balances = [b for b in service.ledger.balances() if b.scope.has_cap]
        return {
            "head": head,
            "lines": history.lines(entries, schemas_of(service)),
            "balances": balances,
        }

    context = await to_thread.run_sync(look)
    return await render(request, "owner/ledger.html", verification=verification, **context)


@routes.get("/ledger/export.{kind}")
def export(service: Served, kind: str, entries: Annotated[int, Query(ge=1)]) -> Response:
    """The first entries as JSON lines, or the owner's signature of them: the same for both."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ledger.jsonl"
        lines = service.ledger.entries(limit=entries)
        head = Head(lines[-1].number, lines[-1].hash)
        file.write_text("".join(export_lines(lines, head)), encoding="utf-8")
        if kind == "sig":
            file = sign_export(file, service.signer)
        name = "ledger.jsonl.sig" if kind == "sig" else "ledger.jsonl"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(file.read_bytes(), media_type="application/json", headers=headers)


@routes.get("/jobs")
async def jobs(request: Request, service: Served) -> Response:
    """What is being learned, and what was."""
    jobs_of_all = await to_thread.run_sync(service.records.all_jobs, 200)
    return await render(request, "owner/jobs.html", jobs=jobs_of_all)


@routes.post("/jobs/{job}/cancel")
async def cancel(service: Served, job: str) -> Response:
    """End a job before its next level; its charge stands."""
    await to_thread.run_sync(service.records.end_job, job, "cancelled")
    return RedirectResponse("/owner/jobs", 303)


@routes.get("/models")
async def models(request: Request, service: Served) -> Response:
    models_of_all = await to_thread.run_sync(service.records.all_models, 200)
    return await render(request, "owner/models.html", models=models_of_all)


@routes.get("/models/{model}")
async def model(request: Request, service: Served, model: str) -> Response:
    """A released model: its certificate and its drawing."""
    kept, body = await to_thread.run_sync(service.records.any_model, model)
    made = from_dict(parse(body))
    certificate = made.certificate
    return await render(request, "owner/model.html", kept=kept, certificate=certificate)


@routes.get("/models/{model}/svg")
def drawing(service: Served, model: str, tree: Annotated[int, Query(ge=0)] = 0) -> Response:
    _, body = service.records.any_model(model)
    made = from_dict(parse(body))
    shown = made.trees[min(tree, len(made.trees) - 1)] if isinstance(made, Forest) else made
    return Response(to_svg(shown), media_type="image/svg+xml")
