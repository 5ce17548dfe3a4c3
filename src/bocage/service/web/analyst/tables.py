"""The analyst's console: my tables, what is left, questions and their answers as pictures."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import Request, Response
from pydantic import ValidationError

from bocage.errors import RequestInvalid
from bocage.private import CRITERIA, Answer
from bocage.service.core import documents
from bocage.service.web import charts
from bocage.service.web.analyst.forms import forms_of
from bocage.service.web.page import Analyst, Served, page_router, render

routes = page_router(prefix="/analyst")
LARGEST_ANSWER = 2**22
DEFAULT = "auto"  # the learner that is proposed first


@routes.get("")
async def my_tables(request: Request, service: Served, analyst: Analyst) -> Response:
    """What I may ask, and what is left."""
    tables = await to_thread.run_sync(service.tables.documents, analyst)
    return await render(request, "analyst/tables.html", tables=tables, share=_share)


@routes.get("/tables/{name}")
async def table(request: Request, service: Served, analyst: Analyst, name: str) -> Response:
    """The public schema of a table, and a question about it."""
    shown = await to_thread.run_sync(service.tables.document, analyst, name)
    context = {**_columns(shown), "criteria": list(CRITERIA), "share": _share}
    return await render(request, "analyst/table.html", table=shown, **context)


@routes.get("/tables/{name}/train")
async def train(
    request: Request, service: Served, analyst: Analyst, name: str, learner: str = ""
) -> Response:
    """A learner with its parameters, and the plan that follows from them."""
    shown = await to_thread.run_sync(service.tables.document, analyst, name)
    registered, _ = await to_thread.run_sync(service.tables.registered, analyst, name)
    forms = forms_of(registered.schema) if shown.learners else []
    chosen = learner if learner in {form.name for form in forms} else DEFAULT
    context = {"table": shown, "forms": forms, "chosen": chosen, "share": _share}
    most = service.settings.dry_run_rows
    return await render(request, "analyst/train.html", most_rows=most, **context)


@routes.post("/picture")
async def picture(request: Request, analyst: Analyst) -> Response:  # noqa: ARG001 - logged in
    """An answer that the page has as a drawing; nothing for one that is no number."""
    body = await request.body()
    if len(body) > LARGEST_ANSWER:
        raise RequestInvalid("this answer is too large for a picture.")
    try:
        checked = documents.AnswerDocument.model_validate_json(body)
    except ValidationError:
        raise RequestInvalid("this is no answer of this service.") from None
    drawn = charts.answer_chart(Answer.from_json(checked.model_dump_json()))
    if drawn is None:
        return Response(status_code=204)
    return Response(str(drawn), media_type="image/svg+xml")


def _columns(table: documents.TableDocument) -> dict[str, Any]:
    """All columns of a schema, and the kinds of them that questions tell apart."""
    schema = table.schema_
    columns = [*schema["attributes"], *([schema["target"]] if schema.get("target") else [])]
    return {
        "columns": columns,
        "numeric": [one["name"] for one in columns if one["type"] == "numeric"],
        "names": [one["name"] for one in columns],
        "label": (schema.get("target") or {}).get("name", ""),
    }


def _share(table: documents.TableDocument) -> float:
    """How much of a budget is spent."""
    cap = float(table.cap)
    return float(table.spent) / cap if cap else 1.0
