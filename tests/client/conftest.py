"""The client against a bad line, and against a real service."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package; they share files
sys.path.insert(0, str(Path(__file__).parents[1] / "service"))

from running import Inside, Made

import bocage

_NAMES = (f"ann{number}" for number in itertools.count())


@pytest.fixture(scope="session")
def owner(tmp_path_factory):
    """A home whose table may be asked a lot, with a service in front of it."""
    made = Made(tmp_path_factory.mktemp("client") / "owner", cap="100000")
    inside = Inside(made.opened(json_depth=16))
    made.url = str(inside.client.base_url).rstrip("/")
    yield made
    inside.stop()


@pytest.fixture(scope="session")
def here(owner, tmp_path_factory):
    """The same rows behind the layer in this process."""
    ledger = tmp_path_factory.mktemp("local") / "ledger.db"
    with bocage.protect(str(owner.rows), owner.schema, ledger=ledger, cap=100_000, create=True) as table:
        yield table


@pytest.fixture
def name():
    """A new analyst for each test."""
    return next(_NAMES)


@pytest.fixture
def connection(owner, name):
    """A new analyst with a budget of 50."""
    with bocage.connect(owner.url, owner.analyst(name)) as made:
        yield made


@pytest.fixture
def remote(connection):
    return connection["people"]


@pytest.fixture
def local(here, name):
    """The same analyst with the same budget, on this side."""
    return here.analyst(name, 50)


@pytest.fixture(params=["local", "remote"])
def table(request):
    """The same table on either side."""
    return request.getfixturevalue(request.param)
