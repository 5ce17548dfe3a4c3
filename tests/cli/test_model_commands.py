"""explain, draw and predict: what a released model can do from the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from bocage.model import load


def labels(text: str) -> list[str]:
    header, *rows = csv.reader(io.StringIO(text))
    assert header[0] == "ill"
    return [row[0] for row in rows]


# predict


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_predictions_of_a_file_are_those_of_the_model(run, clinic, request, name):
    model = load(request.getfixturevalue(name))
    rows = pq.read_table(clinic / "patients.parquet")
    assert labels(run("predict", f"{name}.json", "patients.parquet").stdout) == list(model.predict(rows))


def test_the_rule_of_the_table_is_predicted_from_csv_too(run, clinic, tree):
    rows = pq.read_table(clinic / "patients.parquet").drop_columns(["ill"])
    pa_csv.write_csv(rows, clinic / "new.csv")
    truth = pq.read_table(clinic / "patients.parquet")["ill"].to_pylist()
    assert labels(run("predict", "tree.json", "new.csv").stdout) == truth


def test_missing_and_strange_values_get_a_label_each_in_their_place(run, clinic, tree):
    (clinic / "odd.csv").write_text("age,smokes,note\n60,yes,a\n,yes,b\nold,yes,c\n60,,d\n60,pipe,e\n1e9,yes,f\n")
    found = labels(run("predict", "tree.json", "odd.csv").stdout)
    assert len(found) == 6
    assert found[0] == found[5] == "yes"  # the last is clamped to 100


def test_shares_stand_beside_the_labels_and_add_up(run, clinic, tree):
    run("predict", "tree.json", "patients.parquet", "--proba", "--output", "labels.parquet")
    run("predict", "tree.json", "patients.parquet", "--proba", "--output", "labels.csv")
    found = pq.read_table(clinic / "labels.parquet")
    assert found.column_names == ["ill", "ill=no", "ill=yes"]
    for no, yes in zip(found["ill=no"].to_pylist(), found["ill=yes"].to_pylist(), strict=True):
        assert no + yes == pytest.approx(1)
    assert pa_csv.read_csv(clinic / "labels.csv").to_pydict() == found.to_pydict()


def test_a_line_that_is_no_row_is_refused_and_nothing_is_written(run, clinic, tree):
    (clinic / "bad.csv").write_text("age,smokes\n60,yes\n60,yes,secret\n")
    result = run("predict", "tree.json", "bad.csv", "--output", "labels.csv", code=2)
    assert "another number of fields" in result.stderr
    assert "secret" not in result.stderr
    assert not any("labels" in path.name for path in clinic.iterdir())


@pytest.mark.parametrize(
    ("file", "text_and_words"),
    [
        ("few.csv", ("age\n60\n", "must have the column 'smokes', once")),
        ("none.csv", (None, "is not a file")),
        ("rows.json", ("{}", "rows to predict are Parquet")),
        ("broken.parquet", ("no parquet", "cannot be read")),
    ],
)
def test_files_that_cannot_be_predicted_are_refused_in_one_line(run, clinic, tree, file, text_and_words):
    text, words = text_and_words
    if text is not None:
        (clinic / file).write_text(text)
    result = run("predict", "tree.json", file, code=2)
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_pattern_in_a_name_is_no_pattern(run, clinic, tree):
    odd = clinic / "a[b]*.parquet"
    pq.write_table(pa.table({"smokes": ["yes"], "age": [80]}), odd)
    assert labels(run("predict", "tree.json", odd.name).stdout) == ["yes"]


def test_a_model_without_tests_answers_once_for_every_row(run, train, clinic):
    train("--study", "--output", "stump.json", epsilon="0.001")
    assert load(clinic / "stump.json").columns == ()
    assert len(labels(run("predict", "stump.json", "patients.parquet").stdout)) == 600


# explain


def test_an_explanation_shows_tree_rules_and_certificate(run, tree):
    shown = run("explain", "tree.json").stdout
    for words in ("smokes is yes", "Best rules", "differentially private with epsilon = 500"):
        assert words in shown


def test_rules_are_filtered_and_sorted(run, tree):
    rules = json.loads(run("explain", "tree.json", "--rules", "--json").stdout)
    assert [rule["support"] for rule in rules] == sorted((rule["support"] for rule in rules), reverse=True)
    ill = run("explain", "tree.json", "--rules", "--label", "yes", "--min-support", "50", "--json")
    (only,) = json.loads(ill.stdout)
    assert only["label"] == "yes"
    assert "age ≥ 50" in only["text"]
    assert "smokes is yes" in only["text"]
    assert "age ≥ 50" in run("explain", "tree.json", "--rules", "--sort", "confidence").stdout
    wrong = run("explain", "tree.json", "--rules", "--label", "maybe", code=2)
    assert "no label 'maybe'. It has no, yes." in wrong.stderr


def test_sub_rules_of_a_forest_can_be_left_out(run, forest):
    every = json.loads(run("explain", "forest.json", "--rules", "--json").stdout)
    leaves = json.loads(run("explain", "forest.json", "--rules", "--leaves", "--json").stdout)
    assert len(leaves) < len(every)
    assert all(rule["leaf"] for rule in leaves)


def test_the_sql_of_a_model_predicts_in_the_database(run, clinic, tree):
    expression = run("explain", "tree.json", "--sql", "duckdb").stdout
    with duckdb.connect() as connection:
        table = f"read_parquet('{clinic / 'patients.parquet'}')"
        found = connection.sql(f"SELECT {expression} AS found, ill FROM {table}").fetchall()
    assert all(predicted == truth for predicted, truth in found)
    assert "float8" in run("explain", "tree.json", "--sql", "postgresql").stdout


def test_other_forms_are_plain_text_for_other_programs(run, tree):
    assert run("explain", "tree.json", "--text").stdout.startswith("all rows: no")
    assert "export" in run("explain", "tree.json", "--javascript").stdout
    assert run("explain", "tree.json", "--certificate").stdout.startswith("This model was made by")
    both = run("explain", "tree.json", "--text", "--sql", "duckdb", code=2)
    assert "Choose one of" in both.stderr


# draw


def test_a_drawing_is_an_svg_picture(run, clinic, tree):
    assert "The model is drawn in" in run("draw", "tree.json", "-o", "tree.svg").stdout
    picture = ET.parse(clinic / "tree.svg")  # noqa: S314 - our own file
    assert picture.getroot().tag.endswith("svg")


def test_each_tree_of_a_forest_can_be_drawn(run, clinic, forest):
    run("draw", "forest.json", "-o", "a.svg")
    run("draw", "forest.json", "-o", "b.svg", "--tree", "2")
    assert (clinic / "a.svg").read_text() != (clinic / "b.svg").read_text()
    assert "trees 1 to 2, not 3" in run("draw", "forest.json", "-o", "c.svg", "--tree", "3", code=2).stderr
    assert "must end in .svg" in run("draw", "forest.json", "-o", "c.json", code=2).stderr
    assert "its directory must exist" in run("draw", "forest.json", "-o", "no/c.svg", code=1).stderr


# models that are none


@pytest.mark.parametrize("command", [["explain"], ["draw", "-o", "x.svg"], ["predict"]])
@pytest.mark.parametrize("text", [None, "{", '{"format": "other"}', "[" * 100_000])
def test_a_file_that_is_no_model_is_refused_in_one_line(run, clinic: Path, command, text):
    if text is not None:
        (clinic / "no.json").write_text(text)
    rows = ["patients.parquet"] if command == ["predict"] else []
    result = run(command[0], "no.json", *rows, *command[1:], code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
