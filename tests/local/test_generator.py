"""The made-up people of Agrawal & Srikant (2000)."""

from __future__ import annotations

import numpy as np
import pytest

from bocage.errors import PlanError
from bocage.local import generator
from bocage.model.encode import encode

# One person; each test changes what matters.
PERSON = {
    "salary": 60_000.0,
    "commission": 20_000.0,
    "age": 30.0,
    "elevel": 0.0,
    "car": 1.0,
    "zipcode": 3.0,
    "hvalue": 200_000.0,
    "hyears": 10.0,
    "loan": 100_000.0,
}


def group(function, **changes):
    person = {name: np.array([value]) for name, value in {**PERSON, **changes}.items()}
    return "A" if generator._TRUTH[function](person)[0] else "B"


@pytest.mark.parametrize(
    ("function", "changes", "expected"),
    [
        (1, {"age": 39.9}, "A"),
        (1, {"age": 40.0}, "B"),
        (1, {"age": 59.9}, "B"),
        (1, {"age": 60.0}, "A"),
        (2, {"age": 30.0, "salary": 50_000.0}, "A"),
        (2, {"age": 30.0, "salary": 49_999.0}, "B"),
        (2, {"age": 45.0, "salary": 70_000.0}, "B"),
        (2, {"age": 45.0, "salary": 125_000.0}, "A"),
        (2, {"age": 70.0, "salary": 25_000.0}, "A"),
        (2, {"age": 70.0, "salary": 76_000.0}, "B"),
        (3, {"elevel": 1.0, "salary": 30_000.0}, "A"),
        (3, {"elevel": 2.0, "salary": 30_000.0}, "B"),
        (3, {"elevel": 4.0, "salary": 60_000.0}, "B"),
        (3, {"age": 50.0, "elevel": 4.0, "salary": 110_000.0}, "A"),
        (3, {"age": 50.0, "elevel": 0.0, "salary": 60_000.0}, "B"),
        (3, {"age": 65.0, "elevel": 1.0, "salary": 30_000.0}, "A"),
        (3, {"age": 65.0, "elevel": 3.0, "salary": 90_000.0}, "A"),
        (4, {"loan": 217_999.0}, "A"),  # 0.67 * 80,000 - 0.2 * loan - 10,000 is 0 at 218,000
        (4, {"loan": 218_000.0}, "B"),
        (5, {"loan": 400_000.0}, "B"),
        (5, {"loan": 400_000.0, "hyears": 30.0}, "A"),  # equity 200,000 is worth 40,000
    ],
)
def test_functions_of_table_3(function, changes, expected):
    assert group(function, **changes) == expected


@pytest.mark.parametrize("function", generator.FUNCTIONS)
@pytest.mark.parametrize("categorical", [False, True])
def test_groups_are_balanced_and_records_fit_the_schema(function, categorical):
    rows = generator.generate(1001, function, seed=7)
    assert (rows["group"] == "A").sum() == 501
    schema = generator.schema(categorical=categorical)
    codes = encode(schema, rows, list(schema.by_name))
    assert all(code.min() >= 0 for code in codes.values())
    assert set(rows) == set(schema.by_name)


def test_distributions_of_table_2():
    rows = generator.generate(20_000, 4, seed=1)
    assert rows["salary"].min() >= 20_000
    assert rows["salary"].max() <= 150_000
    rich = rows["salary"] >= 75_000
    assert (rows["commission"][rich] == 0).all()
    assert rows["commission"][~rich].min() >= 10_000
    assert set(rows["elevel"].tolist()) == set(range(5))
    assert set(rows["car"].tolist()) == set(range(1, 21))
    assert (rows["hvalue"] >= rows["zipcode"] * 50_000).all()
    assert (rows["hvalue"] <= rows["zipcode"] * 150_000).all()


def test_the_same_seed_gives_the_same_people():
    first, again, other = (generator.generate(100, 2, seed) for seed in (1, 1, 2))
    assert all((first[name] == again[name]).all() for name in first)
    assert (first["age"] != other["age"]).any()


def test_every_threshold_of_the_functions_is_an_edge_of_the_grid():
    schema = generator.schema()
    thresholds = {"age": (40, 60), "salary": (25_000, 50_000, 75_000, 100_000, 125_000)}
    for name, values in thresholds.items():
        column = schema.numeric(name)
        assert all(((value - column.lower) / column.width).denominator == 1 for value in values)


@pytest.mark.parametrize(("rows", "function"), [(10, 6), (10, 0), (1, 1), (0, 1)])
def test_what_cannot_be_generated_is_refused(rows, function):
    with pytest.raises(PlanError, match=r"functions 1 to 5|two records"):
        generator.generate(rows, function, seed=1)
