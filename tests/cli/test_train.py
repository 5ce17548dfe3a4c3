from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bocage.accounting import Scope, open_ledger
from bocage.cli.train import make_learner
from bocage.errors import LearnerError
from bocage.learners import DPDF, DiffPC45, PrivateID3
from bocage.model import Forest, Tree, load

SCOPE = Scope.table("patients").analyst("ann")


def account(clinic: Path) -> tuple[str, ...]:
    return ("--ledger", str(clinic / "book"), "--analyst", "ann")


def first(clinic: Path, budget: str = "1000") -> tuple[str, ...]:
    return (*account(clinic), "--cap", "2000", "--budget", budget, "--create-ledger", "--yes")


def spent(clinic: Path) -> str:
    with open_ledger(clinic / "book") as ledger:
        assert ledger.verify().ok
        return str(ledger.spent(SCOPE))


def test_training_shows_plan_price_tree_rules_and_certificate_and_charges_once(train, clinic):
    # Max sees a tie at the root of this table; Gini does not.
    chosen = ("--depth", "2", "--criterion", "gini")
    result = train(*chosen, *first(clinic), "--output", "m.json")
    for words in (
        "diffpc45: plan for epsilon 500",
        "total along a path",
        "Price: epsilon 500, of 1000 left.",
        "smokes is yes",
        "Best rules",
        "It is differentially private with epsilon = 500",
        "The model is in",
    ):
        assert words in result.stdout
    assert result.stdout.index("Price") < result.stdout.index("Best rules")
    assert spent(clinic) == "500"
    model = load(clinic / "m.json")
    assert isinstance(model, Tree)
    with open_ledger(clinic / "book") as ledger:
        entry = next(e for e in ledger.entries() if e.number == model.certificate.entry)
    assert '"learner":"diffpc45"' in entry.memo


def test_a_known_account_needs_neither_cap_nor_budget(train, clinic):
    train(*first(clinic))
    result = train(*account(clinic), "--yes", epsilon="1")
    assert "Price: epsilon 1, of 500 left." in result.stdout
    assert spent(clinic) == "501"


def test_a_new_ledger_table_or_analyst_must_be_declared(train, clinic):
    assert "--create-ledger" not in train(*account(clinic), "--yes", code=2).stdout
    assert not (clinic / "book").exists()
    made = (*account(clinic), "--create-ledger", "--yes")
    assert "does not know this table yet: give --cap" in train(*made, code=2).stderr
    assert "this analyst yet: give --budget" in train(*made, "--cap", "1", code=2).stderr
    assert "Whose account" in train("--ledger", "book", code=2).stderr


def test_more_than_is_left_is_refused_in_one_line_and_nothing_is_charged(train, clinic):
    result = train(*first(clinic, "100"), "--output", "m.json", code=2)
    assert "error: epsilon=500 was asked, but analyst 'ann' has 100 left of 100." in result.stderr
    assert result.stderr.count("\n") == 1
    assert spent(clinic) == "0"
    assert not (clinic / "m.json").exists()


def test_a_dry_run_is_free_and_marked(train, clinic, monkeypatch):
    monkeypatch.setenv("BOCAGE_LEDGER", str(clinic / "book"))  # the flag says more
    result = train("--dry-run", "--output", "m.json")
    assert "Dry run: rows made up from the schema" in result.stdout
    assert "A dry run" in load(clinic / "m.json").certificate.notes[0]
    assert not (clinic / "book").exists()


def test_a_study_says_that_nothing_keeps_count(train, tree):
    assert load(tree).certificate.entry is None
    assert "No ledger keeps count" in train("--study").stdout


def test_the_ledger_may_stand_in_the_environment(train, clinic, monkeypatch):
    monkeypatch.setenv("BOCAGE_LEDGER", str(clinic / "book"))
    train(*first(clinic)[2:])
    assert spent(clinic) == "500"


@pytest.mark.parametrize("mode", [(), ("--study", "--dry-run"), ("--study", "--ledger", "book")])
def test_exactly_one_mode_is_chosen(train, mode):
    assert "Choose one: --ledger" in train(*mode, code=2).stderr


def test_nothing_is_charged_without_a_yes(train, clinic):
    asked = first(clinic)[:-1]
    result = train(*asked, "--output", "m.json", code=2)
    assert "nobody can be asked: add --yes" in result.stderr
    assert spent(clinic) == "0"
    assert not (clinic / "m.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code", "charged"), [("y", 0, "500"), ("n", 130, "0")])
def test_on_a_terminal_a_person_is_asked(clinic, answer, code, charged):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        _command(clinic, *first(clinic)[:-1]),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=clinic,
    ) as child:
        os.write(ours, f"{answer}\n".encode())
        _, errors = child.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    assert "Charge epsilon 500? [y/N]:" in errors
    assert child.returncode == code, errors
    assert spent(clinic) == charged
    assert (clinic / "m.json").exists() == (answer == "y")


