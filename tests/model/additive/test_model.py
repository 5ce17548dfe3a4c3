from __future__ import annotations

import copy
import json
import pickle
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings

from bocage.errors import ModelError
from bocage.model import AdditiveModel, Term, from_dict, rules, to_svg, to_text
from bocage.model.export.json import parse
from bocage.model.export.text import to_rich
from bocage.schema import Categorical, Numeric
from models import additives, certificate_of, schema_of, schemas

SCHEMA = schema_of(Numeric("age", 0, 100, step=10), Categorical("job", ("cook", "smith", "")), labels=("no", "yes"))
AGE = Term(("age",), (2,), np.array([[0, -1024], [0, 2048]]))
JOB = Term(("job",), (3,), np.array([[0, 512], [0, 0], [0, -512]]))
MODEL = AdditiveModel(SCHEMA, np.array([0, -512]), (JOB, AGE), certificate_of(SCHEMA))


def test_scores_add_up_and_the_largest_sum_wins():
    rows = {"age": [10, 90, 10, None], "job": ["cook", "", "smith", "cook"]}
    # 11 grid cells of step 10 in two runs: up to 50 and from 60 on.
    assert MODEL.sums(MODEL.encode(rows)).tolist() == [[0, -1024], [0, 1024], [0, -1536], [0, 0]]
    assert MODEL.predict(rows).tolist() == ["no", "yes", "no", "no"]  # the first of equal sums
    shares = MODEL.predict_proba(rows)
    assert shares[3].tolist() == [0.5, 0.5]  # age is missing: its term is left out
    assert shares[0, 1] == pytest.approx(1 / (1 + np.e))


UNEVEN = Term(("age",), (3,), np.array([[0, 1], [0, 2], [0, 4]]), ((1, 2),))


def test_cells_can_be_cut_where_a_learner_found_the_rows():
    model = AdditiveModel(SCHEMA, np.array([0, 0]), (UNEVEN, JOB), certificate_of(SCHEMA))
    rows = {"age": [0, 10, 20, 100], "job": ["smith"] * 4}
    assert model.sums(model.encode(rows))[:, 1].tolist() == [1, 2, 4, 4]
    assert [rule.where for rule in rules(model)[:3]] == ["age = 0", "age = 10", "age >= 20"]


def test_only_files_of_models_with_cuts_have_the_new_version_and_old_files_are_read():
    old = MODEL.to_dict()
    assert old["version"] == 1
    assert all("cuts" not in term for term in old["terms"])
    assert from_dict(old).to_dict() == old
    cut = AdditiveModel(SCHEMA, np.array([0, 0]), (UNEVEN, JOB), certificate_of(SCHEMA))
    new = cut.to_dict()
    assert new["version"] == 3
    assert [term["cuts"] for term in new["terms"]] == [[[1, 2]], []]
    assert from_dict(new).terms[0].cuts == ((1, 2),)
    with pytest.raises(ModelError, match="unknown key 'cuts'"):
        from_dict({**new, "version": 1})


@pytest.mark.parametrize("cuts", [((1,),), ((2, 1),), ((0, 1),), ((1, 11),), ((1, 2), ())])
def test_cuts_that_are_no_cells_of_the_column_are_refused(cuts):
    term = Term(("age",), (3,), UNEVEN.scores, cuts)
    with pytest.raises(ModelError, match="does not fit the cells"):
        AdditiveModel(SCHEMA, np.array([0, 0]), (term,), certificate_of(SCHEMA))
    values = Term(("job",), (3,), JOB.scores, ((1, 2),))
    with pytest.raises(ModelError, match="does not fit the cells"):
        AdditiveModel(SCHEMA, np.array([0, 0]), (values,), certificate_of(SCHEMA))


def test_text_names_cells_in_words_and_the_most_important_table_comes_first():
    assert to_text(MODEL).splitlines() == [
        "log-odds of label = yes: -0.50, plus one line of each table",
        "age",
        "  age < 60: -1.00",
        "  age ≥ 60: +2.00",
        "job",
        "  job is cook: +0.50",
        "  job is smith: +0.00",
        "  job is '': -0.50",
    ]


def test_cells_of_a_pair_that_add_nothing_are_one_line():
    scores = np.zeros((6, 2), np.int64)
    scores[4, 1], scores[0, 0] = 1024, 512
    pair = Term(("age", "job"), (2, 3), scores)
    model = AdditiveModel(SCHEMA, np.array([0, 0]), (pair,), certificate_of(SCHEMA))
    assert to_text(model).splitlines()[1:] == [
        "age and job",
        "  age < 60 and job is cook: -0.50",
        "  age ≥ 60 and job is smith: +1.00",
        "  everything else: +0.00",
    ]
    drawing = to_svg(model)
    assert ">age ≥ 60 and job is smith</text>" in drawing  # in full: nothing else tells the lines apart
    assert drawing.count("<rect") == 1 + 3


def test_rules_are_the_lines_of_the_tables():
    found = rules(MODEL)
    assert len(found) == 5
    assert [(rule.text, rule.where, rule.label) for rule in found][3:] == [
        ("age < 60 (+1.00)", "age < 60", "no"),
        ("age ≥ 60 (+2.00)", "age >= 60", "yes"),
    ]


def test_the_drawing_is_well_formed_and_says_the_same_in_words():
    drawing = to_svg(MODEL)
    root = ET.fromstring(drawing)  # noqa: S314 - our own text
    assert to_text(MODEL) in "".join(root.itertext())


@settings(max_examples=30, deadline=None)
@given(schemas().flatmap(additives))
def test_every_model_is_written_read_drawn_and_copied(model):
    again = from_dict(parse(json.dumps(model.to_dict()).encode()))
    for other in (again, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301 - our own
        assert other.to_dict() == model.to_dict()
    ET.fromstring(to_svg(model))  # noqa: S314 - our own text
    to_rich(model)
    assert len(rules(model)) == sum(len(term.scores) for term in model.terms)


@pytest.mark.parametrize(
    ("terms", "intercept", "what"),
    [
        ((), [0, 0], "1 to 4096 terms"),
        ((AGE,), [0], "as many intercepts"),
        ((Term(("size",), (2,), AGE.scores),), [0, 0], "columns of the schema"),
        ((Term(("age", "age"), (2, 2), np.zeros((4, 2))),), [0, 0], "different columns"),
        ((Term(("job",), (2,), AGE.scores),), [0, 0], "does not fit the cells"),
        ((Term(("age",), (3,), AGE.scores),), [0, 0], "a score for each cell"),
        ((AGE,), [0, 2**40], "within"),
    ],
)
def test_what_makes_no_model_is_refused(terms, intercept, what):
    with pytest.raises(ModelError, match=what):
        AdditiveModel(SCHEMA, np.array(intercept), terms, certificate_of(SCHEMA))


def test_documents_that_lie_are_refused():
    good = MODEL.to_dict()
    term = good["terms"][0]
    bad = [
        {"unit": 1000},
        {"intercept": [0, 1.5]},
        {"terms": [{**term, "scores": [[0, 1]]}]},
        {"terms": [{**term, "cells": [2**30]}]},
        {"terms": [{**term, "columns": ["age", "job"]}]},
        {"terms": [{**term, "more": 1}]},
        {"terms": "many"},
        {"format": ["bocage.additive"]},
    ]
    for change in bad:
        with pytest.raises(ModelError):
            from_dict({**good, **change})


def test_a_released_model_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        MODEL.terms[0].scores[0, 0] = 1
