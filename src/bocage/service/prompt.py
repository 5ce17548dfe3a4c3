"""Answers that leave at once."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class PromptProtocol(H11Protocol):
    """HTTP without Nagle's algorithm, also on sockets that worker processes share.

    asyncio switches it off only where a socket says that it is TCP, which a shared one does not.
    Head and body of an answer are written apart: the body would wait some 40 ms until the client
    has acknowledged the head.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        line = transport.get_extra_info("socket")
        if line is not None and line.family in {socket.AF_INET, socket.AF_INET6}:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)


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