def test_a_model_is_never_overwritten_and_a_bad_place_costs_nothing(train, clinic, tree):
    before = tree.read_bytes()
    result = train(*first(clinic), "--output", "tree.json", code=2)
    assert "exists already" in result.stderr
    assert tree.read_bytes() == before
    bad = train(*first(clinic), "--output", "no/such/m.json", code=1)
    assert "its directory must exist" in bad.stderr
    assert not (clinic / "book").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--param", "color=3"), "diffpc45 has no parameter 'color'"),
        (("--param", "prune"), "has no parameter 'prune'. Write name=value"),
        (("--depth", "deep"), "depth is int, not 'deep'"),
        (("--depth", "0"), "depth from 1"),
        (("--trees", "3"), "no parameter 'trees'"),
        (("--criterion", "beauty"), "beauty"),
        (("--param", "prune=maybe"), "prune is bool"),
        (("--param", "attributes=shoe"), "no attribute 'shoe'"),
        (("--epsilon", "0"), "greater than 0"),
        (("--epsilon", "much"), "must be a number"),
        (("--learner", "oak"), "There are sulq_id3, diffpid3, diffpc45"),
        (("--schema", "nowhere.toml"), "cannot be read"),
    ],
)
def test_wrong_parameters_are_one_line_before_anything_is_opened(train, clinic, options, words):
    result = train(*first(clinic), *options, code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert not (clinic / "book").exists()


def test_a_source_that_is_not_there_is_one_line_and_costs_nothing(run, clinic):
    source = ("nowhere.parquet", "--schema", "patients.toml", "--learner", "diffpc45")
    result = run("train", *source, "--epsilon", "1", *first(clinic), code=2)
    assert "there is no file" in result.stderr


def test_a_forest_shows_every_tree(train, forest):
    model = load(forest)
    assert isinstance(model, Forest)
    assert len(model) == 2
    chosen = ("--param", "attributes=smokes,home", "--trees", "2", "--study")
    result = train(*chosen, learner="dpdf")
    assert "Tree 1 of 2" in result.stdout
    assert "Tree 2 of 2" in result.stdout


def test_a_large_tree_is_cut_on_the_screen_and_whole_in_the_file(train, clinic):
    shown = train("--depth", "8", "--param", "prune=no", "--study", "--output", "m.json").stdout
    assert len(load(clinic / "m.json")) > 60
    assert "more nodes" in shown


def test_parameters_become_what_they_are():
    found = make_learner("diffpc45", ["depth=3", "prune=no", "confidence=0.1", "points=separate"])
    assert found == DiffPC45(depth=3, prune=False, confidence=0.1, points="separate")
    assert make_learner("private_id3", ["depth=none"]) == PrivateID3(depth=None)
    chosen = make_learner("dpdf", ["attributes=a, b", "trees=2"])
    assert chosen == DPDF(attributes=("a", "b"), trees=2)
    with pytest.raises(LearnerError):
        make_learner("dpdf", ["support=1.5"])


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_training_leaves_a_true_ledger_and_no_half_model(clinic, sent):
    with open_ledger(clinic / "book", create=True) as ledger:
        # An hour of work: the interruption comes in the middle of it, whatever the machine.
        child = subprocess.Popen(
            [sys.executable, "-c", SLOW, *_command(clinic, *first(clinic))[2:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=clinic,
        )
        with child:
            deadline = time.monotonic() + 120
            while not any(e.action == "charge" for e in ledger.entries()):
                assert child.poll() is None, child.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            child.send_signal(sent)
            _, errors = child.communicate(timeout=60)
    assert spent(clinic) == "500"
    assert sorted(p.name for p in clinic.iterdir() if "m.json" in p.name) == []
    if sent is signal.SIGINT:
        assert child.returncode == 130
        assert "Epsilon 500 was charged and stays charged. No model is written." in errors
        assert "Traceback" not in errors


# The real command, with an engine that takes its time to answer.
SLOW = """
import sys, time
from bocage.engine.files.version import FileVersion
answer = FileVersion.answer
def slow(self, questions):
    time.sleep(3600)
    return answer(self, questions)
FileVersion.answer = slow
from bocage.cli import main
main(sys.argv[1:])
"""


def _command(clinic: Path, *options: str) -> list[str]:
    source = ["patients.parquet", "--schema", "patients.toml", "--learner", "diffpc45"]
    program = [sys.executable, str(Path(sys.executable).with_name("bocage")), "train", *source]
    return [*program, "--epsilon", "500", *options, "--output", "m.json"]
