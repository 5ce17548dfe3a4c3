"""Models in the making: admitted with their whole price, then grown level by level in a thread."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bocage.errors import NotFound, PlanError, RefusedVariant, ScopeClosed
from bocage.learners import Learner, RandomTrees
from bocage.model import Forest, Released
from bocage.private import PrivateTable
from bocage.private.steps import Rows
from bocage.service.core import documents, errors
from bocage.service.core.accounts import Admission
from bocage.service.core.analyst_store import Job, Kept
from bocage.service.core.learning import make_learner, plan_of
from bocage.service.core.limits import Limited, padding
from bocage.service.core.questions import digest_of, dry_rows, expand, finder, rows_of
from bocage.service.core.registry import new_id, now

if TYPE_CHECKING:
    from bocage.service.core.service import Service

_LOG = logging.getLogger("bocage.service")
ADMISSION_SECONDS = 120
LOST = errors.body_of(errors.AFTER_CHARGE).model_copy(
    update={"message": "the worker of this job is gone. What was charged stays charged."}
)


class Stopped(Exception):
    """A job has to end between two levels."""

    def __init__(self, state: str, error: documents.ErrorBody | None = None) -> None:
        self.state, self.error = state, error
        super().__init__(state)


@dataclass
class _Work:
    """One job in this process."""

    job: Job
    learner: Learner
    request: documents.LearnRequest
    admission: Admission
    fit: Callable[[Callable[[int, int], None]], Released]
    settled: threading.Event = field(default_factory=threading.Event)
    refusal: Exception | None = None
    has_slot: bool = False
    began: float = field(default_factory=time.monotonic)


class Jobs:
    """The jobs of one worker process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._slots = threading.Semaphore(service.settings.jobs_at_once)
        self._of_analyst: Counter[str] = Counter()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._quantum = service.settings.job_padding_milliseconds / 1000

    def learn(
        self, analyst: str, table: str, request: documents.LearnRequest, key: str | None
    ) -> Job | documents.LearnPreview:
        """Price a model, or start to grow it. When this returns a job, its charge is on disk.

        Privacy
        -------
        The whole price is one durable charge before a row is read. If the worker dies, the charge
        stands and the job is marked as failed; it is never run again.
        """
        admission = Admission()
        whole, account = self._service.tables.asked_by(analyst, table, admission)
        learner = make_learner(request.learner, request.parameters)
        plan = plan_of(learner, whole.schema, request)
        if request.mode == "preview":
            left = account.remaining()
            return documents.LearnPreview(
                kind="preview",
                learner=learner.name,
                lines=[documents.PlanLineDocument(**line.to_dict()) for line in plan.lines()],
                total=str(plan.budget),
                remaining=str(left),
                note="more than is left: would be refused" if plan.budget > left else "",
            )
        name = new_id()
        if key is not None:
            name = self._service.records.bind(analyst, key, digest_of(table, request), name)
            try:
                return self._service.records.job(analyst, name)
            except NotFound:  # not admitted yet, or refused: this request is the one that counts
                pass
        admission.request = f"job {name}"
        job = Job(
            *(name, analyst, table, learner.name, str(plan.budget), request.mode, "queued"),
            *(0, 1, None, None, None, now(), now()),
        )
        fit = self._fit(job, learner, request, whole)
        return self._start(_Work(job, learner, request, admission, fit))

    def _fit(
        self, job: Job, learner: Learner, request: documents.LearnRequest, whole: PrivateTable
    ) -> Callable[[Callable[[int, int], None]], Released]:
        """What the thread will do, with everything that can be refused refused before."""
        steps = expand(self._service, job.analyst, job.table, request.plan)
        find = finder(self._service, job.analyst)
        forest = None if request.update is None else find(request.update)
        rows = dry_rows(self._service, request.rows)
        _table(rows_of(whole, steps, find))

        def grow(table: PrivateTable, told: Callable[[int, int], None]) -> Released:
            asked = _table(rows_of(table, steps, find))
            if forest is None:
                return learner.fit(asked, request.epsilon, told)
            if not isinstance(learner, RandomTrees) or not isinstance(forest, Forest):
                raise PlanError("only a forest of random trees takes another batch.")
            return learner.update(forest, asked, request.epsilon, told)

        def fit(told: Callable[[int, int], None]) -> Released:
            if request.mode == "release":
                return grow(whole, told)
            with whole.dry_run(rows=rows) as made_up:
                return grow(made_up, told)

        return fit

    def _start(self, work: _Work) -> Job:
        job, most = work.job, self._service.settings.jobs_per_analyst
        with self._lock:
            if self._of_analyst[job.analyst] >= most:
                raise Limited(f"{most} jobs of this analyst wait or run already.", 5)
            self._of_analyst[job.analyst] += 1
        thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        try:
            self._service.records.add_job(job, self._service.worker)
            with self._lock:
                self._threads.add(thread)
            thread.start()
        except BaseException:
            self._leave(job, thread)
            raise
        work.settled.wait(ADMISSION_SECONDS)
        if work.refusal is not None:
            self._service.records.forget_job(job.id)
            raise work.refusal
        return self._service.records.job(job.analyst, job.id)

    def _run(self, work: _Work) -> None:
        job = work.job
        try:
            if work.request.mode == "release":
                work.admission.admitted = lambda entry: self._admitted(work, entry)
            else:
                self._admitted(work, None)
            state = self._grow(work)
        except Stopped as stop:
            state = self._end(job, stop.state, stop.error)
        except Exception as error:  # noqa: BLE001 - whatever it says may quote a row
            if not work.settled.is_set():  # refused before the charge: the request is told why
                work.refusal = error if work.admission.entry is None else errors.AFTER_CHARGE
            state = self._failed(work, error)
        finally:
            if work.has_slot:
                self._slots.release()
            self._leave(job, threading.current_thread())
            work.settled.set()
        if work.refusal is None:
            self._service.metrics.job(state)
            _LOG.info("job of %s on %s: %s", job.analyst, job.table, state)

    def _grow(self, work: _Work) -> str:
        def told(done: int, of: int) -> None:
            self._keep_schedule(work)
            self._check(work.job)
            self._service.records.progress(work.job.id, done, of)

        model = work.fit(told)
        self._keep_schedule(work)
        self._check(work.job)
        if model.certificate.epsilon is None:
            raise RefusedVariant("this variant is not differentially private and is refused here.")
        document = model.to_dict()
        job = work.job
        kept = Kept(
            id=new_id(),
            analyst=job.analyst,
            table=job.table,
            learner=job.learner,
            epsilon=model.certificate.epsilon,
            format=document["format"],
            job=job.id,
            dry_run=work.request.mode == "dry_run",
            created=now(),
        )
        body = json.dumps(document, separators=(",", ":")).encode()
        delivered = self._service.records.finish_job(job, kept, body)
        return "done" if delivered else self._service.records.job_state(job.id)

    def _admitted(self, work: _Work, entry: int | None) -> None:
        """Paid for: tell the request, then wait for a place to work."""
        self._service.records.admitted(work.job.id, entry)
        work.settled.set()
        while not self._slots.acquire(timeout=0.1):
            self._check(work.job)
        work.has_slot, work.began = True, time.monotonic()
        self._service.records.progress(work.job.id, 0, 1)
        self._check(work.job)

    def _check(self, job: Job) -> None:
        """Go on only if nobody has said otherwise since the last level."""
        if self._stopping.is_set():
            raise Stopped("failed", LOST)
        if (state := self._service.records.job_state(job.id)) not in ("queued", "running"):
            raise Stopped(state)
        try:
            self._service.tables.require_open(job.analyst, job.table)
        except (ScopeClosed, NotFound) as error:
            raise Stopped("revoked", errors.body_of(error)) from None

    def _keep_schedule(self, work: _Work) -> None:
        """Report at multiples of a quantum: how long a level took says something about the rows."""
        if self._quantum:
            time.sleep(padding(time.monotonic() - work.began, self._quantum))

    def _failed(self, work: _Work, error: Exception) -> str:
        if isinstance(error, RefusedVariant):
            return self._end(work.job, "failed", errors.body_of(error))
        if work.refusal is not error:  # else the gate says so
            _LOG.error("a job failed with %s %s", type(error).__name__, errors.place_of(error))
        charged = work.admission.entry is not None
        told = errors.body_of(errors.AFTER_CHARGE) if charged else errors.INTERNAL
        return self._end(work.job, "failed", told)

    def _end(self, job: Job, state: str, error: documents.ErrorBody | None) -> str:
        text = None if error is None else error.model_dump_json()
        self._service.records.end_job(job.id, state, text)
        return state

    def _leave(self, job: Job, thread: threading.Thread) -> None:
        with self._lock:
            self._of_analyst[job.analyst] -= 1
            self._threads.discard(thread)

    def cancel(self, analyst: str, name: str) -> Job:
        """End a job that waits or runs; what was charged stays charged."""
        self._service.records.job(analyst, name)
        self._service.records.end_job(name, "cancelled")
        return self._service.records.job(analyst, name)

    def close(self, seconds: float = 10) -> None:
        """Stop all jobs before their next level and wait for them a little."""
        self._stopping.set()
        end = time.monotonic() + seconds
        for thread in list(self._threads):
            thread.join(max(0, end - time.monotonic()))


def _table(asked: Rows) -> PrivateTable:
    if not isinstance(asked, PrivateTable):
        raise PlanError("a model is learned from a table or from one part, not from a partition.")
    return asked


def document(job: Job) -> documents.JobDocument:
    """A job as its analyst sees it."""
    error = None if job.error is None else documents.ErrorBody.model_validate_json(job.error)
    facts = {name: value for name, value in vars(job).items() if name not in ("analyst", "error")}
    return documents.JobDocument(**facts, error=error)
