"""A request is begun where it is read, and is a task from where it waits."""

from __future__ import annotations

import json
import socket

from running import Inside, bearer, count

QUERY = "/v1/tables/people/query"


def request(key, number, *, more=(), body=None):
    content = json.dumps(count("0.01", fresh=True) if body is None else body).encode()
    head = [f"POST {QUERY} HTTP/1.1", "Host: x", f"Authorization: {bearer(key)['Authorization']}"]
    head += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    head += [f"Idempotency-Key: k{number}", *more]
    return "\r\n".join(head).encode() + b"\r\n\r\n", content


def answers(service, *pieces):
    """What comes back for bytes that are sent one after another, until the service hangs up."""
    port = service.client.base_url.port
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            line.sendall(piece)
        found = b""
        while more := line.recv(2**16):
            found += more
    replies = []
    while found:
        head, _, rest = found.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split()[0])
        replies.append((head, json.loads(rest[:length])))
        found = rest[length:]
    return replies


LAST = ("Connection: close",)


def test_requests_that_come_together_are_answered_in_their_order(made):
    key = made.analyst("ann")
    service = Inside(made.opened())
    pieces = [*request(key, 1), *request(key, 2), *request(key, 3, more=LAST)]
    replies = answers(service, b"".join(pieces))
    service.stop()
    entries = [document["entry"] for _, document in replies]
    assert len(entries) == 3
    assert entries == sorted(set(entries))


def test_a_question_that_is_too_large_is_refused_however_it_comes(made):
    key = made.analyst("ann")
    service = Inside(made.opened(body_bytes=1024))
    head, body = request(key, 1, more=LAST, body={"x": "y" * 2000})
    for pieces in ((head + body,), (head, body)):
        ((reply, document),) = answers(service, *pieces)
        assert reply.startswith(b"HTTP/1.1 413 ")
        assert document["error"]["code"] == "request_invalid"
    service.stop()


def test_who_is_refused_stays_connected_unless_a_body_may_come(made):
    service = Inside(made.opened())
    asked = service.client.get("/v1/me")
    sent = service.client.post("/v1/tables/people/query", json=count())
    service.stop()
    assert [reply.status_code for reply in (asked, sent)] == [401, 401]
    assert "connection" not in asked.headers
    assert sent.headers["connection"] == "close"
