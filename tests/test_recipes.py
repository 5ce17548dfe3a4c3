"""The recipes of CONTRIBUTING.md list every file that they touch, and say what each gets."""

from __future__ import annotations

import importlib.util

import pytest

from docs_pages import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_spec = importlib.util.spec_from_file_location("recipes", ROOT / "scripts" / "recipes.py")
recipes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recipes)

# They name most learners, each for a reason of its own.
EXAMPLES = {"tests/estimators/test_classifiers.py"}


@pytest.mark.parametrize("heading", recipes.derived())
def test_a_recipe_lists_every_file_that_it_touches(heading):
    listed, derived = set(recipes.rows(PAGE, heading)), recipes.derived()[heading]
    assert sorted(derived - listed) == []  # else: make house
    assert sorted(listed - derived) == []


@pytest.mark.parametrize("heading", recipes.derived())
def test_a_recipe_says_what_each_file_gets(heading):
    said = recipes.rows(PAGE, heading)
    assert said["CHANGELOG.md"] == "a line"
    assert [file for file, words in said.items() if words == recipes.UNSAID] == []


def test_the_files_of_its_own_are_among_those_of_each_recipe():
    for heading, own in {
        "Add a learner": {"diffp_id3.py", "test_trees.py", "test_learners_loss.py"},
        "Add a kind of release": {"comparison.py", "test_comparison.py"},
        "Add an engine": {"duckdb.py", "test_duckdb.py", "makers_local.py", "sources.py"},
        "Add a question": {"choose.py", "questions.py", "test_private_enumeration.py"},
        "Add a criterion": {"criteria.py", "test_criteria.py", "test_private_enumeration.py"},
    }.items():
        assert own <= {file.rpartition("/")[2] for file in recipes.derived()[heading]}, heading


def test_files_that_name_most_of_a_kind_are_known_to_name_them_as_examples():
    """A register that forgets one of its kind would be no register, and no recipe would list it."""
    named = [recipes.naming(words) for words in recipes.LEARNER_NAMES]
    often = {file for file in recipes.texts() if sum(file in n for n in named) >= len(named) - 3}
    assert often - recipes.TOLD - recipes.derived()["Add a learner"] == EXAMPLES
