"""Admission, charge, then data; after that one opaque error, on the same schedule as success."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import Inside, count, wait_for_job

from bocage.accounting import Ledger, LedgerAccount
from bocage.engine.files.version import FileVersion
from bocage.service.middleware import padding
from servers import wait_until

QUERY = "/v1/tables/people/query"
DATUM = "the value 4711 of row 3"


def me(client, who):
    return client.get("/v1/me", headers=who).json()["tables"][0]


@pytest.fixture
def events(monkeypatch):
    """What happens to ledger and rows, in order."""
    happened = []
    charge, answer = LedgerAccount.enter, FileVersion.answer

    def charges(self, *arguments, **more):
        number = charge(self, *arguments, **more)
        happened.append("charge")
        return number

    def reads(self, questions, *more):
        happened.append("read")
        return answer(self, questions, *more)

    monkeypatch.setattr(LedgerAccount, "enter", charges)
    monkeypatch.setattr(FileVersion, "answer", reads)
    return happened


def test_the_charge_comes_before_the_data_and_a_refusal_before_both(serve, ann, events):
    client = serve()
    client.post(QUERY, json=count("60"), headers=ann)
    client.post(QUERY, json=count("1", {"op": "where", "predicate": "x = 1"}), headers=ann)
    client.post(QUERY, json=count("1", mode="preview"), headers=ann)
    client.post(QUERY, json=count("1", mode="dry_run"), headers=ann)
    assert events == []
    client.post(QUERY, json=count("1"), headers=ann)
    assert events == ["charge", "read"]
    client.post(QUERY, json=count("1"), headers=ann)
    assert events == ["charge", "read"]  # the stored answer


def test_an_engine_that_is_lost_leaves_the_charge_and_says_nothing(serve, ann, monkeypatch, caplog):
    client = serve()

    def fails(self, questions):
        raise ValueError(DATUM)

    monkeypatch.setattr(FileVersion, "answer", fails)
    reply = client.post(QUERY, json=count("1"), headers=ann)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "engine_error")
    learn = {"learner": "rdt", "parameters": {"trees": 1, "height": 1}, "epsilon": "2"}
    job = client.post("/v1/tables/people/learn", json=learn, headers=ann).json()["job"]

    class Mine:
        def get(self, path):
            return client.get(path, headers=ann)

    ended = wait_for_job(Mine(), job)
    assert (ended["state"], ended["error"]["code"]) == ("failed", "engine_error")
    assert ended["error"]["message"] == reply.json()["error"]["message"]
    assert me(client, ann)["spent"] == "3"
    everything = reply.text + str(ended) + caplog.text
    assert "4711" not in everything
    assert "ValueError" in caplog.text  # the owner learns the kind of failure


def test_a_ledger_that_is_lost_before_the_charge_releases_nothing(made, ann, events):
    service = Inside(made.opened())
    ledger = made.path / "ledger.sqlite"
    for part in ("", "-wal", "-shm"):
        whole = ledger.with_name(ledger.name + part)
        if whole.exists():
            whole.rename(whole.with_name("away" + part))
    for table in service.service.tables._open.values():  # connections in use would go on
        table[1].ledger._store._idle.clear()
    service.service.ledger._store._idle.clear()
    reply = service.client.post(QUERY, json=count("1"), headers=ann)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "ledger_error")
    assert str(made.path) not in reply.text  # where things are is the owner's business
    assert events == []
    assert service.client.get("/health").status_code == 503
    service.stop()


def test_whoever_asks_for_health_is_answered_from_the_last_look(serve, monkeypatch):
    client, looks = serve(), []
    head = Ledger.head
    monkeypatch.setattr(Ledger, "head", lambda self: looks.append(1) or head(self))
    monkeypatch.setattr("bocage.service.core.service.HEALTH_SECONDS", 3600)
    assert [client.get("/health").status_code for _ in range(5)] == [200] * 5
    assert len(looks) == 1
    monkeypatch.setattr("bocage.service.core.service.HEALTH_SECONDS", 0)
    client.get("/health")
    assert len(looks) == 2


def test_a_ledger_that_is_lost_after_the_charge_is_an_opaque_error(serve, ann, monkeypatch):
    client = serve()
    store = LedgerAccount.store_answer

    def fails(*_):
        raise OSError(DATUM)

    monkeypatch.setattr(LedgerAccount, "store_answer", fails)
    reply = client.post(QUERY, json=count("1"), headers=ann)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "engine_error")
    monkeypatch.setattr(LedgerAccount, "store_answer", store)
    assert me(client, ann)["spent"] == "1"


def test_what_fails_before_admission_is_an_opaque_500(serve, ann, monkeypatch, caplog):
    client = serve()

    def fails(*_, **__):
        raise KeyError(DATUM)

    monkeypatch.setattr("bocage.service.core.tables.Tables.granted", fails)
    reply = client.get("/v1/me", headers=ann)
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal_error")
    assert "4711" not in reply.text + caplog.text
    # The gate logs when the answer is out.
    wait_until(lambda: "KeyError at test_failures.py" in caplog.text)
    assert "4711" not in caplog.text


def test_answers_leave_at_multiples_of_a_quantum_good_or_bad(serve, ann):
    quantum = 0.2
    client = serve(padding_milliseconds=int(1000 * quantum))
    for body, headers, status in (
        (count("0.2"), ann, 200),  # released
        (count("0.2"), ann, 200),  # stored
        (count("99"), ann, 403),  # refused by the ledger
        ({}, ann, 422),  # refused by its form
        (count("0.2"), {}, 401),  # without a key
    ):
        began = time.monotonic()
        assert client.post(QUERY, json=body, headers=headers).status_code == status
        assert time.monotonic() - began >= quantum


@given(
    elapsed=st.floats(0, 1000, allow_nan=False),
    quantum=st.sampled_from([0.001, 0.05, 0.25, 60.0]),
)
def test_padding_fills_up_to_the_next_multiple(elapsed, quantum):
    whole = (elapsed + padding(elapsed, quantum)) / quantum
    assert abs(whole - round(whole)) < 1e-6
    assert round(whole) >= 1
    assert -1e-6 <= padding(elapsed, quantum) <= quantum


def test_levels_of_a_job_are_reported_on_a_schedule(serve, ann):
    client = serve(job_padding_milliseconds=100)
    learn = {"learner": "rdt", "parameters": {"trees": 1, "height": 1}, "epsilon": "2"}
    began = time.monotonic()
    job = client.post("/v1/tables/people/learn", json=learn, headers=ann).json()["job"]

    class Mine:
        def get(self, path):
            return client.get(path, headers=ann)

    assert wait_for_job(Mine(), job)["state"] == "done"
    assert time.monotonic() - began >= 0.4  # three reports and the end, one quantum each
