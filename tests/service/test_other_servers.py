"""The application is plain ASGI: other servers run it unchanged, and say the same."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager

import httpx
import pytest
from running import Inside, count, free_port

from bocage.service.app import create_app

QUERY = "/v1/tables/people/query"
ASKED = {
    "a question": (QUERY, count("0.5")),
    "again": (QUERY, count("0.5")),
    "too dear": (QUERY, count("60")),
    "no question": (QUERY, {"ask": 1}),
    "too large": (QUERY, {"x": "y" * 2000}),
    "a balance": ("/v1/tables/people/account", {"plan": []}),
    "nothing": ("/v1/tables/others/query", count()),
}


@contextmanager
def httptools(made, **settings):
    inside = Inside(made.opened(**settings))
    yield inside.client
    inside.stop()


@contextmanager
def h11(made, **settings):
    inside = Inside(made.opened(**settings), http="h11")
    yield inside.client
    inside.stop()


@contextmanager
def hypercorn(made, **settings):
    from hypercorn import asyncio as serving
    from hypercorn.config import Config

    config, port, stop = Config(), free_port(), threading.Event()
    config.bind = [f"127.0.0.1:{port}"]
    app = create_app(made.opened(**settings))

    async def main():
        await serving.serve(app, config, shutdown_trigger=lambda: asyncio.to_thread(stop.wait), mode="asgi")

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}", transport=httpx.HTTPTransport(retries=10), timeout=60
    ) as client:
        yield client
    stop.set()
    thread.join(30)


@contextmanager
def bare(made, **settings):
    """Messages by hand: no state, no extensions, a body in many pieces."""
    app = create_app(made.opened(**settings))
    app._service.start()
    yield Bare(app)
    app._service.close()


class Bare:
    def __init__(self, app):
        self._app = app

    def post(self, path, *, content, headers):
        return asyncio.run(self._post(path, content, headers))

    async def _post(self, path, content, headers):
        lines = {"host": "x", "content-length": str(len(content)), **headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "query_string": b"",
            "headers": [(k.lower().encode(), v.encode()) for k, v in lines.items()],
        }
        pieces, said = [content[i : i + 7] for i in range(0, len(content), 7)], []

        async def receive():
            if not pieces:
                await asyncio.sleep(60)
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message):
            said.append(message)

        await self._app(scope, receive, send)
        headers = [(name.decode(), value.decode()) for name, value in said[0]["headers"]]
        body = b"".join(message.get("body", b"") for message in said[1:])
        return httpx.Response(said[0]["status"], headers=headers, content=body)


def said(client, ann):
    headers = {**ann, "Content-Type": "application/json"}
    for name, (path, body) in ASKED.items():
        reply = client.post(path, content=json.dumps(body).encode(), headers=headers)
        kept = {key: reply.headers[key] for key in reply.headers if key in STRICT}
        document = reply.json()
        for noisy in ("values", "entry", "lows", "highs", "remaining", "spent"):
            document.pop(noisy, None)
        yield name, reply.status_code, kept, document


STRICT = {"content-type", "content-security-policy", "cache-control", "x-content-type-options"}


@pytest.mark.parametrize("server", [httptools, h11, hypercorn, bare])
def test_every_server_says_the_same(made, server):
    key = {"Authorization": f"Bearer {made.analyst('ann')}"}
    with server(made, body_bytes=1024) as client:
        answers = list(said(client, key))
    assert [(name, status) for name, status, _, _ in answers] == [
        ("a question", 200),
        ("again", 200),
        ("too dear", 403),
        ("no question", 422),
        ("too large", 413),
        ("a balance", 200),
        ("nothing", 404),
    ]
    kinds = [document.get("kind") or document.get("error", {}).get("code") for *_, document in answers]
    assert kinds == [
        "release",
        "stored",
        "budget_exceeded",
        "request_invalid",
        "request_invalid",
        None,
        "not_found",
    ]
    assert all(set(kept) == STRICT for _, _, kept, _ in answers)
    assert all(kept["content-type"] == "application/json" for _, _, kept, _ in answers)
