"""The page of decisions is true: what it says of a constant is what stands in the source."""

from __future__ import annotations

import ast
import re

import pytest

from docs_pages import ROOT

PAGE = (ROOT / "docs" / "topics" / "decisions.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([A-Z_]+(?:, [A-Z_]+)* = [^`]+)`", PAGE)


def _assignments() -> set[str]:
    """Every assignment at the level of a module in the rooms that have learners and draws."""
    rooms = [ROOT / "src" / "bocage" / name for name in ("learners", "private")]
    modules = [ast.parse(path.read_text("utf-8")) for room in rooms for path in room.rglob("*.py")]
    return {ast.unparse(line) for module in modules for line in module.body if isinstance(line, ast.Assign)}


STANDING = _assignments()


@pytest.mark.parametrize("named", NAMED)
def test_a_constant_of_the_page_has_this_value_in_the_source(named):
    assert ast.unparse(ast.parse(named)) in STANDING


def test_the_page_names_constants_and_the_last_commit_of_the_notebook():
    assert len(NAMED) > 60
    assert "42108be is the last commit" in PAGE
