"""The owner's console: tables, their caps, what burnt them down, and the way to the first one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from bocage.accounting import Balance, Scope
from bocage.engine.files.draft import SIGNING
from bocage.errors import BocageError, SchemaError, ServiceError
from bocage.service.core import history
from bocage.service.core.owner import Account, Owner, draft_of
from bocage.service.core.registry import Registered, check_table_name, new_id
from bocage.service.core.service import Service
from bocage.service.web.page import OwnerOnly, Served, page_router, render, schemas_of

routes = page_router(prefix="/owner", dependencies=[OwnerOnly])
Text = Annotated[str, Form()]
LINES = 500  # of the ledger that a page shows


@dataclass(frozen=True)
class View:
    """A table as its owner sees it."""

    table: Registered
    balance: Balance
    ready: bool
    spent: list[tuple[float, float]]

    @property
    def cap(self) -> float:
        return self.balance.cap.nano / 1e9 if self.balance.cap is not None else 0.0

    @property
    def share(self) -> float:
        return self.balance.spent.nano / 1e9 / self.cap if self.cap else 0.0


def owner_of(service: Service) -> Owner:
    """The owner's actions, on what this process has open."""
    return Owner(service.registry, service.ledger, service.home.ledger_address)


def _view(service: Service, table: Registered) -> View:
    scope = Scope.table(table.scope)
    spent = service.spending.over_time(scope)
    return View(table, service.ledger.balance(scope), service.tables.is_ready(table.name), spent)


@routes.get("")
async def tables(request: Request, service: Served) -> Response:
    """All tables; without any, the first steps."""

    def look() -> tuple[list[View], int]:
        views = [_view(service, table) for table in service.registry.tables()]
        return views, len(service.registry.analysts())

    views, analysts = await to_thread.run_sync(look)
    context = {"views": views, "analysts": analysts, "now": time.time()}
    return await render(request, "owner/tables.html", **context)


@routes.get("/tables/new")
async def new_table(request: Request) -> Response:
    return await render(request, "owner/new_table.html", problem="", name="", source="", label="")


@routes.post("/tables/new")
async def draft(request: Request, name: Text, source: Text, label: Text = "") -> Response:
    """Step 2: a draft of the schema, for the owner to review and sign."""
    try:
        check_table_name(name)
        text = await to_thread.run_sync(draft_of, name, source.strip(), label.strip() or None)
    except BocageError as error:
        given = {"name": name, "source": source, "label": label}
        return await render(request, "owner/new_table.html", 400, problem=str(error), **given)
    context = {"name": name, "source": source.strip(), "text": text, "cap": "5", "problem": ""}
    return await render(request, "owner/sign.html", signing=SIGNING, **context)


@routes.post("/tables/sign")
async def sign(
    request: Request,
    service: Served,
    *,
    name: Text,
    source: Text,
    text: Text,
    cap: Text,
    signed: Text = "",
) -> Response:
    """Step 3: the schema is public from now on, and the table is served."""
    try:
        if signed != "yes":
            raise SchemaError("tick the box: signing declares the schema public.")
        await to_thread.run_sync(_register, service, name, source, text, cap)
    except BocageError as error:
        context = {"name": name, "source": source, "text": text, "cap": cap}
        return await render(request, "owner/sign.html", 400, signing=SIGNING, problem=str(error), **context)
    return RedirectResponse(f"/owner/tables/{name}?new=1", 303)


def _register(service: Service, name: str, source: str, text: str, cap: str) -> None:
    """Write the signed schema beside the home's other files and register the table."""
    check_table_name(name)
    lines = [line for line in text.splitlines() if line.replace(" ", "") != "draft=true"]
    folder = service.home.path / "schemas"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{name}.toml"
    if any(table.name == name for table in service.registry.tables()):
        raise ServiceError(f"there is a table {name!r} already.")
    trial = folder / f".{new_id()}.toml"  # no table has such a name
    try:
        trial.write_text("\n".join(lines) + "\n", encoding="utf-8")
        owner_of(service).add_table(name, source, trial, cap)
        trial.replace(file)
    finally:
        trial.unlink(missing_ok=True)
    service.tables.refresh()


@routes.get("/tables/{name}")
async def table(request: Request, service: Served, name: str, new: int = 0) -> Response:
    """One table: who may ask it, who spent what on what, and when."""

    def look() -> dict[str, Any]:
        registered = service.registry.table(name)
        owner = owner_of(service)
        people: list[tuple[str, Account]] = [
            (one.name, account)
            for one in service.registry.analysts()
            for account in owner.accounts(one.name)
            if account.table == name
        ]
        scope = Scope.table(registered.scope)
        told = history.lines(history.last_entries(service.ledger, scope, LINES), schemas_of(service))
        return {"view": _view(service, registered), "people": people, "lines": told}

    looked_up = await to_thread.run_sync(look)
    everybody = [analyst.name for analyst in service.registry.analysts() if analyst.state == "open"]
    context = {**looked_up, "everybody": everybody, "now": time.time(), "new": bool(new)}
    return await render(request, "owner/table.html", **context)


@routes.get("/tables/{name}/spending.csv")
def spending(service: Served, name: str) -> Response:
    """Every entry of a table, for a spreadsheet."""
    scope = Scope.table(service.registry.table(name).scope)
    headers = {"content-disposition": f'attachment; filename="{name}-spending.csv"'}
    text = history.to_csv(service.ledger.entries(scope), schemas_of(service))
    return Response(text, media_type="text/csv", headers=headers)


_ACTIONS = {
    "freeze": (
        "Freeze {name}?",
        "Every question is refused at once, in running jobs too, until you thaw it.",
    ),
    "thaw": ("Thaw {name}?", "Analysts may ask again, within the budgets that they have left."),
    "remove": (
        "Remove {name}?",
        "It is no longer served and the grants end. What was spent stays in the ledger for good.",
    ),
}


@routes.post("/tables/{name}/{action}")
async def act(
    request: Request, service: Served, *, name: str, action: str, sure: Text = "", cap: Text = ""
) -> Response:
    """Freeze, thaw, remove (each asked twice), or set the cap."""
    back = f"/owner/tables/{name}"
    owner = owner_of(service)
    if action == "cap":
        await to_thread.run_sync(owner.set_cap, name, cap)
        return RedirectResponse(back, 303)
    if action not in _ACTIONS:
        raise ServiceError(f"a table is frozen, thawed or removed, not {action!r}.")
    service.registry.table(name)
    if sure != "yes":
        heading, words = _ACTIONS[action]
        context = {"heading": heading.format(name=name), "words": words, "back": back}
        return await render(request, "confirm.html", action=request.url.path, fields={}, **context)
    doing = {"freeze": owner.freeze, "thaw": owner.thaw, "remove": owner.remove_table}[action]
    await to_thread.run_sync(doing, name)
    if action == "remove":
        await to_thread.run_sync(service.tables.refresh)
        back = "/owner"
    return RedirectResponse(back, 303)
