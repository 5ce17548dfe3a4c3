"""What analysts left with the service: partitions, jobs, models, and the keys of their requests."""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import dataclass, replace
from typing import Any

from bocage.errors import NotFound, RequestConflict, ServiceError
from bocage.service.core.registry import key_digest, new_id, now
from bocage.service.core.store import open_store
from bocage.storage import Run, Store

OPEN = ("queued", "running")
STALE_SECONDS = 30  # a worker that was not heard of for so long is lost
KEPT_SECONDS = 14 * 24 * 3600  # how long the key of a request stands for it
_JOB = 'id, analyst, "table", learner, epsilon, mode, state, done, "of", entry, model, error, created, updated'
_MODEL = 'id, analyst, "table", learner, epsilon, format, job, dry_run, created'


@dataclass(frozen=True)
class Handle:
    """A kept partition: a plan under an id that nobody can guess."""

    id: str
    table: str
    plan: list[dict[str, Any]]


@dataclass(frozen=True)
class Job:
    """A model in the making, as every worker sees it."""

    id: str
    analyst: str
    table: str
    learner: str
    epsilon: str
    mode: str
    state: str
    done: int
    of: int
    entry: int | None
    model: str | None
    error: str | None
    created: str
    updated: str


@dataclass(frozen=True)
class Kept:
    """A model as it is listed."""

    id: str
    analyst: str
    table: str
    learner: str
    epsilon: str | None
    format: str
    job: str
    dry_run: bool
    created: str


