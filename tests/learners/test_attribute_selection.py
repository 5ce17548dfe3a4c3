"""The attributes that get a table where there are too few records for all of them."""

from __future__ import annotations

import pytest

from bocage.epsilon import Epsilon
from bocage.learners import Additive
from bocage.learners.attribute_selection import select
from bocage.schema import Categorical, Numeric, Schema
from learners.bayes.test_learner import SCHEMA, people
from private.noises import SilentNoise, SilentRecordingNoise
from private.tables import PEOPLE, ROWS, table

TEN = Epsilon.of(10)  # so much that the number of thresholds hardly counts
NUMBERS = {"sex": 1.0, "city": 2.0, "age": 3.0, "income": 3.0}  # 2.25 on average


def level(rows=ROWS, schema=PEOPLE, noise=None):
    return table(rows, schema, noise=noise or SilentNoise()).reserve(TEN, "tables")


@pytest.mark.parametrize(
    ("support", "taken"),
    [
        (0, {"income"}),  # one at least
        (2.25 / 0.7 * 1.01, {"income"}),
        (2.25 / 0.7 * 2.01, {"income", "city"}),
    ],
)
def test_those_that_alone_leave_the_fewest_errors_are_taken(support, taken):
    """Alone, income labels all eight people right, city and age seven, and sex four."""
    here = level()
    names, left = select(here, NUMBERS, support, TEN)
    assert names == tuple(name for name in NUMBERS if name in taken)
    assert left == Epsilon.of(7)
    assert here.remaining() == Epsilon.of(7)


@pytest.mark.parametrize("support", [2.25 / 0.7 * 3.01, 1e9])
def test_where_nearly_all_can_be_fed_all_are_and_nothing_is_spent(support):
    here = level()
    assert select(here, NUMBERS, support, TEN) == (tuple(NUMBERS), TEN)
    assert here.remaining() == TEN


def test_every_choice_pays_its_part():
    noise = SilentRecordingNoise()
    select(level(noise=noise), NUMBERS, 2.25 / 0.7 * 2.01, TEN)
    assert [float(contest.rate) for contest, _ in noise.contests] == [1.5, 1.5]
    splits = [len(contest.scores) for contest, _ in noise.contests]
    assert splits == [1 + 1 + 9 + 3, 1 + 9 + 3]  # city first: income pays for its three thresholds


def test_a_fine_grid_is_looked_at_in_64_places_and_one_value_not_at_all():
    schema = Schema(
        "made",
        (Categorical("one", ("a",)), Numeric("fine", 0, 1000, 1000), Categorical("b", ("a", "b"))),
        Categorical("y", ("no", "yes")),
    )
    rows = {"one": ["a"], "fine": [1.0], "b": ["a"], "y": ["no"]}
    noise = SilentRecordingNoise()
    here = level(rows, schema, noise)
    names, _ = select(here, {"one": 1.0, "fine": 7.0, "b": 1.0}, 0, TEN)
    assert "one" not in names
    (contest, _) = noise.contests[0]
    assert len(contest.scores) == 1000 // 16 + 1


def test_an_additive_model_of_few_records_has_tables_of_few_attributes():
    """Whoever is old is ill, and job and town say little: where records are few, age is kept."""
    for epsilon, names in (("0.025", ["age"]), ("0.25", ["age", "job", "town"])):
        model = Additive().fit(table(people(), SCHEMA, noise=SilentNoise()), epsilon)
        assert [term.columns[0] for term in model.terms] == names
