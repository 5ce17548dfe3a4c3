"""A fit that ends in the middle: the ledger is true, and there is no half model."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import bocage
from bocage.accounting import open_ledger
from bocage.engine.reference import ReferenceEngine
from bocage.epsilon import Epsilon
from bocage.errors import BudgetExceeded, EngineError
from bocage.mechanisms import Adjacency, SystemNoise
from bocage.private import ProtectedTable
from bocage.private.executor import LiveExecutor
from bocage.private.query import Terms
from learners.spy import GREEDY
from private.tables import TENNIS, WEATHER

MORTAL = Path(__file__).with_name("mortal.py")


def check(ledger_file, *, charges, spent):
    """What is on the disk, read anew."""
    with open_ledger(ledger_file) as ledger:
        assert ledger.verify().problems == ()
        found = [str(entry.epsilon) for entry in ledger.entries() if entry.action == "charge"]
        assert found == charges
        assert sum(map(float, found)) == spent


class Watchful(ReferenceEngine):
    """Looks into the ledger file before it reads a row."""

    def __init__(self, file):
        super().__init__(WEATHER, TENNIS)
        self.file, self.seen = file, []

    def answer(self, questions):
        with open_ledger(self.file) as ledger:
            self.seen.append([str(e.epsilon) for e in ledger.entries() if e.action == "charge"])
        return super().answer(questions)


@pytest.mark.parametrize("name", GREEDY)
def test_the_whole_charge_is_on_disk_before_the_first_row_is_read(name, tmp_path):
    file = tmp_path / "ledger.db"
    ledger = open_ledger(file, create=True)
    engine = Watchful(file)
    executor = LiveExecutor(Terms(TENNIS, Adjacency.ADD_REMOVE), engine, SystemNoise())
    with ProtectedTable(executor, ledger, Epsilon.of(10)) as protected:
        GREEDY[name]().fit(protected.analyst("ann", 10), "0.75")
    assert engine.seen
    assert all(seen == ["0.75"] for seen in engine.seen)


@pytest.mark.parametrize("name", GREEDY)
def test_ctrl_c_leaves_the_charge_and_no_model(name, tmp_path):
    file = tmp_path / "ledger.db"

    def interrupt(done, of):
        if done:
            raise KeyboardInterrupt

    with bocage.protect(WEATHER, TENNIS, ledger=file, cap=9, create=True) as protected:
        table = protected.analyst("ann", 9)
        model = None
        with pytest.raises(KeyboardInterrupt):
            model = GREEDY[name]().fit(table, 2, interrupt)
        assert model is None
        assert str(table.spent()) == "2"
        GREEDY[name]().fit(table, 3)  # the table can still be used
    check(file, charges=["2", "3"], spent=5)


class Failing(ReferenceEngine):
    """Answers once, then fails with a value of a row in its message."""

    def __init__(self):
        super().__init__(WEATHER, TENNIS)
        self.answered = 0

    def answer(self, questions):
        self.answered += 1
        if self.answered > 1:
            raise ValueError("row 3 is overcast")
        return super().answer(questions)


@pytest.mark.parametrize("name", GREEDY)
def test_an_engine_that_fails_in_the_middle_keeps_the_charge_and_says_nothing(name, tmp_path):
    file = tmp_path / "ledger.db"
    executor = LiveExecutor(Terms(TENNIS, Adjacency.ADD_REMOVE), Failing(), SystemNoise())
    with ProtectedTable(executor, open_ledger(file, create=True), Epsilon.of(9)) as protected:
        with pytest.raises(EngineError) as caught:
            GREEDY[name]().fit(protected.analyst("ann", 9), 2)
        assert "overcast" not in str(caught.value)
    check(file, charges=["2"], spent=2)


@pytest.mark.parametrize("name", GREEDY)
def test_more_than_is_left_is_refused_and_nothing_is_charged(name, tmp_path):
    file = tmp_path / "ledger.db"
    with bocage.protect(WEATHER, TENNIS, ledger=file, cap=1, create=True) as protected:
        table = protected.analyst("ann", 1)
        with pytest.raises(BudgetExceeded):
            GREEDY[name]().fit(table, "1.5")
        GREEDY[name]().fit(table, 1)
    check(file, charges=["1"], spent=1)


@pytest.mark.parametrize("name", GREEDY)
def test_kill_9_in_the_middle_leaves_a_true_ledger_and_no_model_file(name, tmp_path):
    ledger, model = tmp_path / "ledger.db", tmp_path / "model.json"
    arguments = [sys.executable, str(MORTAL), name, str(ledger), str(model)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as fit:
        assert fit.stdout.readline() == "second level\n"  # it waits there to be killed
        fit.send_signal(signal.SIGKILL)
        assert fit.wait() == -signal.SIGKILL
    check(ledger, charges=["2"], spent=2)
    assert [path.name for path in tmp_path.glob("model*")] == []
