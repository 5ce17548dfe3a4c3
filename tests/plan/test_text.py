from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import PredicateError
from bocage.plan import Predicate, bind, col, parse, to_text
from bocage.plan.predicate import MOST_DEPTH, MOST_NODES, And, Between, Compare, Not, OneOf, Or
from filters import SCHEMA, filters

a, b, c = (Compare(name, "=", 1) for name in "abc")


@given(filters())
def test_a_filter_written_as_text_reads_back_with_the_same_meaning(predicate: Predicate) -> None:
    assert bind(parse(to_text(predicate)), SCHEMA) == bind(predicate, SCHEMA)


@given(st.text(min_size=1), st.text())
def test_any_name_and_any_text_survive(name: str, value: str) -> None:
    assert parse(to_text(Compare(name, "=", value))) == Compare(name, "=", value)


@given(st.text(alphabet="ab01 \"'()<>=!,.-/eE\n") | st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        predicate = parse(text)
    except PredicateError:
        return
    assert parse(to_text(predicate)) == predicate


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("a = 1", a),
        ("a == 1", a),
        ("a<>1", Compare("a", "!=", 1)),
        ("a != -1", Compare("a", "!=", -1)),
        ("a<=1.50", Compare("a", "<=", Decimal("1.5"))),
        ("a >= 1/3", Compare("a", ">=", Fraction(1, 3))),
        ("a > .5e-3", Compare("a", ">", Decimal("0.0005"))),
        ("age<-5", Compare("age", "<", -5)),
        ("capital-gain>=5", Compare("capital-gain", ">=", 5)),
        ("t.x_1-2 < 3", Compare("t.x_1-2", "<", 3)),
        ("Größe > 3", Compare("Größe", ">", 3)),
        ('"say ""hi""" = \'it\'\'s\'', Compare('say "hi"', "=", "it's")),
        ("\"not\" = ''", Compare("not", "=", "")),
        ("x IN ('a', 'b')", OneOf("x", ("a", "b"))),
        ("x not in (1)", Not(OneOf("x", (1,)))),
        ("x Between 1 aNd 2", Between("x", 1, 2)),
        ("x NOT BETWEEN 1 AND 2 AND a=1", And((Not(Between("x", 1, 2)), a))),
        ("a=1 AND b=1 OR c=1", Or((And((a, b)), c))),
        ("a=1 OR b=1 AND c=1", Or((a, And((b, c))))),
        ("(a=1 OR b=1) AND c=1", And((Or((a, b)), c))),
        ("NOT a=1 AND b=1", And((Not(a), b))),
        ("NOT (a=1 AND b=1)", Not(And((a, b)))),
        ("not not\n a=1", Not(Not(a))),
        ("TRUE", And(())),
        ("false or a=1", Or((Or(()), a))),
    ],
)
def test_a_filter_is_read_as_it_is_meant(text: str, predicate: Predicate) -> None:
    assert parse(text) == predicate


@pytest.mark.parametrize(
    ("text", "expected", "caret"),
    [
        ("", "a column name, NOT or (", 0),
        ("a", "a comparison, IN or BETWEEN", 1),
        ("a = ", "a number, or text in single quotes", 4),
        ('a = "b"', "a number, or text in single quotes", 4),
        ("a = b", "a number, or text in single quotes", 4),
        ("1 = a", "a column name, NOT or (", 0),
        ("and = 1", "a column name, NOT or (", 0),
        ("a = 1 b = 2", "AND, OR or the end", 6),
        ("a = 1)", "AND, OR or the end", 5),
        ("(a = 1", "AND, OR or )", 6),
        ("a not = 1", "IN or BETWEEN", 6),
        ("a in 1", "( and a list of values", 5),
        ("a in ()", "a number, or text in single quotes", 6),
        ("a in (1 2)", ", or )", 8),
        ("a between 1 or 2", "AND and the upper end of BETWEEN", 12),
        ("a = 'x", "the closing quote", 4),
        ('"a = 1', "the closing quote", 0),
        ("a = 1; drop", "a name, a value or an operator", 5),
        ("a = 12x", "a name, a value or an operator", 4),
        ("a = 1/0", "a finite number of at most 400 digits", 4),
        ("a = 1e999999999999999999999", "a finite number of at most 400 digits", 4),
        ("a = " + "9" * 5000, "a finite number of at most 400 digits", 4),
    ],
)
def test_what_cannot_be_read_is_shown_with_a_caret(text: str, expected: str, caret: int) -> None:
    with pytest.raises(PredicateError) as caught:
        parse(text)
    message, line, pointer = str(caught.value).split("\n")
    assert message == f"the filter cannot be read: expected {expected}."
    assert line == f"  {text[:100]}"
    assert pointer == " " * (2 + caret) + "^"


def test_the_caret_stands_in_the_right_line_of_a_long_text() -> None:
    with pytest.raises(PredicateError) as caught:
        parse("a = 1 and\n\tb ~ 2\nand c = 3")
    assert str(caught.value).endswith("\n   b ~ 2\n     ^")
    with pytest.raises(PredicateError) as caught:
        parse("a = 1 and " * 50 + "~" + " and a = 1" * 50)
    line, pointer = str(caught.value).split("\n")[1:]
    assert len(line) == 102
    assert line[pointer.index("^")] == "~"


def test_a_text_too_deep_or_too_large_is_refused() -> None:
    depth = "(" * MOST_DEPTH + "a = 1" + ")" * MOST_DEPTH
    assert parse(depth) == a
    for text in (f"({depth})", "not " * 100_000 + "a = 1", "(" * 100_000):
        with pytest.raises(PredicateError, match="at most 4096 parts nested 64 deep"):
            parse(text)
    parse("a=1" + " or a=1" * (MOST_NODES - 1))
    for text in ("a=1" + " or a=1" * MOST_NODES, f"a in (1{',1' * MOST_NODES})"):
        with pytest.raises(PredicateError, match="at most 4096 parts"):
            parse(text)


def test_only_text_is_parsed_and_only_filters_are_written() -> None:
    wrong: Any = col("a") == 1
    with pytest.raises(PredicateError, match="not Compare"):
        parse(wrong)
    number: Any = 7
    with pytest.raises(PredicateError, match="int is not a filter"):
        to_text(number)
    deep: Predicate = a
    for _ in range(MOST_DEPTH + 1):
        deep = Not(deep)
    with pytest.raises(PredicateError, match="nested more than 64 deep"):
        to_text(deep)
