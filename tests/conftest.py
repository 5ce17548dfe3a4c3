"""Servers that the whole run shares. With several workers each starts its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package; they share servers.py

from servers import postgres_server, spark_session

# How long an example takes says something about the machine, not about the code.
settings.register_profile("bocage", deadline=None)
settings.load_profile("bocage")


def pytest_configure(config: pytest.Config) -> None:
    # Bocage hands Spark no pandas frame; PySpark looks at its version all the same.
    told = "ignore:PySpark does not yet fully support pandas:FutureWarning"
    config.addinivalue_line("filterwarnings", told)


# What a whole directory needs, and what a fixture brings: `make check` leaves these out.
DIRECTORIES = {
    "service": "service",
    "client": "service",
    "end_to_end": "browser",
    "experiments": "paper",
}
FIXTURES = {"postgres_url": "postgres", "spark": "spark", "chromium": "browser"}


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    for item in items:
        room = item.path.relative_to(tests).parts[0]
        needed = {FIXTURES[name] for name in FIXTURES if name in getattr(item, "fixturenames", ())}
        if room in DIRECTORIES:
            needed.add(DIRECTORIES[room])
        for mark in needed:
            item.add_marker(mark)


@pytest.fixture(scope="session")
def postgres_url():
    """Address of a PostgreSQL server as its superuser."""
    with postgres_server() as server:
        yield server.url


@pytest.fixture(scope="session")
def spark():
    """A Spark session; fails with the package to install where there is no Java."""
    with spark_session() as session:
        yield session
