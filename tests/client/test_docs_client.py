"""The page about the client runs, from top to bottom, against a real service."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import Inside, Made

import bocage
from docs_pages import ROOT, blocks

PAGE = ROOT / "docs" / "client.md"
SCHEMA = """
name = "people"
row_cap = 10000
target = { name = "well", values = ["yes", "no"] }
attributes = [
    { name = "city", type = "categorical", values = ["Paris", "Lyon", "Nice"] },
    { name = "age", type = "numeric", lower = 0, upper = 100, step = 1 },
    { name = "income", type = "numeric", lower = 0, upper = 1000, cells = 100 },
]
"""


def people():
    """Three groups of ages, around 20, 50 and 80: a thousand people each."""
    ages = [middle - 5 + number % 11 for middle in (20, 50, 80) for number in range(1000)]
    cities = ["Paris", "Lyon", "Nice"]
    return {
        "city": [cities[number % 3] for number in range(len(ages))],
        "age": ages,
        "income": [float(37 * number % 1000) for number in range(len(ages))],
        "well": ["no" if age > 60 else "yes" for age in ages],
    }


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("docs")
    made = Made(path / "owner")
    with made.owner() as owner:
        owner.remove_table("people")
        pq.write_table(pa.table(people()), path / "people.parquet")
        (path / "people.toml").write_text(SCHEMA)
        owner.add_table("people", str(path / "people.parquet"), path / "people.toml", "100")
    made.analyst("ann")
    inside = Inside(made.opened())
    yield str(inside.client.base_url).rstrip("/"), made.keys["ann"]
    inside.stop()


def test_the_page_runs_in_order(served, monkeypatch, capsys):
    url, key = served
    monkeypatch.setenv("BOCAGE_KEY", key)
    namespace = {"__name__": "__main__"}
    python = [block for block in blocks(PAGE) if block.language == "python"]
    for block in python:
        body = block.body.replace("http://127.0.0.1:8400", url)
        code = compile("\n" * (block.line - 1) + body, "docs/client.md", "exec")
        exec(code, namespace)  # noqa: S102 - our own page
    assert len(python) >= 8
    assert "('people',)" in capsys.readouterr().out
    # Sums of 1,000 people are off by 8,000 years (8 on average) with probability exp(-80) at most:
    # epsilon 1/2 for a sum in half years from the middle, of sensitivity 100, is a scale of 200.
    # Under 1e-30 for all nine averages.
    assert all(abs(a - b) < 8 for a, b in zip(namespace["centers"], (20, 50, 80), strict=True))


def test_the_algorithm_of_the_page_runs_on_a_local_table_as_well():
    (block,) = [one for one in blocks(PAGE) if "def k_means" in one.body]
    namespace = {"__name__": "__main__"}
    exec(block.body.split("\n\n\ncenters =")[0], namespace)  # noqa: S102 - our own page
    schema = bocage.Schema.from_dict(
        {
            "name": "people",
            "row_cap": 10000,
            "attributes": [{"name": "age", "type": "numeric", "lower": 0, "upper": 100, "step": 1}],
        }
    )
    with bocage.study({"age": people()["age"]}, schema) as table:
        centers = namespace["k_means"](table, "age", k=3, epsilon=3)
    assert all(abs(a - b) < 8 for a, b in zip(centers, (20, 50, 80), strict=True))  # as above
