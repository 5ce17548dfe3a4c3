"""What all pages share: who looks, how a page is drawn, and how it says that something went wrong."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from anyio import to_thread
from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined

from bocage._version import __version__
from bocage.errors import AccessDenied, BocageError, NotFound, RequestInvalid
from bocage.private.answer import figure
from bocage.schema import Schema
from bocage.service.core import errors
from bocage.service.core.limits import Limited
from bocage.service.core.service import Service
from bocage.service.core.sessions import Session, session_cookie
from bocage.service.web import charts

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class LogInFirst(AccessDenied):
    """Nobody is logged in who may see this page."""


class PageRoute(APIRoute):
    """Errors of a page are pages; what changes something comes from a page of this service."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                if request.method not in ("GET", "HEAD"):
                    _require_own_page(request)
                return await handle(request)
            except LogInFirst:
                back = request.url.path if request.method == "GET" else "/"  # a form is not resent
                return RedirectResponse(f"/login?next={quote(back)}", 303)
            except RequestValidationError as error:
                fields = sorted({str(problem["loc"][-1]) for problem in error.errors()})
                refused = RequestInvalid(f"the form lacks or misstates {', '.join(fields)}.")
                return await error_page(request, refused)
            except BocageError as error:
                return await error_page(request, error)

        return handler


def _require_own_page(request: Request) -> None:
    """Refuse what another site sent, even if a browser forgot that cookies are same-site."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    own = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    if site != "same-origin" and not (own and site is None):  # no page can choose Sec-Fetch-Site
        raise RequestInvalid("this form was not sent by a page of this service. Open it again.")


def page_router(**options: Any) -> APIRouter:
    return APIRouter(route_class=PageRoute, include_in_schema=False, **options)


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def session_of(request: Request) -> Session | None:
    """Who is logged in, if anybody."""
    token = session_cookie(request.scope)
    service: Service = request.app.state.service
    session: Session | None = getattr(request.state, "session", None)
    if session is None and token is not None:
        session = await to_thread.run_sync(service.sessions.find, token)
        request.state.session = session
    return session


async def _analyst(request: Request) -> str:
    session = await session_of(request)
    if session is None or session.role != "analyst":
        raise LogInFirst("log in as an analyst.")
    service: Service = request.app.state.service
    if seconds := service.rates.take(session.key):
        raise Limited("too many requests with this key.", seconds)
    return session.analyst


async def _owner(request: Request) -> None:
    session = await session_of(request)
    if session is None or session.role != "owner":
        raise LogInFirst("log in as the owner.")


Served = Annotated[Service, Depends(_service)]
Analyst = Annotated[str, Depends(_analyst)]
OwnerOnly = Depends(_owner)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bocage.service.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"charts": charts, "version": __version__}
    environment.filters |= {"figure": figure, "moment": moment, "amount": amount}
    return environment


def moment(text: str | float) -> str:
    """A time of the registry or the ledger, for people."""
    then = datetime.fromisoformat(text) if isinstance(text, str) else datetime.fromtimestamp(text, UTC)
    return then.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def amount(epsilon: object) -> str:
    """An epsilon without the zeros at its end."""
    text = str(epsilon)
    return text.rstrip("0").rstrip(".") if "." in text else text


def schemas_of(service: Service) -> dict[str, Schema]:
    """The schemas of the served tables, by their names in the ledger."""
    return {table.scope: table.schema for table in service.registry.tables()}


async def render(request: Request, template: str, status: int = 200, /, **context: Any) -> HTMLResponse:
    """A page with the frame around it and the policy that lets in nothing from elsewhere."""
    session = await session_of(request)
    shown = {"session": session, "path": request.url.path, **context}
    text = await to_thread.run_sync(lambda: _environment().get_template(template).render(shown))
    return HTMLResponse(text, status, {"content-security-policy": POLICY})


async def error_page(request: Request, error: BocageError, status: int | None = None) -> Response:
    """What went wrong, as a page; with the status of its kind, or a given one."""
    body, kind = errors.body_of(error), errors.status_of(error)
    heading = "Not here" if isinstance(error, NotFound) else "This was refused"
    if body.hint.startswith("GET "):  # of use to programs only
        body = body.model_copy(update={"hint": "Go back, mend it and send it again."})
    page = await render(request, "error.html", status or kind, heading=heading, error=body)
    page.headers.update(errors.headers_of(error))
    return page
