"""CONTRIBUTING.md draws the house as it stands: its tree, and the walk of one question."""

from __future__ import annotations

import importlib.util
import re

import pytest

from docs_pages import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "bocage"
_spec = importlib.util.spec_from_file_location("house", ROOT / "scripts" / "house.py")
house = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(house)

WALK = re.search(r"^## The walk of one question\n(.*?)^All files", PAGE, re.MULTILINE | re.DOTALL)[1]
STEPS = re.split(r"^\d+\. ", WALK, flags=re.MULTILINE)[1:]
OF_STEPS = [re.match(r"`([\w/]+\.py)`: ", step)[1] for step in STEPS]


@pytest.fixture(scope="module")
def visits():
    return house.visits()


def drawn(name):
    """A generated block, as it stands on the page."""
    return house.block(name).search(PAGE)[0]


def test_the_tree_is_what_make_house_writes():
    assert drawn("tree") == f"{house.tree()}\n"  # else: make house


def test_the_tree_has_every_room_and_module_that_ls_shows():
    shown = {path.name for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    roots = {line.split()[0].rstrip("/") for line in drawn("tree").splitlines() if line[2:3] != " "}
    assert shown - {"__init__.py", "_version.py"} == roots - {"src/bocage"}
    inner = {path.parent.name for path in SOURCE.rglob("__init__.py")} - {"bocage"}
    assert inner <= {line.split()[0].rstrip("/") for line in drawn("tree").splitlines()}


def test_every_room_says_in_one_line_what_it_is():
    silent = [line for line in drawn("tree").splitlines()[1:] if len(line.split()) < 4]
    assert silent == []


def test_the_files_of_the_walk_are_those_that_a_tracer_sees(visits):
    assert drawn("walk") == f"{house.walk(visits)}\n"  # else: make house


def test_the_walk_is_told_in_the_order_in_which_it_goes(visits):
    assert len(OF_STEPS) == 8
    ahead = iter(visits)
    assert [file for file in OF_STEPS if file not in ahead] == []


def test_every_file_that_the_walk_names_is_visited(visits):
    named = re.findall(r"`([\w/]+\.py)`", WALK)
    assert [file for file in named if file not in visits] == []
    assert {file.split("/")[0] for file in visits if "/" in file} <= {
        *(file.split("/")[0] for file in named),
        "schema",  # looks names up
    }
