"""Health and metrics: about the service, never about data."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from bocage._version import __version__
from bocage.errors import NotFound
from bocage.service.api.routing import Served
from bocage.service.core import documents
from bocage.service.settings import is_loopback

routes = APIRouter(tags=["system"])
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


@routes.get("/health", responses={503: {"model": documents.HealthDocument}})
def health(service: Served, response: Response) -> documents.HealthDocument:
    """Whether ledger and registry can be used."""
    well = service.healthy()
    response.status_code = 200 if well else 503
    return documents.HealthDocument(status="ok" if well else "degraded", version=__version__)


@routes.get("/metrics", include_in_schema=False)
def metrics(service: Served, request: Request) -> Response:
    """Prometheus, for this machine itself."""
    client = request.client.host if request.client else ""
    forwarded = any(name in request.headers for name in _FORWARDED)
    if not service.settings.metrics or not is_loopback(client) or forwarded:
        raise NotFound("there is nothing here.")
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")
