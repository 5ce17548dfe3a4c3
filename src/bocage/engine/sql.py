"""From plan to PostgreSQL: names quoted, numbers written exactly, texts as parameters.

A question becomes one `SELECT` over nested layers, each behind a fence (``OFFSET 0``), so that every
layer is computed once per row::

    codes    one small integer per column, as the schema says
    kept     rows that no column drops and that pass the filter
    at, ...  the cell of each row
    keys     for each column asked the position of its counter in one flat array

Grouping by the keys gives pairs (position, count). The text grows linearly with the plan.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bocage.engine.codes.encode import category, known_texts
from bocage.plan import OUTSIDE, Bound, Branch, Cells, Cut, Question
from bocage.plan.predicate import Every, Test
from bocage.schema import DROP, Attribute, Categorical, Numeric, Schema

MOST_SETS = 32  # grouping sets per statement: each keeps a hash table
MOST_NESTING = 32  # of CASE expressions

CATEGORICAL = {
    *("text", "character varying", "character", "boolean", "smallint", "integer", "bigint"),
    "enum",
}
NUMERIC = {"smallint", "integer", "bigint", "real", "double precision", "numeric"}

# Decimals up to this one are 0 as a double; PostgreSQL raises where IEEE 754 underflows.
_TINY = "'0." + str(5**1075).zfill(1075) + "'::numeric"

Run = tuple[int, str]  # from this integer on: this SQL


@dataclass
class Statement:
    """SQL text with ``$1``, ``$2``, ... and what stands for them."""

    text: str = ""
    parameters: list[str] = field(default_factory=list)

    def bind(self, value: str) -> str:
        """The name under which the statement gets a value."""
        self.parameters.append(value)
        return f"${len(self.parameters)}"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def drops(column: Attribute) -> bool:
    """Whether a value of this column can take its row out of the table."""
    if isinstance(column, Categorical):
        return DROP in (column.missing_code, column.outside_code)
    return column.missing is None or not column.clamp


def totals(question: Question, schema: Schema, source: str, types: Mapping[str, str]) -> Statement:
    """Rows (cell * labels + label, count, sum of codes...)."""
    statement = Statement()
    rows, cell, alias = _rows(statement, question, schema, source, types)
    key = _key(cell, question, schema, alias)
    sums = "".join(f", sum({alias[name]})" for name in question.sums)
    statement.text = f"SELECT {key} AS k, count(*){sums} FROM {rows} GROUP BY k"
    return statement


def counts(
    question: Question, schema: Schema, source: str, types: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], Statement]]:
    """For some columns at a time: rows (position, count), where the columns' arrays lie end to end."""
    for first in range(0, len(question.columns), MOST_SETS):
        names = question.columns[first : first + MOST_SETS]
        part = Question(question.cells, question.where, question.label, names)
        statement = Statement()
        rows, cell, alias = _rows(statement, part, schema, source, types)
        keys, start = [], 0
        for name in names:
            keys.append(f"{start} + {_key(cell, part, schema, alias, name)}")
            start += part.cells.count * schema[name].cells * part.labels(schema)
        listed = ", ".join(f"{key} AS k{i}" for i, key in enumerate(keys))
        sets = ", ".join(f"(k{i})" for i in range(len(keys)))
        either = ", ".join(f"k{i}" for i in range(len(keys)))  # the others are NULL in its set
        statement.text = (
            f"SELECT COALESCE({either}), count(*) FROM (SELECT {listed} FROM {rows} OFFSET 0) AS keys "
            f"GROUP BY GROUPING SETS ({sets})"
        )
        yield names, statement


def listing(question: Question, schema: Schema, source: str, types: Mapping[str, str]) -> Statement:
    """The codes of the columns, row by row."""
    statement = Statement()
    rows, _, alias = _rows(statement, question, schema, source, types)
    codes = ", ".join(alias[name] for name in question.columns)
    statement.text = f"SELECT {codes} FROM {rows}"
    return statement


def _key(
    cell: str,
    question: Question,
    schema: Schema,
    alias: Mapping[str, str],
    column: str | None = None,
) -> str:
    key = cell
    if column is not None:
        key = f"({key} * {schema[column].cells} + {alias[column]})"
    if question.label is not None:
        key = f"({key} * {question.labels(schema)} + {alias[question.label]})"
    return key


def _rows(
    statement: Statement, question: Question, schema: Schema, source: str, types: Mapping[str, str]
) -> tuple[str, str, dict[str, str]]:
    """A relation of the rows asked for, the SQL of their cell, and the names of their codes."""
    dropping = [column.name for column in schema if drops(column)]
    names = dict.fromkeys((*question.reads(), *dropping))
    alias = {name: f"c{i}" for i, name in enumerate(names)}
    codes = ", ".join(f"{code(schema[name], types[name], statement)} AS {alias[name]}" for name in names)
    tests = [f"{alias[name]} >= 0" for name in dropping]
    tests.append(f"({holds(question.where, alias)})")
    rows = f"(SELECT {codes} FROM {source} OFFSET 0) AS codes"
    rows = f"(SELECT * FROM {rows} WHERE {' AND '.join(tests)} OFFSET 0) AS kept"
    cell = "0"
    for i, step in enumerate(route(question.cells, alias)):
        cell = f"at{i}"
        rows = f"(SELECT *, {step} AS {cell} FROM {rows} OFFSET 0) AS routed{i}"
    if cell != "0":
        rows = f"(SELECT * FROM {rows} WHERE {cell} >= 0 OFFSET 0) AS found"
    return rows, cell, alias


