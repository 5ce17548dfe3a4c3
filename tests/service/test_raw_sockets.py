"""What a service says to bytes that no client would send, and what it costs it: any server must."""

from __future__ import annotations

import os
import resource
import socket
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw import PATH, REFUSED, is_right, requests, talk
from running import Inside, Made, Running, running

from bocage.service import protocol
from bocage.service.protocol import Connections

NAMES = list(requests("bocage_" + "0" * 64))
POST = b"POST " + PATH + b" HTTP/1.1\r\nhost: x\r\n"
CHUNKED = POST + b"transfer-encoding: chunked\r\n\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nhost: x\r\n"
CLOSE = b"connection: close\r\n\r\n"


@pytest.fixture(scope="module")
def owned(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("raw") / "owner")


@pytest.fixture(scope="module")
def key(owned):
    return owned.analyst("ann")


@pytest.fixture(scope="module")
def port(owned, key):
    inside = Inside(owned.opened())
    yield inside.client.base_url.port
    inside.stop()


@pytest.mark.parametrize("name", NAMES)
def test_each_request_is_answered_as_expected(port, key, name):
    pieces, expected = requests(key)[name]
    said = talk(port, *pieces, seconds=1.0, gap=0.3 if len(pieces) == 2 else 0.0)
    assert is_right(said, expected), said


@pytest.mark.parametrize("header", [b"x: y", b"content-length: 3", b"host: evil"])
def test_what_comes_after_a_body_is_no_header_however_it_comes(port, key, header):
    """With the head, behind the head, behind the body, and one byte at a time: no trailer passes."""
    head = CHUNKED[:-2] + b"content-type: application/json\r\n\r\n"
    body, trailer = b"2\r\n{}\r\n0\r\n", header + b"\r\n\r\n"
    whole = head + body + trailer
    for pieces in (
        (whole,),
        (head, body + trailer),
        (head + body, trailer),
        tuple(map(bytes, zip(whole))),
    ):
        said = talk(port, *pieces, seconds=1.0, gap=0.0 if len(pieces) > 9 else 0.05)
        assert said.ended
        assert set(said.statuses) <= {400, 401}


def test_a_question_that_breaks_off_is_not_asked(owned, port, key):
    """Its first chunk is a question by itself; what follows is no chunk, or never comes."""
    asked = b'{"ask":{"kind":"noisy_count","epsilon":"0.25"}}'
    head = CHUNKED[:-2] + b"content-type: application/json\r\nauthorization: Bearer "
    begin = head + key.encode() + b"\r\n\r\n%x\r\n%s\r\n" % (len(asked), asked)
    with owned.owner() as owner:
        entries = len(list(owner.ledger.entries()))
        for rest in (b"no chunk\r\n", b"-1\r\n", b"0\r\nx: y\r\n\r\n"):
            said = talk(port, begin, rest, seconds=1.0, gap=0.2)
            assert said.is_as(REFUSED)
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(begin)
            time.sleep(0.2)
        time.sleep(0.2)
        assert len(list(owner.ledger.entries())) == entries
        assert talk(port, begin + b"0\r\n\r\n", seconds=1.0).statuses == (200,)
        assert len(list(owner.ledger.entries())) > entries


# Floods: one connection that sends without end


