"""What `import bocage` gives, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

import bocage

HEAVY = ("pyspark", "duckdb", "psycopg", "numba", "fastapi", "matplotlib", "pyarrow", "httpx")


def test_every_name_in_all_is_there() -> None:
    for name in bocage.__all__:
        assert getattr(bocage, name) is not None


def test_nothing_else_is_public() -> None:
    assert bocage.__all__ == sorted(bocage.__all__)
    assert sorted(dir(bocage)) == bocage.__all__
    declared = {name for name in vars(bocage) if not name.startswith("_")} - {
        "TYPE_CHECKING",
        "Any",
    }
    modules = {name for name in declared if f"bocage.{name}" in sys.modules}
    assert declared - modules - {"import_module"} <= set(bocage.__all__)


def test_an_unknown_name_is_refused_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="'bocage' has no attribute 'Tree2'"):
        _ = bocage.Tree2  # type: ignore[attr-defined] # that is the test


@pytest.mark.parametrize(
    "statement",
    [
        "import bocage",
        "from bocage import Schema, Epsilon, col",
        "import bocage.cli",
    ],
)
def test_importing_loads_nothing_heavy(statement: str) -> None:
    program = f"import sys; {statement}; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
