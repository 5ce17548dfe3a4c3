"""The analyst's console: my tables, what is left, questions and their answers as pictures.

The form of a learner is made from what the learner says about its own parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from anyio import to_thread
from fastapi import Request, Response
from pydantic import ValidationError

from bocage.errors import RequestInvalid
from bocage.learners import LEARNERS
from bocage.mechanisms import Selection
from bocage.private import CRITERIA, Answer
from bocage.schema import Categorical, Schema
from bocage.service.core import documents
from bocage.service.core.learning import describe
from bocage.service.web import charts
from bocage.service.web.page import Analyst, Served, page_router, render

routes = page_router(prefix="/analyst")
LARGEST_ANSWER = 2**22
DEFAULT = "auto"  # the learner that is proposed first
_REFUSED = {"local"}  # variants for study, which a table with a ledger refuses


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
async def train(request: Request, service: Served, analyst: Analyst, name: str, learner: str = "") -> Response:
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
        "numeric": [column["name"] for column in columns if column["type"] == "numeric"],
        "names": [column["name"] for column in columns],
        "label": (schema.get("target") or {}).get("name", ""),
    }


def _share(table: documents.TableDocument) -> float:
    """How much of a budget is spent."""
    cap = float(table.cap)
    return float(table.spent) / cap if cap else 1.0


@dataclass(frozen=True)
class Parameter:
    """One field of a form. An empty field means the default."""

    name: str
    kind: str  # whole, number, text, yes or no, choice, columns
    default: Any
    choices: tuple[str, ...]
    hint: str


@dataclass(frozen=True)
class LearnerForm:
    """A learner as a page shows it."""

    name: str
    paper: str
    summary: str
    parameters: tuple[Parameter, ...]


def forms_of(schema: Schema) -> list[LearnerForm]:
    """The forms of all learners for a schema."""
    return [_form(describe(name), schema) for name in LEARNERS]


def _form(learner: documents.LearnerDocument, schema: Schema) -> LearnerForm:
    hints = _hints(learner.doc)
    parameters = [_parameter(one, hints, learner, schema) for one in learner.parameters]
    summary = learner.doc.split("\n\n", 1)[0].replace("\n", " ")
    return LearnerForm(learner.name, learner.paper, summary, tuple(parameters))


def _parameter(
    one: documents.ParameterDocument,
    hints: dict[str, str],
    learner: documents.LearnerDocument,
    schema: Schema,
) -> Parameter:
    default, written = one.default, hints.get(one.name, "")
    hint = written.replace("``", "").replace('"', "")
    if "tuple" in one.type:
        able = [a.name for a in schema.attributes if learner.numeric or isinstance(a, Categorical)]
        choices = tuple(a.name for a in schema.attributes)
        return Parameter(one.name, "columns", able, choices, hint)
    if one.type == "bool":
        return Parameter(one.name, "yes or no", default, (), hint)
    if one.type.startswith("int"):
        return Parameter(one.name, "whole", default, (), hint)
    if one.type == "float":
        return Parameter(one.name, "number", default, (), hint)
    choices = _choices(one, schema, written)
    kind = "choice" if choices else "text"
    return Parameter(one.name, kind, default, choices, hint)


def _choices(one: documents.ParameterDocument, schema: Schema, written: str) -> tuple[str, ...]:
    if words := re.findall(r"'([^']*)'", one.type):
        return tuple(word for word in words if word not in _REFUSED)
    if one.name == "criterion":
        return tuple(CRITERIA)
    if one.name == "selection":
        return tuple(map(str, Selection))
    if "None" in one.type:  # the name of a column
        return tuple(a.name for a in schema.attributes if isinstance(a, Categorical))
    return tuple(dict.fromkeys(re.findall(r'``"([^"`]*)"``', written)))


def _hints(doc: str) -> dict[str, str]:
    """What a docstring says about each parameter, as plain sentences."""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w|\Z)", doc, re.DOTALL)
    hints: dict[str, str] = {}
    for names, text in re.findall(r"^(\S.*)\n((?:    .*\n?|\n)+)", section[1] if section else "", re.MULTILINE):
        words = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", " ".join(text.split()))
        for name in names.split(","):
            hints[name.strip()] = words
    return hints
