"""The owner's console: analysts, their keys and their budgets."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from bocage.epsilon import Epsilon
from bocage.errors import BocageError, ServiceError
from bocage.service.core.owner import Account
from bocage.service.core.registry import Analyst
from bocage.service.core.service import Service
from bocage.service.web.owner.tables import owner_of
from bocage.service.web.page import OwnerOnly, Served, page_router, render

routes = page_router(prefix="/owner/analysts", dependencies=[OwnerOnly])
Text = Annotated[str, Form()]


@routes.get("")
async def analysts(request: Request, service: Served) -> Response:
    return await _list(request, service)


async def _list(request: Request, service: Service, problem: str = "") -> Response:
    def look() -> list[tuple[Analyst, list[Account]]]:
        owner = owner_of(service)
        return [(one, owner.accounts(one.name)) for one in service.registry.analysts()]

    people = await to_thread.run_sync(look)
    tables = [table.name for table in await to_thread.run_sync(service.registry.tables)]
    status = 400 if problem else 200
    context = {"people": people, "tables": tables, "problem": problem}
    return await render(request, "owner/analysts.html", status, **context)


@routes.post("/add")
async def add(request: Request, service: Served, name: Text, table: Text = "", budget: Text = "") -> Response:
    """A new analyst, perhaps with a first grant; the key is shown once."""

    def make() -> str:
        if table:  # refused before the key is made, which could not be shown again
            service.registry.table(table)
            Epsilon.of(budget)
        key = service.registry.add_analyst(name)
        if table:
            owner_of(service).grant(name, table, budget)
        return key

    try:
        key = await to_thread.run_sync(make)
    except BocageError as error:
        return await _list(request, service, str(error))
    return await render(request, "owner/key.html", name=name, key=key)


@routes.post("/{name}/grant")
async def grant(request: Request, service: Served, name: str, table: Text, budget: Text) -> Response:
    """Let an analyst ask a table, or change a budget."""
    try:
        await to_thread.run_sync(owner_of(service).grant, name, table, budget)
    except BocageError as error:
        return await _list(request, service, str(error))
    return RedirectResponse("/owner/analysts", 303)


@routes.post("/{name}/{action}")
async def act(
    request: Request, service: Served, *, name: str, action: str, table: Text = "", sure: Text = ""
) -> Response:
    """Revoke from a table or from all, or rotate the key; each is asked twice."""
    service.registry.analyst(name)
    heading, words = _asked(name, action, table)
    if sure != "yes":
        context = {"heading": heading, "words": words, "back": "/owner/analysts"}
        fields = {"table": table} if table else {}
        return await render(request, "confirm.html", action=request.url.path, fields=fields, **context)
    if action == "rotate":
        key = await to_thread.run_sync(service.registry.rotate, name)
        return await render(request, "owner/key.html", name=name, key=key)
    await to_thread.run_sync(owner_of(service).revoke, name, table or None)
    return RedirectResponse("/owner/analysts", 303)


def _asked(name: str, action: str, table: str) -> tuple[str, str]:
    if action == "rotate":
        return f"A new key for {name}?", "The old key and all sessions with it end at once."
    if action != "revoke":
        raise ServiceError(f"an analyst is revoked or gets a new key, not {action!r}.")
    where = f"from {table}" if table else "from everything"
    return (
        f"Revoke {name} {where}?",
        "This is final and takes effect at once, in running jobs too. What was spent stays on record.",
    )
