"""Surveys as files: both ways, with a fingerprint, and nothing that is not one."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import SurveyError
from bocage.local import Clear, Laplace, RandomizedResponse, Survey, Uniform
from local.surveys import DISTORTIONS, SCHEMA, SURVEY


def changed(**changes: object) -> dict:
    return {**SURVEY.to_dict(), **changes}


def test_a_survey_reads_back_from_its_file(tmp_path):
    path = tmp_path / "survey.json"
    SURVEY.save(path)
    again = Survey.read(path)
    assert again == SURVEY
    assert again.fingerprint == SURVEY.fingerprint
    assert json.loads(path.read_text())["fingerprint"] == SURVEY.fingerprint


def test_every_change_gives_another_fingerprint():
    others = [
        replace(SURVEY, edition=3),
        replace(SURVEY, title="Health"),
        replace(SURVEY, distortions={**DISTORTIONS, "age": Laplace("2.000000001")}),
        replace(SURVEY, distortions={**DISTORTIONS, "ill": Clear()}),
        replace(SURVEY, schema=replace(SCHEMA, name="hospital")),
    ]
    assert len({survey.fingerprint for survey in [SURVEY, *others]}) == 6


def test_the_order_of_the_distortions_does_not_matter():
    turned = dict(reversed(DISTORTIONS.items()))
    assert replace(SURVEY, distortions=turned).fingerprint == SURVEY.fingerprint


def test_an_answer_without_a_distortion_is_refused():
    rest = {name: kind for name, kind in DISTORTIONS.items() if name != "ill"}
    with pytest.raises(SurveyError, match="'ill' has no distortion"):
        Survey(SCHEMA, rest)
    with pytest.raises(SurveyError, match="which is no column"):
        Survey(SCHEMA, {**DISTORTIONS, "shoe": Clear()})


@pytest.mark.parametrize(
    ("column", "distortion", "message"),
    [
        ("job", Laplace("1"), "'job' is categorical"),
        ("age", RandomizedResponse("1"), "'age' is numeric"),
        ("age", Uniform(2**20), "more than 1048576 grid steps"),
    ],
)
def test_a_distortion_that_does_not_fit_is_refused(column, distortion, message):
    with pytest.raises(SurveyError, match=message):
        Survey(SCHEMA, {**DISTORTIONS, column: distortion})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "no file of the format"),
        ({}, "no file of the format"),
        (changed(version=2), "reads version 1"),
        (changed(version=True), "reads version 1"),
        (changed(extra=1), "unknown key 'extra'"),
        ({k: v for k, v in SURVEY.to_dict().items() if k != "edition"}, '"edition" is missing'),
        (changed(edition="2"), "edition of a survey is a whole number"),
        (changed(edition=0), "from 1"),
        (changed(edition=3), '"fingerprint" is not as this program writes it'),
        (changed(title=["x"]), "title of a survey"),
        (changed(title="x" * 501), "title of a survey"),
        (changed(fingerprint="0" * 64), '"fingerprint" is not as'),
        (changed(schema={"name": "x"}), "schema in it"),
        (changed(schema=None), "schema in it"),
        (changed(distortions={}), '"distortions" is a list'),
        (changed(distortions=[1]), "an entry of"),
        (changed(distortions=[{"name": "age"}]), "no distortion None"),
        (
            changed(distortions=[{"name": "age", "kind": "laplace"}]),
            "needs its parameter 'epsilon'",
        ),
        (changed(distortions=[{"name": "age", "kind": "uniform"}]), "needs its parameter 'alpha'"),
        (changed(distortions=[{"name": "age", "kind": "gaussian"}]), "needs its parameter 'sigma'"),
        (changed(distortions=[{"name": "age", "kind": "class"}]), "needs its parameter 'width'"),
        (changed(distortions=[{"name": "age", "kind": "response"}]), "needs its parameter"),
        (changed(distortions=[{"name": "age", "kind": "laplace", "epsilon": 0}]), "greater than 0"),
        (changed(distortions=[{"name": "age", "kind": "laplace", "epsilon": "nan"}]), "finite"),
        (changed(distortions=[{"name": "age", "kind": "laplace", "epsilon": 65}]), "at most 64"),
        (changed(distortions=[{"name": "age", "kind": "uniform", "alpha": 1e9}]), "whole number"),
        (changed(distortions=[{"name": "age", "kind": "uniform", "alpha": 0}]), "1 to"),
        (changed(distortions=[{"name": "age", "kind": "gaussian", "sigma": "1e9"}]), "0.3 to"),
        (changed(distortions=[{"name": "age", "kind": "gaussian", "sigma": []}]), "a number above"),
        (changed(distortions=[{"name": "age", "kind": "class", "width": 0}]), "whole number of"),
        (changed(distortions=[{"name": "age", "kind": "class", "edges": [5, 5]}]), "must grow"),
        (changed(distortions=[{"name": "age", "kind": "class", "edges": 5}]), "a list"),
        (changed(distortions=[{"name": "age", "kind": "clear", "width": 2}]), "no parameter"),
    ],
)
def test_what_is_no_survey_is_refused(document, message):
    with pytest.raises(SurveyError, match=message):
        Survey.from_dict(document)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 10**5,
        b'{"format": NaN}',
        b'{"format": "bocage.survey", "format": "bocage.survey"}',
        b'{"format": ' + b"9" * 10**4 + b"}",
    ],
)
def test_a_broken_file_is_refused_by_name(tmp_path, content):
    path = tmp_path / "survey.json"
    path.write_bytes(content)
    with pytest.raises(SurveyError, match=r"survey\.json"):
        Survey.read(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SurveyError, match="cannot be read"):
        Survey.read(tmp_path / "none.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(SURVEY.to_dict())), JSON)
def test_no_value_at_any_key_makes_it_fail_in_another_way(key, value):
    document = changed(**{key: value})
    with suppress(SurveyError):
        assert Survey.from_dict(document).to_dict() == document


@given(st.integers(0, len(json.dumps(SURVEY.to_dict())) - 1), st.binary(min_size=1, max_size=2))
def test_a_damaged_file_is_refused_or_the_same_survey(tmp_path_factory, place, damage):
    content = bytearray(json.dumps(SURVEY.to_dict()).encode())
    content[place : place + len(damage)] = damage
    path = Path(tmp_path_factory.mktemp("damaged")) / "survey.json"
    path.write_bytes(content)
    with suppress(SurveyError):
        assert Survey.read(path) == SURVEY
