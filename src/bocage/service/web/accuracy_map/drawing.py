"""The map of a schema, drawn once in a process of its own and kept in the home.

A schema is public and the rows are made up from it: nothing here opens a table.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from bocage._version import __version__
from bocage.errors import BocageError, Unavailable
from bocage.frontier import Chart, Grid, Place, benchmark, candidates
from bocage.schema import Schema

_NAME = "bocage-map"  # of the process
_SIZES = (1_000, 10_000, 50_000)
_FEWEST = 20


@dataclass(frozen=True)
class Progress:
    """How far a map is, or why there is none."""

    done: int
    of: int
    problem: str = ""


def grid_of(schema: Schema) -> Grid:
    """What is tried: numbers of rows that the schema allows."""
    cap = schema.row_cap or _SIZES[-1]
    rows = tuple(size for size in _SIZES if size <= cap) or (max(cap, _FEWEST),)
    return Grid(rows=rows, repetitions=2)


def look(home: Path, schema: Schema) -> Chart | Progress | None:
    """The map, or how far it is, or nothing if nobody has begun."""
    chart, progress = _files(home, schema)
    if chart.exists():
        return _read(json.loads(chart.read_text(encoding="utf-8")))
    try:
        told = json.loads(progress.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    active_children()  # reaps those that have ended
    if told["problem"] or _alive(told["process"]):
        return Progress(told["done"], told["of"], told["problem"])
    return None


def draw(home: Path, schema: Schema) -> None:
    """Begin to draw the map, unless it is there or somebody is at it."""
    drawn_so_far = look(home, schema)
    if isinstance(drawn_so_far, Chart) or (drawn_so_far is not None and not drawn_so_far.problem):
        return
    if any(child.name == _NAME for child in active_children()):
        raise Unavailable("another map is being drawn. Try again in a minute.")
    chart, progress = _files(home, schema)
    chart.parent.mkdir(mode=0o700, exist_ok=True)
    context = get_context("spawn")  # threads of a service do not survive a fork
    work = context.Process(target=_work, args=(home, schema), name=_NAME, daemon=True)
    work.start()
    _tell(progress, Progress(0, 0), work.pid or 0)


def _work(home: Path, schema: Schema) -> None:
    """In the process: measure every place of the map and write down how far it is."""
    os.nice(10)  # questions come first
    chart, progress = _files(home, schema)
    last = Progress(0, 0)

    def told(done: int, of: int) -> None:
        nonlocal last
        last = Progress(done, of)
        _tell(progress, last, os.getpid())

    try:
        drawn = benchmark(schema, grid_of(schema), cache=chart.parent, jobs=1, progress=told)
    except Exception as error:  # noqa: BLE001 - the page that waits has to hear of it
        told_why = str(error) if isinstance(error, BocageError) else type(error).__name__
        problem = f"The map could not be drawn: {told_why}"
        _tell(progress, Progress(last.done, last.of, problem), os.getpid())
        return
    _write(chart, drawn.to_dict())
    progress.unlink(missing_ok=True)


def _files(home: Path, schema: Schema) -> tuple[Path, Path]:
    """Where the map and its progress are kept: named after all that they depend on."""
    tried = [candidate.name for candidate in candidates(schema)]
    text = json.dumps([__version__, schema.fingerprint, asdict(grid_of(schema)), tried])
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    folder = home / "maps"
    return folder / f"{name}.chart.json", folder / f"{name}.progress.json"


def _tell(file: Path, progress: Progress, process: int) -> None:
    _write(file, {**asdict(progress), "process": process})


def _write(file: Path, document: dict[str, Any]) -> None:
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(document), encoding="utf-8")
    part.replace(file)


def _read(document: dict[str, Any]) -> Chart:
    places = [
        Place(**{**place, "laws": tuple((law, mean) for law, mean in place["laws"])}) for place in document["places"]
    ]
    return Chart(document["schema"], document["public"], tuple(places))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
