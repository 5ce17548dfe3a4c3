"""Every learner, estimator and public part of a model has its place in the documentation."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from bocage import estimators
from bocage.learners import LEARNERS
from docs_pages import ROOT

REFERENCE = "\n".join(p.read_text() for p in (ROOT / "docs" / "reference").glob("*.md"))


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_compared_and_has_a_reference(name):
    guide = (ROOT / "docs" / "learning.md").read_text()
    assert f"| `{name}` |" in guide
    learner = LEARNERS[name]
    assert f"\n::: bocage.learners.{learner.__name__}\n" in REFERENCE
    for parameter in (field.name for field in fields(learner)):
        if parameter != "attributes":  # explained once, for all learners
            assert re.search(rf"\b{parameter}\b", inspect.getdoc(learner) or "")


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_estimator_has_a_reference_and_a_docstring(name):
    assert re.search(rf"^::: bocage\.estimators\.{name}$", REFERENCE, re.MULTILINE)
    assert inspect.getdoc(getattr(estimators, name))
