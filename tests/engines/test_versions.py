"""Every engine has moments: a pinned engine answers from one, and closing it leaves the table open."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction

from bocage.engine import open_engine
from bocage.plan import Question
from bocage.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    "t",
    (
        Categorical("tree", ("oak", "elm"), missing="elm"),
        Numeric("age", Fraction(0), Fraction(9), step=Fraction(1), missing=Fraction(9)),
    ),
)
TABLE = {"tree": ["oak", "elm", "oak"], "age": [1.0, 2.0, 3.0]}
ASK = [Question(columns=("tree",))]


def trees(engine):
    return engine.answer(ASK)[0].columns["tree"].ravel().tolist()


def test_closing_a_pinned_engine_leaves_the_table_open(open_table):
    with open_table(TABLE, SCHEMA) as engine:
        for _ in range(3):
            with closing(engine.pin()) as pinned:
                assert trees(pinned) == [2, 1]
                with closing(pinned.pin()) as again:
                    assert trees(again) == [2, 1]
                assert trees(pinned) == [2, 1]
                assert sum(batch.shape[1] for batch in pinned.rows(ASK[0])) == 3
        assert trees(engine) == [2, 1]


def test_a_pinned_engine_that_nobody_closes_is_let_go(open_table):
    with open_table(TABLE, SCHEMA) as engine:
        for _ in range(30):
            assert trees(engine.pin()) == [2, 1]


def test_equal_rows_have_an_equal_version_and_other_rows_another(open_table):
    other = {"tree": ["oak", "elm", "elm"], "age": TABLE["age"]}
    with open_table(TABLE, SCHEMA) as one, open_table(other, SCHEMA) as two:
        assert one.version == one.version
        assert one.pin().version == one.version
        assert one.version is None or one.version != two.version


def test_a_declared_name_is_the_version_of_a_source_without_one():
    one, two, three = (open_engine(TABLE, SCHEMA, snapshot=s) for s in ("2025-01", "2025-02", None))
    assert one.version == two.version == three.version  # memory has a version of its own
