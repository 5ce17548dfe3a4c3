"""Who am I, what is left, and which tables there are."""

from __future__ import annotations

from bocage.learners import LEARNERS
from bocage.service.api.routing import Caller, Served, TableName, router
from bocage.service.core.documents import LearnerDocument, MeDocument, TableDocument
from bocage.service.core.learning import describe

routes = router()


@routes.get("/me", tags=["account"])
def who_am_i(service: Served, analyst: Caller) -> MeDocument:
    """The analyst whose key it is, and what is left of each table."""
    return MeDocument(analyst=analyst, tables=service.tables.account_documents(analyst))


@routes.get("/tables", tags=["tables"])
def list_tables(service: Served, analyst: Caller) -> list[TableDocument]:
    """The tables that this analyst may ask."""
    return service.tables.documents(analyst)


@routes.get("/tables/{table}", tags=["tables"])
def show_table(service: Served, analyst: Caller, table: TableName) -> TableDocument:
    """One table: its public schema, and what is left."""
    return service.tables.document(analyst, table)


@routes.get("/learners", tags=["learning"])
def list_learners() -> list[LearnerDocument]:
    """All learners, their parameters and what they say about themselves."""
    return [describe(name) for name in LEARNERS]
