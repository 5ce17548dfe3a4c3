"""Tables, schemas and questions that Hypothesis thinks of, and how tallies are compared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bocage.engine.base import Engine
from bocage.engine.reference import ReferenceEngine
from bocage.plan import OUTSIDE, Branch, Cells, Cut, Question
from bocage.plan.predicate import Bound, Every, Some, Test, ranges
from bocage.schema import Attribute, Categorical, Numeric, Schema

# What every storage can hold: no NUL, no lone surrogates, no carriage return (a text file's own).
_CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0\r")
TEXTS = st.one_of(
    st.sampled_from(["a", "b", "A", " a", "a ", "'", '"', ";", "--", "\n", "🌳", "é", "1", "-1", "true", "?"]),
    st.text(_CHARACTERS, max_size=4),
)  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(["a", "b", "select", "x y", "it's", '"', "; drop table t; --", "🌲", "$1", "%s"]),
    st.text(_CHARACTERS, min_size=1, max_size=6),
)  # fmt: skip
_EDGES = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1e308, -1e308, 5e-324, 1e-308, 2.0**53 + 2, 99.5, 100.0]
NUMBERS = st.one_of(st.sampled_from(_EDGES), st.floats(), st.floats(-10, 110))
INTEGERS = st.one_of(st.sampled_from([0, 1, -1, 7, 100, 2**53 + 1, 2**63 - 1, -(2**63)]), st.integers(-10, 110))


@dataclass
class Case:
    """A table, its schema and some questions."""

    columns: dict[str, list[Any]]
    schema: Schema
    questions: list[Question]


def assert_equals_reference(case: Case, engine: Engine) -> None:
    expected = ReferenceEngine(case.columns, case.schema).answer(case.questions)
    answers = engine.answer(case.questions)
    assert len(answers) == len(expected)
    for tally, right in zip(answers, expected, strict=True):
        assert list(tally.columns) == list(right.columns)
        assert list(tally.sums) == list(right.sums)
        for mine, theirs in [
            (tally.totals, right.totals),
            *((tally.columns[name], right.columns[name]) for name in right.columns),
            *((tally.sums[name], right.sums[name]) for name in right.sums),
        ]:
            assert mine.dtype == np.int64
            np.testing.assert_array_equal(mine, theirs)


@st.composite
def categorical(draw: Any, name: str) -> Categorical:
    values = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    rule = st.none() | st.sampled_from(values)
    missing, outside = draw(rule), draw(rule)
    # A marker that is also a value must be the one that missing entries become.
    markers = [None, missing, *(text for text in ("?", "0", "-1", "true") if text not in values)]
    return Categorical(name, tuple(values), missing, outside, draw(st.sampled_from(markers)))


@st.composite
def numeric(draw: Any, name: str) -> Numeric:
    lower = draw(st.fractions(-100, 100, max_denominator=10))
    if draw(st.booleans()):
        step = draw(st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(5)]))
        upper, cells = lower + step * draw(st.integers(1, 400)), 1
    else:
        step, cells = None, draw(st.sampled_from([1, 2, 10, 256, 257, 1024]))
        upper = lower + draw(st.fractions(Fraction(1, 10), 200, max_denominator=10))
    missing = draw(st.none() | st.sampled_from([lower, upper, (lower + upper) / 2]))
    return Numeric(name, lower, upper, cells, step, missing, draw(st.booleans()))


def values_of(column: Attribute) -> st.SearchStrategy[Any]:
    """A strategy for strategies: first the type of the column, then its values."""
    if isinstance(column, Numeric):
        edges = [float(column.edge(code)) for code in {0, column.cells // 2, column.cells}]
        return st.sampled_from([NUMBERS | st.sampled_from(edges), INTEGERS])
    texts = TEXTS | st.sampled_from(column.values)
    return st.sampled_from([texts, texts, INTEGERS, st.booleans()])


@st.composite
def cases(draw: Any) -> Case:
    names = draw(st.lists(NAMES, min_size=2, max_size=5, unique_by=_folded))
    label = draw(categorical(names[0]))
    attributes = [draw(st.one_of(categorical(name), numeric(name))) for name in names[1:]]
    schema = Schema("t", tuple(attributes), label)
    rows = draw(st.integers(0, 12))
    columns = {}
    for column in schema:
        some = draw(values_of(column))
        columns[column.name] = draw(st.lists(st.none() | some, min_size=rows, max_size=rows))
    questions = draw(st.lists(question(schema), min_size=1, max_size=3))
    return Case(columns, schema, questions)


def _folded(name: str) -> str:
    return name.casefold().strip()  # some engines know no capitals


@st.composite
def question(draw: Any, schema: Schema) -> Question:
    columns = list(schema)
    names = [column.name for column in columns]
    numbers = [column.name for column in columns if isinstance(column, Numeric)]
    return Question(
        draw(cells(schema)),
        draw(bound(schema)),
        draw(st.none() | st.sampled_from(names)),
        tuple(draw(st.lists(st.sampled_from(names), max_size=4, unique=True))),
        tuple(draw(st.lists(st.sampled_from(numbers), unique=True)) if numbers else ()),
    )


def bound(schema: Schema) -> st.SearchStrategy[Bound]:
    @st.composite
    def test(draw: Any) -> Test:
        column = draw(st.sampled_from(list(schema)))
        codes = draw(st.sets(st.integers(0, column.cells - 1), max_size=6))
        return Test(column.name, ranges(set(range(column.cells)) - codes if draw(st.booleans()) else codes))

    def nested(inner: st.SearchStrategy[Bound]) -> st.SearchStrategy[Bound]:
        parts = st.lists(inner, max_size=3).map(tuple)
        return parts.map(Every) | parts.map(Some)

    return st.just(Every(())) | st.recursive(test(), nested, max_leaves=6)


@st.composite
def cells(draw: Any, schema: Schema) -> Cells:
    """A router grown split by split, as trees grow."""
    router = Cells()
    for _ in range(draw(st.integers(0, 4))):
        column = draw(st.sampled_from(list(schema)))
        at = draw(st.integers(0, router.count - 1))
        if column.cells > 1 and draw(st.booleans()):
            split: Branch | Cut = Cut(column.name, draw(st.integers(1, column.cells - 1)), 0, 1)
        else:
            children = st.sampled_from([0, 1, 2, OUTSIDE])
            few = draw(st.lists(children, min_size=1, max_size=5))
            split = Branch(column.name, (0, *(few[c % len(few)] for c in range(column.cells - 1))))
        router = router.refine({at: split})
    return router
