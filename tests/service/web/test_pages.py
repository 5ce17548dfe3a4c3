"""Pages asked by programs: who is slowed down, what is left of a form, what a stranger is told."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner
from running import bearer, count

from bocage import cli
from bocage.accounting import open_ledger, verify_export
from bocage.epsilon import Epsilon
from bocage.errors import BocageError, ServiceError
from bocage.local import Survey, parse_distortion
from bocage.schema import Schema
from bocage.service.core import history, surveys, tables
from bocage.service.core.directory import Home
from bocage.service.core.exports import check_signature
from bocage.service.core.limits import sender
from bocage.service.core.registry import new_key
from bocage.service.core.sessions import Sessions
from bocage.service.core.store import open_store

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def owner(serve, made):
    """A client that is logged in as the owner."""
    sessions = Sessions(made.opened().registry_address, 30)
    key = sessions.new_owner_key()
    sessions.close()
    return logged_in(serve(), key)


def logged_in(client, key):
    client.headers["Sec-Fetch-Site"] = "same-origin"
    assert client.post("/login", data={"key": key}).status_code == 303
    return client


def test_the_sender_is_the_last_whom_the_proxy_names():
    def scope(*named):
        return {"headers": [(b"x-forwarded-for", one) for one in named], "client": ("10.0.0.1", 1)}

    assert sender(scope(), behind_proxy=True) == "10.0.0.1"
    assert sender(scope(b"6.6.6.6, 1.2.3.4"), behind_proxy=True) == "1.2.3.4"
    assert sender(scope(b"6.6.6.6", b"1.2.3.4"), behind_proxy=True) == "1.2.3.4"
    assert sender(scope(b"6.6.6.6"), behind_proxy=False) == "10.0.0.1"
    assert sender({"headers": [], "client": None}, behind_proxy=True) == ""


def test_behind_a_proxy_one_who_guesses_shuts_out_nobody_else(serve, ann):
    client = serve(behind_tls_proxy=True)
    wrong = bearer(new_key())
    told = [client.get("/v1/me", headers={**wrong, "X-Forwarded-For": "6.6.6.6"}).status_code for _ in range(80)]
    assert (told[0], told[-1]) == (401, 429)
    other = {**wrong, "X-Forwarded-For": "6.6.6.6, 1.2.3.4"}
    assert client.get("/v1/me", headers=other).status_code == 401
    client.headers["Sec-Fetch-Site"] = "same-origin"
    sent = [client.post("/login", headers={"X-Forwarded-For": "6.6.6.6"}).status_code for _ in range(30)]
    assert (sent[0], sent[-1]) == (401, 429)
    assert client.post("/login", headers={"X-Forwarded-For": "1.2.3.4"}).status_code == 401


def test_pages_count_for_the_rate_of_a_key_and_say_when_to_come_back(serve, made, ann):
    client = logged_in(serve(requests_per_second=0.01, burst=3), made.keys["ann"])
    told = [client.get("/analyst") for _ in range(4)]
    assert [page.status_code for page in told] == [200, 200, 200, 429]
    assert int(told[-1].headers["retry-after"]) > 1
    assert client.get("/v1/me").status_code == 429


def test_whoever_looks_for_what_is_not_there_sees_a_page(serve, ann):
    client = serve()
    for reply, status in (
        (client.get("/nowhere", headers=HTML), 404),
        (client.get("/owner/tables/people/freeze", headers=HTML), 405),
    ):
        assert reply.status_code == status
        assert reply.headers["content-type"].startswith("text/html")
        assert "script-src 'self'" in reply.headers["content-security-policy"]
        assert reply.headers["cache-control"] == "no-store"
    assert client.get("/nowhere").json()["error"]["code"] == "not_found"
    assert client.get("/v1/nowhere", headers={**ann, **HTML}).json()["error"]["code"] == "not_found"


def test_an_ended_session_leads_from_a_form_to_the_start_and_from_a_page_back(serve):
    client = serve()
    client.headers["Sec-Fetch-Site"] = "same-origin"
    page = client.get("/owner/tables/people")
    assert page.headers["location"] == "/login?next=/owner/tables/people"
    form = client.post("/owner/tables/people/freeze", data={"sure": "yes"})
    assert form.headers["location"] == "/login?next=/"


def test_an_analyst_whose_grant_is_refused_is_not_made(owner, made):
    for more in ({"table": "people", "budget": "much"}, {"table": "nothing", "budget": "1"}):
        reply = owner.post("/owner/analysts/add", data={"name": "bob", **more})
        assert reply.status_code == 400
    with made.owner() as registered:
        assert registered.registry.analysts() == []


def test_signing_a_schema_leaves_those_of_other_tables_alone(owner, made):
    folder = made.path / "schemas"
    text = made.schema.read_text(encoding="utf-8")
    form = {"source": str(made.rows), "cap": "1", "signed": "yes"}
    for name in ("a.new", "a"):  # "a" was once tried out in a file of this name
        schema = text.replace('"people"', f'"{name}"')
        assert owner.post("/owner/tables/sign", data={**form, "name": name, "text": schema}).is_redirect
    refused = owner.post("/owner/tables/sign", data={**form, "name": "b", "text": "name ="})
    assert refused.status_code == 400
    assert sorted(file.name for file in folder.iterdir()) == ["a.new.toml", "a.toml"]


def test_a_table_whose_driver_fails_keeps_no_other_closed(made, ann, serve, monkeypatch):
    with made.owner() as registered:
        registered.remove_table("people")
        for name in ("first", "second"):
            schema = made.path / f"{name}.toml"
            text = made.schema.read_text(encoding="utf-8").replace('"people"', f'"{name}"')
            schema.write_text(text, encoding="utf-8")
            registered.add_table(name, str(made.rows), schema, "1")
            registered.grant("ann", name, "1")
    protect = tables.protect

    def fails(source, schema, **more):
        if schema.name == "first":
            raise RuntimeError("what a driver says")
        return protect(source, schema, **more)

    monkeypatch.setattr(tables, "protect", fails)
    ready = {one["name"]: one["ready"] for one in serve().get("/v1/tables", headers=ann).json()}
    assert ready == {"first": False, "second": True}


def test_a_survey_takes_no_nested_bomb(serve, made):
    client = serve()
    client.headers["Sec-Fetch-Site"] = "same-origin"
    for body in (b"[" * 100_000, b'{"token": "a", "token": "b", "record": 1}', b"NaN"):
        reply = client.post("/survey/x/answers", content=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "request_invalid")


def test_an_export_and_its_signature_fit_while_the_ledger_grows(owner, made, ann, tmp_path):
    ask = lambda epsilon: owner.post(  # noqa: E731 - asked twice
        "/v1/tables/people/query", json=count(epsilon), headers=ann
    )
    ask("0.5")
    (address,) = set(re.findall(r"/owner/ledger/export.jsonl[^\"]*", owner.get("/owner/ledger").text))
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(owner.get(address).content)
    ask("0.25")
    signature = owner.get(address.replace("jsonl", "sig"))
    file.with_name("ledger.jsonl.sig").write_bytes(signature.content)
    assert check_signature(file) == made.opened().signer().public
    assert verify_export(file).ok


def test_what_was_spent_over_time_is_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "MOST_POINTS", 10)
    with open_ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        table = ledger.table("people", Epsilon.of(100))
        ann = ledger.analyst(table, "ann", Epsilon.of(100))
        spending, read = history.Spending(ledger), []
        entries = ledger.entries
        monkeypatch.setattr(ledger, "entries", lambda *given: read.extend(found := entries(*given)) or found)
        for number in range(1, 26):
            ledger.charge(ann, Epsilon.of(1), "")
            shown = spending.over_time(table)
            assert (shown[0][1], shown[-1][1]) == (0.0, float(number))
            assert shown == sorted(shown)
            assert len(shown) <= 10
        assert len(read) == 27  # two accounts opened, 25 charges
        assert [one.number for one in history.last_entries(ledger, table, 2)] == [27, 28]


def test_new_answers_of_a_survey_join_those_that_were_read(made, monkeypatch):
    monkeypatch.setattr(surveys, "PAGE", 2)
    schema = Schema.read(made.schema)
    survey = Survey(schema, {one.name: parse_distortion(one, "clear") for one in schema}, title="Who")
    kept = surveys.Surveys(made.opened().registry_address)
    name = kept.add(survey)
    assert len(kept.records(name)) == 0
    for number in range(5):
        answers = {"sex": 0, "city": 1, "age": number, "buys": 0}
        kept.answer(name, f"{number:032x}", {"survey": survey.fingerprint, "answers": answers})
        assert kept.records(name).codes["age"].tolist() == list(range(number + 1))
    kept.close()
    again = surveys.Surveys(made.opened().registry_address)
    assert again.records(name).codes["age"].tolist() == list(range(5))
    again.close()


def test_a_home_of_another_format_says_what_to_do(made):
    store = open_store(made.opened().registry_address)
    with store.write() as run:
        run("UPDATE registry SET version = 1")
    store.close()
    with pytest.raises(ServiceError, match=r"format 1; .* bocage init"):
        made.owner()


def test_the_ledger_of_a_home_is_its_own_whatever_the_environment_says(made, monkeypatch):
    monkeypatch.setenv("BOCAGE_LEDGER", str(made.path))
    found = CliRunner().invoke(cli.main, ["ledger", "verify"])
    assert "entries verify" in found.output


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("address", ["u:secret@[::1/db", "u:secret%zz@h/db"])
def test_an_address_that_cannot_be_read_is_not_quoted(address, create):
    with pytest.raises(BocageError, match="address cannot be read") as told:
        open_ledger(f"postgresql://{address}", create=create)
    assert "secret" not in str(told.value)


def test_a_home_that_cannot_be_made_leaves_nothing(tmp_path):
    with pytest.raises(BocageError):
        Home.create(tmp_path / "lab", ledger="postgresql://127.0.0.1:1/nothing")
    assert list((tmp_path / "lab").iterdir()) == []
    Home.create(tmp_path / "lab")