class Records:
    """Records that all workers share. What others own is not found."""

    def __init__(self, target: str, shared: Store | None = None) -> None:
        self._store = shared or open_store(target)
        self._quick = open_store(target, durable=False)
        # A file is read and written by one connection, which knows its pages, where one is enough.
        self._keys = self._store if self._store.at_hand else self._quick

    # Partitions

    def keep_handle(self, analyst: str, table: str, plan: list[dict[str, Any]], most: int) -> Handle:
        """Keep a plan; the same plan has the same handle."""
        text = json.dumps(plan, sort_keys=True)
        digest = key_digest(text)
        with self._store.write() as run:
            stored = run(
                'SELECT id FROM handles WHERE analyst = ? AND "table" = ? AND digest = ?',
                *(analyst, table, digest),
            )
            if stored:
                return Handle(stored[0][0], table, plan)
            ((number,),) = run("SELECT count(*) FROM handles WHERE analyst = ?", analyst)
            if number >= most:
                raise ServiceError(f"an analyst may keep {most} partitions: use the kept ones.")
            handle = new_id()
            row = (handle, analyst, table, text, digest, now())
            run("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?)", *row)
        return Handle(handle, table, plan)

    def handle(self, analyst: str, handle: str) -> Handle:
        with self._store.read() as run:
            rows = run(
                'SELECT id, "table", plan FROM handles WHERE id = ? AND analyst = ?',
                *(handle, analyst),
            )
        if not rows:
            raise NotFound("there is no such partition.")
        return Handle(rows[0][0], rows[0][1], json.loads(rows[0][2]))

    # Requests

    def bind(self, analyst: str, key: str, digest: str, job: str = "") -> str:
        """Let a key stand for a request; returns the job that it stands for, if any.

        The charge of the request is safe in the ledger under the same key, so this record need not
        outlive the machine. Of two who bind a key at once the statement lets one in; both see what
        it stands for.
        """
        ((stands_for, earlier),) = self._keys.do(
            lambda run: run(
                "INSERT INTO requests VALUES (?, ?, ?, ?, ?) ON CONFLICT (analyst, key) "
                "DO UPDATE SET time = requests.time RETURNING digest, job",
                *(analyst, key, digest, job, int(time.time())),
            ),
            lasting=False,
        )
        if stands_for != digest:
            raise RequestConflict(
                "this idempotency key stands for another request. Take a new key for a new "
                "request. Nothing was charged."
            )
        return str(earlier)

    # Jobs

    def add_job(self, job: Job, worker: str) -> None:
        with self._store.write() as run:
            ((last,),) = run("SELECT COALESCE(max(number), 0) FROM jobs")
            run(
                f"INSERT INTO jobs ({_JOB}, number, worker) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(job.id, job.analyst, job.table, job.learner, job.epsilon, job.mode, job.state),
                *(job.done, job.of, job.entry, job.model, job.error, job.created, job.updated),
                *(int(last) + 1, worker),
            )

    def job(self, analyst: str, job: str) -> Job:
        with self._store.read() as run:
            rows = run(f"SELECT {_JOB} FROM jobs WHERE id = ? AND analyst = ?", job, analyst)
        if not rows:
            raise NotFound("there is no such job.")
        return Job(*rows[0])

    def jobs(self, analyst: str, limit: int) -> list[Job]:
        with self._store.read() as run:
            rows = run(
                f"SELECT {_JOB} FROM jobs WHERE analyst = ? ORDER BY number DESC LIMIT ?",
                *(analyst, limit),
            )
        return [Job(*row) for row in rows]

    def all_jobs(self, limit: int) -> list[Job]:
        """The jobs of all analysts, newest first: for the owner."""
        with self._store.read() as run:
            rows = run(f"SELECT {_JOB} FROM jobs ORDER BY number DESC LIMIT ?", limit)
        return [Job(*row) for row in rows]

    def job_state(self, job: str) -> str:
        with self._store.read() as run:
            rows = run("SELECT state FROM jobs WHERE id = ?", job)
        return str(rows[0][0]) if rows else "cancelled"

    def forget_job(self, job: str) -> None:
        """Remove a job that was refused before anything was charged."""
        with self._store.write() as run:
            run("DELETE FROM jobs WHERE id = ? AND entry IS NULL", job)

    def admitted(self, job: str, entry: int | None) -> None:
        with self._quick.write() as run:
            run("UPDATE jobs SET entry = ?, updated = ? WHERE id = ?", entry, now(), job)

    def progress(self, job: str, done: int, of: int) -> None:
        with self._quick.write() as run:
            run(
                "UPDATE jobs SET state = 'running', done = ?, \"of\" = ?, updated = ? "
                "WHERE id = ? AND state IN ('queued', 'running')",
                *(done, of, now(), job),
            )

    def end_job(self, job: str, state: str, error: str | None = None) -> bool:
        """End a job that is still open; whether it was."""
        with self._store.write() as run:
            return _end(run, job, state, error)

    def finish_job(self, job: Job, model: Kept, body: bytes) -> bool:
        """Deliver a model, if the job was not ended in the meantime: all in one transaction."""
        with self._store.write() as run:
            if run("SELECT state FROM jobs WHERE id = ?", job.id) != [("running",)]:
                return False
            ((last,),) = run("SELECT COALESCE(max(number), 0) FROM models")
            run(
                f"INSERT INTO models ({_MODEL}, number, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(model.id, model.analyst, model.table, model.learner, model.epsilon),
                *(model.format, model.job, int(model.dry_run), model.created, int(last) + 1, body),
            )
            run(
                "UPDATE jobs SET state = 'done', done = \"of\", model = ?, updated = ? WHERE id = ?",
                *(model.id, now(), job.id),
            )
        return True

    # Models

    def models(self, analyst: str, limit: int) -> list[Kept]:
        with self._store.read() as run:
            rows = run(
                f"SELECT {_MODEL} FROM models WHERE analyst = ? ORDER BY number DESC LIMIT ?",
                *(analyst, limit),
            )
        return [_kept(row) for row in rows]

    def all_models(self, limit: int) -> list[Kept]:
        """The models of all analysts, newest first: for the owner."""
        with self._store.read() as run:
            rows = run(f"SELECT {_MODEL} FROM models ORDER BY number DESC LIMIT ?", limit)
        return [_kept(row) for row in rows]

    def any_model(self, model: str) -> tuple[Kept, bytes]:
        """A model of any analyst: for the owner."""
        with self._store.read() as run:
            rows = run(f"SELECT {_MODEL}, body FROM models WHERE id = ?", model)
        if not rows:
            raise NotFound("there is no such model.")
        return _kept(rows[0][:-1]), bytes(rows[0][-1])

    def model(self, analyst: str, model: str) -> tuple[Kept, bytes]:
        with self._store.read() as run:
            rows = run(f"SELECT {_MODEL}, body FROM models WHERE id = ? AND analyst = ?", model, analyst)
        if not rows:
            raise NotFound("there is no such model.")
        return _kept(rows[0][:-1]), bytes(rows[0][-1])

    # Workers

    def beat(self, worker: str) -> None:
        """Say that a worker is alive."""
        with self._quick.write() as run:
            run(
                "INSERT INTO workers VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET beat = excluded.beat",
                *(worker, socket.gethostname(), os.getpid(), int(time.time())),
            )

    def sweep(self, error: str) -> int:
        """End the jobs of workers that are gone; their charges stand. Forget old requests."""
        with self._quick.read() as run:
            rows = run(
                "SELECT j.id, w.host, w.pid, w.beat FROM jobs AS j "
                "LEFT JOIN workers AS w ON w.id = j.worker WHERE j.state IN ('queued', 'running')"
            )
        lost = [row[0] for row in rows if _gone(*row[1:])]
        ended = sum(self.end_job(job, "failed", error) for job in lost)
        old = int(time.time()) - KEPT_SECONDS
        with self._quick.read() as run:
            aged = run("SELECT 1 FROM requests WHERE time < ? LIMIT 1", old)
        if aged:
            with self._quick.write() as run:
                run("DELETE FROM requests WHERE time < ?", old)
        return ended

    def leave(self, worker: str) -> None:
        with self._quick.write() as run:
            run("DELETE FROM workers WHERE id = ?", worker)

    def close(self) -> None:
        self._store.close()
        self._quick.close()


def _end(run: Run, job: str, state: str, error: str | None) -> bool:
    rows = run("SELECT state FROM jobs WHERE id = ?", job)
    if not rows or rows[0][0] not in OPEN:
        return False
    run(
        "UPDATE jobs SET state = ?, error = ?, updated = ? WHERE id = ?",
        *(state, error, now(), job),
    )
    return True


def _kept(row: tuple[Any, ...]) -> Kept:
    kept = Kept(*row)
    return replace(kept, dry_run=bool(kept.dry_run))


def _gone(host: str | None, pid: int | None, beat: int | None) -> bool:
    """Whether a worker is lost: not heard of for long, or no such process on this machine."""
    if host is None or pid is None or beat is None or time.time() - beat > STALE_SECONDS:
        return True
    if host != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
