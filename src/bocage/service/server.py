"""Start the worker processes of a service, with a log that holds no secret and no datum."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from dataclasses import fields
from typing import Any

import uvicorn

from bocage.service.core.directory import Home
from bocage.service.settings import PREFIX, Settings

OPTIONS: dict[str, Any] = {
    "http": "bocage.service.protocol:Guard",
    "loop": "bocage.service.protocol:new_event_loop",
    "ws": "none",
    "lifespan": "on",
    "access_log": False,
    "server_header": False,
    "proxy_headers": False,  # nothing stands between server and middleware
}
_FORMAT = "%(asctime)s %(levelname)s %(process)d %(name)s %(message)s"


def serve(home: Home) -> None:
    """Run until the process is told to stop."""
    settings = home.settings
    # Workers read the same settings again: what the flags said goes on in the environment.
    os.environ["BOCAGE_HOME"] = str(home.path)
    os.environ.update(environment_of(settings))
    with tempfile.TemporaryDirectory(prefix="bocage-metrics-") as counters:
        if settings.workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = counters
        uvicorn.run(
            "bocage.service.app:from_environment",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            ssl_certfile=settings.tls_certificate or None,
            ssl_keyfile=settings.tls_key or None,
            log_config=log_config(),
            timeout_graceful_shutdown=10,
            timeout_worker_healthcheck=60,
            **OPTIONS,
        )


def environment_of(settings: Settings) -> dict[str, str]:
    """Settings as names of the environment."""
    return {f"{PREFIX}{setting.name.upper()}": str(getattr(settings, setting.name)) for setting in fields(settings)}


def log_config() -> dict[str, Any]:
    """To the standard error stream; paths, bodies, keys and values never go there."""
    handler = {"class": "logging.StreamHandler", "formatter": "plain"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"()": f"{__name__}.PlainFormatter", "format": _FORMAT}},
        "handlers": {"stderr": handler},
        "loggers": {
            "bocage": {"handlers": ["stderr"], "level": logging.INFO, "propagate": False},
            "uvicorn": {"handlers": ["stderr"], "level": logging.INFO, "propagate": False},
        },
    }


class PlainFormatter(logging.Formatter):
    """There is a line for every request, so that it must cost little.

    Its time is written out once a second, and what a line does not show (thread, task, place in the
    code) is not looked up: `logging` has these switches for the whole process, which is the service's.
    """

    _written = 0, ""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        logging.logThreads = logging.logMultiprocessing = False
        logging._srcfile = None  # noqa: SLF001 - documented as the switch

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - as logging has it
        second = int(record.created)
        known, text = self._written
        if known != second:
            text = time.strftime("%Y-%m-%d %H:%M:%S", self.converter(second))
            self._written = second, text
        return f"{text},{int(record.msecs):03d}"
