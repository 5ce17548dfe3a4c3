"""Write the tree, the walk of one question and the files of recipes in CONTRIBUTING.md: `make house`.

The tree is `ls src/bocage` in the order of the layers, with the first sentence of each docstring.
The walk is what a tracer sees: every file that one question opens, in order.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bocage"
PAGE = ROOT / "CONTRIBUTING.md"
QUESTION = "age >= 65"

# A second question, so that nothing is loaded or compiled on the way.
WALK = f"""
import sys
from bocage import Schema, protect

age = {{"name": "age", "type": "numeric", "lower": 0, "upper": 120, "step": 1}}
schema = Schema.from_dict({{"name": "people", "attributes": [age]}})
visits = []

def watch(frame, event, argument):
    file = frame.f_code.co_filename
    if event == "call" and file.startswith({str(SOURCE)!r}) and visits[-1:] != [file]:
        visits.append(file)

with protect({{"age": [20, 70, 80]}}, schema, ledger="people.ledger", cap=2, create=True) as owner:
    table = owner.analyst("ann", budget=1)
    table.where("age >= 30").noisy_count("0.1")
    sys.setprofile(watch)
    table.where({QUESTION!r}).noisy_count("0.1")
    sys.setprofile(None)
print(*visits, sep="\\n")
"""


def layers() -> list[str]:
    """The rooms as the import walls list them, lowest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    walls = next(c for c in contracts if c["type"] == "layers" and c["containers"] == ["bocage"])
    return [room for layer in reversed(walls["layers"]) for room in re.findall(r"\w+", layer)]


def sentence(file: Path) -> str:
    """The first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", paragraph)[0].rstrip(".:")


def tree() -> str:
    """`ls src/bocage`, lowest layer first, and the rooms inside the rooms."""
    lines = []
    for room in layers():
        place = SOURCE / room
        if not place.is_dir():
            lines.append((f"  {room}.py", sentence(SOURCE / f"{room}.py")))
            continue
        for inner in sorted(file.parent for file in place.rglob("__init__.py")):
            depth = len(inner.relative_to(SOURCE).parts)
            lines.append((f"{'  ' * depth}{inner.name}/", sentence(inner / "__init__.py")))
    width = max(len(name) for name, _ in lines)
    return "\n".join(["src/bocage/", *(f"{name:<{width}}  {words}" for name, words in lines)])


def visits() -> list[str]:
    """The files that one question walks through, as paths below src/bocage, in order."""
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run(
            [sys.executable, "-c", WALK],
            cwd=directory,
            env={"PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=True,
        )
    return [Path(line).relative_to(SOURCE).as_posix() for line in run.stdout.splitlines()]


def walk(visited: list[str]) -> str:
    """The files in the order in which they are first opened, a line for each stay in a room."""
    stays = groupby(dict.fromkeys(visited), lambda file: file.split("/")[0] if "/" in file else "")
    lines = [
        (f"{room}/" if room else "bocage/", " ".join(f.removeprefix(f"{room}/") for f in files))
        for room, files in stays
    ]
    width = max(len(room) for room, _ in lines)
    return "\n".join(f"{room:<{width}}  {files}" for room, files in lines)


def block(name: str) -> re.Pattern[str]:
    """Where a generated block stands on the page."""
    return re.compile(rf"(?<=<!-- {name}: make house -->\n```text\n).*?(?=```\n)", re.DOTALL)


def written(page: str) -> str:
    """The page with its blocks as they should be."""
    page = block("tree").sub(lambda _: f"{tree()}\n", page)
    return block("walk").sub(lambda _: f"{walk(visits())}\n", page)


if __name__ == "__main__":
    import recipes  # the file beside this one

    PAGE.write_text(recipes.written(written(PAGE.read_text("utf-8"))), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} is written.\n")
