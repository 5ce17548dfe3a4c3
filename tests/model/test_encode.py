from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.engine.reference import code_of
from bocage.errors import ModelError
from bocage.model import TreeBuilder
from bocage.model.encode import encode
from bocage.schema import Categorical, Numeric
from models import attributes, certificate_of, schema_of, values

SCHEMA = schema_of(Categorical("job", ("farmer", "clerk", "other"), outside="other"), Numeric("age", 0, 99, step=1))
ROWS = {"job": ["clerk", None, "king"], "age": [30.0, float("nan"), 1e9], "more": [1, 2, 3]}
CODES = {"job": [1, -1, 2], "age": [30, -1, 99]}


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        pa.table(ROWS),
        pa.table(ROWS).to_batches()[0],
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).astype({"job": "category"}),
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS).with_columns(pl.col("job").cast(pl.Categorical)),
    ],
    ids=lambda table: type(table).__module__.partition(".")[0],
)
def test_every_kind_of_table_is_read(table):
    found = encode(SCHEMA, table, ("job", "age"))
    assert {name: codes.tolist() for name, codes in found.items()} == CODES


@settings(deadline=None)
@given(column=attributes("c"), data=st.data())
def test_codes_are_those_of_the_reference(column, data):
    given_values = data.draw(st.lists(values(column), max_size=20))
    schema = schema_of(column)
    found = encode(schema, {"c": given_values}, ("c",))["c"]
    assert found.tolist() == [code_of(column, value) for value in given_values]


@pytest.mark.parametrize("numbers", [[1, 2**62, -(2**63)], [Decimal("34.5"), Decimal("1e20")]])
def test_integers_and_decimals_become_doubles(numbers):
    found = encode(SCHEMA, {"age": numbers}, ("age",))["age"].tolist()
    assert found == [code_of(SCHEMA["age"], value) for value in numbers]


def test_types_that_do_not_fit_are_refused():
    with pytest.raises(ModelError, match="'age' is numeric, but string was given"):
        encode(SCHEMA, {"age": ["30"]}, ("age",))
    with pytest.raises(ModelError, match="'job' is categorical, but double was given"):
        encode(SCHEMA, {"job": [1.5]}, ("job",))
    with pytest.raises(ModelError, match="not of one type"):
        encode(SCHEMA, {"job": ["x", 1]}, ("job",))
    with pytest.raises(ModelError, match="not there exactly once"):
        encode(SCHEMA, {"job": ["x"]}, ("age",))
    with pytest.raises(ModelError, match="differ in length"):
        encode(SCHEMA, {"job": ["x"], "age": [1, 2]}, ("job", "age"))
    with pytest.raises(ModelError, match="ndarray is no table"):
        encode(SCHEMA, np.zeros((2, 2)), ("job",))
    with pytest.raises(ModelError, match="ndarray is no table"):
        encode(SCHEMA, np.zeros((2, 2)), ())


def test_chunks_may_number_their_values_differently():
    chunks = [pa.array([text, None]).dictionary_encode() for text in ("clerk", "farmer")]
    table = pa.table({"job": pa.chunked_array(chunks)})
    assert encode(SCHEMA, table, ("job",))["job"].tolist() == [1, -1, 0, -1]
    none = pa.table({"job": pa.chunked_array([], pa.string())})
    assert encode(SCHEMA, none, ("job",))["job"].tolist() == []


def test_a_tree_of_one_leaf_answers_once_for_every_row():
    builder = TreeBuilder(SCHEMA)
    builder.label(0, 1)
    tree = builder.freeze(certificate_of(SCHEMA))
    assert tree.predict(pd.DataFrame(ROWS)).tolist() == ["yes"] * 3