def code(column: Attribute, type_name: str, statement: Statement) -> str:
    """The code of a column: equal to `reference.code_of` for every value of the type."""
    x = quoted(column.name)
    if isinstance(column, Categorical):
        # A JSON object is the one dictionary that PostgreSQL searches by bytes, whatever the collation.
        codes = {text: category(column, text) for text in known_texts(column)}
        at = f"({statement.bind(json.dumps(codes))}::jsonb ->> {x}::text)::integer"
        return f"CASE WHEN {x} IS NULL THEN {column.missing_code} ELSE COALESCE({at}, {column.outside_code}) END"
    return _grid(column, x, type_name)


def _grid(column: Numeric, x: str, type_name: str) -> str:
    low, high = _double(float(column.lower)), _double(float(column.upper))
    missing = f"{x} IS NULL"
    value = f"{x}::float8"
    if type_name in {"real", "double precision", "numeric"}:
        missing += f" OR {x} = 'NaN'"
    if type_name == "numeric":
        # Bounds lie within 1e15: cutting at 1e300 changes no code and keeps the cast from raising.
        cut = f"LEAST(GREATEST({x}, '-1e300'::numeric), '1e300'::numeric)::float8"
        value = f"CASE WHEN abs({x}) <= {_TINY} THEN {_double(0.0)} ELSE {cut} END"
    away = f"LEAST(GREATEST({value}, {low}), {high}) - {low}"
    if column.per_unit < 1:
        # PostgreSQL raises where a product underflows; so small a distance is cell 0 either way.
        away = f"GREATEST({away}, {_double(1e-290)})"
    cell = f"floor(({away}) * {_double(column.per_unit)} + {_double(column.shift)})"
    outside = "" if column.clamp else f"WHEN {value} < {low} OR {value} > {high} THEN {DROP} "
    return (
        f"CASE WHEN {missing} THEN {column.missing_code} {outside}ELSE LEAST({cell}, {column.cells - 1})::integer END"
    )


def _double(value: float) -> str:
    return f"'{value!r}'::float8"  # the shortest decimal that reads back as the same double


def holds(bound: Bound, alias: Mapping[str, str]) -> str:
    """A filter on codes."""
    if isinstance(bound, Test):
        runs = [(0, "false")]
        for low, high in bound.ranges:
            runs += [(low, "true"), (high + 1, "false")]
        return choose(alias[bound.column], runs)
    parts = [f"({holds(part, alias)})" for part in bound.parts]
    if isinstance(bound, Every):
        return " AND ".join(parts) or "true"
    return " OR ".join(parts) or "false"


def choose(subject: str, runs: Sequence[Run]) -> str:
    """The SQL of the last run that starts at or before the subject, by binary search."""
    if len(runs) == 1:
        return runs[0][1]
    half = len(runs) // 2
    below, above = choose(subject, runs[:half]), choose(subject, runs[half:])
    return f"CASE WHEN {subject} < {runs[half][0]} THEN {below} ELSE {above} END"


def route(cells: Cells, alias: Mapping[str, str]) -> list[str]:
    """Steps from codes to cells; step i may look at ``at{i-1}``.

    After a step a row has its cell, or -1 if it belongs to none, or waits at a node as
    ``-2 - node``. A node waits for a later step if several nodes lead to it or if its CASE would nest
    too deeply, so that each node is written once and the nesting is bounded.
    """
    if not cells.nodes:
        return []
    step, depth = _steps(cells)
    first = {at: step[at] for at in step if depth[at] == 0}

    def tree(at: int) -> str:
        node = cells.nodes[at]
        runs = [(start, arrive(target)) for start, target in _runs(node)]
        return choose(alias[node.column], runs)

    def arrive(target: int) -> str:
        if target < 0:
            return "-1" if target == OUTSIDE else str(~target)
        return str(-2 - target) if target in first else tree(target)

    steps = [tree(0)]
    for i in range(1, 1 + max(first.values())):
        before = f"at{i - 1}"
        runs: list[Run] = [(-(2**31) + 1, before)]
        for at in sorted((at for at in first if first[at] == i), reverse=True):
            if runs[-1][0] == -2 - at:
                runs.pop()
            runs += [(-2 - at, tree(at)), (-1 - at, before)]
        steps.append(choose(before, runs))
    return steps


def _steps(cells: Cells) -> tuple[dict[int, int], dict[int, int]]:
    """For each node that can be reached: its step, and how deep its CASE stands in it."""
    step, depth = {0: 0}, {0: 0}
    led: dict[int, list[int]] = {}
    for at, node in enumerate(cells.nodes):
        if at:
            if at not in led:
                continue
            before = led[at][0]
            depth[at] = depth[before] + len(_runs(cells.nodes[before])).bit_length()
            step[at] = step[before]
            if len(led[at]) > 1 or depth[at] > MOST_NESTING:
                step[at], depth[at] = 1 + max(step[other] for other in led[at]), 0
        for _, target in _runs(node):
            if target >= 0:
                led.setdefault(target, []).append(at)
    return step, depth


def _runs(node: Branch | Cut) -> list[tuple[int, int]]:
    """Where the target changes, in ascending codes."""
    if isinstance(node, Cut):
        return [(0, node.below), (node.threshold, node.above)]
    return list(_changes(node.targets))


def _changes(targets: Iterable[int]) -> Iterator[tuple[int, int]]:
    last = None
    for at, target in enumerate(targets):
        if target != last:
            yield at, target
        last = target
