"""The application: routes, errors of one shape, and the gate around them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from bocage._version import __version__
from bocage.errors import BocageError, NotFound, RequestInvalid
from bocage.service.api import jobs, ledger, models, questions, system, tables
from bocage.service.core import errors
from bocage.service.core.directory import Home
from bocage.service.core.service import Service
from bocage.service.middleware import PREFIX, Gate
from bocage.service.web import login
from bocage.service.web.accuracy_map import pages as accuracy_map
from bocage.service.web.analyst import ledger as analyst_ledger
from bocage.service.web.analyst import tables as analyst_tables
from bocage.service.web.owner import ledger as owner_ledger
from bocage.service.web.owner import people
from bocage.service.web.owner import tables as owner_tables
from bocage.service.web.page import error_page
from bocage.service.web.survey import owner as survey_owner
from bocage.service.web.survey import participant

_API = (tables, questions, jobs, models, ledger, system)
# In the order in which their addresses are tried.
_PAGES = (
    login,
    participant,
    survey_owner,
    people,
    owner_ledger,
    owner_tables,
    accuracy_map,
    analyst_ledger,
    analyst_tables,
)
_DESCRIPTION = """Ask questions of records that you may not see. Every answer is noisy, charged to a
budget before a row is read, and carries its error bar and its ledger number. Errors have one shape:
`{"error": {"code", "message", "hint"}}`."""


def create_app(home: Home, service: Service | None = None) -> Callable[..., Awaitable[None]]:
    """The service of a home as an ASGI application."""
    served = service or Service(home)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = served.settings.threads
        await anyio.to_thread.run_sync(served.start)
        yield
        await anyio.to_thread.run_sync(served.close)

    app = FastAPI(
        title="Bocage",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = served
    for part in (*_API, *(_PAGES if served.settings.console else ())):
        app.include_router(part.routes)
    app.add_exception_handler(BocageError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _internal)
    return Gate(app, served)


def from_environment() -> Callable[..., Awaitable[None]]:
    """The application of a worker process: home and flags come in the environment."""
    return create_app(Home.open(os.environ["BOCAGE_HOME"]))


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, BocageError)  # noqa: S101 - registered for these
    return _response(errors.status_of(error), error)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these
    problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:5]]
    return _response(422, RequestInvalid(_printable("; ".join(problems))[:1000]))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these
    refused: BocageError = RequestInvalid(_printable(str(error.detail)))
    if error.status_code == 404:
        refused = NotFound("there is nothing at this address.")
    console = request.app.state.service.settings.console
    if console and _is_browser(request):
        return await error_page(request, refused, error.status_code)
    return _response(error.status_code, refused, error.headers)


def _is_browser(request: Request) -> bool:
    """Whether somebody looks at a page: programs ask under /v1, or for JSON."""
    wants = request.headers.get("accept", "")
    return "text/html" in wants and not request.url.path.startswith(PREFIX)


async def _internal(_: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - the gate logs it
    return JSONResponse({"error": errors.INTERNAL.model_dump()}, 500)


def _response(status: int, error: BocageError, more: Any = None) -> JSONResponse:
    body = {"error": errors.body_of(error).model_dump()}
    return JSONResponse(body, status, {**errors.headers_of(error), **(more or {})})


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
