"""The extremes of a schema: an answer, or a refusal before the charge. Nothing else, and an end."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest

import bocage
from bocage.epsilon import Epsilon
from bocage.errors import BocageError, EngineError
from bocage.learners import LEARNERS
from bocage.mechanisms import Adjacency, Selection
from bocage.private.criteria import CRITERIA
from bocage.schema import Categorical, Numeric, Schema
from bocage.schema.schema import MOST_ROWS

YES_NO = Categorical("y", ("no", "yes"))
TWO = Categorical("k", ("a", "b"))
THREE = Categorical("three", ("u", "v", "w"))
ONE = Categorical("one", ("only",))
LINE = Numeric("n", lower=0, upper=3, step=1)
POINT = Numeric("point", lower=0, upper=1, cells=1)
FINE = Numeric("fine", lower=0, upper=65_536, cells=65_536)
SHAPES = {
    "one value": ((ONE,), YES_NO),
    "one value beside others": ((ONE, TWO, LINE), YES_NO),
    "several": ((THREE, TWO, LINE), YES_NO),
    "one cell": ((POINT,), YES_NO),
    "one label": ((TWO, LINE), Categorical("y", ("no",))),
    "many labels": ((TWO, LINE), Categorical("y", tuple(f"l{i}" for i in range(30)))),
    "65,536 cells": ((FINE, TWO), YES_NO),
    "no label": ((TWO, LINE), None),
    "a label alone": ((), YES_NO),
}
CAPS = (1, 2, 5, None, MOST_ROWS)
SIZES = ("empty", "one row", "full")


def made(shape, cap, over_cap="refuse"):
    attributes, label = SHAPES[shape]
    return Schema("t", attributes, label=label, row_cap=cap, over_cap=over_cap)


def rows_of(schema, size):
    most = {"empty": 0, "one row": 1, "full": min(schema.row_cap or 5, 5)}[size]
    return {
        column.name: [
            column.text(i % column.cells) if isinstance(column, Categorical) else float(column.value(i % column.cells))
            for i in range(most)
        ]
        for column in schema
    }


def answered_or_refused(schema, rows, work, *, adjacency=Adjacency.ADD_REMOVE):
    """Whether there was an answer; if not, it was refused in words, and nothing was charged."""
    with bocage.study(rows, schema, adjacency=adjacency) as table:
        refused = None
        try:
            work(table)
        except BocageError as error:
            refused = error
        assert not isinstance(refused, EngineError), refused
        assert refused is None or table.spent() == Epsilon(0), refused
        return refused is None


def questions(schema, epsilon):
    names = [column.name for column in schema]
    numbers = [column.name for column in schema if isinstance(column, Numeric)]
    label = schema.label.name if schema.label is not None else names[0]
    yield lambda table: table.noisy_count(epsilon)
    for name in names:
        yield lambda table, name=name: table.noisy_counts(name, epsilon)
        yield lambda table, name=name: table.noisy_mode(name, epsilon)
        yield lambda table, name=name: table.partition(name).noisy_count(epsilon)
        yield lambda table, name=name: table.noisy_counts((name, label), epsilon)
    for name in numbers:
        yield lambda table, name=name: table.noisy_sum(name, epsilon)
        yield lambda table, name=name: table.noisy_avg(name, epsilon)
        for level in ("0", "0.5", "1"):
            yield lambda table, n=name, at=level: table.noisy_quantile(n, epsilon, level=at)
    among = [name for name in names if name != label]
    for criterion, selection in product(CRITERIA, Selection):
        yield lambda table, c=criterion, s=selection: table.choose(among, c, epsilon, selection=s)


def learner(name, schema):
    kind = LEARNERS[name]
    if kind.numeric:
        return kind()
    names = [one.name for one in schema.attributes if isinstance(one, Categorical)]
    several = {"trees": 1} if name == "dpdf" else {}  # as many as there are attributes, at most
    return kind(attributes=tuple(names) or None, **several)


@pytest.mark.parametrize(
    "shape", [pytest.param(shape, marks=pytest.mark.slow) if "," in shape else shape for shape in SHAPES]
)
def test_every_question_is_answered_or_refused_before_the_charge(shape):
    caps, sizes = (CAPS[:1], ("empty", "full")) if shape == "65,536 cells" else (CAPS, SIZES)
    for cap, size, epsilon in product(caps, sizes, ("0.000000001", "1000")):
        schema = made(shape, cap)
        for work in questions(schema, epsilon):
            answered_or_refused(schema, rows_of(schema, size), work)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_so_it_is_for_replaced_records_and_where_rows_over_the_cap_are_cut(shape):
    for cap, over_cap, adjacency in product((1, 2), ("refuse", "cut"), Adjacency):
        schema = made(shape, cap, over_cap)
        for work in questions(schema, "0.5"):
            rows = rows_of(schema, "full")
            answered_or_refused(schema, rows, work, adjacency=adjacency)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_learner_learns_or_refuses_before_the_charge(shape, name):
    for cap, size, epsilon in product((1, 2, None), SIZES, ("0.000000001", "1", "1000")):
        schema = made(shape, cap)
        fit = partial(learner(name, schema).fit, epsilon=epsilon)
        answered_or_refused(schema, rows_of(schema, size), fit)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_stands_on_a_filter_and_on_a_part_or_refuses_before_the_charge(name):
    schema = made("several", 5)
    places = (
        lambda table: table.where("k = 'a'"),
        lambda table: table.where("k = 'a' and k = 'b'"),
        lambda table: table.partition("k")["a"],
        lambda table: table.partition("k").partition("n")["b / 1"],
        lambda table: table.partition("n", edges=[2])["[0, 2)"],
    )
    for place, size in product(places, SIZES):

        def fit(table, place=place):
            learner(name, schema).fit(place(table), "0.5")

        assert answered_or_refused(schema, rows_of(schema, size), fit)
