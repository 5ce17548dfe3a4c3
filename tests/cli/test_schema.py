from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bocage.cli import main

CSV = "age,job\n30,baker\n41,farmer\n,baker\n200,smith\n" + "".join(f"{age},baker\n" for age in range(50, 70))
SCHEMA = """name = "people"
row_cap = 1000
[[attributes]]
name = "age"
type = "numeric"
lower = 0
upper = 120
step = 1
[target]
name = "job"
values = ["baker", "[red]farmer"]
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    path = tmp_path / "people.toml"
    path.write_text(SCHEMA)
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(main, ["schema", *map(str, arguments)])


def test_a_draft_goes_to_the_terminal_with_a_loud_warning(people: Path) -> None:
    result = run("draft", people, "--label", "job")
    assert result.exit_code == 0
    assert "\ndraft = true\n" in result.stdout
    assert 'values = ["baker", "farmer", "smith"]' in result.stdout
    assert "declares every domain in it public" in result.stderr


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_draft_file_cannot_be_used_before_it_is_signed(people: Path, tmp_path: Path, ending: str) -> None:
    output = tmp_path / f"draft.{ending}"
    assert run("draft", people, "--output", output).exit_code == 0
    result = run("show", output)
    assert result.exit_code == 2
    assert "remove the line draft = true" in result.stderr
    assert f"draft.{ending}, line " in result.stderr
    signing = output.read_text().replace("draft = true\n", "").replace('"draft": true,', "")
    output.write_text(signing)
    assert run("show", output).exit_code == 0


def test_a_draft_overwrites_nothing(people: Path, signed: Path) -> None:
    result = run("draft", people, "--output", signed)
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert signed.read_text() == SCHEMA
    assert run("draft", people, "--output", signed.with_suffix(".yaml")).exit_code == 2
    nowhere = signed.parent / "no" / "such.toml"
    assert "cannot be written" in run("draft", people, "--output", nowhere).stderr


def test_a_check_prints_exact_numbers_for_the_owner_only(people: Path, signed: Path) -> None:
    result = run("check", people, signed)
    assert result.exit_code == 0
    assert result.stdout.count("For the owner's eyes only") == 2
    age = next(line for line in result.stdout.splitlines() if "│ age" in line)
    assert [cell.strip() for cell in age.split("│")[3:6]] == ["1", "1", "1"]
    assert "24 rows, of which 3 are dropped." in result.stdout  # NULL, farmer, smith


def test_a_check_of_a_file_that_would_be_refused_exits_1(people: Path, signed: Path) -> None:
    people.write_text("age\n3\n")
    result = run("check", people, signed)
    assert result.exit_code == 1
    assert "column 'job': the file does not have it." in result.stdout


def test_a_schema_is_shown_as_it_is_written(signed: Path) -> None:
    result = run("show", signed)
    assert result.exit_code == 0
    assert "0 to 120, steps of 1" in result.stdout
    assert "baker, [red]farmer" in result.stdout  # no markup from a value
    assert "Row cap: 1,000 (refuse)" in result.stdout


def test_a_wrong_schema_is_one_line_and_exit_2(signed: Path) -> None:
    signed.write_text(SCHEMA.replace("upper = 120", "upper = -1"))
    result = run("show", signed)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "line 6: attribute 'age' needs lower < upper" in result.stderr
