"""Who am I, what is left, and which tables there are."""

from __future__ import annotations

from typing import Any

from bocage.accounting import Scope
from bocage.learners import LEARNERS
from bocage.private.owner import BATCHES
from bocage.service import wire
from bocage.service.learning import describe
from bocage.service.registry import Registered
from bocage.service.routes.common import Caller, Served, TableName, router
from bocage.service.service import Service

routes = router()


@routes.get("/me", tags=["account"])
def who_am_i(service: Served, analyst: Caller) -> wire.MeDocument:
    """The analyst whose key it is, and what is left of each table."""
    accounts = [
        wire.AccountDocument(table=table.name, **_account(service, analyst, table, state))
        for table, state in service.tables.granted(analyst)
    ]
    return wire.MeDocument(analyst=analyst, tables=accounts)


@routes.get("/tables", tags=["tables"])
def list_tables(service: Served, analyst: Caller) -> list[wire.TableDocument]:
    """The tables that this analyst may ask."""
    granted = service.tables.granted(analyst)
    return [_document(service, analyst, table, state) for table, state in granted]


@routes.get("/tables/{table}", tags=["tables"])
def show_table(service: Served, analyst: Caller, table: TableName) -> wire.TableDocument:
    """One table: its public schema, and what is left."""
    return _document(service, analyst, *service.tables.registered(analyst, table))


@routes.get("/learners", tags=["learning"])
def list_learners() -> list[wire.LearnerDocument]:
    """All learners, their parameters and what they say about themselves."""
    return [describe(name) for name in LEARNERS]


def _document(service: Service, analyst: str, table: Registered, state: str) -> wire.TableDocument:
    facts: dict[str, Any] = {"schema": table.schema.to_dict(), "adjacency": table.adjacency}
    return wire.TableDocument(
        name=table.name,
        batch=table.batch or None,
        ready=service.tables.is_ready(table.name),
        moving=service.tables.is_moving(table.name),
        learners=list(LEARNERS) if table.schema.label else [],
        **facts,
        **_account(service, analyst, table, state),
    )


def _account(service: Service, analyst: str, table: Registered, state: str) -> dict[str, Any]:
    scope = Scope.table(table.scope).analyst(analyst)
    here = scope.partition(BATCHES).part(table.batch) if table.batch else scope
    return {
        "cap": str(service.ledger.cap(scope) or 0),
        "spent": str(service.ledger.spent(here)),
        "remaining": str(service.ledger.remaining(here)) if state == "open" else "0",
        "state": state,
    }
