"""Running every learner on made-up or public rows: both cores, each result kept as it comes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bocage._version import __version__
from bocage.epsilon import Epsilon
from bocage.errors import BocageError, EpsilonError, LearnerError
from bocage.frontier.chart import Chart, Point
from bocage.frontier.generators import GENERATORS, generate
from bocage.learners import LEARNERS, Learner
from bocage.private import study
from bocage.schema import Schema

DEPTHS = (3, 5)  # of learners that take a depth
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Candidate:
    """A learner with its parameters, as the map names it."""

    learner: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        told = ", ".join(f"{key} {value}" for key, value in self.parameters)
        return f"{self.learner} ({told})" if told else self.learner

    def make(self) -> Learner:
        return LEARNERS[self.learner](**dict(self.parameters))


@dataclass(frozen=True)
class Grid:
    """What is tried: all of these with each other."""

    epsilons: tuple[str, ...] = ("0.1", "0.5", "1", "2")
    rows: tuple[int, ...] = (1_000, 10_000, 50_000)
    generators: tuple[str, ...] = field(default_factory=lambda: tuple(GENERATORS))
    repetitions: int = 3

    def __post_init__(self) -> None:
        for epsilon in self.epsilons:
            Epsilon.of(epsilon)
        if not self.epsilons or not self.rows or min(self.rows) < 20 or self.repetitions < 1:
            raise LearnerError("the map needs an epsilon, a number of rows (20 or more) and a repetition.")


def candidates(schema: Schema, only: Sequence[str] | None = None) -> tuple[Candidate, ...]:
    """All learners that can learn from a schema, each at a few depths if it takes one."""
    for name in only or ():
        if name not in LEARNERS:
            raise LearnerError(f"there is no learner {name!r}. There are {', '.join(LEARNERS)}.")
    usable = []
    for name, learner in LEARNERS.items():
        if only is not None and name not in only:
            continue
        takes_depth = "depth" in getattr(learner, "__dataclass_fields__", {})
        shapes = [(("depth", depth),) for depth in DEPTHS] if takes_depth else [()]
        usable += [candidate for shape in shapes if _can(candidate := Candidate(name, shape), schema)]
    if not usable:
        raise LearnerError(f"no learner can learn from the schema of {schema.name!r}.")
    return tuple(usable)


def _can(candidate: Candidate, schema: Schema) -> bool:
    try:
        candidate.make().plan(schema, "1")
    except EpsilonError:
        return True
    except BocageError:
        return False
    return True


def benchmark(
    schema: Schema,
    grid: Grid | None = None,
    *,
    table: pa.Table | None = None,
    only: Sequence[str] | None = None,
    cache: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Chart:
    """Draw the map of a schema.

    Parameters
    ----------
    schema
        What is public about the table that will be learned from.
    grid
        Which epsilons, numbers of rows and generators, and how often.
    table
        Public rows of this schema, sampled instead of generated ones. They are read without a
        charge: never give private rows.
    only
        Names of learners; all by default.
    cache
        A directory that keeps every result, so that a map that was stopped goes on.
    jobs
        Processes; as many as there are cores by default.
    """
    grid = grid or Grid()
    tried = candidates(schema, only)
    tasks = list(_tasks(grid, tried, table))
    store = _Store(cache, schema, table)
    missing = [task for task in tasks if task not in store.found]
    show = progress or (lambda _done, _of: None)
    show(len(tasks) - len(missing), len(tasks))
    batches = list(_batches(missing))
    workers = min(jobs or os.cpu_count() or 1, max(len(batches), 1))
    done = len(tasks) - len(missing)
    for results in _run(schema, table, batches, workers):
        store.keep(results)
        done += len(results)
        show(done, len(tasks))
    measured = [(task, store.found[task]) for task in tasks]
    return Chart.of(schema, [Point(*task[:4], value) for task, value in measured], public=table is not None)


Task = tuple[str, str, int, str, int]  # candidate, epsilon, rows, generator, repetition


def _tasks(grid: Grid, tried: Sequence[Candidate], table: pa.Table | None) -> Iterator[Task]:
    """Small tables first: the map fills from its cheap corner."""
    sources = ("public rows",) if table is not None else grid.generators
    sizes = [n for n in sorted(grid.rows) if table is None or n <= table.num_rows * 4 // 5]
    if not sizes:
        raise LearnerError("the table has too few rows for the smallest size: name smaller ones.")
    for rows in sizes:
        for repetition in range(grid.repetitions):
            for source in sources:
                for candidate in tried:
                    for epsilon in grid.epsilons:
                        yield _key(candidate), epsilon, rows, source, repetition


def _batches(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Tasks that share their rows, so that a worker makes them once."""
    together: dict[tuple[int, str, int], list[Task]] = {}
    for task in tasks:
        together.setdefault(task[2:], []).append(task)
    yield from together.values()


