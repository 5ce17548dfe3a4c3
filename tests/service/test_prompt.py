"""Answers do not wait for acknowledgements, and connections come to all workers alike."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from running import Inside, Made, bearer, count
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from bocage.service import protocol
from bocage.service.protocol import LONGEST_HEAD, FairLoop, PromptProtocol, _Together
from bocage.service.server import PlainFormatter


class Transport:
    """As much of a transport as a new connection looks at."""

    def __init__(self, line):
        self._line = line

    def get_extra_info(self, name):
        return self._line if name == "socket" else None


def test_a_connection_on_a_shared_socket_sends_at_once(monkeypatch):
    monkeypatch.setattr(HttpToolsProtocol, "connection_made", lambda self, transport: None)
    monkeypatch.setattr(PromptProtocol, "_await_head", lambda self: None)
    with socket.socket(socket.AF_INET) as line:  # as uvicorn makes it for its workers: protocol 0
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
        PromptProtocol.connection_made(PromptProtocol.__new__(PromptProtocol), Transport(line))
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


class Written:
    """A transport that notes what is written when."""

    def __init__(self):
        self.found = []

    def write(self, data):
        self.found.append(data)

    def close(self):
        self.found.append("closed")


def written(*steps):
    """What leaves in one piece: a step writes, ends a turn of the loop ("turn") or closes."""

    async def main():
        line = Written()
        together = _Together(line)
        for step in steps:
            if step == "turn":
                await asyncio.sleep(0)
            elif step == "close":
                together.close()
            else:
                together.write(step)
        return line.found

    with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop already: a browser's
        return pool.submit(lambda: asyncio.run(main())).result()


def test_the_head_of_an_answer_leaves_with_its_body():
    head, body = b"HTTP/1.1 200 OK\r\n\r\n", b"42"
    assert written(head, body, "turn") == [head + body]
    assert written(head, body, b"43", "turn") == [head + body, b"43"]
    assert written(head, "turn", body) == [head, body]  # a body that is not there yet
    assert written(head, "close") == [head, "closed"]
    assert written(head, body, "close", "turn") == [head + body, "closed"]
    assert written(head, head, body, "turn", "turn") == [head + head, body]


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

    def run():
        with asyncio.Runner(loop_factory=FairLoop) as runner:
            runner.run(main())

    with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop already: a browser's
        pool.submit(run).result()


def connected(service) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.client.base_url.port), timeout=20)


def said(service, *pieces: bytes) -> bytes:
    """What the service says to these bytes until it hangs up."""
    with connected(service) as line:
        answer = b""
        try:
            for piece in pieces:
                line.sendall(piece)
            while more := line.recv(2**16):
                answer += more
        except ConnectionError:  # it hung up while we were still talking
            pass
        return answer


@pytest.fixture(scope="module")
def owned(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("prompt") / "owner")


@pytest.fixture(scope="module")
def service(owned):
    inside = Inside(owned.opened())
    yield inside
    inside.stop()


CLOSE = b"Host: x\r\nConnection: close\r\n"
HEALTH = b"GET /health HTTP/1.1\r\n" + CLOSE


def test_a_head_of_the_greatest_length_passes_and_one_byte_more_does_not(service):
    for beyond, status in ((0, b"200"), (1, b"431")):
        fill = LONGEST_HEAD + beyond - len(HEALTH + b"X: \r\n\r\n")
        head = HEALTH + b"X: " + b"a" * fill + b"\r\n\r\n"
        assert said(service, head).startswith(b"HTTP/1.1 " + status)
        middle = len(head) // 2
        assert said(service, head[:middle], head[middle:]).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize("begins", [b"GET /", HEALTH + b"X: ", HEALTH + b"X"])
def test_a_line_without_end_is_ended(service, begins):
    with connected(service) as line:
        line.sendall(begins)
        endless = b"a" * 2**24  # far more than a head may have and buffers hold
        with pytest.raises(ConnectionError):
            line.sendall(endless)


def test_headers_without_end_are_ended(service):
    header = b"X: " + b"a" * 1000 + b"\r\n"
    enough = (LONGEST_HEAD - len(HEALTH)) // len(header) + 1  # who says more may miss the answer
    answer = said(service, HEALTH, *[header] * enough)
    assert answer.startswith(b"HTTP/1.1 431")


def test_heads_of_one_connection_are_counted_apart(service):
    filled = b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (LONGEST_HEAD // 2) + b"\r\n\r\n"
    answer = said(service, filled, filled, filled, HEALTH + b"\r\n")
    assert answer.count(b"HTTP/1.1 200") == 4


def test_a_head_that_does_not_end_in_time_is_hung_up_on(made, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    inside = Inside(made.opened())
    for begin in (b"", b"GET / HTTP/1.1\r\nHo"):
        began = time.monotonic()
        with connected(inside) as line:
            line.sendall(begin)
            assert line.recv(1) == b""
        assert time.monotonic() - began >= 0.25
    assert inside.client.get("/health").status_code == 200
    time.sleep(0.5)  # between requests, nothing is late
    assert inside.client.get("/health").status_code == 200
    inside.stop()


BODY = b'7\r\n{"a":1}\r\n0\r\n\r\n'
POST = b"POST /v1/tables/people/query HTTP/1.1\r\n" + CLOSE


@pytest.mark.parametrize(
    "request_",
    [
        POST + b"Content-Length: 22\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY,
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 22\r\n\r\n" + BODY,
        POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}  ",
        POST + b"Content-Length: 3, 4\r\n\r\n{}  ",
        POST + b"Content-Length: +3\r\n\r\n{} ",
        POST + b"Content-Length: -1\r\n\r\n{} ",
        POST + b"Content-Length : 3\r\n\r\n{} ",
        POST + b"Transfer-Encoding: gzip, chunked, identity\r\n\r\n" + BODY,
        POST + b'Transfer-Encoding: chunked\r\n\r\n7 \r\n{"a":1}\r\n0\r\n\r\n',
        POST + b'Transfer-Encoding: chunked\r\n\r\n-7\r\n{"a":1}\r\n0\r\n\r\n',
        HEALTH + b"X: a\r\n b\r\n\r\n",
        HEALTH + b"X: a\nY: b\r\n\r\n",
        HEALTH + b"X: a\0b\r\n\r\n",
        HEALTH + b"X: a\rb\r\n\r\n",
        b"GET /h\xe9 HTTP/1.1\r\n" + CLOSE + b"\r\n",
        b"CONNECT x:1 HTTP/1.1\r\n" + CLOSE + b"\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_what_two_servers_could_read_differently_is_refused(service, request_):
    assert said(service, request_).startswith(b"HTTP/1.1 400")


def test_a_body_in_pieces_is_one_body(service, owned):
    ann, body = bearer(owned.analyst("ann")), count(mode="preview")
    whole = service.client.post(POST.split()[1].decode(), json=body, headers=ann)
    pieces = (piece.encode() for piece in whole.request.content.decode())
    headers = {**ann, "Content-Type": "application/json"}
    again = service.client.post(POST.split()[1].decode(), content=pieces, headers=headers)
    assert (again.status_code, again.json()) == (200, whole.json())


def test_an_answered_question_leaves_nothing_for_the_garbage_collector(service, owned):
    ann, path = bearer(owned.analyst("carl")), POST.split()[1].decode()
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(5):
            assert service.client.post(path, json=count("0.1"), headers=ann).status_code == 200
        gc.collect()
        left = [one for one in gc.garbage if isinstance(one, RequestResponseCycle)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert left == []


def test_a_line_of_the_log_has_the_time_that_logging_itself_writes(monkeypatch):
    """Two records of one second and one of the next; milliseconds keep their zeros."""
    for switch in ("logThreads", "logMultiprocessing", "_srcfile"):  # are as they were afterwards
        monkeypatch.setattr(logging, switch, getattr(logging, switch))
    plain = PlainFormatter("%(asctime)s %(message)s")
    usual = logging.Formatter("%(asctime)s %(message)s")
    for created in (1_700_000_000.007, 1_700_000_000.25, 1_700_000_001.999):
        record = logging.makeLogRecord({"msg": "hedge %d", "args": (7,), "created": created})
        record.msecs = int(1000 * (created % 1))
        assert plain.format(record) == usual.format(record)
