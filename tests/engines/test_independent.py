"""The count of a row depends on that row alone: without one row, every count differs by just that row.

What stands in the others, in which file, on which line and on which engine, changes nothing.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from cases import INTEGERS, NUMBERS, TEXTS
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from makers_local import numpy

from bocage.engine.reference import code_of
from bocage.plan import Question
from bocage.schema import DROP, Categorical, Numeric, Schema

KNOWN = ("oak", 'el"m', "a,b", "a\nb", "-", " ", "other")
# A row may leave the table by its number, or by a text that is missing.
SCHEMA = Schema(
    "t",
    (
        Categorical("tree", KNOWN, missing="other", outside="other", marker="?"),
        Categorical("note", KNOWN, outside="other"),
        Numeric("age", Fraction(0), Fraction(9), step=Fraction(1), clamp=False),
        Numeric("days", Fraction(0), Fraction(100), cells=300, missing=Fraction(0)),
    ),
)
NAMES = tuple(column.name for column in SCHEMA)
NASTY = st.one_of(
    st.sampled_from(KNOWN),
    TEXTS,
    # What once ended, opened or swallowed a record.
    st.sampled_from(['"', '""', '",\n"', "\n10,a\n" * 9, '\n"oak","', "\\", "\t", "NULL", "\\N", "#x"]),
    st.text(st.sampled_from('",\n;ab'), max_size=12),
)
ROWS = st.lists(
    st.tuples(st.none() | NASTY, st.none() | NASTY, st.none() | NUMBERS, st.none() | INTEGERS),
    min_size=1,
    max_size=9,
)


def columns_of(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}


def codes_of(rows: list[tuple[Any, ...]]) -> Counter[tuple[int, ...]]:
    """What each row counts, by the definition of encoding, one row at a time."""
    found = Counter[tuple[int, ...]]()
    for row in rows:
        codes = tuple(code_of(SCHEMA[name], value) for name, value in zip(NAMES, row, strict=True))
        found[codes] += DROP not in codes
    return +found


def rows_of(maker: Any, rows: list[tuple[Any, ...]], request: Any) -> Counter[tuple[int, ...]]:
    """What the engine counts, row by row, and that its counts are the counts of these rows."""
    with maker(columns_of(rows), SCHEMA, request) as engine:
        listed = [tuple(row) for b in engine.rows(Question(columns=NAMES)) for row in b.T.tolist()]
        [tally] = engine.answer([Question(columns=NAMES)])
    for at, name in enumerate(NAMES):
        counts = Counter(row[at] for row in listed)
        assert tally.columns[name].ravel().tolist() == [counts[code] for code in range(SCHEMA[name].cells)]
    assert tally.totals.sum() == len(listed)
    return Counter(listed)


@pytest.mark.slow
def test_without_one_row_every_count_differs_by_just_that_row(maker, request):
    if maker is numpy:
        pytest.skip("the definition itself")
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    examples = 4 if getattr(maker, "marks", None) else 30

    @settings(max_examples=examples, deadline=None, suppress_health_check=slow)
    @given(rows=ROWS, at=st.integers(0, 8))
    @example(rows=[("oak", '"', 1.0, 1), ("oak", "oak", 1.0, 1), ("oak", 'x"', 2.0, 2)], at=0)
    def check(rows: list[tuple[Any, ...]], at: int) -> None:
        at %= len(rows)
        others = rows[:at] + rows[at + 1 :]
        whole, without = rows_of(maker, rows, request), codes_of(others)
        if others:
            assert rows_of(maker, others, request) == without
        assert whole == without + codes_of([rows[at]])

    check()


@pytest.mark.slow
def test_the_order_of_the_rows_changes_no_count(maker, request):
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    if maker is numpy or getattr(maker, "marks", None):
        pytest.skip("servers have no order to speak of")

    @settings(max_examples=10, deadline=None, suppress_health_check=slow)
    @given(rows=ROWS, data=st.data())
    def check(rows: list[tuple[Any, ...]], data: Any) -> None:
        mixed = data.draw(st.permutations(rows))
        assert rows_of(maker, rows, request) == rows_of(maker, mixed, request) == codes_of(rows)

    check()
