"""One model, four places: Python, DuckDB, PostgreSQL and Node predict the same label."""

from __future__ import annotations

import math
from decimal import Decimal

import duckdb
import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bocage.model import AdditiveModel, Tree, TreeBuilder, to_javascript, to_sql
from bocage.model.export.sql import quoted
from bocage.schema import Categorical, Numeric, Schema
from models import (
    any_models,
    certificate_of,
    prediction_of,
    records,
    schema_of,
    table_of,
)

SLOW = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
both = st.data()


@pytest.fixture(scope="module")
def postgres(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


def _types(schema: Schema, number: str, text: str) -> str:
    return ", ".join(f"{quoted(c.name)} {number if isinstance(c, Numeric) else text}" for c in schema.attributes)


def in_duckdb(model, rows, number="DOUBLE", text="VARCHAR"):
    names = [c.name for c in model.schema.attributes]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people (row_ INT, {_types(model.schema, number, text)})")
        marks = ", ".join("?" for _ in range(len(names) + 1))
        for i, row in enumerate(rows):
            given_row = [i, *(row[name] for name in names)]
            connection.execute(f"INSERT INTO people VALUES ({marks})", given_row)
        expression = to_sql(model, "duckdb")
        found = connection.execute(f"SELECT {expression} FROM people ORDER BY row_").fetchall()
    return [label for (label,) in found]


def in_postgres(postgres, model, rows, number="double precision", text="text"):
    names = [c.name for c in model.schema.attributes]
    with postgres.transaction(force_rollback=True), postgres.cursor() as cursor:
        cursor.execute(f"CREATE TABLE people (row_ int, {_types(model.schema, number, text)})")
        marks = ", ".join(["%s"] * (len(names) + 1))
        for i, row in enumerate(rows):
            given_row = [i, *(row[name] for name in names)]
            cursor.execute(f"INSERT INTO people VALUES ({marks})", given_row)
        expression = to_sql(model, "postgresql", source="people")
        cursor.execute(f"SELECT {expression} FROM people ORDER BY row_")
        return [label for (label,) in cursor.fetchall()]


@pytest.mark.slow
@SLOW
@given(model=any_models(), data=st.data())
def test_a_model_predicts_the_same_in_python_and_duckdb(model, data):
    rows = data.draw(records(model.schema))
    meant = [prediction_of(model, row) for row in rows]
    assert model.predict(table_of(model.schema, rows)).tolist() == meant
    assert in_duckdb(model, rows) == meant


@pytest.mark.postgres
@SLOW
@given(model=any_models(), data=st.data())
def test_a_model_predicts_the_same_in_postgresql(postgres, model, data):
    rows = data.draw(records(model.schema))
    assert in_postgres(postgres, model, rows) == [prediction_of(model, row) for row in rows]


@SLOW
@given(model=any_models(), data=st.data())
def test_a_model_predicts_the_same_in_node_and_shares_are_equal_to_the_last_bit(node, model, data):
    rows = data.draw(records(model.schema))
    answers = node.run(to_javascript(model), rows)
    assert [label for label, _ in answers] == [prediction_of(model, row) for row in rows]
    expected = model.predict_proba(table_of(model.schema, rows))
    if isinstance(model, AdditiveModel):  # two exponential functions may differ in the last bit
        np.testing.assert_allclose([shares for _, shares in answers], expected, rtol=1e-12)
    else:
        assert [shares for _, shares in answers] == expected.tolist()


def _age_tree(clamp: bool = True, missing: int | None = None) -> Tree:
    schema = schema_of(
        Numeric("age", 0, 100, step=1, clamp=clamp, missing=missing),
        Categorical("flag", ("true", "false", "7"), outside="7"),
        labels=("a", "b", "c", "d"),
    )
    builder = TreeBuilder(schema)
    builder.label(0, 3)
    young, old = builder.split(0, "age", 35)
    builder.label(young, 0)
    builder.label(old, 2)
    for leaf, label in zip(builder.split(old, "flag"), (1, 2, 3), strict=True):
        builder.label(leaf, label)
    return builder.freeze(certificate_of(schema))


# Half-way to the smallest double a decimal number becomes 0; beyond 1e308 it is infinite.
DECIMALS = [
    "34.4",
    "34.5",
    "34.49999999999999999999",
    "-1e-400",
    "1e-400",
    "1e400",
    "-1e400",
    "1e16",
]


@pytest.mark.postgres
@pytest.mark.parametrize("clamp", [True, False])
def test_decimals_beyond_the_reach_of_doubles_raise_nothing_in_postgresql(postgres, clamp):
    tree = _age_tree(clamp)
    rows = [{"age": Decimal(text), "flag": "true"} for text in [*DECIMALS, "NaN"]]
    rows.append({"age": None, "flag": "true"})
    meant = ["a", "b", "b", "a", "a", "b", "a", "b", "d", "d"]
    if not clamp:
        meant[5:8] = ["d", "d", "d"]
    assert in_postgres(postgres, tree, rows, number="numeric") == meant
    doubles = [{**row, "age": None if row["age"] is None else float(row["age"])} for row in rows]
    assert tree.predict(table_of(tree.schema, doubles)).tolist() == meant


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["smallint", "integer", "bigint", "real", "numeric(9, 3)"])
def test_every_number_type_is_read_in_both_databases(postgres, kind):
    tree = _age_tree()
    rows = [{"age": age, "flag": "false"} for age in (-32768, 0, 34, 35, 32767, None)]
    meant = ["a", "a", "a", "c", "c", "d"]
    assert in_postgres(postgres, tree, rows, number=kind) == meant
    assert in_duckdb(tree, rows, number=kind.replace("numeric", "DECIMAL")) == meant
    assert tree.predict(table_of(tree.schema, rows)).tolist() == meant


