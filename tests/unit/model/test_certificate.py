from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bocage.errors import ModelError
from bocage.model import Certificate, PlanLine
from bocage.schema import Categorical
from models import certificate_of, schema_of

SCHEMA = schema_of(Categorical("c", ("x", "y")))
CERTIFICATE = certificate_of(SCHEMA)


def test_the_statement_names_what_a_reader_must_know():
    charged = replace(CERTIFICATE, entry=17, mechanisms=("discrete Laplace",), notes=("A note.",))
    text = charged.statement()
    for part in (
        "DiffPID3 (max)",
        "'people'",
        "epsilon = 0.75",
        "add or remove one row",
        "add up to epsilon = 0.75, exactly",
        "level 1: label counts of every leaf: 0.25 shared by 5 questions (discrete Laplace)",
        "entry 17",
        "A note.",
        SCHEMA.fingerprint,
    ):
        assert part in text
    assert "No ledger: a study on public data" in CERTIFICATE.statement()


def test_without_epsilon_the_statement_says_that_nothing_is_guaranteed():
    text = replace(CERTIFICATE, epsilon=None).statement()
    assert "NO PRIVACY IS GUARANTEED" in text
    assert "epsilon =" not in text
    assert "ledger" not in text


def test_a_certificate_survives_json():
    for certificate in (CERTIFICATE, replace(CERTIFICATE, epsilon=None, entry=3, notes=("n",))):
        assert Certificate.from_dict(json.loads(json.dumps(certificate.to_dict()))) == certificate


def test_a_plan_that_does_not_add_up_is_refused():
    with pytest.raises(ModelError, match=r"claims epsilon=0\.8, .* add up to 0\.75"):
        replace(CERTIFICATE, epsilon="0.8")
    with pytest.raises(ModelError, match="add up to 0"):
        replace(CERTIFICATE, plan=())
    with pytest.raises(ModelError, match="line of the plan"):
        replace(CERTIFICATE, plan=(PlanLine(0, "q", "m", "none"),))


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0.75},
        {"epsilon": "a"},
        {"entry": True},
        {"entry": -1},
        {"plan": None},
        {"plan": [{"level": 0}]},
        {"plan": [[]]},
        {"notes": [1]},
        {"learner": None},
        {"extra": 1},
    ],
)
def test_a_damaged_document_is_refused(change):
    with pytest.raises(ModelError):
        Certificate.from_dict(CERTIFICATE.to_dict() | change)


@pytest.mark.parametrize(
    ("adjacency", "words"),
    [
        ("add_remove", "neighbors (one of them has one record more)"),
        ("replace", "neighbors (they differ in one record)"),
    ],
)
def test_the_statement_says_in_words_what_neighbors_are(adjacency, words):
    assert words in replace(CERTIFICATE, adjacency=adjacency).statement()
