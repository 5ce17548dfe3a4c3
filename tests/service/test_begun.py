"""A request is begun where it is read, and is a task from where it waits."""

from __future__ import annotations

import asyncio
import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from running import Inside, bearer, count

from bocage.service.begun import begin, in_a_task
from bocage.service.fast_path import Direct
from bocage.service.passage import Passage

QUERY = "/v1/tables/people/query"


def in_a_loop(begun):
    """What `begun` returns, called by an event loop outside of a task, and awaited if there is more."""

    async def main():
        called = asyncio.get_running_loop().create_future()

        def call():
            assert asyncio.current_task() is None
            try:
                called.set_result(begun())
            except BaseException as error:  # noqa: BLE001 - for the test
                called.set_exception(error)

        asyncio.get_running_loop().call_soon(call)
        found = await called
        return await found if asyncio.isfuture(found) else found

    with ThreadPoolExecutor(1) as pool:  # this thread may have an event loop already: a browser's
        return pool.submit(lambda: asyncio.run(asyncio.wait_for(main(), 30))).result()


def test_work_that_waits_for_nobody_is_done_without_a_task():
    seen = []

    async def work():
        seen.append(asyncio.current_task())

    assert in_a_loop(lambda: begin(work())) is None
    assert seen == [None]


@pytest.mark.parametrize("wait", [lambda: asyncio.sleep(0), lambda: asyncio.sleep(0.01)])
def test_work_that_waits_goes_on_in_a_task(wait):
    seen = []

    async def work():
        for _ in range(3):
            await wait()
            seen.append(asyncio.current_task())

    in_a_loop(lambda: begin(work()))
    assert len(set(seen)) == 1
    assert None not in seen


def test_what_needs_a_task_gets_one_and_keeps_it():
    seen = []

    async def work():
        await in_a_task()
        seen.append(asyncio.current_task())
        await in_a_task()
        seen.append(asyncio.current_task())
        async with asyncio.timeout(10):
            await asyncio.sleep(0)

    in_a_loop(lambda: begin(work()))
    assert seen[0] is seen[1] is not None


def test_errors_and_cancellations_reach_the_work():
    seen = []

    async def fails():
        await asyncio.sleep(0)
        raise KeyError("work")

    async def cancelled():
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def timed():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.get_running_loop().create_future(), 0.01)
        seen.append("timed out")

    with pytest.raises(KeyError):
        in_a_loop(lambda: begin(fails()))

    def cancel():
        task = begin(cancelled())
        asyncio.get_running_loop().call_later(0.05, task.cancel)
        return task

    with pytest.raises(asyncio.CancelledError):
        in_a_loop(cancel)
    in_a_loop(lambda: begin(timed()))
    assert seen == ["cancelled", "timed out"]


@pytest.fixture
def tasks(monkeypatch):
    """In which tasks requests begin and questions are answered."""
    found = []
    run, answer = Passage.run, Direct.answer

    async def noted_run(self):
        found.append(asyncio.current_task())
        await run(self)

    async def noted_answer(self, *given):
        found.append(asyncio.current_task())
        return await answer(self, *given)

    monkeypatch.setattr(Passage, "run", noted_run)
    monkeypatch.setattr(Direct, "answer", noted_answer)
    return found


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


def test_a_question_that_comes_whole_is_answered_without_a_task(made, tasks):
    key = made.analyst("ann")
    service = Inside(made.opened())
    assert service.client.get("/health").status_code == 200
    tasks.clear()
    head, body = request(key, 1, more=LAST)
    ((reply, document),) = answers(service, head + body)
    service.stop()
    assert reply.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nconnection: close" in reply
    assert document["cost"] == "0.01"
    assert tasks == [None, None]


def test_a_body_that_comes_later_is_waited_for_in_a_task(made, tasks):
    key = made.analyst("ann")
    service = Inside(made.opened())
    head, body = request(key, 1, more=LAST)
    port = service.client.base_url.port
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(head + body[:5])
        while not tasks:
            pass
        line.sendall(body[5:])
        found = b""
        while more := line.recv(2**16):
            found += more
    service.stop()
    assert found.startswith(b"HTTP/1.1 200 OK\r\n")
    assert len(tasks) == 2
    assert None not in tasks


def test_requests_that_come_together_are_answered_in_their_order(made):
    key = made.analyst("ann")
    service = Inside(made.opened())
    pieces = [*request(key, 1), *request(key, 2), *request(key, 3, more=LAST)]
    replies = answers(service, b"".join(pieces))
    service.stop()
    entries = [document["entry"] for _, document in replies]
    assert len(entries) == 3
    assert entries == sorted(set(entries))


def test_both_ways_send_the_same_headers_also_with_errors(made, monkeypatch):
    key = made.analyst("ann")
    service = Inside(made.opened())
    bodies = (None, count("60"), {"ask": 1})
    pieces = [b"".join(request(key, n, more=LAST, body=body)) for n, body in enumerate(bodies)]
    prompt = [answers(service, piece)[0] for piece in pieces]
    monkeypatch.setattr("bocage.service.middleware.Gate.may_begin", False)
    pieces[0] = b"".join(request(key, "another", more=LAST))
    ordinary = [answers(service, piece)[0] for piece in pieces]
    service.stop()

    def told(head):
        lines = head.split(b"\r\n")
        kept = [line for line in lines if not line.startswith((b"date", b"content-length"))]
        return kept[0], sorted(kept)

    assert [told(head) for head, _ in prompt] == [told(head) for head, _ in ordinary]
    codes = [[document["error"]["code"] for _, document in way[1:]] for way in (prompt, ordinary)]
    assert codes == [["budget_exceeded", "request_invalid"]] * 2


def test_a_question_that_is_too_large_is_refused_however_it_comes(made):
    key = made.analyst("ann")
    service = Inside(made.opened(body_bytes=1024))
    head, body = request(key, 1, more=LAST, body={"x": "y" * 2000})
    for pieces in ((head + body,), (head, body)):
        ((reply, document),) = answers(service, *pieces)
        assert reply.startswith(b"HTTP/1.1 413 ")
        assert document["error"]["code"] == "request_invalid"
    service.stop()
