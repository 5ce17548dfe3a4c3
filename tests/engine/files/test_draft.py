"""The owner's look at a file, on tables small enough to count by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bocage.engine.files.draft import EYES, SIGNING, check_file, draft_schema, to_json, to_toml
from bocage.engine.reference import code_of
from bocage.engine.sources import open_engine
from bocage.errors import SchemaError, SourceError
from bocage.plan import Question
from bocage.schema import DROP, Categorical, Layout, Numeric, Schema

NAN, INF = float("nan"), float("inf")
PEOPLE: dict[str, list[Any]] = {
    "age": [30, 41, None, 200, 5, *range(50, 70)],
    "rooms": [1, 2, 3, 2, None, *[1] * 20],
    "job": ["baker", "it's", None, "?", "smith\n\x7f", *["baker"] * 20],
    "ill": [True, False, None, True, False, *[True] * 20],
    "height": [1.5, NAN, None, INF, -2.0, *[1.75] * 20],
    "born": [None] * 25,
    "name": [f"person {i}" for i in range(25)],
}


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "people's.parquet"
    table = pa.table(PEOPLE).set_column(5, "born", pa.array([0] * 25, pa.date32()))
    pq.write_table(table, path)
    return path


def test_a_draft_starts_from_the_observed_domains(parquet: Path) -> None:
    document = draft_schema(parquet, label="ill")
    entries = {entry["name"]: entry for entry in document["attributes"]}
    assert document["draft"] is True
    assert document["name"] == "people's"
    assert document["target"] == {"name": "ill", "type": "categorical", "values": ["false", "true"]}
    assert entries["age"] == {"name": "age", "type": "numeric", "lower": 5, "upper": 200, "step": 1}
    assert entries["rooms"]["values"] == ["1", "2", "3"]
    assert entries["job"]["values"] == ["?", "baker", "it's", "smith\n\x7f"]
    assert entries["height"] == {"name": "height", "type": "numeric", "lower": -2.0, "upper": 1.75}
    assert "born" not in entries
    assert document["notes"][1:] == ["column 'born' is left out: its type DATE is neither text nor number."]


@pytest.mark.parametrize(("ending", "write"), [("toml", to_toml), ("json", to_json)])
def test_a_draft_is_refused_until_it_is_signed(parquet: Path, tmp_path: Path, ending: str, write: Any) -> None:
    path = tmp_path / f"draft.{ending}"
    text = write(draft_schema(parquet, "people", "ill"))
    assert "leak" in text
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match="remove the line draft = true: signing declares them"):
        Schema.read(path)
    signed = text.replace("draft = true\n", "").replace(' "draft": true,\n', "")
    assert signed != text
    path.write_text(signed, encoding="utf-8")
    schema = Schema.read(path)
    assert schema.categorical("job").values[-1] == "smith\n\x7f"
    assert schema.numeric("height").lower == -2
    assert check_file(parquet, schema).problems == []


def test_a_draft_of_text_remembers_its_layout(tmp_path: Path) -> None:
    path = tmp_path / "cars [1].csv"
    path.write_text("price;color\n1.5;red\n2.5;blue\n2.5;red\n")
    document = draft_schema(path, label="color")
    assert document["separator"] == ";"
    assert document["target"]["values"] == ["blue", "red"]
    path.write_text("1.5,red\n2.5,blue\n1.5,red\n")
    document = draft_schema(path)
    assert document["header"] is False
    assert len(document["columns"]) == 2
    del document["draft"]
    assert check_file(path, Schema.from_dict(document)).dropped == 0


def test_what_no_domain_describes_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    many = [f"n{i}" for i in range(1001)]
    ids = [10**17 + i for i in range(1001)]
    empty = pa.array([None] * 1001, pa.float64())
    same = [0.5] * 1001
    pq.write_table(pa.table({"many": many, "ids": ids, "empty": empty, "same": same}), path)
    document = draft_schema(path)
    assert document["attributes"] == [{"name": "same", "type": "numeric", "lower": 0.5, "upper": 1.5}]
    assert [note.split(":")[0] for note in document["notes"][1:]] == [
        f"column '{name}' is left out" for name in ("many", "ids", "empty")
    ]


def test_a_label_must_exist_and_have_few_values(parquet: Path) -> None:
    with pytest.raises(SourceError, match="no column 'sick' that could be the label"):
        draft_schema(parquet, label="sick")
    with pytest.raises(SchemaError, match="the label 'age' must be categorical"):
        draft_schema(parquet, label="age")


@pytest.fixture
def declared() -> Schema:
    return Schema(
        "people",
        (
            Numeric("age", Fraction(0), Fraction(120), step=Fraction(1)),
            Categorical("job", ("baker", "it's"), missing="baker", marker="?"),
            Numeric("height", Fraction(0), Fraction(3), missing=Fraction(1), clamp=False),
        ),
        Categorical("ill", ("true", "false"), outside="true"),
    )


def test_a_check_counts_what_is_missing_outside_and_dropped(parquet: Path, declared: Schema) -> None:
    report = check_file(parquet, declared)
    found = {c.name: (c.missing, c.outside, c.dropped) for c in report.columns}
    assert found == {
        "age": (1, 1, 1),  # NULL drops, 200 is clamped
        "job": (2, 1, 1),  # NULL and ? become baker, smith drops
        "height": (2, 2, 2),  # NaN and NULL become 1, infinity and -2 drop
        "ill": (1, 0, 1),
    }
    assert (report.rows, report.dropped) == (25, 3)  # the rows at positions 2, 3 and 4
    assert report.undeclared == ("rooms", "born", "name")
    assert report.problems == []


def test_a_check_agrees_with_the_definition_of_encoding(parquet: Path, declared: Schema) -> None:
    report = check_file(parquet, declared)
    codes = {c.name: [code_of(c, value) for value in PEOPLE[c.name]] for c in declared}
    for column in report.columns:
        assert column.dropped == codes[column.name].count(DROP)
    assert report.dropped == sum(DROP in row for row in zip(*codes.values(), strict=True))


def test_a_check_of_text_strips_and_reads_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.data"
    path.write_text("1, baker\n x, baker \n9,?\n,farmer\n")
    schema = Schema(
        "people",
        (Numeric("age", Fraction(0), Fraction(5), step=Fraction(1)),),
        Categorical("job", ("baker", "?"), "?", None, "?"),
        layout=Layout(",", header=False, columns=("age", "job"), strip=True),
    )
    age, job = check_file(path, schema).columns
    assert (age.missing, age.outside, age.dropped) == (2, 1, 2)
    assert (job.missing, job.outside, job.dropped) == (1, 1, 1)


def test_a_check_counts_the_rows_that_the_engine_counts(tmp_path: Path) -> None:
    path = tmp_path / "people [1].csv"
    path.write_text('age,job\n1,"ba,ker"\n2,""\n3,\nx,baker\n\n6,"ba""ker"\n1e2,baker\n')
    schema = Schema(
        "people",
        (Numeric("age", Fraction(0), Fraction(5), clamp=False),),
        Categorical("job", ("ba,ker", "", 'ba"ker', "baker"), missing="baker"),
    )
    report = check_file(path, schema)
    engine = open_engine(path, schema)
    tally = engine.answer([Question()])[0]
    engine.close()
    assert report.rows - report.dropped == int(tally.totals[0, 0]) == 3


def test_a_file_that_does_not_fit_is_told_why(parquet: Path) -> None:
    schema = Schema(
        "people",
        (
            Numeric("weight", Fraction(0), Fraction(1)),
            Numeric("job", Fraction(0), Fraction(1)),
            Categorical("height", ("1.5",)),
        ),
        row_cap=24,
    )
    assert check_file(parquet, schema).problems == [
        "column 'weight': the file does not have it.",
        "column 'job': its type VARCHAR is no number.",
        "column 'height': its type DOUBLE has no list of values.",
        "the file holds more rows than the row cap.",
    ]


def test_an_unreadable_file_is_refused_without_quoting_it(tmp_path: Path, declared: Schema) -> None:
    with pytest.raises(SourceError, match="is not a file"):
        draft_schema(tmp_path / "absent.csv")
    path = tmp_path / "secret.parquet"
    path.write_text("a secret, not Parquet")
    with pytest.raises(SourceError, match="cannot be read as a Parquet or CSV file") as caught:
        check_file(path, declared)
    assert "a secret" not in str(caught.value)


def test_the_warnings_say_what_they_must() -> None:
    assert "owner's eyes only" in EYES
    assert "Do not publish" in EYES
    assert "declares every domain in it public" in SIGNING


def test_a_json_draft_is_json(parquet: Path) -> None:
    document = draft_schema(parquet)
    assert json.loads(to_json(document)) == document


def test_what_only_the_name_of_a_directory_holds_is_not_drafted(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    pq.write_table(pa.table({"age": [1, 2, 3]}), folder / "people.parquet")
    document = draft_schema(folder / "people.parquet")
    assert [entry["name"] for entry in document["attributes"]] == ["age"]
