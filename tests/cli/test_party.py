"""The way of three owners by commands alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from bocage.accounting import Scope, open_ledger
from bocage.cli import main
from bocage.model import load
from bocage.parties import Contribution, PartyPlan
from parties.owners import NAMES, PATIENTS, rows


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("patients.json").write_text(json.dumps(PATIENTS.to_dict()))
    for i, name in enumerate(NAMES):
        parquet.write_table(pa.table(rows(90 * i)), f"{name}.parquet")

    def invoke(*arguments, code=0, stdin=None):
        result = CliRunner(env={"COLUMNS": "120"}).invoke(main, ["party", *arguments], input=stdin)
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def planned(run):
    run(
        "plan",
        "patients.json",
        "--epsilon",
        "0.5",
        "--trees",
        "3",
        "--height",
        "2",
        "-o",
        "plan.json",
    )
    for name in NAMES:
        run("key", f"{name}.pem")
    return run


def contribute(run, name, *more, output=None, code=0):
    ledger = ("--ledger", f"{name}.ledger", "--cap", "2", "--budget", "1", "--create-ledger")
    signed = ("--party", name, "--key", f"{name}.pem", "-o", output or f"{name}.contribution.json")
    return run("contribute", "plan.json", f"{name}.parquet", *ledger, *signed, "--yes", *more, code=code)


def test_three_owners_plan_contribute_and_merge(planned):
    for name, output in zip(NAMES, ("n.json", "s.parquet", "w.json"), strict=True):
        result = contribute(planned, name, output=output)
        assert "Charged epsilon 0.5 (ledger entry 5)" in result.output
    result = planned("merge", "plan.json", "n.json", "s.parquet", "w.json", "-o", "model.json")
    assert "epsilon = 0.5" in result.output
    assert "no person is in two" in result.output
    forest = load("model.json")
    assert forest.voting == "counts"
    assert [batch.name for batch in forest.certificate.batches] == list(NAMES)
    with open_ledger("north.ledger") as ledger:
        (charge,) = [entry for entry in ledger.entries() if entry.action == "charge"]
        assert json.loads(charge.memo)["plan"] == PartyPlan.load("plan.json").hash


def test_the_same_command_again_writes_the_very_same_file_free(planned):
    contribute(planned, "north", output="a.json")
    result = contribute(planned, "north", output="b.json")
    assert "nothing was charged" in result.output
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    with open_ledger("north.ledger") as ledger:
        assert sum(entry.action == "charge" for entry in ledger.entries()) == 1


def test_only_trusted_keys_are_merged(planned):
    public = {}
    for name in NAMES[:2]:
        contribute(planned, name)
        public[name] = Contribution.load(f"{name}.contribution.json").key
    files = [f"{name}.contribution.json" for name in public]
    refused = planned("merge", "plan.json", *files, "--trust", public["north"], "-o", "model.json", code=2)
    assert "south.contribution.json: its key" in refused.output
    assert not Path("model.json").exists()
    Path("keys.txt").write_text("\n".join(public.values()))
    planned("merge", "plan.json", *files, "--trust", "keys.txt", "-o", "model.json")
    assert load("model.json").certificate.epsilon == "0.5"


def test_a_doubled_contribution_is_refused_and_no_model_is_written(planned):
    contribute(planned, "north")
    once = "north.contribution.json"
    result = planned("merge", "plan.json", once, once, "-o", "model.json", code=2)
    assert "the party 'north' is in north.contribution.json already" in result.output
    assert not Path("model.json").exists()


def test_key_prints_the_public_key_alone_on_standard_output(run):
    result = run("key", "mine.pem")
    assert re.fullmatch(r"[0-9a-f]{64}\n", result.stdout)
    assert Path("mine.pem").stat().st_mode & 0o777 == 0o600
    assert "exists already" in run("key", "mine.pem", code=2).output


def test_without_yes_nothing_is_charged_where_nobody_can_be_asked(planned):
    arguments = ("--ledger", "n.ledger", "--cap", "2", "--budget", "1", "--create-ledger")
    signed = ("--party", "north", "--key", "north.pem", "-o", "n.json")
    result = planned("contribute", "plan.json", "north.parquet", *arguments, *signed, code=2)
    assert "add --yes" in result.output
    assert not Path("n.json").exists()
    with open_ledger("n.ledger") as ledger:
        assert all(entry.action != "charge" for entry in ledger.entries())


def test_a_budget_that_is_too_small_is_refused(planned):
    result = contribute(planned, "north", "--budget", "0.4", code=2)
    assert "epsilon=0.5 was asked" in result.output
    assert not Path("north.contribution.json").exists()


def test_a_ledger_that_knows_nothing_asks_for_cap_and_budget(planned):
    signed = ("--party", "north", "--key", "north.pem", "-o", "n.json", "--yes")
    arguments = ("contribute", "plan.json", "north.parquet", "--ledger", "n.ledger", *signed)
    assert "n.ledger" in planned(*arguments, code=2).output  # not there, and not made
    assert "give --cap" in planned(*arguments, "--create-ledger", code=2).output
    assert "give --budget" in planned(*arguments, "--cap", "1", code=2).output


def test_a_place_that_cannot_be_written_is_refused_before_the_charge(planned):
    contribute(planned, "north", output="nowhere/n.json", code=1)
    assert not Path("north.ledger").exists()


def test_owners_of_columns_share_epsilon(planned):
    owners = ("--vertical", "clinic=smokes,age", "--vertical", "town=home")
    shape = ("--trees", "2", "--height", "1", "-o", "columns.json")
    result = planned("plan", "patients.json", "--epsilon", "1", *owners, *shape)
    assert "columns of the same persons" in result.output
    assert result.output.count(" 0.5 ") == 2
    for name in ("clinic", "town"):
        planned("key", f"{name}.pem")
        ledger = ("--ledger", f"{name}.ledger", "--cap", "1", "--budget", "1", "--create-ledger")
        signed = ("--party", name, "--key", f"{name}.pem", "-o", f"{name}.json", "--yes")
        planned("contribute", "columns.json", "north.parquet", *ledger, *signed)
    result = planned("merge", "columns.json", "clinic.json", "town.json", "-o", "model.json")
    assert "add up to epsilon = 1." in " ".join(result.output.split())
    wrong = ("--vertical", "clinic", "-o", "x.json")
    assert "once for every owner" in planned("plan", "patients.json", "--epsilon", "1", *wrong, code=2).output


def test_inspect_shows_plans_contributions_and_models(planned):
    contribute(planned, "north", output="n.parquet")
    contribute(planned, "south")
    planned("merge", "plan.json", "n.parquet", "-o", "model.json")
    assert "every owner" in planned("inspect", "plan.json").output
    assert PartyPlan.load("plan.json").hash in planned("inspect", "plan.json").output
    for file in ("n.parquet", "south.contribution.json"):
        shown = planned("inspect", file).output
        assert re.search(r"signature\s+good", shown)
    assert "differentially private with epsilon = 0.5" in planned("inspect", "model.json").output
    assert "no plan, no contribution and no model" in planned("inspect", "patients.json", code=2).output
    document = json.loads(Path("south.contribution.json").read_text())
    Path("forged.json").write_text(json.dumps({**document, "party": "[bold]east"}))
    shown = planned("inspect", "forged.json", code=1).output
    assert "FORGED" in shown
    assert "[bold]east" in shown


def test_a_batch_that_came_later_is_contributed_under_its_own_name(planned):
    first = ("--batch", "2026-01")
    contribute(planned, "north", *first, output="a.json")
    planned("key", "later.pem")
    ledger = ("--ledger", "north.ledger", "--batch", "2026-02", "--yes", "-o", "b.json")
    signed = ("--party", "north, later", "--key", "later.pem")
    result = planned("contribute", "plan.json", "south.parquet", *ledger, *signed)
    assert "Charged epsilon 0.5" in result.output
    planned("merge", "plan.json", "a.json", "b.json", "-o", "model.json")
    assert load("model.json").certificate.epsilon == "0.5"
    with open_ledger("north.ledger") as book:
        assert str(book.spent(Scope.table("patients"))) == "0.5"


def test_the_number_of_owners_makes_the_trees_of_a_plan_lower(run):
    heights = []
    for owners in ("1", "400"):
        made = f"plan{owners}.json"
        sizes = ("--epsilon", "1", "--rows", "3000", "--trees", "5", "--owners", owners)
        run("plan", "patients.json", *sizes, "-o", made)
        heights.append(max(PartyPlan.load(made).shares[0].leaves))
    assert heights[0] > heights[1]
    told = run("plan", "patients.json", "--epsilon", "1", "--owners", "0", "-o", "x.json", code=2)
    assert "1 to 262144 owners" in told.output
    columns = ("--vertical", "a=smokes", "--vertical", "b=home", "--trees", "2", "--height", "1")
    both = run(
        *("plan", "patients.json", "--epsilon", "1", *columns, "--owners", "2", "-o", "x.json"),
        code=2,
    )
    assert "--owners is for owners of rows" in both.output
