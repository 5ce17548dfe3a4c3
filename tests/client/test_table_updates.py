"""New batches of a table behind a service: a forest that grew there takes another one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from running import ROWS, SCHEMA, Inside, Made, some_rows

import bocage
from bocage.errors import LearnerError
from bocage.learners import RandomTrees, noise_after
from bocage.private import study

MONTHS = ("january", "february")


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """An analyst's connection to a service with two batches of one table, and to no batch."""
    made = Made(tmp_path_factory.mktemp("months") / "owner")
    schema = made.path.parent / "visits.toml"
    schema.write_text(SCHEMA.replace('"people"', '"visits"'), encoding="utf-8")
    key = made.analyst("ann")
    with made.owner() as owner:
        for month, rows in zip(MONTHS, (made.rows, some_rows(made, 12)), strict=True):
            owner.add_table(month, str(rows), schema, "100", batch=month)
            owner.grant("ann", month, "10")
    inside = Inside(made.opened())
    with bocage.connect(str(inside.client.base_url).rstrip("/"), key) as connection:
        yield connection
    inside.stop()


def test_a_forest_takes_a_batch_that_costs_the_larger_of_the_two(months):
    first = RandomTrees(trees=2, height=1).fit(months["january"], 2)
    both = RandomTrees().update(first, months["february"], 1)
    assert [batch.name for batch in both.certificate.batches] == list(MONTHS)
    assert both.certificate.epsilon == "2"
    assert [months[month].spent() for month in MONTHS] == [
        bocage.Epsilon.of(2),
        bocage.Epsilon.of(1),
    ]
    assert noise_after(both).batches == 2
    for one, other in zip(first.trees, both.trees, strict=True):
        assert one.leaf_names == other.leaf_names
    told = [(line.table, line.learner) for line in months.models()]
    assert told.count(("february", "rdt")) == 1


@pytest.mark.parametrize(("table", "words"), [("january", "is in the forest already"), ("people", "another schema")])
def test_what_cannot_be_added_is_refused_before_anything_is_sent(months, table, words):
    forest = RandomTrees(trees=1, height=1).fit(months["january"], "0.5")
    before = months[table].spent()
    with pytest.raises(LearnerError, match=words):
        RandomTrees().update(forest, months[table], 1)
    assert months[table].spent() == before


def test_a_forest_from_elsewhere_is_refused(months):
    remote = months["february"]
    with study(pa.table(ROWS), remote.schema, batch="january") as here:
        forest = RandomTrees(trees=1, height=1).fit(here, 1)
    before = remote.spent()
    with pytest.raises(LearnerError, match="not among this analyst's models"):
        RandomTrees().update(forest, remote, 1)
    assert remote.spent() == before
