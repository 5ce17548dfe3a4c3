"""What routes share: the service, the caller, the idempotency key, and the errors of each."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.security import HTTPBearer

from bocage.service import wire
from bocage.service.bodies import StrictRoute
from bocage.service.service import Service

_REASONS = {
    400: "The request cannot be asked: plan, schema, parameters",
    401: "The key is missing or unknown",
    403: "Frozen, revoked, or more than the budget has left",
    404: "Not there, or not yours",
    409: "The idempotency key stands for another request",
    413: "Larger than this service takes",
    422: "Not of the documented form",
    429: "Too many requests; see Retry-After",
    500: "The service failed",
    503: "Not now: being opened, ledger or table lost; after admission the charge stands",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": wire.ErrorDocument, "description": reason}
    for status, reason in _REASONS.items()
}
_bearer = HTTPBearer(auto_error=False, description="A key of the data owner: `bocage_…`.")


def router() -> APIRouter:
    """A router of analysts' routes; the gate has checked the key."""
    return APIRouter(
        prefix="/v1", route_class=StrictRoute, responses=ERRORS, dependencies=[Depends(_bearer)]
    )


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _analyst(request: Request) -> str:
    analyst: str = request.state.analyst
    return analyst


Served = Annotated[Service, Depends(_service)]
Caller = Annotated[str, Depends(_analyst)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=f"^{wire.KEY_PATTERN}$",
        description="The same key and the same request: charged once, and the same answer.",
    ),
]
TableName = Annotated[str, Path(pattern=f"^{wire.NAME_PATTERN}$")]
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
