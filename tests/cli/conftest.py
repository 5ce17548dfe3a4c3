"""A small table whose rule is known, and models that were trained on it by the command line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from bocage.cli import main

PATIENTS = """\
name = "patients"
row_cap = 10_000
[[attributes]]
name = "smokes"
type = "categorical"
values = ["no", "yes"]
[[attributes]]
name = "home"
type = "categorical"
values = ["town", "village", "[bold]hut"]
[[attributes]]
name = "age"
type = "numeric"
lower = 0
upper = 100
step = 1
[target]
name = "ill"
values = ["no", "yes"]
"""


def patients(rows: int = 600) -> dict[str, list[object]]:
    """Ill are the smokers from 50 on."""
    ages = [7 * i % 101 for i in range(rows)]
    smokes = ["yes" if i % 3 == 0 else "no" for i in range(rows)]
    return {
        "smokes": smokes,
        "home": [["town", "village"][i % 2] for i in range(rows)],
        "age": ages,
        "ill": ["yes" if a >= 50 and s == "yes" else "no" for a, s in zip(ages, smokes, strict=True)],
    }


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A directory with a table and its schema."""
    (tmp_path / "patients.toml").write_text(PATIENTS)
    pq.write_table(pa.table(patients()), tmp_path / "patients.parquet")
    return tmp_path


@pytest.fixture
def run(clinic: Path):
    """Runs a command in a wide terminal that is none; paths are relative to the clinic."""

    def invoke(*arguments: str, code: int = 0):
        found = [
            str(clinic / a) if Path(a).suffix in {".json", ".toml", ".parquet", ".csv", ".svg"} else a
            for a in arguments
        ]
        result = CliRunner(env={"COLUMNS": "120"}).invoke(main, found)
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def train(run):
    def invoke(*arguments: str, learner: str = "diffpc45", epsilon: str = "500", code: int = 0):
        source = ("patients.parquet", "--schema", "patients.toml")
        return run("train", *source, "--learner", learner, "--epsilon", epsilon, *arguments, code=code)

    return invoke


@pytest.fixture
def tree(train, clinic: Path) -> Path:
    train("--depth", "2", "--study", "--output", "tree.json", "--criterion", "gini")
    return clinic / "tree.json"


@pytest.fixture
def forest(train, clinic: Path) -> Path:
    chosen = ("--param", "attributes=smokes,home", "--param", "support=10")
    train("--trees", "2", *chosen, "--study", "--output", "forest.json", learner="dpdf")
    return clinic / "forest.json"
