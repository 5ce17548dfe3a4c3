"""What stands in a file: read as declared, or refused with the line to fix."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from bocage.errors import SchemaError
from bocage.schema import Categorical, Layout, Numeric, Schema

NAMES = ["adult", "car", "connect-4", "krkopt", "mushroom", "nursery", "tic-tac-toe", "votes"]

JSON = """{
 "name": "people",
 "row_cap": 1000,
 "missing": "?",
 "missing_in": ["job"],
 "attributes": [
  {"name": "age", "type": "numeric",
   "lower": 0,
   "upper": 120,
   "step": 1},
  {"name": "job", "type": "categorical",
   "values": ["farmer", "baker"],
   "outside": "baker"}
 ],
 "target": {"name": "ill",
            "values": ["no", "yes"]}
}
"""

TOML = """# people, by hand
name = "people"
row_cap = 1000
missing = "?"
missing_in = ["job"]

[[attributes]]
name = "age"
type = "numeric"
lower = 0
upper = 120
step = 1

[[attributes]]
name = "job"      # what they do
type = "categorical"
values = [
  "farmer",
  "baker",
]
outside = "baker"

[target]
name = "ill"
values = ["no", "yes"]
"""

PEOPLE = Schema(
    name="people",
    attributes=(
        Numeric("age", Fraction(0), Fraction(120), step=Fraction(1)),
        Categorical("job", ("farmer", "baker", "?"), missing="?", outside="baker", marker="?"),
    ),
    label=Categorical("ill", ("no", "yes")),
    row_cap=1000,
)


def read(directory: Path, text: str, name: str = "s.json") -> Schema:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return Schema.read(path)


def refusal(directory: Path, text: str, name: str = "s.json") -> str:
    with pytest.raises(SchemaError) as caught:
        read(directory, text, name)
    return str(caught.value).removeprefix(str(directory / name))


def test_json_and_toml_say_the_same(tmp_path: Path) -> None:
    assert read(tmp_path, JSON) == PEOPLE
    assert read(tmp_path, TOML, "s.toml") == PEOPLE
    assert read(tmp_path, "\ufeff" + JSON) == PEOPLE  # as some editors on Windows write it


@pytest.mark.parametrize("name", NAMES)
def test_a_public_data_set_reads_and_reads_back(name: str, data_directory: Path) -> None:
    document = json.loads((data_directory / f"{name}.schema.json").read_text())
    schema = Schema.read(data_directory / f"{name}.schema.json")
    assert schema.name == name
    assert [a.name for a in schema.attributes] == [a["name"] for a in document["attributes"]]
    assert schema.label is not None
    assert schema.label.values == tuple(document["target"]["values"])
    assert schema.layout.columns == tuple(document["columns"])
    for column in document["missing_in"]:
        assert schema.categorical(column).missing == "?"
    assert Schema.from_dict(schema.to_dict()) == schema


def test_adult_keeps_its_bounds_and_its_layout(data_directory: Path) -> None:
    adult = Schema.read(data_directory / "adult.schema.json")
    age = adult.numeric("age")
    assert (age.lower, age.upper, age.cells) == (17, 90, 1024)
    assert adult.layout == Layout(",", False, adult.layout.columns, True)
    assert len(adult.layout.columns) == 15


def test_decimals_are_read_exactly(tmp_path: Path) -> None:
    text = '{"name": "t", "attributes": [{"name": "x", "type": "numeric", %s}]}'
    column = read(tmp_path, text % '"lower": 0.1, "upper": 0.7, "step": 0.1').numeric("x")
    assert (column.lower, column.cells) == (Fraction(1, 10), 7)
    third = read(tmp_path, text % '"lower": "-1/3", "upper": 1e2').numeric("x")
    assert (third.lower, third.upper) == (Fraction(-1, 3), 100)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"name": "people"', '"title": "people"', None, 'the schema needs "name"'),
        ('"name": "people"', '"name": 7', 2, 'the schema needs "name": a text'),
        (
            '"row_cap": 1000',
            '"row_caps": 1000',
            3,
            "unknown key 'row_caps'. Known keys: attributes",
        ),
        ('"row_cap": 1000', '"row_cap": true', 3, '"row_cap" must be a whole number, not True'),
        ('"row_cap": 1000', '"row_cap": 0', 3, "row_cap must lie between 1 and"),
        ('"row_cap": 1000', '"over_cap": "trim"', 3, '"over_cap" must be "refuse" or "cut"'),
        ('"row_cap": 1000', '"over_cap": []', 3, '"over_cap" must be "refuse" or "cut"'),
        ('"row_cap": 1000', '"draft": true', 3, "remove the line draft = true: signing declares"),
        ('"row_cap": 1000', '"separator": ";;"', 3, '"separator" must be one character'),
        ('"row_cap": 1000', '"header": 1', 3, '"header" must be true or false, not 1'),
        ('"row_cap": 1000', '"header": false', 3, 'without header needs "columns"'),
        ('"row_cap": 1000', '"columns": "age"', 3, '"columns" is a list of column names'),
        ('"row_cap": 1000', '"columns": ["a", "a"]', 3, "\"columns\" names 'a' twice"),
        ('"row_cap": 1000', '"columns": ["age", "ill"]', 3, "\"columns\" does not name 'job'"),
        ('"missing": "?"', '"missing": 9', 4, '"missing" is the text that marks a missing entry'),
        ('"missing": "?"', '"missing": null', 5, '"missing_in" needs "missing"'),
        ('["job"]', '["jobs"]', 5, "\"missing_in\" names 'jobs', which is not an attribute"),
        ('["job"]', '"job"', 5, '"missing_in" is a list of column names'),
        ('"type": "numeric"', '"type": "number"', 7, '\'age\' needs "type": "categorical" or'),
        ('"type": "numeric"', '"type": []', 7, '\'age\' needs "type": "categorical" or'),
        ('"lower": 0,', "", 7, "'age' needs public bounds, and 'lower' is missing"),
        ('"lower": 0', '"lower": 130', 8, "'age' needs lower < upper, not 130 and 120"),
        ('"lower": 0', '"lower": NaN', 8, "it contains NaN or Infinity"),
        ('"upper": 120', '"upper": Infinity', 9, "it contains NaN or Infinity"),
        ('"upper": 120', '"upper": 1e999999999', 9, "a number in it has too many digits"),
        ('"upper": 120', '"upper": "1/0"', 9, "upper must be a finite number"),
        ('"upper": 120', '"upper": false', 9, "upper must be a number, not False"),
        ('"step": 1', '"step": 7', 10, "the step 7 does not divide the range from 0 to 120"),
        ('"step": 1', '"cells": 1.5', 10, '"cells" must be a whole number'),
        ('"step": 1', '"step": 1, "cells": 4', 10, "both cells and step"),
        ('"step": 1', '"step": 1, "missing": 121', 10, "missing entries to 121, outside"),
        ('"step": 1', '"step": 1, "outside": "age"', 10, '"outside" must be "clamp" or "drop"'),
        ('"step": 1', '"steps": 1', 10, "attribute 'age' has the unknown key 'steps'"),
        ('{"name": "job"', '{"name": "age"', 11, "declares the column 'age' twice"),
        ('{"name": "job"', '{"name": ""', 11, 'an attribute needs "name"'),
        ('["farmer", "baker"]', '["smith"]', 13, "outside entries to 'baker', which is not in"),
        ('["farmer", "baker"]', "[1, 2]", 12, "'job' needs \"values\": the complete list"),
        ('["farmer", "baker"]', '["baker", "baker"]', 12, "lists the value 'baker' twice"),
        ('"outside": "baker"', '"outside": "smith"', 13, "'smith', which is not in its list"),
        (
            '"outside": "baker"',
            '"outside": {"value": 1}',
            13,
            'must be "drop" or one of the values',
        ),
        ('"outside": "baker"', '"marker": 1', 13, '"marker" is the text that marks'),
        ('"name": "ill"', '"name": "age"', 15, "the target 'age' is also one of the attributes"),
        ('"name": "ill"', '"type": "numeric", "name": "ill"', 16, "unknown key 'values'"),
        (
            '"values": ["no", "yes"]',
            '"type": "numeric", "lower": 0, "upper": 1',
            16,
            "must be categorical",
        ),
        ('"values": ["no", "yes"]', '"values": []', 16, "'ill' has an empty list of values"),
        ('"values": ["no", "yes"]', '"values": ["no", "no"]', 16, "the value 'no' twice"),
    ],
)
def test_a_wrong_schema_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int | None, message: str
) -> None:
    assert JSON.count(old) == 1 or old.startswith('"name"')
    text = refusal(tmp_path, JSON.replace(old, new, 1))
    assert message in text
    assert text.startswith(f", line {line}: " if line else ": ")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("lower = 0", "lower = nan", 10, "lower must be a finite number"),
        ("lower = 0", "lower = 120", 10, "needs lower < upper"),
        ("upper = 120", "", 7, "'upper' is missing"),
        ("step = 1", "step = 0.7", 12, "the step 0.7 does not divide"),
        ('  "baker",\n', '  "baker",\n  "baker",\n', 17, "the value 'baker' twice"),
        ('outside = "baker"', 'outside = "smith"', 21, "'smith', which is not in its list"),
        ('name = "ill"', "name = 3", 24, 'an attribute needs "name"'),
        ("row_cap = 1000", "draft = true", 3, "this schema is a draft"),
        ("row_cap = 1000", "row_cap = 1000\nrow_cap = 2", None, "line 4"),
        ("step = 1", "step = ", None, "line 12"),
    ],
)
def test_a_wrong_toml_schema_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int | None, message: str
) -> None:
    text = refusal(tmp_path, TOML.replace(old, new, 1), "s.toml")
    assert message in text
    assert text.startswith(f", line {line}: " if line else ": this is not TOML: ")


def test_toml_with_inline_tables_and_dotted_keys_gets_its_lines_too(tmp_path: Path) -> None:
    text = "name = 't'\nattributes = [\n {name = '''x''', type = 'numeric', lower = 3, upper = 2} ]\n"
    assert refusal(tmp_path, text, "s.toml").startswith(", line 3: attribute 'x' needs lower")
    text = 'name = "t"\ntarget.name = "y"\ntarget.values = ["a", "a"]\nattributes = []\n'
    assert refusal(tmp_path, text, "s.toml").startswith(", line 3: attribute 'y' lists")


def test_a_key_that_stands_twice_is_refused_with_the_line_of_the_second(tmp_path: Path) -> None:
    text = JSON.replace('"upper": 120,', '"upper": 120,\n   "lower": 1,')
    assert refusal(tmp_path, text).startswith(", line 10: the key 'lower' stands twice")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ", line 1: it is not JSON"),
        ('{"name": "x",\n "attributes": [}', ", line 2: it is not JSON"),
        ("[]", ': a schema is an object with "name" and "attributes"'),
        ('{"name": "x"}', ": schema 'x' needs a list \"attributes\""),
        ('{"name": "x", "attributes": []}', ", line 1: schema 'x' has no attributes"),
        ('{"name": "x",\n "attributes": [3]}', ", line 2: an attribute is an object"),
        ("[" * 100_000, ": it is nested more than 16 deep"),
        ('{"name": ' + "9" * 5000 + "}", ", line 1: a number in it has too many digits"),
        ('{"name": 1e99999999999999999999}', ", line 1: a number in it has too many digits"),
        ('{"name": ' + '{"a":' * 500 + "1" + "}" * 501, ": it is nested more than 16 deep"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_deep_toml_is_refused(tmp_path: Path) -> None:
    text = refusal(tmp_path, "a = " + "[" * 50_000 + "]" * 50_000, "s.toml")
    assert text.startswith((": nested too deeply", ": this is not TOML"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"absent\.json cannot be read"):
        Schema.read(tmp_path / "absent.json")
    (tmp_path / "latin.json").write_bytes(b'{"name": "\xe9"}')
    with pytest.raises(SchemaError, match=r"latin\.json cannot be read"):
        Schema.read(tmp_path / "latin.json")


def test_drop_is_ambiguous_where_drop_is_a_value(tmp_path: Path) -> None:
    text = JSON.replace('"baker"', '"drop"')
    message = refusal(tmp_path, text)
    assert message.startswith(', line 13: attribute \'job\': "outside": "drop" is ambiguous')
    value = text.replace('"outside": "drop"', '"outside": {"value": "drop"}')
    assert read(tmp_path, value).categorical("job").outside == "drop"
    left_out = text.replace(',\n   "outside": "drop"', "")
    assert read(tmp_path, left_out).categorical("job").outside is None


def test_a_marker_is_a_value_unless_the_missing_rule_says_otherwise(tmp_path: Path) -> None:
    assert read(tmp_path, JSON).categorical("job").values == ("farmer", "baker", "?")
    dropped = read(tmp_path, JSON.replace('"outside": "baker"', '"missing": "drop"'))
    assert dropped.categorical("job") == Categorical("job", ("farmer", "baker"), marker="?")
    moved = read(tmp_path, JSON.replace('"outside": "baker"', '"missing": "farmer"'))
    assert moved.categorical("job").missing == "farmer"