def endless(*, unit: bytes):
    return unit * (2**16 // len(unit) + 1)


FLOODS = {
    "a trailer": (CHUNKED + b"0\r\nx: ", endless(unit=b"a")),
    "trailers": (CHUNKED + b"0\r\n", endless(unit=b"x: y\r\n")),
    "an extension": (CHUNKED + b"1;", endless(unit=b"a")),
    "chunks of one byte": (CHUNKED, endless(unit=b"1\r\n{\r\n")),
    "chunks": (CHUNKED, b"10000\r\n" + b"a" * 2**16 + b"\r\n"),
    "a size of zeros": (CHUNKED, endless(unit=b"0")),
    "headers": (HEALTH, endless(unit=b"x: y\r\n")),
    "a header": (HEALTH + b"x: ", endless(unit=b"a")),
    "a path": (b"GET /", endless(unit=b"a")),
    "empty lines": (b"", endless(unit=b"\r\n")),
    "requests": (b"", endless(unit=HEALTH + b"\r\n")),
    "a form": (
        b"POST /login HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n",
        endless(unit=b"a"),
    ),
}


@pytest.fixture(scope="module")
def process(owned):
    with running(owned) as service:
        yield service


def megabytes(pid) -> float:
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * resource.getpagesize() / 2**20


def cpu(pid) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def flood(port, begin, unit, most=2**26) -> bool:
    """Whether the server ended it before so many bytes were sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as line:
        try:
            line.sendall(begin)
            for _ in range(most // len(unit)):
                line.sendall(unit)
        except ConnectionError:
            return True
        except TimeoutError:  # it reads no more, and does not end it either
            return False
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("name", [name for name in FLOODS if name != "requests"])
def test_a_flood_is_ended_and_costs_little(process, name):
    pid = process.process.pid
    flood(process.port, *FLOODS[name])  # whatever is loaded at first use
    before, began = megabytes(pid), cpu(pid)
    assert flood(process.port, *FLOODS[name])
    assert megabytes(pid) - before < 20
    assert cpu(pid) - began < 1.0
    assert talk(process.port, HEALTH + CLOSE, seconds=3).statuses == (200,)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_requests_without_end_are_ended_or_answered_and_pile_up_nowhere(process):
    """Who sends more requests than are answered meanwhile, and reads no answer."""
    pid = process.process.pid
    before = megabytes(pid)
    flood(process.port, *FLOODS["requests"], most=2**24)
    assert megabytes(pid) - before < 20


def test_while_one_floods_others_are_answered(process):
    def flooding():
        for begin, unit in FLOODS.values():
            flood(process.port, begin, unit, 2**22)

    other = threading.Thread(target=flooding)
    other.start()
    slowest = 0.0
    while other.is_alive():
        began = time.monotonic()
        assert talk(process.port, HEALTH + CLOSE).statuses == (200,)
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.01)
    assert slowest < 2.0


# Holds: connections that are kept open for nothing

KEPT = {
    "nothing": (b"", b""),
    "half a head": (b"GET /hea", b"a"),
    "half a head after a request": (HEALTH + b"\r\nGET /hea", b"a"),
    "no body": (POST + b"content-length: 900\r\n\r\n", b"a"),
    "no body of GET": (HEALTH + b"content-length: 900\r\n\r\n", b"a"),
    "half a chunk": (CHUNKED + b"9\r\n{", b" "),
    "half an extension": (CHUNKED + b"9;", b"a"),
    "nonsense": (b"nonsense\r\n\r\n", b"a"),
    "two lengths": (POST + b"content-length: 1\r\ncontent-length: 2\r\n\r\n", b"a"),
    "too long a body": (POST + b"content-length: 99999999\r\n\r\n", b"a"),
    "a page without end": (b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n", b"a"),
}


@pytest.fixture
def hasty(monkeypatch, owned):
    """A service with little patience."""
    for name, seconds in {"HEAD": 0.4, "BODY": 0.6, "LEAVE": 0.4, "UNREAD": 0.5}.items():
        monkeypatch.setattr(protocol, f"{name}_SECONDS", seconds)
    inside = Inside(owned.opened())
    yield inside.client.base_url.port
    inside.stop()


@pytest.mark.parametrize("drips", [False, True])
def test_a_connection_that_is_held_is_closed_in_time(hasty, drips):
    """Silent, or with a byte now and then, after whatever answer.

    It takes 1.4 seconds; five where there was a good answer before, and then silence.
    """
    with ExitStack() as stack:
        lines = {}
        for name, (begin, drop) in KEPT.items():
            line = stack.enter_context(socket.create_connection(("127.0.0.1", hasty), timeout=5))
            line.sendall(begin)
            lines[name] = line, drop
        end = time.monotonic() + 10
        while lines and time.monotonic() < end:
            time.sleep(0.1)
            for name, (line, drop) in list(lines.items()):
                if is_gone(line, drop if drips else b""):
                    del lines[name]
        # A server may wait for the client's end, but not for what it sends: it resets in the end.
        assert set(lines) == set()


def is_gone(line, drop) -> bool:
    """Whether the other side has no connection any more: it said all and took what came since."""
    try:
        if drop:
            line.sendall(drop)
        line.setblocking(False)
        return line.recv(2**16) == b"" and not drop
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        line.setblocking(True)


def test_a_client_that_takes_no_answer_is_cut_off(hasty):
    """Its answers fill every buffer between, and then nobody waits for it."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(5)
        line.connect(("127.0.0.1", hasty))
        asked = b"GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n" * 20
        with pytest.raises(ConnectionError):  # noqa: PT012 - some time later
            for _ in range(200):
                line.sendall(asked)
                time.sleep(0.02)


def test_of_more_connections_than_there_is_room_for_the_oldest_go(monkeypatch, owned):
    monkeypatch.setattr(protocol, "CONNECTIONS", Connections(20))
    inside = Inside(owned.opened())
    port = inside.client.base_url.port
    with ExitStack() as stack:
        for begin, _ in list(KEPT.values()) * 10:
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            line.sendall(begin)
            time.sleep(0.005)
        for _ in range(5):
            assert talk(port, HEALTH + CLOSE, seconds=3).statuses == (200,)
        assert len(protocol.CONNECTIONS) <= 20
    end = time.monotonic() + 5
    while len(protocol.CONNECTIONS) and time.monotonic() < end:
        time.sleep(0.05)
    inside.stop()
    assert len(protocol.CONNECTIONS) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="counts open files")
def test_more_held_connections_than_a_process_has_files_do_not_stop_it(owned):
    """And what they leave in the log is short."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        service = Running(owned)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 1024)), hard))
    try:
        service.wait()
        before = len(service.log.read_text().splitlines())
        with ExitStack() as stack:
            for i in range(330):
                line = socket.create_connection(("127.0.0.1", service.port), timeout=5)
                stack.enter_context(line).sendall(list(KEPT.values())[i % len(KEPT)][0])
            for _ in range(5):
                began = time.monotonic()
                assert talk(service.port, HEALTH + CLOSE, seconds=3).statuses == (200,)
                assert time.monotonic() - began < 3
        log = service.log.read_text()
        assert "Traceback" not in log
        assert len(log.splitlines()) - before < 2 * 330
    finally:
        service.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Line:
    def __init__(self):
        self.is_cut = False

    def cut(self):
        self.is_cut = True


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from("owwkc"), st.integers(0, 30)), max_size=80))
def test_no_more_are_kept_than_there_is_room_for_and_nobody_loses_an_answer(steps):
    """o opens, w makes a whole request of one, k answers it, c closes one."""
    known, lines, working = Connections(4), [], set()
    for step, number in steps:
        one = lines[number % len(lines)] if lines else None
        if step == "o":
            lines.append(Line())
            known.open(lines[-1])
        elif one is None or one.is_cut:
            continue
        elif step == "w":
            known.work(one)
            working.add(one)
        elif step == "k":
            known.wait(one)
            working.discard(one)
        else:
            known.close(one)
            lines.remove(one)
            working.discard(one)
        assert len(known) == sum(not line.is_cut for line in lines) <= 4
        assert not any(line.is_cut for line in working)
