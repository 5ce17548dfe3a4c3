"""Models grow as jobs: paid for as a whole, stopped at once, delivered to their owner alone."""

from __future__ import annotations

import json
import threading

import pytest
from running import bearer, count, wait_for_job

from bocage.accounting import LedgerAccount
from bocage.errors import LedgerError
from bocage.model import from_dict
from bocage.private import OpenCells
from bocage.service.api import jobs as routes
from bocage.service.core.analyst_store import Records
from servers import wait_until

LEARN = "/v1/tables/people/learn"
TREE = {"learner": "diffpc45", "parameters": {"depth": 2}, "epsilon": "2"}


class Client:
    """A client with the key of one analyst."""

    def __init__(self, client, who):
        self._client, self._who = client, who

    def get(self, path):
        return self._client.get(path, headers=self._who)

    def post(self, path, body, **headers):
        return self._client.post(path, json=body, headers={**self._who, **headers})

    def delete(self, path):
        return self._client.delete(path, headers=self._who)

    def spent(self):
        return self.get("/v1/me").json()["tables"][0]["spent"]


@pytest.fixture
def held(monkeypatch):
    """The first question of a learner waits until the test lets it go on."""
    reached, go = threading.Event(), threading.Event()
    ask = OpenCells.ask

    def slowly(self, query):
        reached.set()
        assert go.wait(30)
        return ask(self, query)

    monkeypatch.setattr(OpenCells, "ask", slowly)
    yield reached, go
    go.set()


def test_a_model_is_paid_for_grown_and_shown_in_every_form(serve, ann):
    me = Client(serve(), ann)
    accepted = me.post(LEARN, TREE)
    assert accepted.status_code == 202
    assert me.spent() == "2"
    job = wait_for_job(me, accepted.json()["job"])
    assert (job["state"], job["done"]) == ("done", job["of"])
    (listed,) = me.get("/v1/models").json()
    assert (listed["id"], listed["epsilon"], listed["dry_run"]) == (job["model"], "2", False)
    address = f"/v1/models/{job['model']}"
    model = from_dict(me.get(address).json())
    assert model.certificate.entry == job["entry"]
    assert me.get(f"{address}/rules").json()[0]["label"] in ("yes", "no")
    assert me.get(f"{address}/svg").headers["content-type"] == "image/svg+xml"
    assert me.get(f"{address}/text").text.startswith("all rows")
    assert me.get(f"{address}/sql?dialect=postgresql").status_code == 200
    assert "export" in me.get(f"{address}/javascript").text
    assert "differentially private" in me.get(f"{address}/certificate").json()["statement"]
    assert me.get(f"{address}/svg?tree=1").status_code == 400
    leaves = {"op": "partition_tree", "model": job["model"]}
    answer = me.post("/v1/tables/people/query", count("1", leaves))
    assert len(answer.json()["keys"]) == len(model.leaf_names)


def test_events_tell_every_level_and_the_end(serve, ann):
    client = serve()
    me = Client(client, ann)
    job = me.post(LEARN, TREE).json()["job"]
    with client.stream("GET", f"/v1/jobs/{job}/events", headers=ann) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        text = "".join(stream.iter_text())
    *_, last = [event for event in text.split("\n\n") if event]
    name, data = last.split("\n")
    assert name == "event: end"
    assert json.loads(data.removeprefix("data: "))["state"] == "done"


def test_one_analyst_follows_only_so_many_jobs_at_once(serve, ann, held, monkeypatch):
    monkeypatch.setattr(routes, "MOST_STREAMS", 1)
    client = serve()
    events = f"/v1/jobs/{Client(client, ann).post(LEARN, TREE).json()['job']}/events"
    with client.stream("GET", events, headers=ann) as first:
        lines = first.iter_lines()
        assert next(lines) == "event: progress"
        assert client.get(events, headers=ann).status_code == 429
    wait_until(lambda: routes._streams["ann"] == 0)
    held[1].set()
    assert "event: end" in client.get(events, headers=ann).text


def test_events_end_with_the_key_that_asked_for_them(serve, made, ann, held):
    client = serve()
    job = Client(client, ann).post(LEARN, TREE).json()["job"]
    with client.stream("GET", f"/v1/jobs/{job}/events", headers=ann) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        with made.owner() as owner:
            renewed = bearer(owner.registry.rotate("ann"))
        text = "\n".join(lines)  # it ends, though the job goes on
    assert "event: error" in text
    assert "access_denied" in text
    held[1].set()
    assert wait_for_job(Client(client, renewed), job)["state"] == "done"


def test_what_breaks_before_the_charge_says_of_no_charge(serve, ann, monkeypatch, caplog):
    me = Client(serve(), ann)

    def breaks(*_):
        raise KeyError("4711")

    with monkeypatch.context() as broken:
        broken.setattr(LedgerAccount, "enter", breaks)
        reply = me.post(LEARN, TREE)
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal_error")
    assert "charge" not in reply.text
    assert "4711" not in caplog.text
    assert me.get("/v1/jobs").json() == []
    assert me.spent() == "0"


def test_what_breaks_after_the_charge_says_that_it_stands(serve, ann, monkeypatch):
    me = Client(serve(), ann)

    def breaks(*_):
        raise LedgerError("lost. Nothing was charged.")

    with monkeypatch.context() as broken:
        broken.setattr(Records, "admitted", breaks)
        reply = me.post(LEARN, TREE)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "engine_error")
    assert "The charge stands" in reply.text
    assert me.spent() == "2"


