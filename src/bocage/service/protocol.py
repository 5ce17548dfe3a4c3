"""What a connection may cost, before the HTTP server sees a byte of it.

The server is uvicorn with httptools, as it is. Between the network and the server stands a guard: an
asyncio protocol that reads the same bytes with a parser of the same kind, counts them, and passes on
what is in order. The parser takes heads, trailers and extensions of any length for any time, and the
server adds trailers to the headers. So here:

* what comes after a body is no header: a request with trailers is refused;
* a head and the framing of a body have a length, headers and requests that wait a number;
* a head, a body, an answer that is not taken and a farewell each have a time;
* a process has as many connections as it can serve.

No server can be told all of this. Behind another server the application works as well, without it.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bocage.service.middleware import CONNECTION

LONGEST_HEAD = 2**16  # bytes of a request line and its headers
MOST_HEADERS = 256
MOST_BETWEEN = 2**16  # bytes of a body's framing: sizes, extensions and ends of chunks
MOST_IN_LINE = 32  # requests of one connection that are not answered yet, besides the one being read
HEAD_SECONDS, BODY_SECONDS = 10, 20  # from the first byte, and from the end of the head
UNREAD_SECONDS = 120  # for a client to take an answer
LEAVE_SECONDS, LEAVE_BYTES = 2, 2**22  # for a client to take what was said, while it still talks
MOST_CONNECTIONS = 4096
RESERVED_FILES = 128  # that a process opens for itself: ledger, registry, tables, logs
_REFUSAL = b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_BAD = _REFUSAL % b"400 Bad Request"
_TOO_LATE = _REFUSAL % b"408 Request Timeout"
_TOO_LONG = _REFUSAL % b"431 Request Header Fields Too Large"


class Connection(Protocol):
    """What can be cut off."""

    def cut(self) -> None: ...


class Connections:
    """Who is connected. A connection waits, or is being answered.

    Who waits has sent no whole request: a head or a body is missing, or nothing has come since the
    last answer. Where there is no room for one more, who has waited longest is cut off. Nobody who
    is being answered is; where all are, the newcomer is.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._waiting: OrderedDict[Connection, None] = OrderedDict()
        self._working: set[Connection] = set()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._working)

    def open(self, connection: Connection) -> None:
        self._waiting[connection] = None
        if len(self) > self.most:
            oldest, _ = self._waiting.popitem(last=False)
            oldest.cut()

    def wait(self, connection: Connection) -> None:
        """Its answers are given, and the next request is expected."""
        if connection in self._working:
            self._working.discard(connection)
            self._waiting[connection] = None

    def work(self, connection: Connection) -> None:
        """A whole request is here."""
        if connection in self._waiting:
            del self._waiting[connection]
            self._working.add(connection)

    def close(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        self._working.discard(connection)


def room() -> int:
    """How many connections a process may have: what it can open, less what it needs itself."""
    if sys.platform == "win32":
        return 512 - RESERVED_FILES
    import resource  # noqa: PLC0415 - not on every system

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(16, min(MOST_CONNECTIONS, soft - RESERVED_FILES))


CONNECTIONS = Connections(room())


class _Refused(Exception):
    """The request that is being read is not taken."""


class _GuardedTransport:
    """The transport as the server sees it. The guard ends it, and nothing is written afterwards."""

    def __init__(self, guard: Guard, transport: asyncio.Transport) -> None:
        self._guard, self._transport = guard, transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._guard.has_left:
            self._guard.is_answering = True
            self._transport.write(data)

    def is_closing(self) -> bool:
        return self._guard.has_left or self._transport.is_closing()

    def close(self) -> None:
        self._guard.leave()


class Guard(asyncio.Protocol):
    """One connection: an HTTP server that is told nothing but what is in order.

    Takes what uvicorn gives to the protocols that it knows by name.
    """

    def __init__(self, *, app_state: dict[str, Any], **given: Any) -> None:
        self._state = {**app_state, CONNECTION: self}
        self._server = HttpToolsProtocol(app_state=self._state, **given)
        self._parser = HttpRequestParser(self)
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as the server has it
        self._loop = asyncio.get_running_loop()
        self._head = 0  # bytes of the head that is coming
        self._headers = 0
        self._in_body = False
        self._between = 0  # bytes that came since the head, less those of the body
        self._messages = 0  # heads that were read
        self._due = 0  # of them those that are not answered, with the one whose body is coming
        self.is_answering = False  # something was written since the last answer was complete
        self.has_left = False
        self._unwanted: int | None = None  # bytes that came after the last that is read
        self._timer: asyncio.TimerHandle | None = None  # for the head, the body or the farewell
        self._timed: tuple[int, bool] | None = None
        self._unread: asyncio.TimerHandle | None = None

    # From the network

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # it is one
        line = transport.get_extra_info("socket")
        if line is not None and line.family in {socket.AF_INET, socket.AF_INET6}:
            # asyncio does so where a socket says that it is TCP: one that workers share does not.
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._transport = transport
        self._server.connection_made(_GuardedTransport(self, transport))  # type: ignore[arg-type] # as one
        self._timed = (0, False)
        self._start_timer(HEAD_SECONDS, self._time_is_up)
        CONNECTIONS.open(self)

    def connection_lost(self, exc: Exception | None) -> None:
        CONNECTIONS.close(self)
        self.has_left = True
        self._stop_timer()
        self.resume_writing()
        self._server.connection_lost(exc)
        self._state.clear()  # nothing is left for the garbage collector
        del self._parser

    def data_received(self, data: bytes) -> None:
        if self._unwanted is not None:
            self._unwanted += len(data)
            if self._unwanted > LEAVE_BYTES:
                self._transport.abort()
            return
        before = self._due, self._in_body
        try:
            refusal = self._check(data)
        except HttpParserError:
            refusal = _BAD
        if refusal is not None:
            self._due, self._in_body = before  # the server hears nothing of this piece
            self._refuse(refusal)
            return
        self._server.data_received(data)
        if self._due > self._in_body:
            CONNECTIONS.work(self)
        if self._unwanted is None:
            self._watch_the_time()

    def eof_received(self) -> None:
        self._server.eof_received()
        self.leave()

    def pause_writing(self) -> None:
        self._server.pause_writing()
        self._unread = self._loop.call_later(UNREAD_SECONDS, self._transport.abort)

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        self._server.resume_writing()

    # Reading

    def _check(self, data: bytes) -> bytes | None:
        """Read a piece; why it is refused, if it is longer than it may be."""
        if self._in_body:
            self._between += len(data)
            self._parse(data)
            return _BAD if self._in_body and self._between > MOST_BETWEEN else None
        room_left = LONGEST_HEAD - self._head
        self._head += len(data)
        self._parse(data[:room_left])
        if not self._in_body and self._head > LONGEST_HEAD:
            return _TOO_LONG
        if len(data) > room_left and self._unwanted is None:
            self._parse(data[room_left:])
        self._between = 0  # what came with the head is not counted: at most one piece
        return None

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:  # there is none: it is answered as if none were asked for
            self._unwanted = 0

    def on_message_begin(self) -> None:
        self._head = max(self._head, 1)
        self._headers = 0

    def on_header(self, name: bytes, value: bytes) -> None:  # noqa: ARG002 - as the parser has it
        self._headers += 1
        if self._in_body or self._headers > MOST_HEADERS:
            raise _Refused

    def on_headers_complete(self) -> None:
        if self._due > MOST_IN_LINE:
            raise _Refused
        self._in_body = True
        self._messages += 1
        self._due += 1

    def on_body(self, body: bytes) -> None:
        self._between -= len(body)

    def on_message_complete(self) -> None:
        self._in_body, self._head, self._between = False, 0, 0

    # Answering and leaving

    def answered(self) -> None:
        """The answer to the first request that waits is written."""
        self._due -= 1
        self.is_answering = False
        if self._due == 0:
            CONNECTIONS.wait(self)
        if self._unwanted is not None and self._due <= self._in_body:
            self.leave()

    def cut(self) -> None:
        """End the connection now."""
        self._transport.abort()

    def leave(self) -> None:
        """End the connection, but let the client take the answer, also while it still talks.

        What is closed with bytes unread is reset, and the answer may be lost on its way.
        """
        if self.has_left:
            return
        self.has_left = True
        self._unwanted = self._unwanted or 0
        talks = self._in_body or self._head
        if talks and self._transport.can_write_eof():
            self._start_timer(LEAVE_SECONDS, self._transport.abort)
            self._transport.write_eof()
            self._transport.resume_reading()
        else:
            self._start_timer(UNREAD_SECONDS, self._transport.abort)
            self._transport.close()

    def _refuse(self, answer: bytes) -> None:
        """Refuse what is being read, and read no more of this connection.

        The refusal takes no other answer's place: where one is due, or has begun, nothing is said.
        """
        self._stop_timer()
        self._unwanted = 0
        if self._due > self._in_body:
            return  # whole requests before this one are answered
        if not self.is_answering and not self.has_left:
            self._transport.write(answer)
        self._head = 1  # whoever sent it may not be done
        self.leave()

    def _watch_the_time(self) -> None:
        """Whatever has come in part has a time for the rest."""
        reading = (self._messages, self._in_body) if self._in_body or self._head else None
        if reading == self._timed:
            return
        self._timed = reading
        if reading is None:
            self._stop_timer()
        else:
            self._start_timer(BODY_SECONDS if self._in_body else HEAD_SECONDS, self._time_is_up)

    def _time_is_up(self) -> None:
        self._refuse(_TOO_LATE if self._in_body else b"")

    def _start_timer(self, seconds: float, act: Callable[[], None]) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(seconds, act)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def new_event_loop() -> asyncio.AbstractEventLoop:
    """An event loop of asyncio that accepts one connection at a time, and soon gives up a handshake.

    asyncio accepts as many connections at once as may wait. Of a few clients that come together one
    worker would get all, and many at once would need more files than a process has, before those for
    which there is no room are closed. uvicorn has no settings for either, but takes a maker of loops.
    """
    loop = asyncio.new_event_loop()
    create_server = loop.create_server

    async def listen(*given: Any, backlog: int = 100, **more: Any) -> asyncio.Server:
        if more.get("ssl") is not None:
            more["ssl_handshake_timeout"] = HEAD_SECONDS
            more["ssl_shutdown_timeout"] = LEAVE_SECONDS
        server = await create_server(*given, backlog=1, **more)  # accepts one at a time …
        for listener in server.sockets:
            with listener.dup() as line:
                line.listen(backlog)  # … of as many as may wait
        return server

    loop.create_server = listen  # type: ignore[method-assign] # the one method that we set
    return loop
