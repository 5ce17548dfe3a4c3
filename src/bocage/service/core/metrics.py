"""What Prometheus may see: how many requests and how long they took. Nothing about data."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The counters of one worker process, or with `PROMETHEUS_MULTIPROC_DIR` of all of them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "bocage_requests",
            "Requests by route and status",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "bocage_request_seconds",
            "Time until the answer left, padding included",
            ["route"],
            registry=self._registry,
            buckets=_BUCKETS,
        )
        self._jobs = Counter(
            "bocage_jobs", "Jobs that ended, by state", ["state"], registry=self._registry
        )
        self._tables = Gauge(
            "bocage_open_tables",
            "Tables that are open",
            registry=self._registry,
            multiprocess_mode="livemax",
        )

        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        known = method if method in _METHODS else "other"
        pair = self._known.get((known, route, status))
        if pair is None:
            counter = self._requests.labels(known, route, str(status))
            pair = self._known[known, route, status] = (counter, self._seconds.labels(route))
        pair[0].inc()
        pair[1].observe(seconds)

    def job(self, state: str) -> None:
        self._jobs.labels(state).inc()

    def tables(self, number: int) -> None:
        self._tables.set(number)

    def text(self) -> bytes:
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            together = CollectorRegistry()
            MultiProcessCollector(together)  # type: ignore[no-untyped-call] # the library's own
            return generate_latest(together)
        return generate_latest(self._registry)


_METHODS = {"GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"}
