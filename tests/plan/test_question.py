from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bocage.errors import PlanError
from bocage.plan import Branch, Cells, Question, Tally, bind, parse
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "people",
    (
        Numeric("age", Fraction(0), Fraction(9), step=Fraction(1)),
        Categorical("sex", ("F", "M")),
        Numeric("wide", Fraction(0), Fraction(1), cells=2**16),
    ),
    Categorical("ill", ("no", "yes")),
)
BY_SEX = Cells().refine({0: Branch("sex", (0, 1))})


def test_a_question_reads_each_column_that_it_names_once() -> None:
    where = bind(parse("age > 3 and sex = 'F'"), SCHEMA)
    question = Question(BY_SEX, where, "ill", columns=("age",), sums=("age",))
    assert question.reads() == ("sex", "age", "ill")
    assert Question().reads() == ()


def test_a_tally_has_a_place_for_every_cell_code_and_label() -> None:
    question = Question(BY_SEX, label="ill", columns=("age",), sums=("age",))
    question.check(SCHEMA)
    tally = Tally.zeros(question, SCHEMA)
    assert tally.totals.shape == (2, 2)
    assert tally.columns["age"].shape == (2, 10, 2)
    assert tally.sums["age"].shape == (2,)
    assert Tally.zeros(Question(), SCHEMA).totals.shape == (1, 1)


def test_tallies_of_two_parts_add_up() -> None:
    question = Question(BY_SEX, columns=("sex",), sums=("age",))
    first, second = Tally.zeros(question, SCHEMA), Tally.zeros(question, SCHEMA)
    for tally, amount in ((first, 1), (second, 2)):
        tally.totals[...] += amount
        tally.columns["sex"][...] += amount
        tally.sums["age"][...] += amount
    first.add(second)
    assert np.all(first.totals == 3)
    assert np.all(first.columns["sex"] == 3)
    assert np.all(first.sums["age"] == 3)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question(label="name"), "no column 'name'"),
        (Question(columns=("name",)), "no column 'name'"),
        (Question(sums=("sex",)), "'sex' of table 'people' is categorical, not numeric"),
        (Question(Cells((Branch("sex", (~0,)),))), "a branch on 'sex' needs 2 targets"),
    ],
)
def test_a_question_that_does_not_fit_the_schema_is_refused(question: Question, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        question.check(SCHEMA)


def test_a_question_with_too_many_counters_is_refused() -> None:
    cells = Cells((Branch("sex", (~0, ~2047)),), 2048)
    Question(cells, columns=("age",)).check(SCHEMA)
    with pytest.raises(PlanError, match="more than 134217728 counters"):
        Question(cells, label="ill", columns=("wide",)).check(SCHEMA)
