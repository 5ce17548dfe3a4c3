"""What routes share: the service, the caller, the idempotency key, and the errors of each."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from bocage.service.core import documents
from bocage.service.core.service import Service
from bocage.service.core.strict_json import Refused, parse

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
    status: {"model": documents.ErrorDocument, "description": reason} for status, reason in _REASONS.items()
}
_bearer = HTTPBearer(auto_error=False, description="A key of the data owner: `bocage_…`.")


class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def json(self) -> Any:
        depth = self.app.state.service.settings.json_depth
        try:
            return parse(await self.body(), depth)
        except Refused as error:  # FastAPI lets through only its own
            raise HTTPException(400, str(error)) from None


class StrictRoute(APIRoute):
    """A route that reads its body strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


def router() -> APIRouter:
    """A router of analysts' routes; the gate has checked the key."""
    return APIRouter(prefix="/v1", route_class=StrictRoute, responses=ERRORS, dependencies=[Depends(_bearer)])


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
        pattern=f"^{documents.KEY_PATTERN}$",
        description="The same key and the same request: charged once, and the same answer.",
    ),
]
TableName = Annotated[str, Path(pattern=f"^{documents.NAME_PATTERN}$")]
Id = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
