"""People who do not exist: a table with plausible dependences, and the schema that an owner signs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]

# Written from what the columns mean, as an owner would: nothing here was read from the table.
SCHEMA = """\
name = "people"
title = "Made-up people"
row_cap = 1_000_000

[[attributes]]
name = "age"
type = "numeric"
lower = 18
upper = 90
step = 1

[[attributes]]
name = "sex"
type = "categorical"
values = ["female", "male"]

[[attributes]]
name = "region"
type = "categorical"
values = ["north", "east", "south", "west", "islands"]

[[attributes]]
name = "education"
type = "categorical"
values = ["primary", "secondary", "vocational", "university"]

[[attributes]]
name = "age_group"
type = "categorical"
values = ["18-29", "30-49", "50-64", "65+"]

[[attributes]]
name = "work"
type = "categorical"
values = ["none", "part time", "full time", "overtime"]

[[attributes]]
name = "hours"
type = "numeric"
lower = 0
upper = 80
step = 1

[[attributes]]
name = "income"
type = "numeric"
lower = 0
upper = 204_800
cells = 1024
missing = "drop"
outside = "clamp"

[target]
name = "ill"
values = ["no", "yes"]
"""

_REGIONS = ("north", "east", "south", "west", "islands")
_EDUCATION = ("primary", "secondary", "vocational", "university")
_GROUPS = ("18-29", "30-49", "50-64", "65+")
_WORK = ("none", "part time", "full time", "overtime")


def make_people(rows: int, seed: int = 7) -> Columns:
    """Columns of `rows` people; the same seed makes the same people."""
    random = np.random.default_rng(seed)  # not noise: these rows protect nobody
    age = (18 + 73 * random.beta(1.2, 1.7, rows)).astype(np.int64)
    male = random.random(rows) < 0.49
    region = random.choice(5, rows, p=[0.31, 0.24, 0.22, 0.2, 0.03])
    # The younger went to school longer.
    education = np.clip(random.normal(2.3 - age / 60, 0.9, rows).round() + 0.4, 0, 3).astype(int)
    works = random.random(rows) < np.where(age < 65, 0.82, 0.12)
    hours = np.where(works, np.clip(random.normal(37 + 3 * male, 8, rows), 4, 80), 0).astype(int)
    yearly = np.exp(9.55 + 0.22 * education + 0.012 * hours + 0.005 * age + random.normal(0, 0.45, rows))
    odds = -5.5 + 0.12 * age - 0.8 * education + 0.12 * np.maximum(hours - 40, 0)
    ill = random.random(rows) < 1 / (1 + np.exp(-odds))
    return {
        "age": age,
        "sex": np.where(male, "male", "female"),
        "region": np.array(_REGIONS)[region],
        "education": np.array(_EDUCATION)[education],
        "age_group": np.array(_GROUPS)[np.digitize(age, [30, 50, 65])],
        "work": np.array(_WORK)[np.digitize(hours, [1, 30, 45])],
        "hours": hours,
        "income": np.minimum(yearly, 204_000).round(2),
        "ill": np.where(ill, "yes", "no"),
    }


def write_people(columns: Columns, directory: Path) -> tuple[Path, Path]:
    """Write the table as Parquet and its schema as TOML; return both paths."""
    table, schema = directory / "people.parquet", directory / "people.toml"
    pq.write_table(pa.table(columns), table)
    schema.write_text(SCHEMA, encoding="utf-8")
    return table, schema
