"""All pages of the service: the way in, the consoles, the surveys, and their files."""

from __future__ import annotations

from importlib import resources
from typing import Annotated

from anyio import to_thread
from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from bocage.errors import NotFound
from bocage.service.core.limits import Buckets, Limited, sender
from bocage.service.core.sessions import COOKIE, session_cookie
from bocage.service.web.page import Served, page_router, render, session_of

routes = page_router()
_TYPES = {".css": "text/css", ".mjs": "text/javascript", ".svg": "image/svg+xml"}
_attempts = Buckets(0.5, 20)  # log-ins of one address


@routes.get("/")
async def start(request: Request) -> Response:
    """To the console of whoever is logged in."""
    session = await session_of(request)
    if session is None:
        return RedirectResponse("/login", 303)
    return RedirectResponse("/owner" if session.role == "owner" else "/analyst", 303)


@routes.get("/login")
async def log_in_page(request: Request, next: str = "/") -> Response:  # noqa: A002 - the address says so
    return await render(request, "login.html", next=_inside(next), problem="")


@routes.post("/login")
async def log_in(
    request: Request,
    service: Served,
    key: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 - the form says so
) -> Response:
    """A key for a session."""
    host = sender(request.scope, behind_proxy=service.settings.behind_tls_proxy)
    if seconds := _attempts.take(host):
        raise Limited("too many attempts to log in.", seconds)
    token = await to_thread.run_sync(service.sessions.log_in, key.strip())
    if token is None:
        problem = "This is no key of this service, or it was revoked or replaced."
        return await render(request, "login.html", 401, next=_inside(next), problem=problem)
    response = RedirectResponse(_inside(next), 303)
    secure = bool(service.settings.tls_certificate or service.settings.behind_tls_proxy)
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=secure, path="/")
    return response


@routes.post("/logout")
async def log_out(request: Request, service: Served) -> Response:
    token = session_cookie(request.scope)
    if token is not None:
        await to_thread.run_sync(service.sessions.log_out, token)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/")
    return response


@routes.get("/static/{name}")
def static_file(name: str) -> Response:
    """A file of the pages. There are no directories, so that no path leads out of this one."""
    if name == "bocage-local.mjs":  # the module that distorts: part of the library
        file = resources.files("bocage.local") / name
    else:
        files = {file.name: file for file in (resources.files(__package__) / "static").iterdir()}
        if name not in files:
            raise NotFound("there is no such file.")
        file = files[name]
    kind = _TYPES.get("." + name.rpartition(".")[2], "application/octet-stream")
    headers = {"cache-control": "no-cache", "cross-origin-resource-policy": "same-origin"}
    return Response(file.read_bytes(), media_type=f"{kind}; charset=utf-8", headers=headers)


def _inside(address: str) -> str:
    """An address of this service; another one, or one that a browser may take for another: home."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() and "\\" not in address else "/"
