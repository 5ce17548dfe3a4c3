"""HTTP as the service speaks it: answers leave at once, and nobody's head grows without end."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from bocage.service.begun import begin

LONGEST_HEAD = 2**16  # bytes of a request line and its headers
HEAD_SECONDS = 60
# An extension of ASGI: the `body` of a request that came with its head, and how to `send` a whole answer.
PROMPT = "bocage.prompt"
_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class _Together:
    """A transport that sends the head of an answer together with what follows: who waits for the
    answer wakes up once."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport, self._head = transport, b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._head or not data.startswith(b"HTTP/"):
            head, self._head = self._head, b""
            self._transport.write(head + data)
        else:
            self._head = data
            asyncio.get_running_loop().call_soon(self._send_head)  # if nothing follows at once

    def write_whole(self, data: bytes) -> None:
        """Write what nothing follows."""
        self._send_head()
        self._transport.write(data)

    def close(self) -> None:
        self._send_head()
        self._transport.close()

    def _send_head(self) -> None:
        if self._head:
            self.write(b"")


class PromptProtocol(HttpToolsProtocol):
    """HTTP without Nagle's algorithm, also on sockets that worker processes share, and with limits.

    asyncio switches it off only where a socket says that it is TCP, which a shared one does not.
    Where head and body of an answer are written apart, the body would wait some 40 ms until the
    client has acknowledged the head.

    The parser itself takes a head of any length for any time.
    """

    _seen: int | None = 0  # bytes of the head that is coming; None while a body comes
    _reading = False
    _next: tuple[RequestResponseCycle, Any] | None = None  # a request whose head is here
    _late: asyncio.TimerHandle | None = None  # what ends a connection whose head does not

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        line = transport.get_extra_info("socket")
        if line is not None and line.family in {socket.AF_INET, socket.AF_INET6}:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._line = _Together(transport)
        super().connection_made(self._line)  # type: ignore[arg-type] # as one
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._reading = True
        try:
            self._read(data)
        finally:
            self._reading = False
            if self._next is not None:
                self._begin(*self._next)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """A request that is being read waits for the rest of what has come with its head."""
        if self._reading and getattr(app, "may_begin", False):
            self._next = (cycle, app)
        else:
            super()._start_asgi_task(cycle, app)

    def _begin(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._next = None
        if cycle.more_body:
            super()._start_asgi_task(cycle, app)
            return
        send = partial(self._send_whole, cycle)
        cycle.scope["extensions"] = {PROMPT: {"body": bytes(cycle.body), "send": send}}
        cycle.body, cycle.waiting_for_100_continue = bytearray(), False
        cycle.message_event.clear()  # the body is taken
        task = begin(cycle.run_asgi(app))
        if task is not None:
            task.add_done_callback(self.tasks.discard)
            self.tasks.add(task)

    async def _send_whole(
        self, cycle: RequestResponseCycle, status: int, head: bytes, body: bytes
    ) -> None:
        """Send an answer of which all is there. `head` has the lines of its headers but the length."""
        if cycle.flow.write_paused and not cycle.disconnected:
            await cycle.flow.drain()
        if cycle.disconnected:
            return
        cycle.response_started = cycle.response_complete = True
        lines = [b"%s: %s\r\n" % pair for pair in cycle.default_headers]
        close = b"" if cycle.keep_alive else b"connection: close\r\n"
        length = b"content-length: %d\r\n" % len(body)
        parts = (STATUS_LINE[status], *lines, length, head, close, b"\r\n", body)
        self._line.write_whole(b"".join(parts))
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        del cycle.scope["extensions"]  # which hold the cycle: nothing is left for the collector
        cycle.on_response()

    def _read(self, data: bytes) -> None:
        if self._seen is None:
            super().data_received(data)
            return
        room = LONGEST_HEAD - self._seen
        self._seen += len(data)
        super().data_received(data[:room])
        if self.transport.is_closing():
            return
        if self._seen is not None and self._seen > LONGEST_HEAD:
            self.transport.write(_TOO_LONG)
            self.transport.close()
        elif len(data) > room:
            super().data_received(data[room:])
        elif self._seen and self._late is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._seen = 0
        super().on_message_complete()

    def _await_head(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _head_is_here(self) -> None:
        self._seen = None
        if self._late is not None:
            self._late.cancel()
            self._late = None


class FairLoop(asyncio.SelectorEventLoop):
    """An event loop that leaves new connections to the other worker processes too.

    asyncio takes as many connections at once as may wait, and they stay where they are: of a few
    clients that come together, one worker would get all and the others none.
    """

    async def create_server(self, *given: Any, backlog: int = 100, **more: Any) -> asyncio.Server:
        server = await super().create_server(*given, backlog=1, **more)  # takes one at a time …
        for one in server.sockets:
            with one.dup() as line:
                line.listen(backlog)  # … of as many as may wait
        return server
