"""A model as an SQL expression over raw columns, for DuckDB and PostgreSQL.

::

    (SELECT CASE WHEN "age_" < 34.5e0 THEN 'no' WHEN "age_" IS NOT NULL THEN 'yes' ELSE 'no' END
     FROM (SELECT <age as a double, or NULL where the schema drops it> AS "age_") AS "row")

The inner SELECT does for each column what the schema says about missing and outside values; what is
NULL after it stops the way through the tree, so every ELSE is the decision of the node itself.
Numbers are compared with the doubles at which their codes change: see `thresholds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from bocage.errors import ModelError
from bocage.model.additive.model import AdditiveModel, Term
from bocage.model.base import Model
from bocage.model.export.thresholds import threshold
from bocage.model.tree.forest import Forest
from bocage.model.tree.paths import Codes, edge
from bocage.model.tree.tree import Tree
from bocage.schema import Attribute, Categorical, Numeric

Dialect = Literal["duckdb", "postgresql"]

# PostgreSQL raises where a decimal number is too large for a double, or so small that it would be
# 0. Bounds lie within 1e15, so cutting at 1e16 changes no code; half the smallest double is 0.
_CUT, _HALF = "1e16", "2.4703282292062328e-324"


# Behind it, PostgreSQL computes each column once.
_FENCE: dict[Dialect, str] = {"duckdb": "", "postgresql": " OFFSET 0"}


def to_sql(model: Model, dialect: Dialect, *, source: str | None = None) -> str:
    """An expression that is the predicted label, as text.

    Parameters
    ----------
    dialect
        ``"duckdb"`` or ``"postgresql"``.
    source
        Name or alias of the table, where the names of its columns alone would be ambiguous.

    Examples
    --------
    ``f"SELECT *, {to_sql(tree, 'duckdb')} AS prediction FROM people"``
    """
    if dialect not in get_args(Dialect):
        raise ModelError(f"SQL is written for {' or '.join(get_args(Dialect))}, not {dialect!r}.")
    labels = [text_literal(value, dialect) for value in model.label_attribute.values]
    if not model.columns:
        (code,) = model.predict_codes({"": np.zeros(1, np.int32)}).tolist()
        return labels[int(code)]
    aliases = _aliases(model)
    prefix = "" if source is None else f"{quoted(source)}."
    cleaned = ",\n  ".join(
        f"{_cleaned(model.schema[name], prefix + quoted(name), dialect)} AS {alias}" for name, alias in aliases.items()
    )
    rows = f'(SELECT\n  {cleaned}{_FENCE[dialect]}) AS "row"'
    if isinstance(model, Tree):
        cases = _tree(model, aliases, dialect, [labels[code] for code in model.label.tolist()])
        return f"(SELECT {cases}\nFROM {rows})"
    if isinstance(model, Forest):
        return _forest(model, aliases, dialect, labels, rows)
    if isinstance(model, AdditiveModel):
        return _additive(model, aliases, dialect, labels, rows)
    raise ModelError(f"a {type(model).__name__} cannot be written as SQL.")


def _forest(
    forest: Forest,
    aliases: Mapping[str, str],
    dialect: Dialect,
    labels: Sequence[str],
    rows: str,
) -> str:
    kind = "float8" if forest.voting == "confidence" else "bigint"
    reached, sums = [], [[] for _ in labels]  # type: tuple[list[str], list[list[str]]]
    for i, (tree, votes) in enumerate(zip(forest.trees, forest.votes, strict=True)):
        different, number = np.unique(votes, axis=0, return_inverse=True)
        numbers = [str(row + 1) for row in number.reshape(-1).tolist()]
        reached.append(f"{_tree(tree, aliases, dialect, numbers)} AS t{i}")
        for label, column in enumerate(different.T.tolist()):
            sums[label].append(f"({_array(column, kind, dialect)})[t{i}]")
    return _winner(reached, [" + ".join(parts) for parts in sums], dialect, labels, rows)


def _additive(
    model: AdditiveModel,
    aliases: Mapping[str, str],
    dialect: Dialect,
    labels: Sequence[str],
    rows: str,
) -> str:
    reached = [f"{_cell(model, term, aliases, dialect)} AS t{i}" for i, term in enumerate(model.terms)]
    sums = []
    for label, first in enumerate(model.intercept.tolist()):
        scores = [_array(term.scores[:, label].tolist(), "bigint", dialect) for term in model.terms]
        parts = [f"COALESCE(({array})[t{i}], 0)" for i, array in enumerate(scores)]
        sums.append(" + ".join([str(first), *parts]))
    return _winner(reached, sums, dialect, labels, rows)


def _cell(model: AdditiveModel, term: Term, aliases: Mapping[str, str], dialect: Dialect) -> str:
    """The cell of a term, counted from 1; NULL where a column has no code."""
    addends: list[str] = []
    stride = len(term.scores)
    for name, cells, table in zip(term.columns, term.cells, term.lookup(model.schema), strict=True):
        stride //= cells
        first = 1 if not addends else 0
        values = [first + stride * cell for cell in table.tolist()]
        addends.append(_case(model.schema[name], aliases[name], values, dialect))
    return " + ".join(addends)


def _case(column: Attribute, x: str, values: list[int], dialect: Dialect) -> str:
    """A number for each code of a column."""
    if isinstance(column, Categorical):
        pairs = zip(column.values, values, strict=True)
        whens = [f"WHEN {text_literal(value, dialect)} THEN {number}" for value, number in pairs]
        return f"CASE {x} {' '.join(whens)} END"
    changes = [code for code in range(1, column.cells) if values[code] != values[code - 1]]
    whens = [f"WHEN {x} < {double(threshold(column, c))} THEN {values[c - 1]}" for c in changes]
    return f"CASE {' '.join(whens)} WHEN {x} IS NOT NULL THEN {values[-1]} END"


def _winner(reached: Sequence[str], sums: Sequence[str], dialect: Dialect, labels: Sequence[str], rows: str) -> str:
    """The label with the largest sum, the first of several."""
    added = ", ".join(f"{total} AS s{label}" for label, total in enumerate(sums))
    listed = ", ".join(f"s{label}" for label in range(len(labels)))
    if dialect == "duckdb":
        first = f"list_position([{listed}], GREATEST({listed}))"
        winner = f"([{', '.join(labels)}])[{first}]"
    else:
        first = f"array_position(ARRAY[{listed}], GREATEST({listed}))"
        winner = f"(ARRAY[{', '.join(labels)}]::text[])[{first}]"
    trees, fence = ",\n".join(reached), _FENCE[dialect]
    return (
        f"(SELECT {winner}\nFROM (SELECT {added}\n"
        f'FROM (SELECT {trees}\nFROM {rows}{fence}) AS "reached"{fence}) AS "votes")'
    )


def _array(values: list[int] | list[float], kind: str, dialect: Dialect) -> str:
    listed = ",".join(map(repr, values))
    return f"'[{listed}]'::{kind}[]" if dialect == "duckdb" else f"'{{{listed}}}'::{kind}[]"


def _tree(tree: Tree, aliases: Mapping[str, str], dialect: Dialect, outcome: Sequence[str]) -> str:
    """The nested CASE of a tree. Branches with the same outcome are one; it nests as the tree does."""

    def write(node: int) -> str:
        stop = outcome[node]
        if tree.is_leaf[node]:
            return stop
        attribute = tree.schema.attributes[tree.column[node]]
        goals = [write(child) for child in tree.children(node)]
        if all(goal == stop for goal in goals):
            return stop
        x = aliases[attribute.name]
        tests = (
            _in_list(attribute, x, goals, _children(tree, node), dialect)
            if isinstance(attribute, Categorical)
            else _in_order(attribute, x, goals, _ends(tree, node))
        )
        margin = "\n" + " " * int(tree.depth[node] + 1)
        whens = margin.join(f"WHEN {test} THEN {goal}" for test, goal in tests)
        return f"CASE{margin}{whens}{margin}ELSE {stop} END"

    return write(0)


def _aliases(model: Model) -> dict[str, str]:
    """A new name for each column: DuckDB takes a name that is also given anew for the new one."""
    taken = {column.name.casefold() for column in model.schema}
    aliases = {}
    for name in model.columns:
        alias = f"{name}_"
        while alias.casefold() in taken:
            alias += "_"
        taken.add(alias.casefold())
        aliases[name] = quoted(alias)
    return aliases


def _ends(tree: Tree, node: int) -> list[int]:
    """For each child the code behind its last."""
    cells, cut = tree.schema.attributes[tree.column[node]].cells, int(tree.threshold[node])
    return list(range(1, cells + 1)) if cut < 0 else [cut, cells]


def _children(tree: Tree, node: int) -> list[Codes]:
    """For each child the codes that lead to it."""
    return [edge(tree, child)[1] for child in tree.children(node)]


def _in_list(
    column: Categorical, x: str, goals: list[str], codes: list[Codes], dialect: Dialect
) -> list[tuple[str, str]]:
    values: dict[str, list[str]] = {}
    for goal, accepted in zip(goals, codes, strict=True):
        literals = [text_literal(column.values[code], dialect) for code in accepted]
        values.setdefault(goal, []).extend(literals)
    return [
        (f"{x} = {listed[0]}" if len(listed) == 1 else f"{x} IN ({', '.join(listed)})", goal)
        for goal, listed in values.items()
        if listed  # the rest of a column with one value is empty
    ]


def _in_order(column: Numeric, x: str, goals: list[str], ends: list[int]) -> list[tuple[str, str]]:
    tests: list[tuple[str, str]] = []
    last = len(goals) - 1
    for i, goal in enumerate(goals):
        if i < last and goals[i + 1] == goal:
            continue  # the next one accepts these too
        if i < last:
            tests.append((f"{x} < {double(threshold(column, ends[i]))}", goal))
        else:  # everything that is left, but not NULL
            tests.append((f"{x} IS NOT NULL", goal))
    return tests


def _cleaned(column: Attribute, x: str, dialect: Dialect) -> str:
    """The column as the schema means it; NULL where the schema drops the row."""
    if isinstance(column, Numeric):
        return _number(column, x, dialect)
    text = f'(CAST({x} AS text) COLLATE "C")'  # letters are compared as they are
    missing = "NULL" if column.missing is None else text_literal(column.missing, dialect)
    test = f"{x} IS NULL"
    if column.marker is not None:
        test += f" OR {text} = {text_literal(column.marker, dialect)}"
    inside = ""
    otherwise = text  # without a rule for outside values: no test of a tree accepts them
    if column.outside is not None:
        listed = ", ".join(text_literal(value, dialect) for value in column.values)
        inside = f" WHEN {text} IN ({listed}) THEN {text}"
        otherwise = text_literal(column.outside, dialect)
    return f"CASE WHEN {test} THEN {missing}{inside} ELSE {otherwise} END"


def _number(column: Numeric, x: str, dialect: Dialect) -> str:
    missing = "NULL" if column.missing is None else double(float(column.missing))
    if dialect == "duckdb":
        value = f"CAST({x} AS DOUBLE)"
        test = f"{x} IS NULL OR isnan({value})"
    else:
        # Compared with decimal literals, a column of any number type keeps its own arithmetic.
        value = (
            f"CASE WHEN {x} > -{_HALF} AND {x} < {_HALF} THEN 0 ELSE LEAST(GREATEST({x}, -{_CUT}), {_CUT})::float8 END"
        )
        test = f"{x} IS NULL OR {x} = 'NaN'::numeric"
    drop = ""
    if not column.clamp:
        low, high = double(float(column.lower)), double(float(column.upper))
        drop = f" WHEN {value} < {low} OR {value} > {high} THEN NULL"
    return f"CASE WHEN {test} THEN {missing}{drop} ELSE {value} END"


def double(value: float) -> str:
    """A literal that both databases read as this double: with an exponent it is no decimal."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str, dialect: Dialect) -> str:
    body = text.replace("'", "''")
    if dialect == "postgresql" and "\\" in text:  # right whatever the server's settings are
        body = body.replace("\\", "\\\\")
        return f"E'{body}'"
    return f"'{body}'"
