"""Records: what is sent, under which survey, and once for each person."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from bocage.errors import SurveyError
from bocage.local import Kept, Records, read_records, true_codes, write_records
from local.surveys import ROW, SURVEY, columns, from_bytes

OTHER = replace(SURVEY, edition=3)


@pytest.fixture
def records():
    return Records.distort(SURVEY, columns(*[ROW] * 40))


@pytest.mark.parametrize("name", ["sent.csv", "sent.parquet"])
def test_records_read_back_from_a_file(records, tmp_path, name):
    write_records(records, tmp_path / name)
    again = read_records(SURVEY, tmp_path / name)
    assert {k: v.tolist() for k, v in again.codes.items()} == {k: v.tolist() for k, v in records.codes.items()}
    with pytest.raises(SurveyError, match="another survey"):
        read_records(OTHER, tmp_path / name)


def test_records_read_back_from_json(records):
    documents = json.loads(json.dumps(records.to_documents()))
    again = Records.from_documents(SURVEY, documents)
    assert all((again.codes[name] == records.codes[name]).all() for name in records.codes)
    with pytest.raises(SurveyError, match="another survey"):
        Records.from_documents(OTHER, documents)


def test_records_of_different_surveys_are_not_mixed(records):
    other = Records.distort(OTHER, columns(ROW))
    with pytest.raises(SurveyError, match="another survey"):
        Records.join([records, other])
    assert len(Records.join([records, records])) == 80
    mixed = pa.concat_tables([t.to_table().cast(_plain(t)) for t in (records, other)])
    with pytest.raises(SurveyError, match="another survey"):
        Records.from_table(SURVEY, mixed)
    with pytest.raises(SurveyError, match="no records"):
        Records.join([])


def _plain(records: Records) -> pa.Schema:
    schema = records.to_table().schema
    return schema.set(len(schema) - 1, pa.field("bocage_survey", pa.string()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("age", -1),
        ("age", 101),
        ("age", float("inf")),
        ("salary", 19999.99),
        ("salary", float("nan")),
        ("height", None),
        ("town", "west"),
        ("town", None),
    ],
)
def test_an_answer_that_the_survey_does_not_ask_for_is_refused(name, value):
    with pytest.raises(SurveyError, match=f"'{name}'") as caught:
        Records.distort(SURVEY, columns({**ROW, name: value}))
    assert str(value) not in str(caught.value).replace("None", "") or value is None


def test_missing_and_outside_go_where_the_schema_sends_them():
    found = true_codes(SURVEY, columns({**ROW, "age": float("nan"), "job": "pilot"}))
    assert (found["age"][0], found["job"][0]) == (40, 2)


def test_a_column_that_is_absent_or_of_another_type_is_refused():
    rows = columns(ROW)
    with pytest.raises(SurveyError, match="'ill'"):
        Records.distort(SURVEY, {k: v for k, v in rows.items() if k != "ill"})
    with pytest.raises(SurveyError, match="'age'"):
        Records.distort(SURVEY, {**rows, "age": ["old"]})
    with pytest.raises(SurveyError, match="no answer for 'age'"):
        SURVEY.distort({})
    with pytest.raises(SurveyError, match="differ in length"):
        SURVEY.distort({**true_codes(SURVEY, rows), "age": np.array([1, 2])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"survey": "x"}, "another survey"),
        ({"more": 1}, "an object with"),
        ({"answers": {}}, "answers of a record"),
        ({"answers": []}, "answers of a record"),
        ("age", "whole number"),
        ("ill", "cannot send"),
    ],
)
def test_a_record_that_nobody_sent_is_refused(records, change, message):
    document = records.to_documents()[0]
    if isinstance(change, str):
        wrong = {"age": True, "ill": 2}[change]
        document["answers"] = {**document["answers"], change: wrong}
    else:
        document |= change
    with pytest.raises(SurveyError, match=message):
        Records.from_documents(SURVEY, [document])


@pytest.mark.parametrize(("name", "value"), [("age", 33.4), ("age", 1e9), ("height", "tall"), ("ill", None)])
def test_a_table_with_what_cannot_be_sent_is_refused(records, name, value):
    table = records.to_table()
    place = table.column_names.index(name)
    broken = table.set_column(place, name, pa.array([value] * len(records)))
    with pytest.raises(SurveyError, match=f"'{name}'"):
        Records.from_table(SURVEY, broken)


def test_files_that_are_no_records_are_refused(records, tmp_path):
    for name in ("sent.xlsx", "sent"):
        with pytest.raises(SurveyError, match=r"\.csv or \.parquet"):
            write_records(records, tmp_path / name)
    broken = tmp_path / "sent.csv"
    with pytest.raises(SurveyError, match="not a file"):
        read_records(SURVEY, broken)
    broken.write_text("age,bocage_survey\nold,x\n")
    with pytest.raises(SurveyError, match="cannot be read"):
        read_records(SURVEY, broken)


def test_a_repeated_question_gets_the_same_answer(tmp_path):
    kept = Kept(tmp_path / "kept.json")
    codes = true_codes(SURVEY, columns(ROW))
    first = kept.answer(SURVEY, ["me"], codes).to_documents()
    assert all(kept.answer(SURVEY, ["me"], codes).to_documents() == first for _ in range(20))
    assert stat.S_IMODE((tmp_path / "kept.json").stat().st_mode) == 0o600


def test_a_changed_value_does_not_change_the_answer(tmp_path):
    kept = Kept(tmp_path / "kept.json")
    first = kept.answer(SURVEY, ["me"], true_codes(SURVEY, columns(ROW)))
    later = true_codes(SURVEY, columns({**ROW, "town": "north", "height": 1.2}))
    assert kept.answer(SURVEY, ["me"], later).to_documents() == first.to_documents()
    assert kept.names(SURVEY) == ["me"]


def test_starting_anew_is_an_act_of_its_own(tmp_path):
    kept = Kept(tmp_path / "kept.json")
    codes = true_codes(SURVEY, columns(ROW))
    zeros = kept.answer(SURVEY, ["me"], codes, from_bytes(b""))
    assert kept.forget(SURVEY, ["me", "you"]) == 1
    ones = kept.answer(SURVEY, ["me"], codes, from_bytes(b"\xff" * 10**4))
    assert zeros.to_documents() != ones.to_documents()


def test_another_survey_and_another_person_are_answered_apart(tmp_path):
    kept = Kept(tmp_path / "kept.json")
    codes = true_codes(SURVEY, columns(ROW, ROW))
    both = kept.answer(SURVEY, ["me", "you"], codes, from_bytes(bytes(range(256)) * 40))
    one, other = both.to_documents()
    assert one != other
    kept.answer(OTHER, ["me"], true_codes(OTHER, columns(ROW)))
    turned = kept.answer(SURVEY, ["you", "me"], codes).to_documents()
    assert turned == [other, one]


def test_the_memory_holds_nothing_true(tmp_path):
    kept = Kept(tmp_path / "kept.json")
    sent = kept.answer(SURVEY, ["me"], true_codes(SURVEY, columns(ROW))).to_documents()[0]
    document = json.loads((tmp_path / "kept.json").read_text())
    assert document["surveys"] == {SURVEY.fingerprint: {"me": list(sent["answers"].values())}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b'{"format":"bocage.kept","version":1,"surveys":[]}',
        b'{"format":"bocage.kept","version":1,"surveys":{"x":{"me":[1.5]}}}',
        b'{"format":"bocage.kept","version":1,"surveys":{"x":{"me":[99999999999]}}}',
    ],
)
def test_a_damaged_memory_is_not_drawn_anew(tmp_path, content):
    path = tmp_path / "kept.json"
    path.write_bytes(content)
    with pytest.raises(SurveyError, match="Nothing was sent"):
        Kept(path).answer(SURVEY, ["me"], true_codes(SURVEY, columns(ROW)))
    assert path.read_bytes() == content


def test_a_memory_with_a_record_of_another_shape_is_refused(tmp_path):
    path = tmp_path / "kept.json"
    path.write_text(json.dumps({"format": "bocage.kept", "version": 1, "surveys": {SURVEY.fingerprint: {"me": [1]}}}))
    with pytest.raises(SurveyError, match="does not fit"):
        Kept(path).answer(SURVEY, ["me"], true_codes(SURVEY, columns(ROW)))


@pytest.mark.parametrize("names", [["me", "me"], ["", "x"], ["x" * 201, "y"], [1, 2]])
def test_names_that_are_none_are_refused(tmp_path, names):
    with pytest.raises(SurveyError, match="name"):
        Kept(tmp_path / "kept.json").answer(SURVEY, names, true_codes(SURVEY, columns(ROW, ROW)))


def test_a_memory_in_no_directory_is_refused(tmp_path):
    with pytest.raises(SurveyError, match="cannot be used"):
        Kept(tmp_path / "none" / "kept.json").answer(SURVEY, ["me"], true_codes(SURVEY, columns(ROW)))


PROGRAM = """
import sys
from bocage.local import Kept, Survey, true_codes
survey = Survey.read(sys.argv[1])
row = {"age": [34], "salary": [5e4], "weight": [70.0], "height": [1.7], "job": ["other"],
       "town": ["north"], "ill": ["no"]}
print(Kept(sys.argv[2]).answer(survey, ["me"], true_codes(survey, row)).to_documents())
"""


@pytest.mark.slow
def test_two_programs_at_once_give_one_answer(tmp_path):
    SURVEY.save(tmp_path / "survey.json")
    command = [sys.executable, "-c", PROGRAM, tmp_path / "survey.json", tmp_path / "kept.json"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    answers = {program.communicate()[0] for program in running}
    assert [program.returncode for program in running] == [0, 0]
    assert len(answers) == 1
