"""Whatever a document from outside is, refusing it takes less than a second and 100 megabytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bocage.local import Clear, Survey
from bocage.model import to_dict
from bocage.parties import merge
from bocage.parties.documents import canonical
from bocage.parties.keys import Signer
from documents.hostile import MEGABYTES, SECONDS, fragments, written
from parties.owners import PATIENTS, made, row_plan

KEY = Signer.new()
LARGE, BODY = 2**24 - 2**12, 2**20  # what the limits let in
SOME = 2**22


def spent(kind: str, directory: Path) -> dict[str, tuple[str, float, float]]:
    program = Path(__file__).with_name("hostile.py")
    done = subprocess.run([sys.executable, program, kind, directory], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        name, told = line.split("\t")
        end, seconds, megabytes = told.split()
        found[name] = end, float(seconds), float(megabytes)
    return found


def assert_refused_cheaply(kind: str, directory: Path) -> None:
    found = spent(kind, directory)
    assert set(found) == {path.name for path in directory.iterdir()}
    bad = {
        name: what for name, what in found.items() if what[0] != "refused" or what[1] >= SECONDS or what[2] >= MEGABYTES
    }
    assert bad == {}


def good_of(kind: str) -> bytes:
    plan = row_plan()
    if kind == "plan":
        return plan.to_json()
    if kind.startswith("contribution"):
        return made(plan).to_json()
    if kind == "survey":
        return canonical(Survey(PATIENTS, {a.name: Clear() for a in PATIENTS}).to_dict())
    return canonical(to_dict(merge(plan, [made(plan)])))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "keys", "size"),
    [
        ("plan", ["shares", "schema"], SOME),
        ("contribution", ["counts", "shapes"], SOME),
        ("contribution alone", ["counts"], SOME),
        ("model", ["trees", "certificate"], LARGE),
        ("survey", ["distortions"], SOME),
        ("body", ["trees"], BODY),
    ],
)
def test_hostile_documents_are_refused_cheaply(tmp_path, kind, keys, size):
    (tmp_path / "plan.json").write_bytes(row_plan().to_json())
    (tmp_path / "files").mkdir()
    written(tmp_path / "files", good_of(kind), keys, size)
    assert_refused_cheaply(kind, tmp_path / "files")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["keys", "signer"])
def test_files_that_are_no_keys_are_refused_cheaply(tmp_path, kind):
    for name, fragment in fragments(2**24).items():
        (tmp_path / name).write_bytes(fragment)
    (tmp_path / "keys").write_bytes(b"0" * 63 + b"\n" + f"{KEY.public}\n".encode() * 10**5)
    for path in tmp_path.iterdir():
        path.chmod(0o600)
    assert_refused_cheaply(kind, tmp_path)