def test_a_preview_shows_the_plan_and_a_dry_run_is_marked(serve, ann):
    me = Client(serve(), ann)
    preview = me.post(LEARN, {**TREE, "mode": "preview"})
    assert preview.status_code == 200
    assert preview.json()["total"] == "2"
    job = wait_for_job(me, me.post(LEARN, {**TREE, "mode": "dry_run"}).json()["job"])
    assert (job["state"], job["entry"]) == ("done", None)
    model = from_dict(me.get(f"/v1/models/{job['model']}").json())
    assert "A dry run" in model.certificate.statement()
    assert me.spent() == "0"


def test_what_is_refused_is_refused_before_the_charge(serve, ann):
    me = Client(serve(), ann)
    for change, code in (
        ({"epsilon": "51"}, "budget_exceeded"),
        ({"learner": "nothing"}, "learner_error"),
        ({"parameters": {"depth": "2"}}, "learner_error"),
        ({"parameters": {"leaf": 2}}, "learner_error"),
        ({"parameters": {"depth": 0}}, "learner_error"),
        ({"epsilon": 0}, "epsilon_error"),
        ({"plan": [{"op": "partition", "by": "sex"}]}, "plan_error"),
        ({"update": "0" * 32}, "learner_error"),
        ({"learner": "rdt", "parameters": {}, "update": "0" * 32}, "not_found"),
        (
            {
                "learner": "dpdf",
                "parameters": {
                    "sensitivity": "local",
                    "trees": 1,
                    "attributes": ["sex", "city"],
                },
            },
            "refused_variant",
        ),
    ):
        reply = me.post(LEARN, {**TREE, **change})
        assert reply.json()["error"]["code"] == code, reply.text
    assert me.spent() == "0"
    assert me.get("/v1/jobs").json() == []


def test_an_unsound_variant_is_refused_in_a_dry_run_too(serve, ann):
    me = Client(serve(), ann)
    parameters = {"sensitivity": "local", "trees": 1, "attributes": ["sex", "city"]}
    body = {"learner": "dpdf", "parameters": parameters, "epsilon": "1", "mode": "dry_run"}
    job = wait_for_job(me, me.post(LEARN, body).json()["job"])
    assert (job["state"], job["error"]["code"]) == ("failed", "refused_variant")
    assert me.get("/v1/models").json() == []


def test_a_repeated_request_gives_the_same_job(serve, ann):
    me = Client(serve(), ann)
    jobs = {me.post(LEARN, TREE, **{"Idempotency-Key": "k"}).json()["job"] for _ in range(3)}
    assert len(jobs) == 1
    assert me.spent() == "2"


def test_a_cancelled_job_delivers_nothing_and_stays_charged(serve, ann, held):
    reached, go = held
    me = Client(serve(), ann)
    job = me.post(LEARN, TREE).json()["job"]
    assert reached.wait(30)
    assert me.delete(f"/v1/jobs/{job}").json()["state"] == "cancelled"
    go.set()
    assert wait_for_job(me, job)["model"] is None
    assert me.get("/v1/models").json() == []
    assert me.spent() == "2"


@pytest.mark.parametrize("how", ["freeze", "revoke", "revoke all", "remove"])
def test_freezing_and_revoking_stop_a_running_job_before_its_next_level(serve, made, ann, held, how):
    reached, go = held
    client = serve()
    me = Client(client, ann)
    job = me.post(LEARN, TREE).json()["job"]
    assert reached.wait(30)
    with made.owner() as owner:
        if how == "freeze":
            owner.freeze("people")
        elif how == "remove":
            owner.remove_table("people")
        else:
            owner.revoke("ann", "people" if how == "revoke" else None)
    go.set()
    records = Records(str(made.path / "registry.sqlite"))
    wait_until(lambda: records.job("ann", job).state not in ("queued", "running"), seconds=30)
    found = records.job("ann", job)
    assert (found.state, found.model, found.done) == ("revoked", None, 0)
    assert records.models("ann", 10) == []
    records.close()


def test_more_jobs_than_allowed_wait_or_are_sent_away(serve, ann, held):
    reached, go = held
    me = Client(serve(jobs_at_once=1, jobs_per_analyst=2), ann)
    first, second = (me.post(LEARN, TREE).json()["job"] for _ in range(2))
    assert reached.wait(30)
    assert me.get(f"/v1/jobs/{second}").json()["state"] == "queued"
    third = me.post(LEARN, TREE)
    assert (third.status_code, third.headers["retry-after"]) == (429, "5")
    assert me.spent() == "4"  # both that were admitted are paid for
    go.set()
    assert {wait_for_job(me, job)["state"] for job in (first, second)} == {"done"}


def test_a_filter_and_a_part_can_be_learned_from(serve, ann):
    me = Client(serve(), ann)
    plan = [
        {"op": "where", "predicate": "age > 1"},
        {"op": "partition", "by": "sex"},
        {"op": "part", "key": "F"},
    ]
    job = wait_for_job(me, me.post(LEARN, {**TREE, "plan": plan}).json()["job"])
    assert job["state"] == "done"


def test_learners_are_described_with_their_parameters(serve, ann):
    learners = {one["name"]: one for one in Client(serve(), ann).get("/v1/learners").json()}
    depth = {one["name"]: one for one in learners["diffpc45"]["parameters"]}["depth"]
    assert depth == {"name": "depth", "type": "int", "default": 5}
    assert learners["rdt"]["updates"] is True
