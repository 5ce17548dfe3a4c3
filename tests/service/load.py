"""Clients that ask as fast as they are answered: one light process, so that it is the service that
is measured. Real HTTP over loopback on connections that are kept, and a new idempotency key for
every question.

Shared by a test and a benchmark. As a program it reads its arguments as JSON and prints the times.
"""

from __future__ import annotations

import json
import selectors
import socket
import subprocess
import sys
import time
import uuid

END = b"\r\n\r\n"


def load(port: int, key: str, clients: int, seconds: float, body: str) -> list[float]:
    """How long each answer took, of clients that ask for `seconds`, from a process of its own."""
    given = json.dumps([port, key, clients, seconds, body])
    command = [sys.executable, __file__]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Client:
    """One connection. It asks again when it is answered."""

    def __init__(self, port: int, key: str, body: bytes, name: str) -> None:
        self.line = socket.create_connection(("127.0.0.1", port))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.line.setblocking(False)
        self._head = (
            f"POST /v1/tables/people/query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {key}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nIdempotency-Key: {name}-"
        ).encode()
        self._tail, self._number = END + body, 0

    def ask(self) -> None:
        self._number += 1
        self._read, self._began = b"", time.perf_counter()
        self.line.sendall(self._head + str(self._number).encode() + self._tail)

    def answered(self) -> float | None:
        """How long the answer took, when all of it is here."""
        more = self.line.recv(2**16)
        self._read += more
        head, found, rest = self._read.partition(END)
        if not more or (found and not head.startswith(b"HTTP/1.1 200")):
            raise RuntimeError(f"not answered: {self._read[:500]!r}")
        if not found or len(rest) < int(head.lower().partition(b"content-length:")[2].split()[0]):
            return None
        return time.perf_counter() - self._began


def ask_for(port: int, key: str, clients: int, seconds: float, body: str) -> list[float]:
    run = uuid.uuid4().hex
    waiting = selectors.DefaultSelector()
    asking = [Client(port, key, body.encode(), f"{run}-{i}") for i in range(clients)]
    end, times = time.perf_counter() + seconds, []
    for client in asking:
        waiting.register(client.line, selectors.EVENT_READ, client)
        client.ask()
    while waiting.get_map():
        for ready, _ in waiting.select():
            client = ready.data
            if (took := client.answered()) is None:
                continue
            if time.perf_counter() < end:
                times.append(took)
                client.ask()
            else:
                waiting.unregister(client.line)
                client.line.close()
    return times


if __name__ == "__main__":
    json.dump(ask_for(*json.load(sys.stdin)), sys.stdout)
