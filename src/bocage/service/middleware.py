"""The gate: who may come in, how much they may bring, and when answers leave.

It is the outermost layer of the service. Keys and rates are checked before a body is read; every
answer to `/v1`, good or bad, leaves on the same schedule with the same headers; nothing that is
raised inside gets past it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

from anyio import to_thread

from bocage.errors import AccessDenied, ScopeClosed
from bocage.service.begun import in_a_task
from bocage.service.core import keys
from bocage.service.core.limits import Buckets, Limited, padding, sender
from bocage.service.core.sessions import Session, session_cookie
from bocage.service.fast_path import Direct
from bocage.service.passage import Passage, Receive, Scope, Send

if TYPE_CHECKING:
    from bocage.service.core.service import Service

_LOG = logging.getLogger("bocage.service")
PREFIX = "/v1/"
OPEN_TO_ALL = {"/v1/openapi.json"}
FAILED_KEYS_PER_SECOND, FAILED_KEYS_BURST = 5.0, 50
_HEADERS = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
    b"form-action 'none'",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), interest-cohort=()",
}


class Gate:
    """ASGI around the application."""

    may_begin = True  # outside of a task: see `begun`

    def __init__(self, app: Callable[..., Awaitable[None]], service: Service) -> None:
        settings = service.settings
        self.app, self.direct, self._service = app, Direct(service), service
        self._quantum = settings.padding_milliseconds / 1000
        self._rates = service.rates
        self._failed = Buckets(FAILED_KEYS_PER_SECOND / settings.workers, FAILED_KEYS_BURST)
        self._headers = dict(_HEADERS)
        if settings.tls_certificate or settings.behind_tls_proxy:
            self._headers[b"strict-transport-security"] = b"max-age=31536000"
        both = {b"content-type": b"application/json", **self._headers}
        self.json_head = b"".join(b"%s: %s\r\n" % pair for pair in both.items())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            self.direct.close()
        elif scope["type"] == "http":
            await Passage(self, scope, receive, send).run()
        else:  # a websocket: there is none
            await send({"type": "websocket.close", "code": 1008})

    def is_guarded(self, path: str) -> bool:
        """Whether nobody comes to this address without a key."""
        return path.startswith(PREFIX) and path not in OPEN_TO_ALL

    async def admit(self, scope: Scope, table: str | None) -> dict[str, Any]:
        """The `analyst` whose key or session the request carries, the hash of that `key`, and, where
        one look told it, the `grant` of the table that is asked for."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if not given and (session := await self._session(scope)) is not None:
            if seconds := self._rates.take(session.key):
                raise Limited("too many requests with this key.", seconds)
            return {"analyst": session.analyst, "key": session.key}
        scheme, _, key = (given[0] if len(given) == 1 else b"").decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not keys.KEY.fullmatch(key):
            self._refuse_key(scope)
        digest = keys.digest(key)
        if seconds := self._rates.take(digest):
            raise Limited("too many requests with this key.", seconds)
        registry = self._service.registry
        if registry.at_hand:  # a look into a local file waits for nobody: no thread is needed
            caller = registry.caller(digest, table)
        else:
            await in_a_task()
            caller = await to_thread.run_sync(registry.caller, digest, table)
        if caller is None:
            self._refuse_key(scope)
        if caller.state != "open":
            raise ScopeClosed(f"analyst {caller.name!r} is {caller.state}. Ask the data owner.")
        return {"analyst": caller.name, "key": digest, "grant": caller.grant}

    async def _session(self, scope: Scope) -> Session | None:
        """The analyst's session of a page of this service.

        Another site can make a browser send a request, but neither its cookie, which is strictly
        same-site, nor the header that pages add to whatever changes something.
        """
        token = session_cookie(scope)
        if token is None or not self._service.settings.console:
            return None
        if scope["method"] != "GET" and (b"x-bocage-page", b"1") not in scope["headers"]:
            return None
        await in_a_task()
        session = await to_thread.run_sync(self._service.sessions.find, token)
        return session if session is not None and session.role == "analyst" else None

    def _refuse_key(self, scope: Scope) -> NoReturn:
        host = sender(scope, behind_proxy=self._service.settings.behind_tls_proxy)
        if seconds := self._failed.take(host):
            raise Limited("too many requests without a valid key.", seconds)
        raise AccessDenied("the key is missing, or no key of this service.")

    def body_limit(self, path: str) -> int:
        settings = self._service.settings
        plan = path.startswith(PREFIX) and path.endswith("/contribute")
        return settings.party_plan_bytes if plan else settings.body_bytes

    def headers(self, own: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """The strict headers; a page may bring its own policy."""
        there = {name.lower() for name, _ in own}
        return [*own, *(pair for pair in self._headers.items() if pair[0] not in there)]

    async def keep_schedule(self, path: str, started: float) -> None:
        """Wait for the next multiple of the quantum since the request came."""
        if not self._quantum or not path.startswith(PREFIX) or path.endswith("/events"):
            return
        await asyncio.sleep(padding(time.monotonic() - started, self._quantum))

    def record(self, scope: Scope, status: int, seconds: float, analyst: str) -> None:
        route = getattr(scope.get("route"), "path", "-")
        self._service.metrics.request(scope["method"], route, status, seconds)
        who = analyst or "-"
        _LOG.info("%s %s %d %.0f ms %s", scope["method"], route, status, 1000 * seconds, who)
