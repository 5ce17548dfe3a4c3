"""``bocage local``: make a survey, read it, answer it."""

from __future__ import annotations

import json
import stat

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from bocage.cli import main
from bocage.errors import SurveyError
from bocage.local import Survey, read_records
from local.surveys import ROW, SCHEMA, columns

SET = ("--noise", "gaussian", "--privacy", "100", "--response", "2", "--label", "response:3")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clinic.json").write_text(json.dumps(SCHEMA.to_dict()))
    parquet.write_table(pa.table(columns(ROW)), "me.parquet")
    others = [{**ROW, "age": age} for age in (20, 50, 80)]
    named = {"who": ["a", "b", "c"], **columns(*others)}
    lines = [
        ",".join(named),
        *(",".join(map(str, row)) for row in zip(*named.values(), strict=True)),
    ]
    (tmp_path / "all.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["local", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


def make(*options: object) -> Survey:
    run("survey", "clinic.json", *SET, "-o", "survey.json", *options)
    return Survey.read("survey.json")


def test_a_survey_is_made_with_a_distortion_for_every_column():
    survey = make("--set", "age=laplace:1.0", "--set", "town=clear", "--title", "Clinic")
    kinds = {name: distortion.kind for name, distortion in survey.distortions.items()}
    assert kinds == {
        "age": "laplace",
        "salary": "gaussian",
        "weight": "gaussian",
        "height": "gaussian",
        "job": "response",
        "town": "clear",
        "ill": "response",
    }
    assert survey.privacy()[1].percent == pytest.approx(100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--noise", "gaussian", "--label", "clear"), "go together"),
        (("--response", "2", "--label", "clear"), "'age' has no distortion"),
        (
            ("--noise", "gaussian", "--privacy", "100", "--label", "clear"),
            "'job' has no distortion",
        ),
        (SET[:-2], "--label is missing"),
        ((*SET[:2], "--privacy", "0", *SET[4:]), "above 0 and at most 1000 %"),
        ((*SET[:2], "--privacy", "1e9", *SET[4:]), "above 0 and at most 1000 %"),
        ((*SET[:2], "--privacy", "nan", *SET[4:]), "no number"),
        ((*SET, "--set", "shoe=clear"), "COLUMN=HOW"),
        ((*SET, "--set", "age"), "COLUMN=HOW"),
        ((*SET, "--set", "age=laplace"), "needs a parameter"),
        ((*SET, "--set", "job=gaussian:1"), "'job' is categorical"),
        ((*SET, "--edition", "0"), "from 1"),
    ],
)
def test_a_survey_that_leaves_something_open_is_refused(place, options, message):
    output = run("survey", "clinic.json", *options, "-o", "survey.json", code=2)
    assert message in " ".join(output.split())
    assert not (place / "survey.json").exists()


def test_what_a_survey_protects_is_shown_three_ways():
    make("--set", "age=laplace:2")
    table = run("show", "survey.json")
    assert "100 %" in table
    assert "99.9 %" in table
    assert "none" in table
    words = " ".join(run("show", "survey.json", "--words").split())
    assert "Local differential privacy with epsilon = 2" in words


def test_a_survey_cannot_speak_to_the_terminal():
    make("--title", "safe\x1b]0;gone\x07")
    assert "\x1b]" not in run("show", "survey.json")


def test_a_record_is_answered_once(place):
    survey = make()
    run("distort", "survey.json", "me.parquet", "-o", "sent.csv")
    first = (place / "sent.csv").read_text()
    output = run("distort", "survey.json", "me.parquet", "-o", "again.csv")
    assert "the same answers again" in output
    assert (place / "again.csv").read_text() == first
    assert len(read_records(survey, place / "sent.csv")) == 1
    assert stat.S_IMODE((place / "survey.kept.json").stat().st_mode) == 0o600


def test_answers_are_drawn_anew_only_on_demand_and_with_a_warning(place):
    make()
    run("distort", "survey.json", "me.parquet", "-o", "one.csv")
    assert "average" in run("distort", "survey.json", "me.parquet", "--anew", "-o", "two.csv")
    # The two may be equal by chance; that they are drawn apart is tested where bytes are given.
    assert (place / "two.csv").exists()


def test_many_records_keep_their_answers_by_name(place):
    survey = make()
    run("distort", "survey.json", "all.csv", "--id", "who", "-o", "sent.parquet")
    first = read_records(survey, place / "sent.parquet").to_documents()
    lines = (place / "all.csv").read_text().splitlines()
    (place / "turned.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    run("distort", "survey.json", "turned.csv", "--id", "who", "-o", "turned.parquet")
    assert read_records(survey, place / "turned.parquet").to_documents() == first[::-1]
    assert "who" not in parquet.read_table(place / "sent.parquet").column_names
    run("distort", "survey.json", "all.csv", "--by-row", "-o", "rows.csv")
    assert len(read_records(survey, place / "rows.csv")) == 3


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("all.csv", (), "--id"),
        ("all.csv", ("--id", "who", "--by-row"), "exclude"),
        ("all.csv", ("--id", "shoe"), "'shoe'"),
        ("all.csv", ("--id", "town"), "same name"),
        ("none.csv", (), "not a file"),
        ("old.csv", (), "'age'"),
        ("empty.csv", (), "no records"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_nothing_is_written(place, file, options, message):
    make()
    text = (place / "all.csv").read_text().splitlines()
    (place / "old.csv").write_text("\n".join([text[0], text[1].replace("20,", "121,", 1)]) + "\n")
    (place / "empty.csv").write_text(text[0] + "\n")
    output = run("distort", "survey.json", file, *options, "-o", "sent.csv", code=2)
    assert message in output
    assert "121" not in output
    assert not (place / "sent.csv").exists()
    assert not (place / "survey.kept.json").exists()


def test_records_of_another_edition_are_refused(place):
    make()
    run("distort", "survey.json", "me.parquet", "-o", "sent.csv")
    with pytest.raises(SurveyError, match="another survey"):
        read_records(make("--edition", "2"), place / "sent.csv")


def test_an_output_of_another_kind_is_refused():
    make()
    assert ".csv or .parquet" in run("distort", "survey.json", "me.parquet", "-o", "sent.xlsx", code=2)
