"""Answers do not wait for acknowledgements, and a connection costs no more than it may."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address

import httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from running import Inside, Made, bearer, count
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.server import ServerState

from bocage.service import protocol
from bocage.service.protocol import LONGEST_HEAD, Guard, new_event_loop
from bocage.service.server import PlainFormatter


def test_a_connection_on_a_shared_socket_sends_at_once():
    """A socket as uvicorn makes it for its workers does not say that it is TCP."""
    config = uvicorn.Config(lambda: None)

    async def main():
        made = asyncio.get_running_loop().create_future()

        class Noted(Guard):
            def connection_made(self, transport):
                super().connection_made(transport)
                made.set_result(transport)

        def guard():
            return Noted(app_state={}, config=config, server_state=ServerState())

        shared = socket.socket(socket.AF_INET)
        shared.bind(("127.0.0.1", 0))
        server = await asyncio.get_running_loop().create_server(guard, sock=shared)
        with socket.create_connection(shared.getsockname()):
            transport = await made
            line = transport.get_extra_info("socket")
            assert line.proto == 0
            found = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            transport.abort()
            await asyncio.sleep(0.05)
        server.close()
        return found

    with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop already: a browser's
        assert pool.submit(lambda: asyncio.run(main())).result() != 0


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
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
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
    return Made(tmp_path_factory.mktemp("protocol") / "owner")


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


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Files of a certificate of this machine and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "certificate.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder / "certificate.pem", folder / "key.pem"


def test_who_begins_no_handshake_is_hung_up_on_and_others_are_served(owned, certificate, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    file, key = map(str, certificate)
    inside = Inside(owned.opened(), ssl_certfile=file, ssl_keyfile=key)
    port = inside.client.base_url.port
    trusted = ssl.create_default_context(cafile=file)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as silent:
        began = time.monotonic()
        with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=trusted) as client:
            ann = bearer(owned.analyst("tls"))
            for _ in range(2):
                reply = client.post("/v1/tables/people/query", json=count("0.1"), headers=ann)
                assert reply.status_code == 200
        with trusted.wrap_socket(
            socket.create_connection(("127.0.0.1", port), timeout=20), server_hostname="127.0.0.1"
        ) as line:
            line.sendall(b"nonsense\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 400")
        assert silent.recv(1) == b""
        assert time.monotonic() - began < 10
    inside.stop()
