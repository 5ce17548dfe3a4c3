"""A home and a service inside the test process, for what needs no process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from running import Inside, Made, bearer


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "owner")


@pytest.fixture
def serve(made):
    """A function that serves `made` in a thread of this process and gives a client."""
    started = []

    def start(**settings):
        started.append(Inside(made.opened(**settings)))
        return started[-1].client

    yield start
    for service in started:
        service.stop()


@pytest.fixture
def ann(made):
    return bearer(made.analyst("ann"))


@pytest.fixture
def bob(made):
    return bearer(made.analyst("bob"))
