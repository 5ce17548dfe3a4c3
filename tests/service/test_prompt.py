"""Answers do not wait for acknowledgements, and connections come to all workers alike."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack

from uvicorn.protocols.http.h11_impl import H11Protocol

from bocage.service.prompt import FairLoop, PromptProtocol


class Transport:
    """As much of a transport as a new connection looks at."""

    def __init__(self, line):
        self._line = line

    def get_extra_info(self, name):
        return self._line if name == "socket" else None


def test_a_connection_on_a_shared_socket_sends_at_once(monkeypatch):
    monkeypatch.setattr(H11Protocol, "connection_made", lambda self, transport: None)
    with socket.socket(socket.AF_INET) as line:  # as uvicorn makes it for its workers: protocol 0
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
        PromptProtocol.connection_made(PromptProtocol.__new__(PromptProtocol), Transport(line))
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


class Closing(asyncio.Protocol):
    """Hangs up at once."""

    def connection_made(self, transport):
        transport.close()


def test_of_connections_that_come_at_once_some_are_left_for_other_workers():
    async def main():
        server = await asyncio.get_running_loop().create_server(Closing, "127.0.0.1", 0, backlog=64)
        with ExitStack() as lines, server.sockets[0].dup() as other:
            for _ in range(16):  # while this loop is busy: more may wait than are taken at once
                address = other.getsockname()
                lines.enter_context(socket.create_connection(address, timeout=5))
            for _ in range(3):  # this worker looks, and takes what it takes at a time
                await asyncio.sleep(0)
            left = 0
            try:
                while True:
                    other.accept()[0].close()
                    left += 1
            except BlockingIOError:
                pass
            await asyncio.sleep(0.1)  # until those that it took are closed
            server.close()
        assert 12 <= left < 16

    with asyncio.Runner(loop_factory=FairLoop) as runner:
        runner.run(main())
