from __future__ import annotations

import pytest

import bocage
from private.tables import PEOPLE, ROWS


@pytest.fixture
def book(tmp_path):
    """Path of the ledger of a test."""
    return tmp_path / "ledger.db"


@pytest.fixture
def owner(book):
    """The table of people behind the layer, with a cap of 10 over all analysts."""
    with bocage.protect(ROWS, PEOPLE, ledger=book, cap=10, create=True) as protected:
        yield protected


@pytest.fixture
def alice(owner):
    return owner.analyst("alice", 4)
