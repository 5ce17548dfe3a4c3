"""What stands around the application: who may come in, how much they may bring, when answers leave.

Keys and rates are checked before a body is read; every answer to `/v1`, good or bad, leaves on the
same schedule with the same headers; nothing that is raised inside gets past it. It is plain ASGI, so
that any server can run it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, NoReturn

from anyio import to_thread

from bocage.errors import AccessDenied, BocageError, RequestInvalid, ScopeClosed
from bocage.service.core import errors
from bocage.service.core.limits import Buckets, Limited, padding, sender
from bocage.service.core.registry import KEY, key_digest
from bocage.service.core.sessions import Session, session_cookie
from bocage.service.fast_path import FastPath

if TYPE_CHECKING:
    from bocage.service.core.service import Service

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PREFIX = "/v1/"
OPEN_TO_ALL = {"/v1/openapi.json"}
FAILED_KEYS_PER_SECOND, FAILED_KEYS_BURST = 5.0, 50
BODY_SECONDS = 60  # `protocol` has less patience; other servers may have none of their own
# Where a server leaves in the state of a request who wants to know that it is answered.
CONNECTION = "bocage.connection"
_LOG = logging.getLogger("bocage.service")
_JSON = [(b"content-type", b"application/json")]
_CLOSE = (b"connection", b"close")
_ANNOUNCE_A_BODY = {b"content-length", b"transfer-encoding"}
_HEADERS = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
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
        self.app, self.fast_path, self._service = app, FastPath(service), service
        self._quantum = settings.padding_milliseconds / 1000
        self._rates = service.rates
        self._failed = Buckets(FAILED_KEYS_PER_SECOND / settings.workers, FAILED_KEYS_BURST)
        self._headers = dict(_HEADERS)
        if settings.tls_certificate or settings.behind_tls_proxy:
            self._headers[b"strict-transport-security"] = b"max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await _Exchange(self, scope, receive, send).run()
        else:  # a websocket: there is none
            await send({"type": "websocket.close", "code": 1008})

    def is_guarded(self, path: str) -> bool:
        """Whether nobody comes to this address without a key."""
        return path.startswith(PREFIX) and path not in OPEN_TO_ALL

    async def admit(self, scope: Scope, table: str | None) -> dict[str, Any]:
        """The `analyst` whose key or session the request carries, the hash of that `key`, and, where
        one look told it, the `grant` of the table that is asked for.
        """
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if not given and (session := await self._session(scope)) is not None:
            if seconds := self._rates.take(session.key):
                raise Limited("too many requests with this key.", seconds)
            return {"analyst": session.analyst, "key": session.key}
        scheme, _, key = (given[0] if len(given) == 1 else b"").decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not KEY.fullmatch(key):
            self._refuse_key(scope)
        digest = key_digest(key)
        if seconds := self._rates.take(digest):
            raise Limited("too many requests with this key.", seconds)
        registry = self._service.registry
        if registry.at_hand:  # a look into a local file waits for nobody: no thread is needed
            caller = registry.caller(digest, table)
        else:
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
        named = {name.lower() for name, _ in own}
        return [*own, *(pair for pair in self._headers.items() if pair[0] not in named)]

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


class _Exchange:
    """One request: lets it in, has it answered, and lets the answer out."""

    def __init__(self, gate: Gate, scope: Scope, receive: Receive, send: Send) -> None:
        self._gate, self._scope, self._receive, self._send = gate, scope, receive, send
        self._began, self._status, self._analyst = time.monotonic(), 0, ""
        # All of the request is here: from the start, if it announces no body.
        self._is_whole = not any(name in _ANNOUNCE_A_BODY for name, _ in scope["headers"])
        self._connection = scope.setdefault("state", {}).pop(CONNECTION, None)

    async def run(self) -> None:
        gate, scope = self._gate, self._scope
        try:
            table = gate.fast_path.table_of(scope)
            if gate.is_guarded(scope["path"]):
                caller = await gate.admit(scope, table)
                self._analyst = caller["analyst"]
                scope["state"].update(caller)
            body = await self._body(gate.body_limit(scope["path"]))
            if table is None or (answer := await gate.fast_path.answer(scope, table, body)) is None:
                await gate.app(scope, self._replay(body), self._answer)
            else:
                await self._whole(200, answer, {})
        except _TooLarge as error:
            await self._refuse(error, 413)
        except BocageError as error:
            await self._refuse(error, errors.status_of(error))
        except Exception as error:  # noqa: BLE001 - whatever it says may quote what it must not
            _LOG.error("a request failed with %s %s", type(error).__name__, errors.place_of(error))
            if not self._status:
                await self._json(500, errors.INTERNAL.model_dump(), {})
        gate.record(scope, self._status, time.monotonic() - self._began, self._analyst)

    async def _body(self, most: int) -> bytes:
        for name, value in self._scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value[:18]) > most):
                raise _TooLarge(most)
        content = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await self._receive()
                    if message["type"] != "http.request":
                        raise RequestInvalid("the request was not sent to its end.")
                    content += message.get("body", b"")
                    if len(content) > most:
                        raise _TooLarge(most)
                    if not message.get("more_body"):
                        self._is_whole = True
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
            headers = self._gate.headers(list(message.get("headers", [])))
            # Where the rest of a request is not waited for, none can follow it.
            message["headers"] = headers if self._is_whole else [*headers, _CLOSE]
        await self._send(message)
        ends = message["type"] == "http.response.body" and not message.get("more_body")
        if ends and self._connection is not None:
            self._connection.answered()

    async def _whole(self, status: int, body: bytes, more: dict[bytes, bytes]) -> None:
        """Answer in JSON, all at once."""
        headers = [(b"content-length", str(len(body)).encode()), *_JSON, *more.items()]
        await self._answer({"type": "http.response.start", "status": status, "headers": headers})
        await self._answer({"type": "http.response.body", "body": body})

    async def _refuse(self, error: BocageError, status: int) -> None:
        more = {name.encode(): text.encode() for name, text in errors.headers_of(error).items()}
        await self._json(status, errors.body_of(error).model_dump(), more)

    async def _json(self, status: int, error: dict[str, str], more: dict[bytes, bytes]) -> None:
        text = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":"))
        await self._whole(status, text.encode(), more)


class _TooLarge(RequestInvalid):
    """More than the service takes."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the request has more than {most} bytes.")
