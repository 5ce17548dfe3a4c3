"""Where the public data sets are: the setting BOCAGE_DATA, else beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_directory() -> Path:
    beside = Path(__file__).parents[3] / "shared" / "data"
    directory = Path(os.environ.get("BOCAGE_DATA", beside))
    if not directory.is_dir():
        pytest.skip("no public data sets: set BOCAGE_DATA to their directory")
    return directory
