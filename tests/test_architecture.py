"""The layers are what the contracts say, and no file holds two ideas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES = 400


def test_imports_go_down_the_layers() -> None:
    lint = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " kept, 0 broken" in done.stdout


@pytest.mark.parametrize("directory", ["src", "tests", "benchmarks"])
def test_files_are_short(directory: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / directory).rglob("*.py")
    }
    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}
