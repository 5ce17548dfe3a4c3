"""Every learner, estimator and public part of a model has its place in the documentation."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from bocage import estimators, learners
from bocage.learners import LEARNERS
from docs_pages import ROOT

REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_compared_and_has_a_reference(name):
    guide = (ROOT / "docs" / "learning.md").read_text()
    assert f"| `{name}` |" in guide
    learner = LEARNERS[name]
    assert learner.__name__ in learners.__all__  # which is what the reference shows
    for parameter in (field.name for field in fields(learner)):
        if parameter != "attributes":  # explained once, for all learners
            assert re.search(rf"\b{parameter}\b", inspect.getdoc(learner) or "")


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_estimator_has_a_docstring(name):
    assert inspect.getdoc(getattr(estimators, name))


@pytest.mark.parametrize("package", [learners, estimators], ids=lambda p: p.__name__)
def test_the_reference_shows_all_that_a_package_exports(package):
    page = (REFERENCE / f"{package.__name__.split('.')[1]}.md").read_text()
    assert f"\n::: {package.__name__}\n" in page
    assert "members:" not in page.replace("inherited_members:", "")  # all, and not a list of some
