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


RELEASED = replace(
    CERTIFICATE,
    plan=(
        PlanLine(0, "count", "discrete Laplace", "0.25", rho="1/32"),
        PlanLine(1, "split", "exponential", "0.25", 2, (1, 1), "1/64"),
        PlanLine(1, "label", "permute and flip", "0.4", 1, (1, 2), "2/25"),
    ),
)


def test_what_was_released_is_the_sum_in_sequence_and_the_maximum_of_parts():
    assert str(RELEASED.used) == "0.65"
    said = RELEASED.statement()
    assert "The costs of all questions asked add up to epsilon = 0.65:" in said
    assert "level 1 in part 1.2: label: 0.4 (permute and flip)" in said
    assert "Charged was epsilon = 0.75, of which 0.65 was used" in said


def test_no_certificate_lists_more_than_was_charged():
    with pytest.raises(ModelError, match=r"claims epsilon=0\.6, .* add up to 0\.65"):
        replace(RELEASED, epsilon="0.6")


def test_the_lines_of_releases_survive_json_and_those_of_older_plans_read_as_they_did():
    document = json.loads(json.dumps(RELEASED.to_dict()))
    assert Certificate.from_dict(document) == RELEASED
    assert document["plan"][1]["within"] == [1, 1]
    for line in CERTIFICATE.to_dict()["plan"]:
        assert set(line) == {"level", "question", "mechanism", "epsilon", "queries"}


@pytest.mark.parametrize("change", [{"within": [1]}, {"within": [0, 1]}, {"rho": 1}, {"rho": "x"}])
def test_a_damaged_line_is_refused(change):
    document = RELEASED.to_dict()
    document["plan"][0] |= change
    with pytest.raises(ModelError):
        Certificate.from_dict(document)
