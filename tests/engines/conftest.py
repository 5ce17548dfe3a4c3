"""The shared suite runs once per registered engine.

This directory is put on ``sys.path`` here, because pytest's importlib mode does not do so; its
modules then import each other plainly: ``from makers import MAKERS``. A module of makers registers
functions by name, ``MAKERS["postgres"] = postgres``, and nothing else. A maker may carry two
attributes: ``examples``, the number of Hypothesis tables it is given (default 60), and ``marks``,
pytest marks for all its tests (such as ``[pytest.mark.spark]``).
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import makers_local  # noqa: F401 - registers its engines, and needs the path above
from makers import MAKERS, Maker

if importlib.util.find_spec("makers_server") is not None:
    importlib.import_module("makers_server")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "maker" in metafunc.fixturenames:
        cases: list[Any] = [
            pytest.param(maker, id=name, marks=getattr(maker, "marks", [])) for name, maker in MAKERS.items()
        ]
        metafunc.parametrize("maker", cases)


@pytest.fixture
def open_table(maker: Maker, request: pytest.FixtureRequest) -> Any:
    """``with open_table(columns, schema) as engine: ...``"""

    def opened(columns: Any, schema: Any) -> Any:
        return maker(columns, schema, request)

    return opened
