"""One request on its way through the gate."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from bocage.errors import BocageError, RequestInvalid
from bocage.service.begun import in_a_task
from bocage.service.core import errors
from bocage.service.protocol import PROMPT

if TYPE_CHECKING:
    from bocage.service.middleware import Gate

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BODY_SECONDS = 60
_LOG = logging.getLogger("bocage.service")
_JSON = [(b"content-type", b"application/json")]
_CLOSE = (b"connection", b"close")


class Passage:
    """Lets a request in, has it answered, and lets the answer out.

    A server may start it outside of a task (`Begun`): whatever needs one asks for it first.
    """

    def __init__(self, gate: Gate, scope: Scope, receive: Receive, send: Send) -> None:
        self._gate, self._scope, self._receive, self._send = gate, scope, receive, send
        self._prompt = scope.get("extensions", {}).get(PROMPT, {})  # if the server has it
        self._began, self._status, self._analyst = time.monotonic(), 0, ""
        self._is_whole = "body" in self._prompt  # all of the request is here

    async def run(self) -> None:
        gate, scope = self._gate, self._scope
        try:
            table = gate.direct.table_of(scope)
            if gate.is_guarded(scope["path"]):
                caller = await gate.admit(scope, table)
                self._analyst = caller["analyst"]
                scope.setdefault("state", {}).update(caller)
            body = await self._body(gate.body_limit(scope["path"]))
            if table is None or (answer := await gate.direct.answer(scope, table, body)) is None:
                await in_a_task()
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
        whole: bytes | None = self._prompt.get("body")
        if whole is not None:
            if len(whole) > most:
                raise _TooLarge(most)
            return whole
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

    async def _whole(self, status: int, body: bytes, more: dict[bytes, bytes]) -> None:
        """Answer in JSON, all at once: in one piece where the server can send one."""
        send = self._prompt.get("send")
        if send is not None and not more:
            self._status = status
            await self._gate.keep_schedule(self._scope["path"], self._began)
            await send(status, self._gate.json_head, body)
            return
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
