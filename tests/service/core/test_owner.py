"""What the owner does on the command line, and the settings of a home."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from click.testing import CliRunner
from running import ROWS, Inside, count, some_rows

from bocage import cli
from bocage.accounting import Scope
from bocage.errors import LedgerError, ServiceError
from bocage.parties import Contribution, PartyPlan, merge, plan_rows
from bocage.schema import Schema
from bocage.service.core.directory import Home
from bocage.service.core.exports import check_signature
from bocage.service.settings import Settings, template


@pytest.fixture
def bocage(made, monkeypatch):
    """Run a command in the home of `made`."""
    monkeypatch.setenv("BOCAGE_HOME", str(made.path))

    def run(*arguments, code=0):
        result = CliRunner().invoke(cli.main, list(map(str, arguments)))
        assert result.exit_code == code, result.output
        return result

    return run


def test_the_way_of_an_owner(bocage, made, tmp_path):
    bocage("init", tmp_path / "new")
    assert "not empty" in bocage("init", tmp_path / "new", code=2).output
    key = bocage("analyst", "add", "ann").stdout.strip().splitlines()[-1]
    assert key.startswith("bocage_")
    bocage("analyst", "grant", "ann", "people", "--budget", "2")
    assert "people" in bocage("table", "list").output
    assert key not in bocage("analyst", "list").output
    renewed = bocage("analyst", "rotate", "ann").stdout.strip().splitlines()[-1]
    assert renewed != key
    bocage("table", "freeze", "people")
    with made.owner() as owner:
        assert owner.registry.authenticate(key) is None
        assert owner.registry.authenticate(renewed).name == "ann"
        assert owner.ledger.balance(Scope.table("people")).state == "frozen"
    bocage("table", "thaw", "people")
    bocage("table", "cap", "people", "--cap", "7")
    bocage("analyst", "revoke", "ann", "people")
    assert "final" in bocage("analyst", "grant", "ann", "people", "--budget", "3", code=2).output
    bocage("analyst", "revoke", "ann")
    assert "final" in bocage("analyst", "rotate", "ann", code=2).output
    bocage("table", "remove", "people")
    assert "no table" in bocage("table", "freeze", "people", code=2).output
    assert "has a cap of 7 on record" in bocage(
        *("table", "add", "people", "--source", made.rows, "--schema", made.schema, "--cap", "9"),
        code=2,
    ).output.replace("\n", " ")  # what was spent is remembered, and so is the cap


def test_a_table_that_a_service_could_not_open_is_not_registered(bocage, made, tmp_path):
    add = ("table", "add", "more", "--schema", made.schema, "--cap", "100")
    assert "cannot be opened" in bocage(*add, "--source", tmp_path / "no.csv", code=2).output
    again = bocage(*add, "--source", made.rows, code=2).output
    assert "registered already" in again
    bocage(*add, "--source", made.rows, "--batch", "2026-02")
    assert "2026-02" in bocage("table", "list").output
    with made.owner() as owner, pytest.raises(ServiceError, match="named by"):
        owner.add_table("../up", str(made.rows), made.schema, "100", batch="x")
    with made.owner() as owner, pytest.raises(ServiceError, match="take another name"):
        owner.add_table("new", str(made.rows), made.schema, "100", batch="x")


def test_batches_of_one_table_cost_the_maximum(serve, made, ann):
    with made.owner() as owner:
        for month, rows in (("01", made.rows), ("02", some_rows(made, 5))):
            owner.add_table(month, str(rows), made.schema, "100", batch=month)
            owner.grant("ann", month, "50")
    client = serve()
    for month in ("01", "02"):
        body = count("3")
        assert client.post(f"/v1/tables/{month}/query", json=body, headers=ann).status_code == 200
    with made.owner() as owner:
        assert str(owner.ledger.spent(Scope.table("people").analyst("ann"))) == "3"
        owner.revoke("ann", "01")  # the other batch goes on
    assert client.post("/v1/tables/01/query", json=count("3"), headers=ann).status_code == 403
    assert client.post("/v1/tables/02/query", json=count("1"), headers=ann).status_code == 200


def test_an_export_is_signed_and_a_changed_one_is_noticed(bocage, made, tmp_path):
    made.analyst("ann")
    export = tmp_path / "ledger.jsonl"
    told = bocage("ledger", "export", made.path, export).output
    public = Home.open(made.path, environment={}).signer().public
    assert public in told
    bocage("ledger", "verify", export, "--signed-by", public)
    bocage("ledger", "verify", made.path)
    assert "signed by" in bocage("ledger", "verify", export, "--signed-by", "0" * 64, code=1).output
    export.write_text(export.read_text() + "\n")
    with pytest.raises(LedgerError, match="not the file that was signed"):
        check_signature(export, public)
    signature = export.with_name("ledger.jsonl.sig")
    document = json.loads(signature.read_text())
    signature.write_text(json.dumps({**document, "signature": "00" * 64}))
    with pytest.raises(LedgerError):
        check_signature(export, public)


def test_an_owner_contributes_to_a_plan_once(serve, made, ann, bob):
    plan = plan_rows(Schema.read(made.schema), "1", rows=16, trees=2, height=1)
    body = {"party": "clinic", "plan": json.loads(plan.to_json())}
    client = serve()
    path = "/v1/tables/people/contribute"
    first, again = (client.post(path, json=body, headers=ann) for _ in range(2))
    assert first.status_code == 200, first.text
    assert first.content == again.content
    assert client.get("/v1/me", headers=ann).json()["tables"][0]["spent"] == "1"
    made_by = Contribution.from_bytes(first.content)
    assert made_by.key == Home.open(made.path, environment={}).signer().public
    file = made.path.parent / "clinic.json"
    file.write_bytes(first.content)
    assert len(merge(PartyPlan.from_json(plan.to_json()), [file], trust=[made_by.key]).trees) == 2
    forged = {"party": "clinic", "plan": {**body["plan"], "epsilon": "0.5"}}
    refused = client.post(path, json=forged, headers=ann)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "party_error")


def test_settings_come_from_file_environment_and_flags_in_this_order(made):
    file = made.path / "settings.toml"
    file.write_text("port = 1111\nburst = 7\nworkers = 2\n")
    names = {"BOCAGE_PORT": "2222", "BOCAGE_BURST": "8", "BOCAGE_METRICS": "no"}
    settings = Settings.read(made.path, names, {"port": 3333, "host": None})
    found = (settings.port, settings.burst, settings.workers, settings.metrics, settings.host)
    assert found == (3333, 8, 2, False, "127.0.0.1")


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("prot = 1\n", {}, "there is no setting 'prot'"),
        ("port = '1'\n", {}, "port is int"),
        ("port = 99999\n", {}, "lies between"),
        ("port = \n", {}, "is not TOML"),
        ("tls_key = 'a.pem'\n", {}, "together or not"),
        ("", {"BOCAGE_PROT": "1"}, "there is no setting BOCAGE_PROT"),
        ("", {"BOCAGE_PORT": "one"}, "BOCAGE_PORT is int"),
        ("", {"BOCAGE_METRICS": "maybe"}, "BOCAGE_METRICS is bool"),
    ],
)
def test_wrong_settings_are_refused_at_the_start(tmp_path, text, names, expected):
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(ServiceError, match=expected):
        Settings.read(tmp_path, names)


def test_a_directory_that_is_no_home_is_refused(tmp_path):
    with pytest.raises(ServiceError, match="bocage init makes one"):
        Home.open(tmp_path, environment={})


def test_the_template_names_every_setting(tmp_path):
    assert [one.name for one in fields(Settings) if f"\n# {one.name} = " not in template()] == []
    (tmp_path / "settings.toml").write_text(template())
    assert Settings.read(tmp_path, {}) == Settings()


def test_a_source_that_changes_its_shape_is_reported_not_served(made, tmp_path, caplog):
    made.analyst("ann")
    made.rows.write_bytes(b"no parquet any more")
    service = Inside(made.opened())
    headers = {"Authorization": f"Bearer {made.keys['ann']}"}
    told = service.client.post("/v1/tables/people/query", json=count(), headers=headers)
    service.stop()
    assert (told.status_code, told.json()["error"]["code"]) == (503, "unavailable")
    assert "table people is not open" in caplog.text
    assert str(ROWS["age"]) not in caplog.text
