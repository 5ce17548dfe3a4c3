"""The gate: who may come in, how much they may bring, and when answers leave.

It is the outermost layer of the service. Keys and rates are checked before a body is read; every
answer to `/v1`, good or bad, leaves on the same schedule with the same headers; nothing that is
raised inside gets past it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, NoReturn

from anyio import to_thread

from bocage.errors import AccessDenied, BocageError, RequestInvalid, ScopeClosed
from bocage.service import keys, problems
from bocage.service.direct import Direct
from bocage.service.limits import Buckets, Limited, sender
from bocage.service.sessions import Session, session_cookie

if TYPE_CHECKING:
    from bocage.service.service import Service

_LOG = logging.getLogger("bocage.service")
Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PREFIX = "/v1/"
OPEN_TO_ALL = {"/v1/openapi.json"}
BODY_SECONDS = 60
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

    def __init__(self, app: Callable[..., Awaitable[None]], service: Service) -> None:
        settings = service.settings
        self.app, self.direct, self._service = app, Direct(service), service
        self._quantum = settings.padding_milliseconds / 1000
        self._rates = service.rates
        self._failed = Buckets(FAILED_KEYS_PER_SECOND / settings.workers, FAILED_KEYS_BURST)
        self._headers = dict(_HEADERS)
        if settings.tls_certificate or settings.behind_tls_proxy:
            self._headers[b"strict-transport-security"] = b"max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            self.direct.close()
        elif scope["type"] == "http":
            await _Passage(self, scope, receive, send).run()
        else:  # a websocket: there is none
            await send({"type": "websocket.close", "code": 1008})

    async def admit(self, scope: Scope) -> tuple[str, str]:
        """The analyst whose key or session the request carries, and the hash of that key."""
        host = sender(scope, behind_proxy=self._service.settings.behind_tls_proxy)
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if not given and (session := await self._session(scope)) is not None:
            if seconds := self._rates.take(session.key):
                raise Limited("too many requests with this key.", seconds)
            return session.analyst, session.key
        scheme, _, key = (given[0] if len(given) == 1 else b"").decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not keys.KEY.fullmatch(key):
            self._refuse_key(host)
        digest = keys.digest(key)
        if seconds := self._rates.take(digest):
            raise Limited("too many requests with this key.", seconds)
        registry = self._service.registry
        if registry.at_hand:  # a look into a local file waits for nobody: no thread is needed
            analyst = registry.authenticate(key)
        else:
            analyst = await to_thread.run_sync(registry.authenticate, key)
        if analyst is None:
            self._refuse_key(host)
        if analyst.state != "open":
            raise ScopeClosed(f"analyst {analyst.name!r} is {analyst.state}. Ask the data owner.")
        return analyst.name, digest

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
        session = await to_thread.run_sync(self._service.sessions.find, token)
        return session if session is not None and session.role == "analyst" else None

    def _refuse_key(self, host: str) -> NoReturn:
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


class _Passage:
    """One request on its way through the gate."""

    def __init__(self, gate: Gate, scope: Scope, receive: Receive, send: Send) -> None:
        self._gate, self._scope, self._receive, self._send = gate, scope, receive, send
        self._began, self._status, self._analyst = time.monotonic(), 0, ""

    async def run(self) -> None:
        path = self._scope["path"]
        try:
            if path.startswith(PREFIX) and path not in OPEN_TO_ALL:
                self._analyst, key = await self._gate.admit(self._scope)
                self._scope.setdefault("state", {}).update(analyst=self._analyst, key=key)
            body = await self._body(self._gate.body_limit(path))
            if not await self._gate.direct.answer(self._scope, body, self._answer):
                await self._gate.app(self._scope, self._replay(body), self._answer)
        except _TooLarge as error:
            await self._refuse(error, 413)
        except BocageError as error:
            await self._refuse(error, problems.status_of(error))
        except Exception as error:  # noqa: BLE001 - whatever it says may quote what it must not
            _LOG.error(
                "a request failed with %s %s", type(error).__name__, problems.place_of(error)
            )
            if not self._status:
                await self._json(500, problems.INTERNAL.model_dump(), {})
        seconds = time.monotonic() - self._began
        self._gate.record(self._scope, self._status, seconds, self._analyst)

    async def _body(self, most: int) -> bytes:
        refused = _TooLarge(f"the request has more than {most} bytes.")
        for name, value in self._scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value[:18]) > most):
                raise refused
        content = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await self._receive()
                    content += message.get("body", b"")
                    if len(content) > most:
                        raise refused
                    if message["type"] != "http.request" or not message.get("more_body"):
                        return bytes(content)
        except TimeoutError:
            raise RequestInvalid("the request did not arrive in time.") from None

    def _replay(self, body: bytes) -> Receive:
        given = False

        async def receive() -> Message:
            nonlocal given
            if given:
                return await self._receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        return receive

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            await self._gate.keep_schedule(self._scope["path"], self._began)
            message["headers"] = self._gate.headers(list(message.get("headers", [])))
        await self._send(message)

    async def _refuse(self, error: BocageError, status: int) -> None:
        more = {name.encode(): text.encode() for name, text in problems.headers_of(error).items()}
        await self._json(status, problems.body_of(error).model_dump(), more)

    async def _json(self, status: int, error: dict[str, str], more: dict[bytes, bytes]) -> None:
        text = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":"))
        body = text.encode()
        headers = {b"content-type": b"application/json", b"content-length": str(len(body)).encode()}
        start = {"type": "http.response.start", "status": status}
        await self._answer({**start, "headers": [*headers.items(), *more.items()]})
        await self._answer({"type": "http.response.body", "body": body})


def padding(elapsed: float, quantum: float) -> float:
    """How long to wait so that the whole time is a multiple of the quantum, and at least one."""
    return max(math.ceil(elapsed / quantum), 1) * quantum - elapsed


class _TooLarge(RequestInvalid):
    """More than the service takes."""
