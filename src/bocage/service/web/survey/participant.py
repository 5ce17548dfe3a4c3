"""The participant's page: no account, and nothing true leaves it."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import Request, Response
from fastapi.responses import JSONResponse

from bocage.errors import BocageError, RequestInvalid
from bocage.schema import Numeric
from bocage.service.core import errors
from bocage.service.core.limits import Buckets, Limited, sender
from bocage.service.core.strict_json import parse
from bocage.service.web.page import Served, page_router, render

routes = page_router(prefix="/survey")
_senders = Buckets(2, 60)  # answers from one address


@routes.get("/{survey}")
async def participate(request: Request, service: Served, survey: str) -> Response:
    """What is asked. The page's own module distorts the answers before anything is sent."""
    kept = await to_thread.run_sync(service.surveys.get, survey)
    columns = [(column, isinstance(column, Numeric)) for column in kept.survey.schema]
    label = kept.survey.schema.label
    context = {"kept": kept, "columns": columns, "label": label.name if label else ""}
    return await render(request, "survey/participant.html", **context)


@routes.get("/{survey}/survey.json")
def survey_file(service: Served, survey: str) -> Response:
    """The survey file, as Python and JavaScript read it."""
    kept = service.surveys.get(survey)
    return JSONResponse(kept.survey.to_dict())


@routes.get("/{survey}/model.json")
def model_file(service: Served, survey: str) -> Response:
    """The published model, to be applied in the page; nothing, if there is none yet."""
    body = service.surveys.model(survey, published=True)
    if body is None:
        return Response(status_code=204)
    return Response(body, media_type="application/json")


@routes.post("/{survey}/answers")
async def answer(request: Request, service: Served, survey: str) -> Response:
    """Keep a distorted record."""
    host = sender(request.scope, behind_proxy=service.settings.behind_tls_proxy)
    try:
        if seconds := _senders.take(host):
            raise Limited("too many answers from one address.", seconds)
        document = _parsed(await request.body(), service.settings.json_depth)
        kept = await to_thread.run_sync(service.surveys.answer, survey, document["token"], document["record"])
    except BocageError as error:
        body = {"error": errors.body_of(error).model_dump()}
        return JSONResponse(body, errors.status_of(error), errors.headers_of(error))
    return JSONResponse({"kept": kept}, 201 if kept else 200)


def _parsed(body: bytes, most_depth: int) -> dict[str, Any]:
    document = parse(body, most_depth)
    if not isinstance(document, dict) or set(document) != {"token", "record"}:
        raise RequestInvalid('an answer has "token" and "record", and nothing else.')
    return document
