"""The layers are what the contracts say, and no file holds two ideas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES = 400


def test_imports_go_down_the_layers() -> None:
    lint = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " kept, 0 broken" in done.stdout


@pytest.mark.parametrize("directory", ["src", "tests", "benchmarks", "scripts"])
def test_files_are_short(directory: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / directory).rglob("*.py")
    }
    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


# What no single room of src answers for.
BESIDE = {"privacy", "engines", "end_to_end", "experiments"}


def test_tests_stand_in_the_rooms_of_what_they_test():
    places = {path.parent.relative_to(ROOT / "tests") for path in ROOT.glob("tests/**/test_*.py")}
    rooms = {place for place in places if place.parts and place.parts[0] not in BESIDE}
    assert len(rooms) > 20
    assert [room.as_posix() for room in rooms if not (ROOT / "src" / "bocage" / room).is_dir()] == []