def _run(
    schema: Schema, table: pa.Table | None, batches: Sequence[list[Task]], workers: int
) -> Iterator[dict[Task, float]]:
    if workers <= 1:
        for batch in batches:
            yield _measure(schema, table, batch)
        return
    context = get_context("spawn")  # Numba's and Arrow's threads do not survive a fork
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting = [pool.submit(_measure, schema, table, batch) for batch in batches]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _measure(schema: Schema, table: pa.Table | None, batch: Sequence[Task]) -> dict[Task, float]:
    """Accuracies of all candidates and epsilons on the same rows, in per cent."""
    _, _, rows, source, repetition = batch[0]
    if table is None:
        made, rest = generate(source, schema, rows, repetition)
        train, test = made.table(), rest.table()
    else:
        order = np.random.default_rng(repetition).permutation(table.num_rows)
        train, test = table.take(order[:rows]), table.take(order[rows : rows + 10_000])
    results: dict[Task, float] = {}
    with study(train, schema) as private:
        for task in batch:
            model = _candidate(task[0]).make().fit(private, task[1])
            encoded = model.encode(test)
            results[task] = 100 * float(_accuracy(model, encoded, test, schema))
    return results


def _accuracy(model: Any, encoded: Any, test: pa.Table, schema: Schema) -> float:
    assert schema.label is not None  # noqa: S101 - candidates() has refused such a schema
    guess = np.array(schema.label.values, object)[model.predict_codes(encoded)]
    truth = np.array([str(value) for value in test[schema.label.name].to_pylist()], object)
    return float((guess == truth).mean())


def _key(candidate: Candidate) -> str:
    return json.dumps([candidate.learner, dict(candidate.parameters)], sort_keys=True)


def _candidate(key: str) -> Candidate:
    learner, parameters = json.loads(key)
    return Candidate(learner, tuple(sorted(parameters.items())))


class _Store:
    """Results by task, as lines of JSON in a file that is named after what they depend on."""

    def __init__(self, cache: Path | None, schema: Schema, table: pa.Table | None) -> None:
        self.found: dict[Task, float] = {}
        self._path: Path | None = None
        if cache is None:
            return
        rows = "" if table is None else _fingerprint(table)
        text = f"{__version__} {schema.fingerprint} {rows}"
        cache.mkdir(parents=True, exist_ok=True)
        self._path = cache / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.jsonl"
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            *task, accuracy = json.loads(line)
            learner, epsilon, rows, source, repetition = task
            self.found[learner, epsilon, rows, source, repetition] = float(accuracy)
        except (ValueError, TypeError):
            return  # a line that was cut short is measured again

    def keep(self, results: dict[Task, float]) -> None:
        self.found |= results
        if self._path is not None:
            lines = [json.dumps([*task, value]) + "\n" for task, value in results.items()]
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(lines)


def _fingerprint(table: pa.Table) -> str:
    digest = hashlib.sha256(str(table.schema).encode())
    for batch in table.to_batches():
        for column in batch.columns:
            for buffer in column.buffers():
                if buffer is not None:
                    digest.update(buffer)
    return digest.hexdigest()
