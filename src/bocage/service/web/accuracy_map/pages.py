"""The analyst's console: which learner does best on made-up rows of a schema, before any budget is spent."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from bocage.epsilon import Epsilon
from bocage.errors import BocageError, LearnerError
from bocage.frontier import Chart
from bocage.learners import LEARNERS
from bocage.schema import Schema
from bocage.service.core.service import Service
from bocage.service.web.accuracy_map import drawing
from bocage.service.web.accuracy_map.chart import key, map_chart
from bocage.service.web.page import Analyst, Served, page_router, render

routes = page_router(prefix="/analyst/tables/{name}/map")
SHOWN = 8  # learners whose lines are drawn


@routes.get("")
async def page(
    request: Request,
    service: Served,
    analyst: Analyst,
    *,
    name: str,
    rows: str = "",
    epsilon: str = "1",
) -> Response:
    """The map, the way to it, or how far it is."""
    table = await to_thread.run_sync(service.tables.document, analyst, name)
    schema = await to_thread.run_sync(_schema, service, analyst, name)
    drawn_so_far = await to_thread.run_sync(drawing.look, service.home.path, schema)
    chart = drawn_so_far if isinstance(drawn_so_far, Chart) else None
    progress = drawn_so_far if isinstance(drawn_so_far, drawing.Progress) else None
    context: dict[str, Any] = {"table": table, "chart": chart, "progress": progress}
    if chart is not None:
        drawn = {candidate.split(" ")[0] for candidate in chart.candidates}
        context["left_out"] = [learner for learner in LEARNERS if learner not in drawn]
        context |= _advice(chart, rows or str(chart.sizes[-1]), epsilon)
    return await render(request, "analyst/map.html", map_chart=map_chart, key=key, most=SHOWN, **context)


@routes.post("")
async def draw(service: Served, analyst: Analyst, name: str) -> Response:
    """Begin to draw. It costs time of this machine and no epsilon."""
    schema = await to_thread.run_sync(_schema, service, analyst, name)
    await to_thread.run_sync(drawing.draw, service.home.path, schema)
    return RedirectResponse(f"/analyst/tables/{name}/map", 303)


@routes.get("/state")
async def state(service: Served, analyst: Analyst, name: str) -> Response:
    """How far it is, for the page that waits."""
    schema = await to_thread.run_sync(_schema, service, analyst, name)
    drawn_so_far = await to_thread.run_sync(drawing.look, service.home.path, schema)
    if isinstance(drawn_so_far, Chart) or drawn_so_far is None:
        return JSONResponse({"ended": True})
    return JSONResponse({"ended": bool(drawn_so_far.problem), "done": drawn_so_far.done, "of": drawn_so_far.of})


def _schema(service: Service, analyst: str, name: str) -> Schema:
    table = service.tables.registered(analyst, name)[0]
    if table.schema.label is None:
        raise LearnerError("the schema of this table declares no label, so nothing is learned.")
    return table.schema


def _advice(chart: Chart, rows: str, epsilon: str) -> dict[str, Any]:
    """What to take at the chosen rows and epsilon, or what is wrong with them."""
    asked: dict[str, Any] = {
        "rows": rows,
        "epsilon": epsilon,
        "problem": "",
        "advice": "",
        "best": None,
        "here": [],
    }
    try:
        number = int(rows.replace(",", "").replace("_", ""))
        exact = str(Epsilon.of(epsilon))
        places = chart.at(number, exact)
        asked |= {"advice": chart.recommend(number, exact), "best": places[0], "here": places}
    except (BocageError, ValueError) as error:
        is_ours = isinstance(error, BocageError)
        asked["problem"] = str(error) if is_ours else "rows is a whole number, such as 10000."
    return asked
