"""The runner: every repetition once, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from experiments.common.runner import Cell, Results, run

HERE = Path(__file__).parent


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    return "counting_work:count"


def cells(tmp_path, repetitions=5, sizes=(1, 2, 3)):
    return [Cell({"n": n, "trace": str(tmp_path / "trace")}, repetitions) for n in sizes]


def trace(tmp_path):
    path = tmp_path / "trace"
    lines = path.read_text().splitlines() if path.exists() else []
    return [tuple(map(int, line.split()[:2])) for line in lines]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_repetition_is_done_once_and_found_again(tmp_path, work, jobs):
    store = tmp_path / "out" / "a.jsonl"
    results = run("a", cells(tmp_path), work, store, jobs=jobs, chunk=2, quiet=True)
    assert sorted(trace(tmp_path)) == [(n, i) for n in (1, 2, 3) for i in range(5)]
    assert results.values(n=2).tolist() == [200, 201, 202, 203, 204]
    assert results.mean(n=3) == 302
    run("a", cells(tmp_path), work, store, jobs=jobs, quiet=True)
    assert len(trace(tmp_path)) == 15


def test_more_repetitions_add_to_what_is_there(tmp_path, work):
    store = tmp_path / "a.jsonl"
    run("a", cells(tmp_path, 2), work, store, quiet=True)
    results = run("a", cells(tmp_path, 4), work, store, quiet=True)
    assert len(trace(tmp_path)) == 12
    assert results.repetitions() == (4, 4)
    fewer = run("a", cells(tmp_path, 3), work, store, quiet=True)
    assert fewer.repetitions() == (3, 3)


def test_a_torn_last_line_is_done_again(tmp_path, work):
    store = tmp_path / "a.jsonl"
    run("a", cells(tmp_path), work, store, chunk=1, quiet=True)
    store.write_bytes(store.read_bytes()[:-7])
    results = run("a", cells(tmp_path), work, store, chunk=1, quiet=True)
    assert results.repetitions() == (5, 5)
    assert len(trace(tmp_path)) == 16


def test_a_killed_run_goes_on(tmp_path, work):
    code = (
        f"import sys; sys.path[:0] = [{str(HERE.parents[1])!r}, {str(HERE)!r}]\n"
        "from pathlib import Path\n"
        "from experiments.common.runner import Cell, run\n"
        f"cells = [Cell({{'n': 1, 'trace': {str(tmp_path / 'trace')!r}}}, 40)]\n"
        f"run('a', cells, 'counting_work:slow', Path({str(tmp_path / 'a.jsonl')!r}), chunk=1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    waiting = time.monotonic() + 60
    while len(trace(tmp_path)) < 4:
        assert process.poll() is None
        assert time.monotonic() < waiting
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = len(trace(tmp_path))
    results = run("a", cells(tmp_path, 40, (1,)), work, tmp_path / "a.jsonl", chunk=1, quiet=True)
    assert results.repetitions() == (40, 40)
    assert 40 <= len(trace(tmp_path)) <= 41  # at most the one under way is done again
    assert done < 40


def test_a_limit_of_time_keeps_what_was_done(tmp_path, work):
    store = tmp_path / "a.jsonl"
    results = run("a", cells(tmp_path), work, store, minutes=0, quiet=True)
    assert results.repetitions() == (0, 0)
    assert run("a", cells(tmp_path), work, store, quiet=True).repetitions() == (5, 5)


def test_a_key_does_not_depend_on_the_order_of_the_configuration():
    assert Cell({"a": 1, "b": 2}, 1).key == Cell({"b": 2, "a": 1}, 9).key


def test_values_are_ordered_by_repetition():
    lines = [{"key": '{"n":1}', "repetition": i, "values": {"accuracy": i}} for i in (2, 0, 1)]
    assert Results(lines).values(n=1).tolist() == [0, 1, 2]
