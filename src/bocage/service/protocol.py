"""HTTP as the service speaks it: answers leave at once, and nobody's head grows without end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from bocage.service.begun import begin
from bocage.service.connections import Connections, room

LONGEST_HEAD = 2**16  # bytes of a request line and its headers
MOST_HEADERS = 256
MOST_BETWEEN = 2**16  # bytes of a body's framing: sizes, extensions and ends of chunks
MOST_IN_LINE = 32  # requests that wait for the answer to an earlier one of their connection
HEAD_SECONDS, BODY_SECONDS = 10, 20  # from the first byte, and from the end of the head
UNREAD_SECONDS = 120  # for a client to take an answer
LEAVE_SECONDS, LEAVE_BYTES = 2, 2**22  # for a client to take what was said, while it still talks
# An extension of ASGI: the `body` of a request that came with its head, and how to `send` a whole answer.
PROMPT = "bocage.prompt"
_REFUSAL = b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_BAD = _REFUSAL % b"400 Bad Request"
_TOO_LATE = _REFUSAL % b"408 Request Timeout"
_TOO_LONG = _REFUSAL % b"431 Request Header Fields Too Large"
CONNECTIONS = Connections(room())


class _Refused(Exception):
    """The request that is being read is not taken."""


class _Together:
    """A transport that sends the head of an answer together with what follows: who waits for the
    answer wakes up once."""

    def __init__(
        self, transport: asyncio.Transport, leave: Callable[[], None] | None = None
    ) -> None:
        self._transport, self._head = transport, b""
        self._leave, self.left = leave or transport.close, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self.left:
            return
        if self._head or not data.startswith(b"HTTP/"):
            head, self._head = self._head, b""
            self._transport.write(head + data)
        else:
            self._head = data
            asyncio.get_running_loop().call_soon(self._send_head)  # if nothing follows at once

    def write_whole(self, data: bytes) -> None:
        """Write what nothing follows."""
        self._send_head()
        if not self.left:
            self._transport.write(data)

    def is_closing(self) -> bool:
        return self.left or self._transport.is_closing()

    def close(self) -> None:
        if not self.left:
            self._send_head()
            self.left = True
            self._leave()

    def _send_head(self) -> None:
        if self._head:
            self.write(b"")


class PromptProtocol(HttpToolsProtocol):
    """HTTP without Nagle's algorithm, also on sockets that worker processes share, and with limits.

    asyncio switches it off only where a socket says that it is TCP, which a shared one does not.
    Where head and body of an answer are written apart, the body would wait some 40 ms until the
    client has acknowledged the head.

    The parser itself takes heads, trailers and extensions of any length for any time, and adds
    trailers to the headers. Here:

    * what comes after a body is no header: a request with trailers is refused;
    * a head and the framing of a body have a length, headers and requests that wait a number;
    * a head, a body, an answer that is not taken and a farewell each have a time;
    * a process has as many connections as it can serve.
    """

    _seen: int | None = 0  # bytes of the head that is coming; None while a body comes
    _between = 0  # bytes that came since the head, less those of the body
    _reading = False
    _next: tuple[RequestResponseCycle, Any] | None = None  # a request whose head is here
    _late: asyncio.TimerHandle | None = None  # what ends a connection whose head or body does not
    _unread: asyncio.TimerHandle | None = None  # … whose answer is not taken
    _farewell: int | None = None  # bytes that came after it was ended

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        line = transport.get_extra_info("socket")
        if line is not None and line.family in {socket.AF_INET, socket.AF_INET6}:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._plain = transport
        self._line = _Together(transport, self._leave)
        super().connection_made(self._line)  # type: ignore[arg-type] # as one
        self._await_head()
        CONNECTIONS.open(self)

    def connection_lost(self, exc: Exception | None) -> None:
        CONNECTIONS.close(self)
        self._line.left = True
        self._in_time()
        self.resume_writing()
        super().connection_lost(exc)

    def cut(self) -> None:
        """End the connection now."""
        self._plain.abort()

    def _leave(self) -> None:
        """End the connection, but let the client take the answer, also while it still talks.

        What is closed with bytes unread is reset, and the answer may be lost on its way.
        """
        self._farewell = 0
        if self._seen == 0 or not self._plain.can_write_eof():
            self._await(UNREAD_SECONDS, self._plain.abort)
            self._plain.close()
        else:
            self._await(LEAVE_SECONDS, self._plain.abort)
            self._plain.write_eof()
            self.flow.resume_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self._plain.abort)

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._farewell is not None:
            self._farewell += len(data)
            if self._farewell > LEAVE_BYTES:
                self._plain.abort()
            return
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
            self._between += len(data)
            super().data_received(data)
            if self._seen is None and self._between > MOST_BETWEEN:
                self._refuse(_BAD)
            return
        room = LONGEST_HEAD - self._seen
        self._seen += len(data)
        super().data_received(data[:room])
        if self._line.is_closing():
            return
        if self._seen is not None and self._seen > LONGEST_HEAD:
            self._refuse(_TOO_LONG)
        elif len(data) > room:
            super().data_received(data[room:])
        elif self._seen and self._late is None:
            self._await_head()
        if self._seen is None:  # what came with the head is not counted: at most one piece
            self._between = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._seen is None or len(self.headers) == MOST_HEADERS:
            raise _Refused
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MOST_IN_LINE:
            raise _Refused
        self._seen = None
        self._await(BODY_SECONDS, partial(self._refuse, _TOO_LATE))
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._between -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._seen, self._between = 0, 0
        self._in_time()
        if self._line.is_closing():
            return
        CONNECTIONS.work(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if (
            self._seen is None and self.cycle.response_complete
        ):  # answered before all of it was here: the rest is not waited for
            self._line.close()
        if not self.pipeline:
            CONNECTIONS.wait(self)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - all are refused alike
        self._refuse(_BAD)

    def _refuse(self, answer: bytes) -> None:
        """Refuse what is being read, and read no more of this connection.

        The refusal takes no other answer's place: where one is due, or has begun, nothing is said.
        """
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            if self._seen is not None:
                cycle.keep_alive = False  # whole requests before this one are answered
                self._farewell = 0
                return
            if cycle.response_started or self.pipeline:
                self._line.close()
                return
            cycle.disconnected = True
            cycle.message_event.set()
        self._line.write(answer)
        self._line.close()

    def _await_head(self) -> None:
        self._await(HEAD_SECONDS, partial(self._refuse, b""))

    def _await(self, seconds: float, otherwise: Callable[[], None]) -> None:
        self._in_time()
        self._late = self.loop.call_later(seconds, otherwise)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class FairLoop(asyncio.SelectorEventLoop):
    """An event loop that takes new connections one at a time.

    asyncio takes as many at once as may wait, and they stay where they are: of a few clients that come
    together, one worker would get all and the others none. And many at once would need more files than
    a process has, before those for which there is no room are closed.

    It does not wait a minute for a handshake of TLS either.
    """

    async def create_server(self, *given: Any, backlog: int = 100, **more: Any) -> asyncio.Server:
        if more.get("ssl") is not None:
            more["ssl_handshake_timeout"] = HEAD_SECONDS
            more["ssl_shutdown_timeout"] = LEAVE_SECONDS
        server = await super().create_server(*given, backlog=1, **more)  # takes one at a time …
        for one in server.sockets:
            with one.dup() as line:
                line.listen(backlog)  # … of as many as may wait
        return server
