"""Released models, in every form that explains or uses them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from bocage.errors import ModelError
from bocage.model import (
    Dialect,
    Forest,
    Model,
    Released,
    rules,
    to_javascript,
    to_sql,
    to_svg,
    to_text,
)
from bocage.service.api.jobs import Limit
from bocage.service.api.routing import Caller, Id, Served, router
from bocage.service.core import documents, questions

routes = router()
TreeNumber = Annotated[int, Query(ge=0, le=2**20, description="Which tree of a forest.")]


def _of_type(media: str, what: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": what, "content": {media: {"schema": {"type": "string"}}}}}


@routes.get("/models", tags=["models"])
def list_models(service: Served, analyst: Caller, limit: Limit = 100) -> list[documents.ModelSummary]:
    """The models of this analyst, newest first."""
    kept = service.records.models(analyst, limit)
    return [
        documents.ModelSummary(**{name: value for name, value in vars(one).items() if name != "analyst"})
        for one in kept
    ]


@routes.get(
    "/models/{model}",
    tags=["models"],
    response_class=Response,
    responses={
        200: {
            "description": "The model as `bocage.model` writes and reads it",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    },
)
def show_model(service: Served, analyst: Caller, model: Id) -> Response:
    """A model as JSON."""
    kept, body = service.records.model(analyst, model)
    service.tables.require_open(analyst, kept.table)
    return Response(body, media_type="application/json")


@routes.get("/models/{model}/rules", tags=["models"])
def show_rules(service: Served, analyst: Caller, model: Id) -> list[dict[str, Any]]:
    """Rules and sub-rules with confidence and support, from released counts."""
    return [rule.to_dict() for rule in rules(questions.load_model(service, analyst, model))]


@routes.get("/models/{model}/certificate", tags=["models"])
def show_certificate(service: Served, analyst: Caller, model: Id) -> dict[str, Any]:
    """What is guaranteed about a model, as data and in plain words."""
    certificate = questions.load_model(service, analyst, model).certificate
    return {**certificate.to_dict(), "statement": certificate.statement()}


@routes.get(
    "/models/{model}/svg",
    tags=["models"],
    response_class=Response,
    responses=_of_type("image/svg+xml", "A drawing of one tree"),
)
def draw_model(service: Served, analyst: Caller, model: Id, tree: TreeNumber = 0) -> Response:
    """A tree as a picture."""
    drawing = to_svg(_tree(questions.load_model(service, analyst, model), tree))
    policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
    headers = {"content-security-policy": policy}
    return Response(drawing, media_type="image/svg+xml", headers=headers)


@routes.get(
    "/models/{model}/text",
    tags=["models"],
    response_class=Response,
    responses=_of_type("text/plain", "One tree, indented"),
)
def write_model(service: Served, analyst: Caller, model: Id, tree: TreeNumber = 0) -> Response:
    """A tree as text."""
    text = to_text(_tree(questions.load_model(service, analyst, model), tree))
    return Response(text, media_type="text/plain")


@routes.get(
    "/models/{model}/sql",
    tags=["models"],
    response_class=Response,
    responses=_of_type("text/plain", "An expression that is the label"),
)
def model_as_sql(service: Served, analyst: Caller, model: Id, dialect: Dialect = "duckdb") -> Response:
    """A model as an SQL expression."""
    text = to_sql(questions.load_model(service, analyst, model), dialect)
    return Response(text, media_type="text/plain")


@routes.get(
    "/models/{model}/javascript",
    tags=["models"],
    response_class=Response,
    responses=_of_type("text/javascript", "A module that predicts"),
)
def model_as_javascript(service: Served, analyst: Caller, model: Id) -> Response:
    """A model as a self-contained JavaScript module."""
    text = to_javascript(questions.load_model(service, analyst, model))
    return Response(text, media_type="text/javascript")


def _tree(model: Released, number: int) -> Model:
    """One tree of a forest; another model as it is."""
    parts = model.trees if isinstance(model, Forest) else (model,)
    if number >= len(parts):
        raise ModelError(f"the model has {len(parts)} trees; there is no tree {number}.")
    return parts[number]
