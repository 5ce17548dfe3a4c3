"""Answers do not wait for acknowledgements, whoever made the socket."""

from __future__ import annotations

import socket

from uvicorn.protocols.http.h11_impl import H11Protocol

from bocage.service.prompt import PromptProtocol


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
