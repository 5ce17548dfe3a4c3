"""One worker process of a service: what it has open, and what it looks after between requests."""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from bocage.engine.codes.encode import SMALL
from bocage.errors import BocageError
from bocage.private import study
from bocage.schema import Categorical, Numeric, Schema
from bocage.service.core.analyst_store import Records
from bocage.service.core.directory import Home
from bocage.service.core.errors import place_of
from bocage.service.core.history import Spending
from bocage.service.core.jobs import LOST, Jobs
from bocage.service.core.limits import Buckets
from bocage.service.core.registry import new_id
from bocage.service.core.sessions import Sessions
from bocage.service.core.surveys import Surveys
from bocage.service.core.tables import Tables

_LOG = logging.getLogger("bocage.service")
HEALTH_SECONDS = 1.0
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_METHODS = {"GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"}


class Service:
    """Everything that requests need. Engines open here, before the first request."""

    def __init__(self, home: Home) -> None:
        self.home, self.settings = home, home.settings
        self.worker = new_id()
        self.metrics = Metrics()
        share = self.settings.workers  # every worker process counts for itself
        burst = max(self.settings.burst / share, 1)
        self.rates = Buckets(self.settings.requests_per_second / share, burst)
        self.signer = home.signer()
        self.registry = home.open_registry()
        self.records = Records(home.registry_address, self.registry.store)
        self.surveys = Surveys(home.registry_address)
        self.sessions = Sessions(home.registry_address, home.settings.session_minutes)
        self.ledger = home.open_ledger()
        self.spending = Spending(self.ledger)
        self.tables = Tables(self.registry, self.ledger, home.ledger_address)
        self.jobs = Jobs(self)
        self._health: tuple[float, bool] | None = None  # when it was looked, and what was found
        self._looking = threading.Lock()
        self._closing = threading.Event()
        # Opening a table may take long, and a worker that is not heard of is taken for lost.
        self._keepers = [
            threading.Thread(target=self._keep, args=(look,), daemon=True)
            for look in (self._open_tables, self._watch_workers)
        ]

    def start(self) -> Self:
        """Open the tables, and go on looking for new ones."""
        if self.settings.warm_up:
            warm_up()
        self._try(self._watch_workers)
        self._try(self._open_tables)
        for keeper in self._keepers:
            keeper.start()
        return self

    def _keep(self, look: Callable[[], None]) -> None:
        while not self._closing.wait(self.settings.poll_seconds):
            self._try(look)

    def _open_tables(self) -> None:
        self.tables.refresh()
        self.metrics.tables(len(self.tables.names))

    def _watch_workers(self) -> None:
        self.records.beat(self.worker)
        if lost := self.records.sweep(LOST.model_dump_json()):
            _LOG.warning("%d jobs of lost workers were ended", lost)

    def _try(self, look: Callable[[], None]) -> None:
        try:
            look()
        except BocageError as error:  # a database that is away may come back
            _LOG.error("%s: %s", type(error).__name__, error)
        except Exception as error:  # noqa: BLE001 - whatever a driver says; it must go on looking
            _LOG.error("looking after the service failed: %s %s", type(error).__name__, place_of(error))

    def healthy(self) -> bool:
        """Whether ledger and registry can be used, as of the last second: anybody may ask this."""
        with self._looking:
            asked = time.monotonic()
            if self._health is None or asked - self._health[0] >= HEALTH_SECONDS:
                self._health = (asked, self._look())
            return self._health[1]

    def _look(self) -> bool:
        try:
            self.ledger.head()
            self.registry.tables()
        except BocageError as error:
            _LOG.error("%s: %s", type(error).__name__, error)
            return False
        return True

    def close(self) -> None:
        self._closing.set()
        self.jobs.close()
        for keeper in self._keepers:
            if keeper.is_alive():
                keeper.join(10)
        try:
            self.records.leave(self.worker)
        except BocageError as error:
            _LOG.error("%s: %s", type(error).__name__, error)
        self.tables.close()
        for store in (self.records, self.surveys, self.sessions, self.registry, self.ledger):
            store.close()
        gc.unfreeze()  # what `warm_up` set aside ends with the process, in order


class Metrics:
    """What Prometheus may see: how many requests, and how long they took. Nothing about data.

    The counters of one worker process, or with `PROMETHEUS_MULTIPROC_DIR` of all of them.
    """

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
        self._jobs = Counter("bocage_jobs", "Jobs that ended, by state", ["state"], registry=self._registry)
        self._tables = Gauge(
            "bocage_open_tables",
            "Tables that are open",
            registry=self._registry,
            multiprocess_mode="livemax",
        )
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        name = method if method in _METHODS else "other"
        pair = self._counted.get((name, route, status))
        if pair is None:
            counter = self._requests.labels(name, route, str(status))
            pair = self._counted[name, route, status] = (counter, self._seconds.labels(route))
        requests, times = pair
        requests.inc()
        times.observe(seconds)

    def job(self, state: str) -> None:
        self._jobs.labels(state).inc()

    def tables(self, number: int) -> None:
        self._tables.set(number)

    def text(self) -> bytes:
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            of_all = CollectorRegistry()
            MultiProcessCollector(of_all)  # type: ignore[no-untyped-call] # the library's own
            return generate_latest(of_all)
        return generate_latest(self._registry)


_WARM_UP_SCHEMA = Schema(
    "warm",
    (
        Categorical("kind", ("a", "b")),
        Numeric("size", lower=Fraction(0), upper=Fraction(7), step=Fraction(1)),
    ),
    label=Categorical("label", ("no", "yes")),
    row_cap=2**20,
)


def warm_up() -> None:
    """Load and compile what the first question would otherwise wait for.

    Every kind of question is asked of made-up rows: of a few, and of as many as the compiled loops take.
    """
    for times in (1, SMALL // 2 + 1):
        kinds, labels, sizes = ["a", "b"] * times, ["no", "yes"] * times, [0, 7] * times
        with study({"kind": kinds, "size": sizes, "label": labels}, _WARM_UP_SCHEMA) as table:
            table.noisy_count(1)
            table.partition("kind").noisy_counts("label", 1)
            table.noisy_sum("size", 1)
            table.noisy_avg("size", 1)
            table.noisy_quantile("size", 1)
            table.noisy_mode("kind", 1)
            table.choose(["kind", "size"], "gini", 1)
    # What is loaded now stays: looking through it for garbage would hold up all questions.
    gc.collect()
    gc.freeze()
