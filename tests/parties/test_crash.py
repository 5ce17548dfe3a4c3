"""A charge stands whenever the power goes, and one charge releases one contribution."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bocage.accounting import open_ledger
from bocage.parties import Contribution, Signer, merge
from parties.owners import row_plan

MORTAL = Path(__file__).with_name("mortal.py")


def live(directory, moment):
    files = [str(directory / name) for name in ("plan.json", "key.pem", "ledger", "c.json")]
    return subprocess.Popen([sys.executable, str(MORTAL), moment, *files], stdout=subprocess.PIPE, text=True)


def charges(directory):
    with open_ledger(directory / "ledger") as ledger:
        assert ledger.verify().ok
        return [e.number for e in ledger.entries() if e.action == "charge"]


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["charged", "kept"])
def test_a_kill_leaves_the_charge_and_the_next_run_finishes_what_was_paid(tmp_path, moment):
    plan = row_plan()
    plan.save(tmp_path / "plan.json")
    Signer.new().save(tmp_path / "key.pem")
    with live(tmp_path, moment) as process:
        assert process.stdout.readline() == f"{moment}\n"
        os.kill(process.pid, signal.SIGKILL)
    assert not (tmp_path / "c.json").exists()
    (paid,) = charges(tmp_path)
    with sqlite3.connect(tmp_path / "ledger") as database:
        kept = {
            name.startswith("drawn"): bytes(body) for name, body in database.execute("SELECT key, body FROM answers")
        }
    database.close()
    assert len(kept) == {"charged": 1, "kept": 2}[moment]

    with live(tmp_path, "never") as process:
        assert process.wait(60) == 0
    assert charges(tmp_path) == [paid]  # nothing is paid twice
    found = Contribution.load(tmp_path / "c.json")
    assert found.entry == paid
    assert found.values.tobytes() == kept[True]  # no new noise, wherever the first run ended
    if moment == "kept":
        assert found.to_json() == kept[False]  # the very same
    assert merge(plan, [found]).certificate.epsilon == "0.5"
