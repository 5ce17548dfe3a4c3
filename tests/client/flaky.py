"""A small HTTP server whose line can be cut: what a client meets on a bad day.

It keeps the one promise that matters: requests with the same idempotency key are worked on once.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCHEMA = {
    "name": "people",
    "attributes": [
        {"name": "age", "type": "numeric", "lower": 0, "upper": 100, "step": 1, "missing": "drop"},
        {"name": "sex", "type": "categorical", "values": ["F", "M"], "missing": "drop"},
    ],
    "target": {"name": "well", "values": ["no", "yes"], "missing": "drop"},
}
TABLE = {
    "name": "people",
    "schema": SCHEMA,
    "adjacency": "add_remove",
    "batch": None,
    "cap": "1",
    "spent": "0.25",
    "remaining": "0.75",
    "state": "open",
    "ready": True,
    "learners": [],
}
ANSWER = {
    "question": "count",
    "keys": [""],
    "values": [7],
    "mechanism": "discrete Laplace",
    "scale": "10",
    "plus_minus": 30.0,
    "cost": "0.1",
    "adjacency": "add_remove",
    "kind": "release",
    "lows": [0.0],
    "highs": [37.0],
    "splits": None,
    "entry": 3,
    "remaining": "0.65",
    "note": "",
}
ME = {"analyst": "ann", "tables": [{k: TABLE[k] for k in ("cap", "spent", "remaining", "state")}]}
ME["tables"][0]["table"] = "people"


class Flaky(ThreadingHTTPServer):
    """`mood` says what happens to the next requests: each is taken once, then all is well."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.mood: list[str | tuple[int, dict, dict]] = []
        self.seen: list[tuple[str, str, str | None, str | None]] = []
        self.charges: dict[str | None, int] = {}
        self.events: list[list[str] | None] = []
        self.jobs: list[dict] = []
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """A cut line is what the tests are about; nothing to print."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Flaky

    def do_GET(self):
        self.work()

    def do_POST(self):
        self.work()

    def do_DELETE(self):
        self.work()

    def work(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = self.headers.get("Idempotency-Key")
        with self.server.lock:
            self.server.seen.append((self.command, self.path, key, body.decode()))
            mood = self.server.mood.pop(0) if self.server.mood else "well"
        if mood == "cut":
            self.close_connection = True
            return
        if isinstance(mood, tuple):
            self.answer(mood[1], mood[0], mood[2])
            return
        if self.headers["Authorization"] != "Bearer secret":
            refused = {"code": "access_denied", "message": "the key is not known.", "hint": ""}
            self.answer({"error": refused}, 401)
            return
        document = self.document(key)
        if mood == "late":  # the work is done, and the answer is lost
            self.close_connection = True
            return
        if mood == "slow":
            threading.Event().wait(1.0)
        if document is not None:
            self.answer(document)

    def document(self, key):
        if self.path == "/v1/me":
            return ME
        if self.path == "/v1/tables/people":
            return TABLE
        if self.path.endswith("/query"):
            with self.server.lock:
                self.server.charges.setdefault(key, len(self.server.charges) + 1)
            return ANSWER
        if self.path.endswith("/events"):
            return self.stream()
        if self.path.startswith("/v1/jobs/"):
            with self.server.lock:
                return self.server.jobs.pop(0) if len(self.server.jobs) > 1 else self.server.jobs[0]
        return {}

    def stream(self):
        with self.server.lock:
            events = self.server.events.pop(0) if self.server.events else None
        if events is None:
            return {}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(event.encode())
            self.wfile.flush()
        self.close_connection = True
        return None

    def answer(self, document, status=200, headers=None):
        content = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Quiet."""


@contextmanager
def flaky():
    with Flaky() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