@pytest.mark.postgres
def test_booleans_and_whole_numbers_are_categories_everywhere(postgres, node):
    tree = _age_tree()
    for kind, given_values in (("boolean", [True, False]), ("integer", [7, 8, 0, -1])):
        rows = [{"age": 50.0, "flag": value} for value in [*given_values, None]]
        meant = [prediction_of(tree, row) for row in rows]
        assert tree.predict(table_of(tree.schema, rows)).tolist() == meant
        assert in_postgres(postgres, tree, rows, text=kind) == meant
        assert in_duckdb(tree, rows, text=kind) == meant
        assert [label for label, _ in node.run(to_javascript(tree), rows)] == meant


@pytest.mark.postgres
@pytest.mark.parametrize("depth", [12, 128])
def test_a_deep_tree_does_not_blow_the_parsers(postgres, depth):
    schema = schema_of(Numeric("x", 0, 1000, step=1), labels=("even", "odd"))
    builder = TreeBuilder(schema)
    node = builder.root
    for level in range(depth):  # a list: x < 1, x < 2, ...
        found, node = builder.split(node, "x", level + 1)
        builder.label(found, level % 2)
    builder.label(node, depth % 2)
    tree = builder.freeze(certificate_of(schema))
    rows = [{"x": float(x)} for x in (0, 1, depth - 1, depth, 999)]
    meant = [prediction_of(tree, row) for row in rows]
    assert in_duckdb(tree, rows) == in_postgres(postgres, tree, rows) == meant


@pytest.mark.postgres
def test_a_bushy_tree_with_thousands_of_leaves_does_not_blow_the_parsers(postgres, node):
    rng = np.random.default_rng(3)
    schema = schema_of(*(Numeric(f"x{i}", 0, 1, cells=1024) for i in range(12)), labels=("a", "b"))
    builder = TreeBuilder(schema)
    level = [builder.root]
    for depth in range(12):
        cuts = rng.integers(256, 768, len(level)).tolist()
        level = [c for n, cut in zip(level, cuts, strict=True) for c in builder.split(n, f"x{depth}", cut)]
    for leaf in level:
        builder.counts(leaf, rng.integers(-3, 99, 2).tolist())
    tree = builder.freeze(certificate_of(schema))
    assert len(tree.leaves) == 4096
    rows = [{f"x{i}": float(x) for i, x in enumerate(row)} for row in rng.uniform(-0.1, 1.1, (200, 12))]
    meant = tree.predict(table_of(schema, rows)).tolist()
    assert meant == [prediction_of(tree, row) for row in rows]
    assert in_duckdb(tree, rows) == meant
    assert in_postgres(postgres, tree, rows) == meant
    assert [label for label, _ in node.run(to_javascript(tree), rows)] == meant


def test_javascript_takes_absent_properties_and_big_integers(node):
    tree = _age_tree()
    answers = node.run(
        to_javascript(tree),
        [{}, {"age": 10**400}, {"age": -(10**400)}, {"age": 50, "flag": 2**70}, {"age": math.nan}],
    )
    assert [label for label, _ in answers] == ["d", "c", "a", "d", "d"]


def test_javascript_refuses_text_where_a_number_belongs(node):
    (answer,) = node.run(to_javascript(_age_tree()), [{"age": "35"}])
    assert answer == ("TypeError", "age is a number")


def test_javascript_inside_a_page_cannot_end_its_script_element():
    schema = schema_of(Categorical("</script>", ("</script>", "b")), labels=("</script>", "x"))
    builder = TreeBuilder(schema)
    for leaf in builder.split(0, "</script>"):
        builder.label(leaf, 0)
    text = to_javascript(builder.freeze(certificate_of(schema)))
    assert "</script>" not in text
    assert text.isascii()


def test_sql_cannot_be_broken_by_names_and_values():
    name, value = 'x"; DROP TABLE people; --', "'; DROP TABLE people; --"
    schema = schema_of(Categorical(name, (value, "b")), labels=(value, "x"))
    builder = TreeBuilder(schema)
    for label, leaf in enumerate(builder.split(0, name)):
        builder.label(leaf, label)
    tree = builder.freeze(certificate_of(schema))
    assert in_duckdb(tree, [{name: value}, {name: "b"}]) == [value, "x"]


def test_a_case_insensitive_column_in_duckdb_changes_nothing():
    schema = schema_of(Categorical("c", ("a", "A", "b"), outside="b"), labels=("x", "y", "z"))
    builder = TreeBuilder(schema)
    for label, leaf in enumerate(builder.split(0, "c")):
        builder.label(leaf, label)
    tree = builder.freeze(certificate_of(schema))
    rows = [{"c": "a"}, {"c": "A"}, {"c": "B"}]
    assert in_duckdb(tree, rows, text="VARCHAR COLLATE NOCASE") == ["x", "y", "z"]
