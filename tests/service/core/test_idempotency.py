"""The same key and the same request are charged once, whatever happens in between."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from running import Inside, count

from bocage.accounting import LedgerAccount, machine_run
from bocage.errors import RequestConflict
from bocage.service.core.accounts import Admission
from bocage.service.core.analyst_store import Records
from bocage.service.core.store import open_store

QUERY = "/v1/tables/people/query"


def spent(client, who):
    return client.get("/v1/me", headers=who).json()["tables"][0]["spent"]


def send(client, who, key, body, path=QUERY):
    return client.post(path, json=body, headers={**who, "Idempotency-Key": key})


@pytest.mark.parametrize("fresh", [False, True])
def test_a_repeated_request_gets_the_same_answer_and_is_charged_once(serve, ann, fresh):
    client = serve()
    first, again = (send(client, ann, "k1", count(fresh=fresh)) for _ in range(2))
    assert first.json() == again.json()
    assert first.json()["kind"] == "release"
    assert spent(client, ann) == "0.5"
    later = send(serve(), ann, "k1", count(fresh=fresh))  # another worker, started later
    assert later.json() == first.json()
    assert spent(client, ann) == "0.5"


def test_the_same_key_for_another_request_is_a_conflict(serve, ann, bob):
    client = serve()
    assert send(client, ann, "k1", count("0.5")).status_code == 200
    part = [{"op": "partition", "by": "sex"}, {"op": "part", "key": "F"}]
    learn = {"learner": "diffpc45", "parameters": {}, "epsilon": "1"}
    for body, path in (
        (count("0.6"), QUERY),
        (count("0.5", *part), QUERY),
        (learn, "/v1/tables/people/learn"),
    ):
        reply = send(client, ann, "k1", body, path)
        assert reply.status_code == 409
        assert reply.json()["error"]["code"] == "request_conflict"
    assert spent(client, ann) == "0.5"
    assert send(client, bob, "k1", count("0.6")).status_code == 200  # keys are each analyst's own


@pytest.mark.parametrize("fresh", [False, True])
def test_concurrent_repetitions_release_one_draw(serve, ann, fresh):
    client = serve()
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: send(client, ann, "k1", count(fresh=fresh)), range(16)))
    assert {reply.status_code for reply in replies} == {200}
    assert len({str(reply.json()["values"]) for reply in replies}) == 1
    assert spent(client, ann) == "0.5"


@pytest.mark.parametrize("fresh", [False, True])
def test_a_request_that_died_after_its_charge_is_finished_by_its_repetition(made, ann, monkeypatch, fresh):
    service = Inside(made.opened())
    with monkeypatch.context() as broken:

        def dies(*_, **__):
            raise OSError("the process would be gone here")

        broken.setattr(LedgerAccount, "store_answer", dies)
        lost = send(service.client, ann, "k1", count(fresh=fresh))
    assert lost.json()["error"]["code"] == "engine_error"
    assert spent(service.client, ann) == "0.5"
    found = send(service.client, ann, "k1", count(fresh=fresh))
    assert (found.status_code, found.json()["cost"]) == (200, "0.5")
    assert spent(service.client, ann) == "0.5"
    assert send(service.client, ann, "k1", count(fresh=fresh)).json() == found.json()
    service.stop()


@pytest.fixture
def restart(tmp_path, monkeypatch):
    """Start the machine anew."""

    def start(name):
        monkeypatch.setattr(machine_run, "PATH", tmp_path / name)
        machine_run.PATH.write_text(name)

    start("first")
    return start


@pytest.mark.parametrize("fresh", [False, True])
def test_an_answer_that_may_have_gone_down_with_the_machine_is_not_drawn_again(made, serve, ann, restart, fresh):
    with pytest.MonkeyPatch.context() as lossy:  # what the kernel had not written yet
        lossy.setattr(LedgerAccount, "store_answer", lambda _, key, body, *more, **rest: body)
        given = send(serve(), ann, "k1", count(fresh=fresh))
    assert given.status_code == 200
    restart("second")
    forget_keys(made)
    client = serve()
    for _ in range(2):
        lost = send(client, ann, "k1", count(fresh=fresh))
        assert (lost.status_code, lost.json()["error"]["code"]) == (409, "answer_lost")
        assert "new idempotency key" in lost.json()["error"]["hint"]
    assert spent(client, ann) == "0.5"
    assert send(client, ann, "k2", count(fresh=fresh)).status_code == 200
    assert spent(client, ann) == "1"


@pytest.mark.parametrize("fresh", [False, True])
def test_an_answer_that_was_kept_is_given_again_after_a_start_of_the_machine(made, serve, ann, restart, fresh):
    first = send(serve(), ann, "k1", count(fresh=fresh))
    restart("second")
    forget_keys(made)
    client = serve()
    assert send(client, ann, "k1", count(fresh=fresh)).json() == first.json()
    assert spent(client, ann) == "0.5"


def test_questions_under_a_key_wait_for_the_disk_once_and_others_twice(serve, ann, monkeypatch):
    lasting = []
    store = LedgerAccount.store_answer

    def noted(self, *given, **more):
        lasting.append(more["lasting"])
        return store(self, *given, **more)

    monkeypatch.setattr(LedgerAccount, "store_answer", noted)
    client = serve()
    assert send(client, ann, "k1", count(fresh=True)).status_code == 200
    assert send(client, ann, "k2", count("0.25")).status_code == 200
    assert client.post(QUERY, json=count("0.125"), headers=ann).status_code == 200
    assert lasting == [False, False, True]


def forget_keys(made):
    """What a service does with keys after two weeks."""
    store = open_store(made.opened().registry_address)
    with store.write() as run:
        run("DELETE FROM requests")
    store.close()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_forgotten_key_buys_no_second_draw(serve, made, ann, fresh):
    client = serve()
    first = send(client, ann, "k1", count(fresh=fresh)).json()
    forget_keys(made)
    other = send(client, ann, "k1", count(fresh=not fresh)).json()
    if fresh:  # the plain question was answered by the first draw, which is kept for it
        assert (other["values"], other["entry"]) == (first["values"], first["entry"])
        assert spent(client, ann) == "0.5"
    else:
        assert other["entry"] != first["entry"]
        assert spent(client, ann) == "1"


def test_a_forgotten_key_never_brings_the_answer_to_another_question(serve, made, ann):
    client = serve()
    send(client, ann, "k1", count(fresh=True))
    forget_keys(made)
    assert send(client, ann, "k1", count("0.25", fresh=True)).status_code == 409
    assert spent(client, ann) == "0.5"


def test_a_key_that_is_no_key_is_refused(serve, ann):
    client = serve()
    for key in ("", "a b", "é".encode(), "x" * 101):
        assert send(client, ann, key, count()).status_code == 422


def test_of_those_who_bind_a_key_at_once_one_wins_and_all_know(made):
    """Two processes' worth of records on one file, eight threads, four requests for each key."""
    target = made.opened().registry_address
    workers = [Records(target) for _ in range(2)]

    def bind(turn):
        key, asked = divmod(turn, 8)
        try:
            return key, workers[turn % 2].bind("ann", f"k{key}", f"digest {asked % 4}", f"j{turn}")
        except RequestConflict:
            return key, None

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(bind, range(400)))
    for key in range(50):
        jobs = [job for at, job in found if at == key and job is not None]
        assert len(jobs) == 2  # of the four requests one has the key, and it came twice
        assert len(set(jobs)) == 1
    for worker in workers:
        worker.close()


