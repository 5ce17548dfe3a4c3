"""Homes with a small table, and services that run: inside the test, or as real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import uvicorn

from bocage.service.app import create_app
from bocage.service.core.directory import Home
from bocage.service.core.owner import Owner
from bocage.service.core.service import Service
from bocage.service.server import OPTIONS

ROOT = Path(__file__).parents[2]
SCHEMA = """
name = "people"
row_cap = 1000
target = { name = "buys", values = ["yes", "no"] }

[[attributes]]
name = "sex"
type = "categorical"
values = ["F", "M"]

[[attributes]]
name = "city"
type = "categorical"
values = ["Paris", "Lyon", "Nice"]

[[attributes]]
name = "age"
type = "numeric"
lower = 0
upper = 9
step = 1
"""
# Sixteen people; eight of them F. Nine buy.
ROWS = {
    "sex": list("FFFMMMMFFFFMMMMF"),
    "city": ["Paris", "Paris", "Lyon", "Lyon", "Lyon", "Nice", "Nice", "Nice"] * 2,
    "age": [3, 5, 5, 7, 9, 0, 2, 4] * 2,
    "buys": ["yes", "yes", "no", "no", "no", "yes", "yes", "no", *["yes"] * 5, "no", "no", "no"],
}
SETTINGS = {
    "warm_up": "false",
    "padding_milliseconds": "0",
    "job_padding_milliseconds": "0",
    "requests_per_second": "100000",
    "burst": "100000",
    "poll_seconds": "0.2",
}


class Made:
    """A home with the table `people`, and the keys of its analysts."""

    def __init__(self, path: Path, *, cap: str = "100", ledger: str | None = None) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.rows, self.schema = path / "people.parquet", path / "people.toml"
        pq.write_table(pa.table(ROWS), self.rows)
        self.schema.write_text(SCHEMA, encoding="utf-8")
        self.path = path / "home"
        Home.create(self.path, ledger=ledger)
        self.keys: dict[str, str] = {}
        with self.owner() as owner:
            owner.add_table("people", str(self.rows), self.schema, cap)

    def owner(self) -> Owner:
        return Owner.of(Home.open(self.path, environment={}))

    def analyst(self, name: str, budget: str | None = "50") -> str:
        """Add an analyst; returns the key."""
        with self.owner() as owner:
            self.keys[name] = owner.registry.add_analyst(name)
            if budget is not None:
                owner.grant(name, "people", budget)
        return self.keys[name]

    def opened(self, **settings: Any) -> Home:
        """The home with the settings of tests, and `settings` over them."""
        given = {**SETTINGS, **{name: str(value) for name, value in settings.items()}}
        return Home.open(self.path, {f"BOCAGE_{name.upper()}": v for name, v in given.items()})


def some_rows(made: Made, rows: int) -> Path:
    """A file of the first rows: a batch of its own."""
    path = made.rows.with_name(f"{rows}.parquet")
    pq.write_table(pa.table(ROWS).slice(0, rows), path)
    return path


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def count(epsilon: Any = "0.5", *plan: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The body of the smallest question."""
    return {"plan": list(plan), "ask": {"kind": "noisy_count", "epsilon": epsilon}, **more}


class Inside:
    """A service in a thread of this process, on a socket of its own."""

    def __init__(self, home: Home, wrap: Any = lambda app: app, **options: Any) -> None:
        self.service = Service(home)
        app = wrap(create_app(home, self.service))
        given = {**OPTIONS, **options}
        config = uvicorn.Config(app, port=0, log_config=None, **given)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        end = time.monotonic() + 60
        while not self._server.started and time.monotonic() < end:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def stop(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join(30)


class Running:
    """`bocage serve` as a process of its own."""

    def __init__(self, made: Made, **settings: Any) -> None:
        self.made, self.port = made, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = made.path.parent / f"serve-{self.port}.log"
        given = {**SETTINGS, **{name: str(value) for name, value in settings.items()}}
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BOCAGE_")}
        environment |= {f"BOCAGE_{name.upper()}": value for name, value in given.items()}
        command = [self.program(), "serve", "--home", str(made.path)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)], stderr=log, stdout=log, env=environment
            )

    @staticmethod
    def program() -> str:
        return str(Path(sys.executable).parent / "bocage")

    def wait(self, seconds: float = 300) -> Running:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the service ended: {self.log.read_text()}")
            try:
                if httpx.get(f"{self.url}/health", timeout=5).status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.05)
        raise TimeoutError(self.log.read_text())

    def client(self, key: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=bearer(key), timeout=60)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def running(made: Made, **settings: Any):
    """A service that answers; it is stopped at the end."""
    service = Running(made, **settings)
    try:
        yield service.wait()
    finally:
        service.stop()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for_job(client: Any, job: str, seconds: float = 60) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = client.get(f"/v1/jobs/{job}").json()
        if found["state"] not in ("queued", "running"):
            return found
        time.sleep(0.05)
    raise TimeoutError(f"job {job} did not end")
