"""Following a job over a bad line: streams that break, that never come, and interrupts."""

from __future__ import annotations

import json

import pytest
from flaky import flaky

import bocage
from bocage.client import jobs
from bocage.errors import JobCancelled, RefusedVariant, ServiceError


def status(state, done, **more):
    facts = {"id": "j1", "table": "people", "learner": "diffp-id3", "epsilon": "1", "of": 3}
    return {**facts, "state": state, "done": done, "model": None, "error": None, **more}


def event(document):
    return f"event: progress\nid: 1\ndata: {json.dumps(document)}\n\n"


@pytest.fixture
def server():
    with flaky() as running:
        running.jobs = [status("running", 0)]
        yield running


@pytest.fixture
def connection(server):
    with bocage.connect(server.url, "secret", patience_seconds=5) as made:
        yield made


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(jobs, "_POLL_SECONDS", 0.01)


def test_progress_comes_from_the_stream(server, connection):
    levels = [event(status("running", done)) for done in (1, 2)]
    server.events = [[": hello\n\n", *levels, event(status("done", 3, model="m1"))]]
    server.jobs = [status("running", 0), status("done", 3, model="m1")]
    assert list(connection.job("j1").follow()) == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_stream_that_breaks_is_taken_up_again(server, connection):
    server.events = [[event(status("running", 1))], ["data: not json\n\n"], None]
    server.jobs = [status("running", done) for done in (0, 1, 2)] + [status("done", 3, model="m")]
    assert list(connection.job("j1").follow()) == [(0, 3), (1, 3), (2, 3), (3, 3)]
    streams = [path for _, path, _, _ in server.seen if path.endswith("/events")]
    assert len(streams) == 3


def test_without_streams_the_job_is_looked_at_now_and_then(server, connection):
    server.jobs = [status("queued", 0), status("running", 2), status("done", 3, model="m")]
    assert list(connection.job("j1").follow()) == [(0, 3), (2, 3), (3, 3)]


def test_a_job_that_was_cancelled_or_failed_says_so(server, connection):
    server.jobs = [status("cancelled", 1)]
    with pytest.raises(JobCancelled, match="Its charge stands"):
        connection.job("j1").wait()
    wrong = {"code": "refused_variant", "message": "it is unsound.", "hint": ""}
    server.jobs = [status("failed", 0, error=wrong)]
    with pytest.raises(RefusedVariant, match=r"it is unsound\."):
        connection.job("j1").wait()
    server.jobs = [status("running", 0)]
    with pytest.raises(ServiceError, match="no model yet"):
        connection.job("j1").model()


def test_an_interrupt_leaves_the_job_running_and_says_how_to_come_back(server, connection):
    def interrupt(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        connection.job("j1").wait(interrupt)
    assert "connection.job('j1').wait()" in stopped.value.__notes__[0]
    assert [method for method, _, _, _ in server.seen if method == "DELETE"] == []


def test_a_job_shows_itself(server, connection):
    shown = repr(connection.job("j1"))
    assert shown == "<Job j1 diffp-id3 on 'people': running, 0 of 3>"
    connection.job("j1").cancel()
    assert [path for method, path, _, _ in server.seen if method == "DELETE"] == ["/v1/jobs/j1"]
