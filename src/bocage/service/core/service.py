"""One worker process of a service: what it has open, and what it looks after between requests."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from typing import Self

from bocage.errors import BocageError
from bocage.service.core import keys
from bocage.service.core.analyst_store import Records
from bocage.service.core.directory import Home
from bocage.service.core.errors import place_of
from bocage.service.core.history import Spending
from bocage.service.core.jobs import LOST, Jobs
from bocage.service.core.limits import Buckets
from bocage.service.core.metrics import Metrics
from bocage.service.core.sessions import Sessions
from bocage.service.core.surveys import Surveys
from bocage.service.core.tables import Tables
from bocage.service.core.warmup import warm_up

_LOG = logging.getLogger("bocage.service")
HEALTH_SECONDS = 1.0


class Service:
    """Everything that requests need. Engines open here, before the first request."""

    def __init__(self, home: Home) -> None:
        self.home, self.settings = home, home.settings
        self.worker = keys.new_id()
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
            _LOG.error(
                "looking after the service failed: %s %s", type(error).__name__, place_of(error)
            )

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
