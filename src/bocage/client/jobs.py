"""Models in the making at the service: follow, wait, come back later, cancel."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from bocage.client.transport import Transport, refusal
from bocage.errors import BocageError, JobCancelled, ServiceError
from bocage.model import Released, from_dict
from bocage.model.export.json import parse

Progress = Callable[[int, int], None]
_ENDED = {"done", "failed", "cancelled", "revoked"}
_POLL_SECONDS = 1.0


class Job:
    """A learner at work behind a service. Get one from :meth:`Connection.jobs` or `fit`.

    It does not need the program that started it: what is lost on the way can be fetched later with
    :meth:`wait`, from the same or another computer.
    """

    def __init__(self, link: Transport, document: dict[str, Any]) -> None:
        self._link, self._document = link, document

    @property
    def id(self) -> str:
        return str(self._document["id"])

    @property
    def table(self) -> str:
        return str(self._document["table"])

    @property
    def learner(self) -> str:
        return str(self._document["learner"])

    @property
    def epsilon(self) -> str:
        """What was charged, before it began."""
        return str(self._document["epsilon"])

    @property
    def state(self) -> str:
        """``queued``, ``running``, ``done``, ``failed``, ``cancelled`` or ``revoked``, as last heard."""
        return str(self._document["state"])

    @property
    def progress(self) -> tuple[int, int]:
        """Levels done and levels in all, as last heard."""
        return int(self._document["done"]), int(self._document["of"])

    def refresh(self) -> Job:
        """Ask how it stands."""
        self._document = self._link.get("jobs", self.id)
        return self

    def cancel(self) -> None:
        """Stop it. The charge stands: it was made before the job began."""
        self._link.delete("jobs", self.id)
        self.refresh()

    def wait(self, progress: Progress | None = None) -> Released:
        """Wait for the model, through lost connections and restarts of the service.

        An interrupt (Ctrl-C) leaves the job running, because it is paid for: come back with
        ``connection.job(id).wait()``, or stop it with ``connection.job(id).cancel()``.
        """
        try:
            for done, of in self.follow():
                if progress is not None and of:
                    progress(done, of)
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(
                f"job {self.id} goes on at the service: connection.job({self.id!r}).wait() waits "
                "for its model, .cancel() stops it. It is paid for either way."
            )
            raise
        return self.model()

    def follow(self) -> Iterator[tuple[int, int]]:
        """Levels done and levels in all, whenever they change, until the job ends."""
        last = (-1, -1)
        while True:
            if self.progress != last:
                yield (last := self.progress)
            if self.state in _ENDED:
                return
            try:
                for document in self._events():
                    self._document = document
                    if self.progress != last:
                        yield (last := self.progress)
            except httpx.TransportError:
                time.sleep(_POLL_SECONDS)  # no stream, or it was cut: look, then try it again
            self.refresh()

    def model(self) -> Released:
        """The model of a job that is done; raises what went wrong with any other."""
        if self.state == "done" and self._document["model"] is not None:
            return fetch(self._link, str(self._document["model"]))
        if self._document.get("error") is not None:
            raise refusal(self._document["error"])
        if self.state in {"cancelled", "revoked"}:
            raise JobCancelled(f"job {self.id} was {self.state}. Its charge stands.")
        raise ServiceError(f"job {self.id} is {self.state} and has no model yet: wait for it.")

    def _events(self) -> Iterator[dict[str, Any]]:
        with self._link.stream("jobs", self.id, "events") as lines:
            data: list[str] = []
            for line in lines:
                if line.startswith("data:"):
                    data.append(line[5:].strip())
                elif not line and data:
                    document = _status("\n".join(data))
                    data = []
                    if document is not None:
                        yield document

    def __repr__(self) -> str:
        done, of = self.progress
        return f"<Job {self.id} {self.learner} on {self.table!r}: {self.state}, {done} of {of}>"


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar of the levels that are done, where there is a terminal or a notebook to show it."""
    columns = TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with ProgressBar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def fetch(link: Transport, model: str) -> Released:
    """A model of the analyst, by its id."""
    try:
        return from_dict(parse(link.send("GET", ("models", model))))
    except BocageError as error:
        error.add_note(f"while reading model {model}")
        raise


def _status(text: str) -> dict[str, Any] | None:
    """The state of a job, from the data of an event; nothing from what is no such document."""
    try:
        document = json.loads(text)
    except ValueError:
        return None
    is_status = isinstance(document, dict) and {"id", "state", "done", "of"} <= document.keys()
    return document if is_status else None
