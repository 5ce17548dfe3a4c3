"""Draw the tree at the top of the README again: `make picture`.

It runs the twelve lines of the README and draws the tree that they learn. Noise has no seed, so
every run draws a tree of its own.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from bocage.model.export.svg import to_svg

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "tree.svg"


def drawn() -> str:
    """The drawing of the tree that the README learns."""
    lines = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    if lines is None:
        raise SystemExit("README.md has no Python to run.")
    names: dict[str, Any] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            exec(compile(lines[1], "README.md", "exec"), names)  # noqa: S102 - our own page
        finally:
            os.chdir(before)
    return to_svg(names["tree"])


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    sys.stdout.write(f"\n{PICTURE.relative_to(ROOT)} is drawn.\n")
