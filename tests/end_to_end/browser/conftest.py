"""A real browser and a service for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from browsing import Site, started_chromium


@pytest.fixture(scope="session")
def chromium():
    with started_chromium() as browser:
        yield browser


@pytest.fixture
def site(tmp_path, chromium):
    found = Site(tmp_path, chromium)
    yield found
    found.stop()
