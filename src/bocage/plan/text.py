"""Filters as text, in the manner of SQL: ``age BETWEEN 18 AND 65 AND NOT sex = 'F'``.

::

    filter      any  {OR any}, where any is  part {AND part}
    part        NOT part | ( filter ) | TRUE | FALSE | test
    test        name (= | == | != | <> | < | <= | > | >=) value
                name [NOT] IN ( value {, value} )
                name [NOT] BETWEEN value AND value
    value       'text' | number

Key words may be in any case. A bare name starts with a letter or an underscore and goes on with
letters, digits, ``_``, ``.`` and single ``-`` between them: as there is no arithmetic, ``capital-gain``
can only be a name. Any other name stands in double quotes. A quote inside quotes is doubled. Numbers
are exact: decimals, or fractions such as ``1/3``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, NoReturn

from bocage.errors import PredicateError
from bocage.plan.predicate import (
    MOST_DEPTH,
    MOST_DIGITS,
    MOST_NODES,
    And,
    Between,
    Compare,
    Not,
    OneOf,
    Or,
    Predicate,
    Value,
    literal,
)

_NAME = r"[^\W\d][\w.]*(?:-[\w.]+)*"
_TOKENS = re.compile(
    rf"""(?P<blank>\s+)
    |(?P<name>{_NAME})
    |"(?P<quoted>(?:[^"]|"")*)"
    |'(?P<text>(?:[^']|'')*)'
    |(?P<number>[+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.]))
    |(?P<operator><=|>=|<>|!=|==|=|<|>)
    |(?P<mark>[(),])""",
    re.VERBOSE,
)
_WORDS = {"AND", "OR", "NOT", "IN", "BETWEEN", "TRUE", "FALSE"}
_SAME = {"==": "=", "<>": "!="}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parse(text: str) -> Predicate:
    """Read a filter.

    Examples
    --------
    >>> parse("age >= 30 and not sex in ('F')")
    And(parts=(Compare(column='age', operator='>=', value=30), Not(part=OneOf(column='sex', values=('F',)))))

    Raises
    ------
    PredicateError
        Shows the text with a caret under the place, and says what was expected there.
    """
    parser = _Parser(text)
    predicate = parser.any(0)
    if parser.token.kind != "end":
        parser.refuse("AND, OR or the end")
    return predicate


class _Parser:
    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise PredicateError(f"a filter is text or made with col(...), not {type(text).__name__}.")
        self.source, self.nodes = text, 0
        self.tokens = self._read()
        self.token = next(self.tokens)

    def _read(self) -> Iterator[_Token]:
        at = 0
        while at < len(self.source):
            match = _TOKENS.match(self.source, at)
            if match is None or match.lastgroup is None:
                opened = self.source[at] in "\"'"
                self.refuse("the closing quote" if opened else "a name, a value or an operator", at)
            kind, text = match.lastgroup, match[match.lastgroup]
            if kind == "name" and text.upper() in _WORDS:
                kind, text = "word", text.upper()
            if kind != "blank":
                yield _Token(kind, text, at)
            at = match.end()
        while True:
            yield _Token("end", "", len(self.source))

    def refuse(self, expected: str, at: int | None = None) -> NoReturn:
        at = self.token.at if at is None else at
        start = self.source.rfind("\n", 0, at) + 1
        line = self.source[start:].split("\n", 1)[0].replace("\t", " ")
        cut = max(0, at - start - 60)
        raise PredicateError(
            f"the filter cannot be read: expected {expected}.\n  {line[cut : cut + 100]}\n  {' ' * (at - start - cut)}^"
        )

    def accept(self, *texts: str) -> bool:
        """Go on if the token is one of these words or marks."""
        accepted = self.token.kind in {"word", "mark"} and self.token.text in texts
        if accepted:
            self.token = next(self.tokens)
        return accepted

    def expect(self, text: str, expected: str) -> None:
        if not self.accept(text):
            self.refuse(expected)

    def take(self, expected: str, *kinds: str) -> _Token:
        token = self.token
        if token.kind not in kinds:
            self.refuse(expected)
        self.token = next(self.tokens)
        return token

    def count(self, depth: int = 0) -> None:
        self.nodes += 1
        if depth > MOST_DEPTH or self.nodes > MOST_NODES:
            self.refuse(f"at most {MOST_NODES} parts nested {MOST_DEPTH} deep")

    def any(self, depth: int) -> Predicate:
        parts = [self.every(depth)]
        while self.accept("OR"):
            parts.append(self.every(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def every(self, depth: int) -> Predicate:
        parts = [self.part(depth)]
        while self.accept("AND"):
            parts.append(self.part(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def part(self, depth: int) -> Predicate:
        self.count(depth)
        if self.accept("NOT"):
            return Not(self.part(depth + 1))
        if self.accept("("):
            inner = self.any(depth + 1)
            self.expect(")", "AND, OR or )")
            return inner
        if self.accept("TRUE"):
            return And(())
        if self.accept("FALSE"):
            return Or(())
        return self.test()

    def test(self) -> Predicate:
        token = self.take("a column name, NOT or (", "name", "quoted")
        column = token.text.replace('""', '"') if token.kind == "quoted" else token.text
        if self.token.kind == "operator":
            operator = self.take("", "operator").text
            return Compare(column, _SAME.get(operator, operator), self.value())
        negated = self.accept("NOT")
        test: Predicate
        if self.accept("IN"):
            test = OneOf(column, self.values())
        elif self.accept("BETWEEN"):
            low = self.value()
            self.expect("AND", "AND and the upper end of BETWEEN")
            test = Between(column, low, self.value())
        else:
            self.refuse("IN or BETWEEN" if negated else "a comparison, IN or BETWEEN")
        return Not(test) if negated else test

    def values(self) -> tuple[Value, ...]:
        self.expect("(", "( and a list of values")
        values = [self.value()]
        while self.accept(","):
            self.count()
            values.append(self.value())
        self.expect(")", ", or )")
        return tuple(values)

    def value(self) -> Value:
        token = self.take("a number, or text in single quotes", "number", "text")
        if token.kind == "text":
            return token.text.replace("''", "'")
        try:
            return literal(_number(token.text))
        except (ArithmeticError, ValueError, PredicateError):
            self.refuse(f"a finite number of at most {MOST_DIGITS} digits", token.at)


def _number(text: str) -> int | Decimal | Fraction:
    if "/" in text:
        return Fraction(text)
    return int(text) if text.lstrip("+-").isdigit() else Decimal(text)


def to_text(predicate: Predicate) -> str:
    """Write a filter so that `parse` reads one of the same meaning."""
    return _write(predicate, 0)


def _write(predicate: Predicate, depth: int) -> str:
    if depth > MOST_DEPTH:
        raise PredicateError(f"the filter is nested more than {MOST_DEPTH} deep.")
    match predicate:
        case And(()):
            return "TRUE"
        case Or(()):
            return "FALSE"
        case And((part,)) | Or((part,)):
            return _write(part, depth + 1)
        case And(parts) | Or(parts):
            word = " AND " if isinstance(predicate, And) else " OR "
            return word.join(_wrapped(part, depth + 1) for part in parts)
        case Not(part):
            return f"NOT {_wrapped(part, depth + 1)}"
        case Compare(column, operator, value):
            return f"{_name(column)} {operator} {_value(value)}"
        case OneOf(column, values):
            return f"{_name(column)} IN ({', '.join(map(_value, values))})"
        case Between(column, low, high):
            return f"{_name(column)} BETWEEN {_value(low)} AND {_value(high)}"
    raise PredicateError(f"{type(predicate).__name__} is not a filter.")


def _wrapped(part: Predicate, depth: int) -> str:
    text = _write(part, depth)
    return f"({text})" if isinstance(part, And | Or) and len(part.parts) > 0 else text


def _name(column: str) -> str:
    if re.fullmatch(_NAME, column) and column.upper() not in _WORDS:
        return column
    return '"' + column.replace('"', '""') + '"'


def _value(value: Value) -> str:
    plain = literal(value)
    if isinstance(plain, str):
        return "'" + plain.replace("'", "''") + "'"
    return str(plain)
