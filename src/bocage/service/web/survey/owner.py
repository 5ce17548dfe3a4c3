"""The owner's console: make a survey, watch the distributions grow, train, publish."""

from __future__ import annotations

import tomllib
import warnings
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from bocage.errors import BocageError, SchemaError, SurveyError
from bocage.local import Distribution, FewRecords, Survey, distributions, parse_distortion
from bocage.model import to_svg
from bocage.schema import Numeric, Schema
from bocage.service.core.service import Service
from bocage.service.web import charts
from bocage.service.web.page import OwnerOnly, Served, page_router, render

routes = page_router(prefix="/owner/surveys", dependencies=[OwnerOnly])
Text = Annotated[str, Form()]
KINDS = {
    "laplace": "Laplace noise, epsilon",
    "response": "randomized response, epsilon",
    "gaussian": "Gaussian noise, sigma or %",
    "uniform": "uniform noise, ± or %",
    "class": "its interval, width",
    "clear": "as it is",
}


@routes.get("")
async def surveys(request: Request, service: Served) -> Response:
    def look() -> list[tuple[Any, int]]:
        return [(kept, service.surveys.count(kept.id)) for kept in service.surveys.all()]

    return await render(request, "survey/list.html", surveys=await to_thread.run_sync(look))


@routes.get("/new")
async def new(request: Request, service: Served) -> Response:
    tables = await to_thread.run_sync(service.registry.tables)
    return await render(request, "survey/new.html", tables=tables, problem="", text=_EXAMPLE)


_EXAMPLE = """name = "commute"

[[attributes]]
name = "age"
type = "numeric"
lower = 18
upper = 90
step = 1

[[attributes]]
name = "transport"
type = "categorical"
values = ["foot", "bicycle", "bus", "car"]

[target]
name = "content"
values = ["yes", "no"]
"""


@routes.post("/new")
async def choose(request: Request, service: Served, table: Text = "", text: Text = "") -> Response:
    """Step 2: a distortion for every column."""
    try:
        schema = await to_thread.run_sync(_schema, service, table, text)
    except BocageError as error:
        tables = await to_thread.run_sync(service.registry.tables)
        context = {"tables": tables, "problem": str(error), "text": text}
        return await render(request, "survey/new.html", 400, **context)
    return await _distortions(request, schema, {"table": table, "text": text})


def _schema(service: Service, table: str, text: str) -> Schema:
    if table:
        return service.registry.table(table).schema
    try:
        return Schema.from_dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"the schema is not TOML: {error}.") from None


async def _distortions(request: Request, schema: Schema, given: dict[str, str], problem: str = "") -> Response:
    columns = []
    for at, attribute in enumerate(schema):
        numeric = isinstance(attribute, Numeric)
        kind = given.get(f"kind.{at}", "laplace" if numeric else "response")
        fitting = [k for k in KINDS if numeric != (k == "response") or k == "clear"]
        columns.append((at, attribute, fitting, kind, given.get(f"parameter.{at}", "1")))
    known = {name: given.get(name, "") for name in ("table", "text", "title")}
    context = {"schema": schema, "columns": columns, "kinds": KINDS, "problem": problem, **known}
    return await render(request, "survey/distortions.html", 400 if problem else 200, **context)


@routes.post("/make")
async def make(request: Request, service: Served) -> Response:
    """Open the survey."""
    form = await request.form()
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    table, text = given.get("table", ""), given.get("text", "")
    schema = await to_thread.run_sync(_schema, service, table, text)
    try:
        survey = await to_thread.run_sync(_survey, schema, given)
    except BocageError as error:
        return await _distortions(request, schema, given, str(error))
    name = await to_thread.run_sync(service.surveys.add, survey)
    return RedirectResponse(f"/owner/surveys/{name}", 303)


def _survey(schema: Schema, given: dict[str, str]) -> Survey:
    distorted = {}
    for at, attribute in enumerate(schema):
        kind, parameter = given.get(f"kind.{at}", ""), given.get(f"parameter.{at}", "").strip()
        words = kind if kind == "clear" else f"{kind}:{parameter}"
        distorted[attribute.name] = parse_distortion(attribute, words)
    if not given.get("title", "").strip():
        raise SurveyError("participants read the title: give one.")
    return Survey(schema, distorted, title=given["title"].strip())


@routes.get("/{survey}")
async def show(request: Request, service: Served, survey: str) -> Response:
    """One survey: its address, what it promises, what is known so far, and its model."""
    kept = await to_thread.run_sync(service.surveys.get, survey)
    tree = await to_thread.run_sync(service.surveys.tree, survey)
    promises = await to_thread.run_sync(lambda: [*kept.survey.privacy(), kept.survey.record_privacy()])
    context = {"kept": kept, "tree": tree, "promises": promises, "problem": ""}
    return await render(request, "survey/owner.html", **context)


@routes.get("/{survey}/picture")
async def picture(request: Request, service: Served, survey: str) -> Response:
    """The part of the page that grows: how many answered, and what is reconstructed from them."""

    def look() -> tuple[int, list[Markup]]:
        records = service.surveys.records(survey)
        if not len(records):
            return 0, []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewRecords)  # the page says so itself
            estimates = distributions(records, intervals=12 if len(records) < 1200 else None)
        return len(records), [_drawn(one) for one in estimates]

    answers, drawings = await to_thread.run_sync(look)
    return await render(request, "survey/picture.html", answers=answers, drawings=drawings)


def _drawn(one: Distribution) -> Markup:
    names = [one.text(at) for at in range(len(one.shares))]
    return charts.two_bars(one.attribute.name, names, one.sent.tolist(), one.shares.tolist())


@routes.get("/{survey}/svg")
def drawing(service: Served, survey: str) -> Response:
    tree = service.surveys.tree(survey)
    if tree is None:
        raise SurveyError("train a model first.")
    return Response(to_svg(tree), media_type="image/svg+xml")


@routes.post("/{survey}/{action}")
async def act(request: Request, service: Served, survey: str, action: str) -> Response:
    """Train, publish, close or open."""
    kept = await to_thread.run_sync(service.surveys.get, survey)
    try:
        if action == "train":
            await to_thread.run_sync(_train, service, survey)
        elif action == "publish":
            await to_thread.run_sync(service.surveys.publish, survey)
        elif action in ("close", "open"):
            state = "closed" if action == "close" else "open"
            await to_thread.run_sync(service.surveys.set_state, survey, state)
        else:
            raise SurveyError(f"a survey is trained, published, closed or opened, not {action!r}.")
    except BocageError as error:
        promises = [*kept.survey.privacy(), kept.survey.record_privacy()]
        context = {"kept": kept, "tree": None, "promises": promises, "problem": str(error)}
        return await render(request, "survey/owner.html", 400, **context)
    return RedirectResponse(f"/owner/surveys/{survey}", 303)


def _train(service: Service, survey: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRecords)  # the page says so itself
        service.surveys.train(survey)
