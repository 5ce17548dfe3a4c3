"""Runs cells x repetitions on all cores, keeps every result at once, goes on where it stopped.

A cell is a JSON-able configuration; its work is a function ``(config, repetition) -> {metric: value}``
named by text, so that workers import it themselves. Results are lines of JSON in ``out/``: a run that
was killed continues, and one with more repetitions adds to what is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Config = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One configuration, and how often it is run."""

    config: Config
    repetitions: int

    @property
    def key(self) -> str:
        """The same text for the same configuration, in every run."""
        return json.dumps(self.config, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class Job:
    """Consecutive repetitions of one cell, done by one worker in one go."""

    cell: Cell
    repetitions: tuple[int, ...]

    @property
    def order(self) -> tuple[int, str]:
        """Early repetitions of all cells first, mixed, so that the time left can be estimated."""
        return self.repetitions[0], hashlib.sha256(self.cell.key.encode()).hexdigest()


class Results:
    """What was measured: by cell, in the order of the repetitions."""

    def __init__(self, lines: Iterable[dict[str, Any]]) -> None:
        found: dict[str, dict[int, dict[str, float]]] = {}
        for line in lines:
            found.setdefault(line["key"], {})[line["repetition"]] = line["values"]
        self._found = {key: dict(sorted(runs.items())) for key, runs in found.items()}

    def only(self, cells: Iterable[Cell]) -> Results:
        """The results of these cells and repetitions."""
        chosen = Results([])
        for cell in cells:
            runs = self._found.get(cell.key, {})
            chosen._found[cell.key] = {i: v for i, v in runs.items() if i < cell.repetitions}
        return chosen

    def runs(self, cell: Cell) -> dict[int, dict[str, float]]:
        return self._found.get(cell.key, {})

    def values(self, metric: str = "accuracy", **config: Any) -> np.ndarray:
        """The values of a metric in all cells that agree with `config`, by key and repetition."""
        rows = [
            run[metric]
            for key, runs in sorted(self._found.items())
            if config.items() <= json.loads(key).items()
            for run in runs.values()
            if metric in run
        ]
        return np.array(rows, float)

    def mean(self, metric: str = "accuracy", **config: Any) -> float:
        return float(self.values(metric, **config).mean())

    def error(self, metric: str = "accuracy", **config: Any) -> float:
        """The standard error of `mean`."""
        values = self.values(metric, **config)
        return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0

    def configs(self) -> list[Config]:
        return [json.loads(key) for key in sorted(self._found)]

    def repetitions(self) -> tuple[int, int]:
        """The fewest and the most repetitions that a cell has."""
        counts = [len(runs) for runs in self._found.values()] or [0]
        return min(counts), max(counts)


def run(
    name: str,
    cells: list[Cell],
    work: str,
    store: Path,
    *,
    jobs: int = 1,
    chunk: int = 5,
    minutes: float | None = None,
    quiet: bool = False,
) -> Results:
    """Do what is not in `store` yet, and return everything.

    Parameters
    ----------
    work
        ``"package.module:function"``.
    jobs
        Worker processes; with 1 the work is done in this one.
    chunk
        Repetitions per job: what a kill may lose, per worker.
    minutes
        Stop after this time; what was done is kept.
    """
    store.parent.mkdir(parents=True, exist_ok=True)
    results = Results(_read(store))
    todo = sorted(_jobs(cells, results, chunk), key=lambda job: job.order)
    total = sum(cell.repetitions for cell in cells)
    left = sum(len(job.repetitions) for job in todo)
    deadline = time.monotonic() + 60 * minutes if minutes is not None else None
    with _progress(quiet) as progress, store.open("a", encoding="utf-8") as file:
        task = progress.add_task(name, total=total, completed=total - left)
        for lines in _work(work, todo, jobs, deadline):
            file.write("".join(json.dumps(line) + "\n" for line in lines))
            file.flush()
            progress.advance(task, len(lines))
    return Results(_read(store)).only(cells)


def do(work: str, cell: Cell, repetitions: tuple[int, ...]) -> list[dict[str, Any]]:
    """One job, in whatever process."""
    module, _, function = work.partition(":")
    once: Callable[[Config, int], dict[str, float]] = getattr(import_module(module), function)
    lines = []
    for repetition in repetitions:
        begin = time.perf_counter()
        values = once(cell.config, repetition)
        seconds = round(time.perf_counter() - begin, 4)
        lines.append({"key": cell.key, "repetition": repetition, "values": values, "seconds": seconds})
    return lines


def _jobs(cells: list[Cell], results: Results, chunk: int) -> Iterator[Job]:
    for cell in cells:
        done = results.runs(cell)
        left = [i for i in range(cell.repetitions) if i not in done]
        for start in range(0, len(left), chunk):
            yield Job(cell, tuple(left[start : start + chunk]))


def _work(work: str, todo: list[Job], jobs: int, deadline: float | None) -> Iterator[list[dict[str, Any]]]:
    if jobs == 1 or not todo:
        for job in todo:
            if deadline is not None and time.monotonic() > deadline:
                return
            yield do(work, job.cell, job.repetitions)
        return
    for threads in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")  # the workers share the cores already
    waiting, running = iter(todo), set[Future[list[dict[str, Any]]]]()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        while True:
            # A short queue: a run that is interrupted has little to wait for.
            while len(running) < 2 * jobs and (deadline is None or time.monotonic() < deadline):
                following = next(waiting, None)
                if following is None:
                    break
                running.add(pool.submit(do, work, following.cell, following.repetitions))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


def _read(store: Path) -> Iterator[dict[str, Any]]:
    """The stored lines. The last one may be torn by a kill: it is cut off, so that a new line can follow."""
    if not store.exists():
        return
    content = store.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        store.write_bytes(whole)
    for line in whole.splitlines():
        yield json.loads(line)


def _progress(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        disable=quiet,
    )
