"""Rivals in environments of their own, under ``out/rivals``: made when they are needed, asked over pipes.

Each has a list of pinned requirements beside this file, ``rivals-NAME.txt``. An environment that cannot be
made is remembered with the reason, and the experiment goes on without it; remove its folder
to try again.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from experiments.common.data import ROOT, DataSet, folds, load

from bocage.schema import Categorical, Numeric

HERE = Path(__file__).parent
STORE = ROOT / "out" / "rivals"
FOLDS = 10
BUILD_SECONDS = 1800  # some are compiled here


def python_of(environment: str) -> Path:
    return STORE / environment / "bin" / "python"


def requirements_of(environment: str) -> Path:
    return HERE / f"rivals-{environment}.txt"


@cache
def problem(environment: str) -> str:
    """Why an environment cannot be used; empty if it can. Makes it if it is not there."""
    wanted = requirements_of(environment).read_text(encoding="utf-8")
    state = STORE / f"{environment}.json"
    if state.exists():
        known: dict[str, str] = json.loads(state.read_text(encoding="utf-8"))
        if known["requirements"] == wanted and (known["problem"] or python_of(environment).exists()):
            return known["problem"]
    print(f"Making out/rivals/{environment} for the rivals that are compared with.", flush=True)
    found = _make(environment)
    state.write_text(json.dumps({"requirements": wanted, "problem": found}), encoding="utf-8")
    return found


def _make(environment: str) -> str:
    folder = STORE / environment
    STORE.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--python", str(python_of(environment))]
    install = ["install", "--quiet", "--disable-pip-version-check", "-r"]
    empty = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)]
    for command in (empty, [*pip, *install, str(requirements_of(environment))]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"not installed after {BUILD_SECONDS // 60} minutes"
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return (errors or ["cannot be installed"])[-1].removeprefix("ERROR: ")
    return ""


@cache
def child(python: str) -> subprocess.Popen[str]:
    """A process of the other environment. It ends when its input does, with this process at the latest."""
    process = subprocess.Popen(
        [python, str(HERE / "rivals_child.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    atexit.register(process.communicate)  # closes its input and waits
    return process


def ask(python: Path, request: dict[str, Any]) -> dict[str, Any]:
    process = child(str(python))
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
    line = process.stdout.readline()
    if not line:  # it died: the next request gets a new one
        child.cache_clear()
        return {"error": f"the process ended with status {process.wait()}"}
    found: dict[str, Any] = json.loads(line)
    return found


@cache
def data_of(name: str) -> DataSet:
    return load(name)


@lru_cache(maxsize=8)
def folds_of(name: str, repetition: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same for every method, ours or not."""
    return folds(data_of(name).labels, FOLDS, repetition, seed)


@cache
def table_file(name: str, folder: Path = STORE) -> Path:
    """The rows and the public domain as the children read them."""
    data = data_of(name)
    columns, cells, lower, upper = [], [], [], []
    for attribute in data.schema.attributes:
        values = data.table[attribute.name].to_pylist()
        if isinstance(attribute, Categorical):
            columns.append([attribute.index[value] for value in values])
            cells.append(attribute.cells)
            lower.append(0.0)
            upper.append(attribute.cells - 1.0)
        else:
            assert isinstance(attribute, Numeric)
            low, high = float(attribute.lower), float(attribute.upper)
            columns.append(np.clip(values, low, high))
            cells.append(0)
            lower.append(low)
            upper.append(high)
    path = folder / "folds" / f"{name}.npz"
    _save(
        path,
        x=np.array(columns, float).T,
        y=data.labels,
        classes=np.array(len(data.document["target"]["values"])),
        cells=np.array(cells),
        lower=np.array(lower),
        upper=np.array(upper),
    )
    return path


@cache
def folds_file(name: str, repetition: int, seed: int, folder: Path = STORE) -> Path:
    fold = np.empty(len(data_of(name)), np.int8)
    for number, (_, test) in enumerate(folds_of(name, repetition, seed)):
        fold[test] = number
    path = folder / "folds" / f"{name}-{seed}-{repetition}.npz"
    _save(path, fold=fold)
    return path


def _save(path: Path, **arrays: np.ndarray) -> None:
    """Written beside and renamed: two workers may want the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    np.savez(part, allow_pickle=False, **arrays)
    part.replace(path)
