"""Made-up rows: they fit the schema, follow their seed, and have a rule in them."""

from __future__ import annotations

import numpy as np
import pytest

from bocage.frontier import GENERATORS, generate
from frontier.people import SCHEMA


@pytest.mark.parametrize("name", GENERATORS)
def test_a_law_makes_rows_of_the_schema(name):
    train, test = generate(name, SCHEMA, 500, seed=1)
    assert len(train) == 500
    assert len(test) == 2000
    for at, attribute in enumerate(SCHEMA.attributes):
        codes = train.points[:, at]
        assert codes.min() >= 0
        assert codes.max() < attribute.cells
    assert set(np.unique(train.labels)) <= {0, 1}
    table = train.table()
    assert table.column_names == ["color", "size", "buys"]
    assert set(table["color"].to_pylist()) <= {"red", "green", "blue"}
    assert all(0 <= value <= 100 for value in table["size"].to_pylist())


@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_seed_makes_the_same_rows_and_another_seed_others(name):
    first, again, other = (generate(name, SCHEMA, 200, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first.points, again.points)
    assert not np.array_equal(first.points, other.points)


def test_a_law_can_be_learned_better_than_by_guessing():
    train, test = generate("additive", SCHEMA, 5000, seed=3)
    majority = max(np.bincount(test.labels)) / len(test)
    cell = train.points[:, 0] * 8 + train.points[:, 1] * 8 // 50
    votes = np.zeros((24, 2))
    np.add.at(votes, (cell, train.labels), 1)
    guess = votes.argmax(axis=1)[test.points[:, 0] * 8 + test.points[:, 1] * 8 // 50]
    assert (guess == test.labels).mean() > majority + 0.02
