"""A forest takes new batches from the command line, and is never left half-written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.accounting import Scope, open_ledger
from bocage.model import load
from cli.conftest import patients
from cli.test_train import SLOW, account, first, spent

TREES = ("--trees", "3", "--param", "height=2")
BATCHES = {"2026-01": 600, "2026-02": 300, "2026-03": 250, "a": 200, "b": 150}  # their rows


@pytest.fixture
def grown(train, clinic):
    """A forest of the batch 2026-01, and the rows of another."""
    for batch, rows in BATCHES.items():
        pq.write_table(pa.table(patients(rows)), clinic / f"{batch}.parquet")
    train(*TREES, *first(clinic), "--batch", "2026-01", "--output", "f.json", learner="rdt")
    return clinic / "f.json"


@pytest.fixture
def update(run, clinic):
    def invoke(*more, batch="2026-02", epsilon="400", code=0):
        paid = more if "--study" in more or "--dry-run" in more else (*account(clinic), *more)
        arguments = ("f.json", f"{batch}.parquet", "--batch", batch, "--epsilon", epsilon)
        return run("update", *arguments, *paid, code=code)

    return invoke


def test_an_update_shows_the_price_first_and_batches_cost_the_maximum(grown, update, clinic):
    old = load(grown)
    result = update("--yes")
    shown = " ".join(result.stdout.split())
    assert shown.index("Price: epsilon 400, of 1000 left.") < shown.index("differentially private")
    assert "which together cost the maximum" in shown
    assert "After 2 batches the noise on every count has a variance of" in shown
    assert "Go on adding batches." in shown
    assert spent(clinic) == "500"  # the maximum of 500 and 400
    new = load(grown)
    assert [batch.name for batch in new.certificate.batches] == ["2026-01", "2026-02"]
    assert new.certificate.epsilon == "500"
    with open_ledger(clinic / "book") as ledger:
        charges = [entry for entry in ledger.entries() if entry.action == "charge"]
        assert [batch.entry for batch in new.certificate.batches] == [e.number for e in charges]
        assert ledger.spent(Scope.table("patients")) == charges[0].epsilon
    # Noise of scale 3/400 is 0 but for once in 10**57: 900 rows are counted.
    for before, after in zip(old.trees, new.trees, strict=True):
        assert int(before.counts.sum()) == 600
        assert int(after.counts.sum()) == 900


def test_training_says_what_noise_a_first_batch_has(train, clinic):
    shown = train(*TREES, "--study", "--batch", "2026-01", learner="rdt").stdout
    assert "After 1 batch the noise on every count has a variance" in " ".join(shown.split())
    assert "Noise" not in train(*TREES, "--study", learner="rdt").stdout


def test_an_update_may_go_to_another_file_and_a_dry_run_writes_nothing(grown, update, clinic):
    before = grown.read_bytes()
    update("--yes", "--output", "g.json")
    assert len(load(clinic / "g.json").certificate.batches) == 2
    assert "exists already" in update("--yes", "--output", "g.json", code=2).stderr
    assert "Free; no record is read" in update("--dry-run", batch="2026-03").stdout
    assert grown.read_bytes() == before


def test_updates_that_do_not_fit_are_refused_and_neither_charge_nor_write(grown, update, run, train, clinic):
    before, paid = grown.read_bytes(), spent(clinic)
    assert "is in the forest already" in update("--yes", batch="2026-01", code=2).stderr
    assert "left of 1000" in update("--yes", epsilon="2000", code=2).stderr
    assert "greater than 0" in update("--yes", epsilon="0", code=2).stderr
    assert "nobody can be asked: add --yes" in update(code=2).stderr
    assert "Choose one" in update("--study", "--dry-run", code=2).stderr
    source = ("b.parquet", "--batch", "b", "--epsilon", "1", *account(clinic), "--yes")
    train("--study", "--output", "tree.json")
    assert "is a single tree" in run("update", "tree.json", *source, code=2).stderr
    chosen = ("--param", "attributes=smokes,home", "--trees", "2", "--study")
    train(*chosen, "--output", "d.json", learner="dpdf")
    assert "cannot update a forest made by dpdf" in run("update", "d.json", *source, code=2).stderr
    train(*TREES, "--study", "--output", "whole.json", learner="rdt")
    refused = run("update", "whole.json", *source, code=2).stderr
    assert "not declared a batch, so that anybody" in refused
    assert "cannot be read" in run("update", "none.json", *source, code=2).stderr
    assert (grown.read_bytes(), spent(clinic)) == (before, paid)


def test_a_forest_of_parts_is_updated_by_its_parts(train, update, clinic):
    pq.write_table(pa.table(patients(300)), clinic / "2026-02.parquet")
    parted = ("--param", "parts=home", "--param", "height=1")
    train(*parted, *first(clinic), "--batch", "2026-01", "--output", "f.json", learner="rdt")
    update("--yes")
    counted = [int(tree.counts.sum()) for tree in load(clinic / "f.json").trees]
    assert counted == [450, 450, 0]


def test_a_model_that_changed_meanwhile_is_not_overwritten(grown, update, clinic, monkeypatch):
    from bocage.learners import RandomTrees

    honest = RandomTrees.update

    def meanwhile(self, *arguments):
        grown.write_bytes(grown.read_bytes() + b"\n")
        return honest(self, *arguments)

    monkeypatch.setattr(RandomTrees, "update", meanwhile)
    before = grown.read_bytes()
    result = update("--yes", code=2)
    assert "was changed meanwhile" in result.stderr
    assert '"2026-02"' in result.stdout  # what was paid for is not lost
    assert grown.read_bytes() == before + b"\n"


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_update_leaves_the_charge_and_the_old_model(grown, clinic, sent):
    before = grown.read_bytes()
    arguments = ["f.json", "2026-02.parquet", "--batch", "2026-02", "--epsilon", "600", "--yes"]
    with open_ledger(clinic / "book") as ledger:
        child = subprocess.Popen(
            [sys.executable, "-c", SLOW, "update", *arguments, *account(clinic)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=clinic,
        )
        with child:
            deadline = time.monotonic() + 120
            while sum(e.action == "charge" for e in ledger.entries()) < 2:
                assert child.poll() is None, child.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            child.send_signal(sent)
            _, errors = child.communicate(timeout=60)
    assert spent(clinic) == "600"
    assert grown.read_bytes() == before
    assert [path.name for path in clinic.iterdir() if "f.json" in path.name] == ["f.json"]
    if sent is signal.SIGINT:
        assert child.returncode == 130
        assert "Epsilon 600 was charged and stays charged. f.json is as it was." in errors
        assert "Traceback" not in errors


def test_the_order_of_batches_is_that_of_the_updates(grown, update):
    update("--yes", batch="b", epsilon="1")
    update("--yes", batch="a", epsilon="1")
    names = [batch.name for batch in load(Path(grown)).certificate.batches]
    assert names == ["2026-01", "b", "a"]