def test_a_request_that_is_written_in_another_way_after_its_key_was_forgotten_is_not_drawn_again(made, serve, ann):
    """The charge is found by the key and the question, however the amount was written. Two draws of such noise
    agree with probability 2.5e-4.
    """
    first = send(serve(), ann, "k1", count("0.001", fresh=True))
    for written in ("0.0010", 0.001, "0.00100"):
        forget_keys(made)
        again = send(serve(), ann, "k1", count(written, fresh=True))
        assert again.json() == first.json()
    assert spent(serve(), ann) == "0.001"


def test_an_answer_that_was_kept_under_another_name_is_not_drawn_again(serve, ann, monkeypatch):
    """As earlier versions named them."""
    with monkeypatch.context() as before:
        before.setattr(Admission, "name", property(lambda self: f"request abc {self.request}"))
        first = send(serve(), ann, "k1", count("0.001", fresh=True))
    again = send(serve(), ann, "k1", count("0.001", fresh=True))
    assert again.json() == first.json()
    assert spent(serve(), ann) == "0.001"


def test_a_repeated_request_about_rows_that_may_have_changed_gets_the_same_answer(serve, made, ann):
    view = made.path.parent / "view.duckdb"
    with duckdb.connect(str(view)) as source:
        source.execute(f"CREATE VIEW people AS SELECT * FROM '{made.rows}'")
    schema = made.schema.with_name("live.toml")
    schema.write_text(made.schema.read_text().replace('"people"', '"live"'))
    with made.owner() as owner:
        owner.add_table("live", f"{view}#people", schema, "100")
        owner.grant("ann", "live", "50")
    client, path = serve(), "/v1/tables/live/query"
    first, again = (send(client, ann, "k1", count(), path) for _ in range(2))
    assert first.status_code == 200
    assert first.json() == again.json()
    assert client.post(path, json=count(), headers=ann).json()["kind"] == "release"  # a new one
    tables = client.get("/v1/me", headers=ann).json()["tables"]
    assert {table["table"]: table["spent"] for table in tables}["live"] == "1"
