"""The analyst's console: models in the making, released models, and what was spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from typing import Any

from anyio import to_thread
from fastapi import Request, Response

from bocage.accounting import Entry, Scope
from bocage.model import (
    Forest,
    Model,
    Tree,
    from_dict,
    rules,
    to_javascript,
    to_sql,
    to_svg,
    to_text,
)
from bocage.model.export.json import parse
from bocage.schema import Numeric
from bocage.service.core import history
from bocage.service.core.analyst_store import OPEN
from bocage.service.core.jobs import document
from bocage.service.core.service import Service
from bocage.service.web.page import Analyst, Served, page_router, render, schemas_of

routes = page_router(prefix="/analyst")
LINES, LISTED, MOST_RULES = 1000, 200, 1000
_WAYS: dict[str, Callable[[Any], Any]] = {
    "svg": to_svg,
    "text": to_text,
    "sql": lambda made: to_sql(made, "duckdb"),
    "javascript": to_javascript,
    "rules": rules,
}


@routes.get("/jobs")
async def jobs(request: Request, service: Served, analyst: Analyst) -> Response:
    """What I am learning, and what I have."""
    jobs_of_mine = await to_thread.run_sync(service.records.jobs, analyst, LISTED)
    return await render(request, "analyst/jobs.html", jobs=jobs_of_mine)


@routes.get("/jobs/{job}")
async def job(request: Request, service: Served, analyst: Analyst, job: str) -> Response:
    """One job, with live progress."""
    shown_job = document(await to_thread.run_sync(service.records.job, analyst, job))
    return await render(request, "analyst/job.html", job=shown_job, running=shown_job.state in OPEN)


@routes.get("/models")
async def models(request: Request, service: Served, analyst: Analyst) -> Response:
    models_of_mine = await to_thread.run_sync(service.records.models, analyst, LISTED)
    return await render(request, "analyst/models.html", models=models_of_mine)


@dataclass(frozen=True)
class Shown:
    """A model as its page shows it. `forms` are the ways out that this kind of model has."""

    model: Model
    trees: int
    forms: tuple[str, ...]
    rules: tuple[Any, ...]
    more_rules: int

    @property
    def numeric(self) -> list[str]:
        return [attribute.name for attribute in self.model.schema.attributes if isinstance(attribute, Numeric)]

    @property
    def odds(self) -> int | None:
        """What someone who is undecided whether a record is there can become sure of, in per cent."""
        epsilon = self.model.certificate.epsilon
        return None if epsilon is None else round(100 / (1 + exp(-float(epsilon))))


@routes.get("/models/{model}")
async def model(request: Request, service: Served, analyst: Analyst, model: str) -> Response:
    """The drawing, the rules, a trial on one's own file, downloads and the certificate."""

    def look() -> tuple[Any, Shown]:
        kept, body = service.records.model(analyst, model)
        service.tables.require_open(analyst, kept.table)
        return kept, shown(from_dict(parse(body)))

    kept, page = await to_thread.run_sync(look)
    certificate = page.model.certificate
    words = certificate.statement().splitlines()
    context = {"kept": kept, "shown": page, "certificate": certificate, "words": words}
    return await render(request, "analyst/model.html", **context)


def shown(made: Model) -> Shown:
    """What there is to see of a model: trees have everything, other kinds what they offer."""
    trees = len(made.trees) if isinstance(made, Forest) else int(isinstance(made, Tree))
    forms = _WAYS if trees else {name: way for name, way in _WAYS.items() if _can(way, made)}
    told = rules(made).sorted("support").items if "rules" in forms else ()
    return Shown(made, trees, tuple(forms), told[:MOST_RULES], len(told) - MOST_RULES)


def _can(way: Callable[[Any], Any], made: Model) -> bool:
    try:
        way(made)
    except Exception:  # noqa: BLE001 - however a form says that it does not know this kind
        return False
    return True


@routes.get("/ledger")
async def ledger(request: Request, service: Served, analyst: Analyst) -> Response:
    """What I spent."""
    entries = await to_thread.run_sync(_entries, service, analyst)
    tables = {entry.number: entry.scope[0] for entry in entries}
    lines = history.lines(entries[-LINES:], schemas_of(service))
    return await render(request, "analyst/ledger.html", lines=lines, tables=tables)


@routes.get("/ledger.csv")
def ledger_file(service: Served, analyst: Analyst) -> Response:
    """All of it, for a spreadsheet."""
    headers = {"content-disposition": 'attachment; filename="what-i-spent.csv"'}
    text = history.to_csv(_entries(service, analyst), schemas_of(service))
    return Response(text, media_type="text/csv", headers=headers)


def _entries(service: Service, analyst: str) -> list[Entry]:
    """My lines of all tables, oldest first."""
    scopes = {table.scope for table, _ in service.tables.granted(analyst)}
    entries = [entry for scope in scopes for entry in service.ledger.entries(Scope.table(scope).analyst(analyst))]
    return sorted(entries, key=lambda entry: entry.number)
