"""Engines load only what a source needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = "{'numba', 'duckdb', 'pyarrow', 'pyspark', 'psycopg', 'pandas', 'polars'}"


SMALL_TABLE = """
from bocage.engine import open_engine
from bocage.plan import Question
from bocage.schema import Categorical, Schema
schema = Schema("t", (Categorical("c", ("a",)),))
open_engine({"c": ["a"] * 1000}, schema).answer([Question(columns=("c",))])
"""


@pytest.mark.parametrize(
    ("code", "allowed"),
    # pyarrow itself looks for pandas
    [("import bocage.engine", "set()"), (SMALL_TABLE, "{'pyarrow', 'pandas'}")],
    ids=["import", "small table"],
)
def test_heavy_libraries_stay_unloaded(code, allowed):
    check = f"{code}\nimport sys\nloaded = {HEAVY} & set(sys.modules) - {allowed}\nassert not loaded"
    subprocess.run([sys.executable, "-c", check], check=True)
