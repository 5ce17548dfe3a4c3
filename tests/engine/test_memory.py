"""What may be opened in memory, and in which types a column may come."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bocage.engine.codes.encode import SMALL
from bocage.engine.memory import MemoryEngine
from bocage.engine.reference import ReferenceEngine
from bocage.errors import SourceError
from bocage.plan import Cells, Question
from bocage.plan.predicate import Some
from bocage.schema import Categorical, Numeric, Schema

COLOR = Categorical("color", ("red", "green"), missing="green")
SIZE = Numeric("size", Fraction(0), Fraction(10), step=Fraction(1))
SCHEMA = Schema("t", (COLOR, SIZE))
ROWS = {"color": ["red", None, "green", "blue"], "size": [1.0, 2.0, 20.0, 3.0], "other": [0] * 4}


def counts(source, schema=SCHEMA):
    names = tuple(column.name for column in schema)
    [tally] = MemoryEngine(source, schema).answer([Question(columns=names)])
    return [tally.columns[name][0, :, 0].tolist() for name in names]


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        {name: np.array(values, dtype=object) for name, values in ROWS.items()},
        pa.table(ROWS),
        pa.record_batch(ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).astype({"color": "category", "size": "Float32"}),
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS, schema_overrides={"color": pl.Categorical}),
    ],
    ids=["lists", "numpy", "table", "batch", "pandas", "pandas types", "polars", "polars types"],
)
def test_rows_in_memory_are_counted_whatever_holds_them(source):
    assert counts(source) == [[1, 2], [0, 1, 1, *[0] * 7, 1]]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
@pytest.mark.parametrize("times", [1, SMALL])
def test_text_may_come_in_every_arrow_type(kind, times):
    array = pa.array(ROWS["color"] * times, pa.string()).cast(kind)
    assert counts({"color": array}, Schema("t", (COLOR,))) == [[times, 2 * times]]


@pytest.mark.parametrize(
    "kind",
    [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(),
     pa.dictionary(pa.int32(), pa.int64()), pa.bool_()],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("times", [1, SMALL])
@pytest.mark.parametrize("null", [[], [None]])
def test_categories_may_come_as_whole_numbers_and_booleans(kind, times, null):
    column = Categorical("c", ("1", "true", "0", "false"), outside="false", missing="0")
    values = [0, 1, 1, *null] if kind == pa.bool_() else [0, 1, 7, *null]
    array = pa.array(values * times)
    array = array.dictionary_encode() if pa.types.is_dictionary(kind) else array.cast(kind)
    expected = ReferenceEngine({"c": array.to_pylist()}, Schema("t", (column,)))
    [right] = expected.answer([Question(columns=("c",))])
    assert counts({"c": array}, Schema("t", (column,)))[0] == right.columns["c"][0, :, 0].tolist()


def test_integers_far_apart_are_found():
    column = Categorical("c", ("-9223372036854775808", "18446744073709551615", "5"), missing="5")
    schema = Schema("t", (column,))
    assert counts({"c": pa.array([-(2**63), 5, 6, None])}, schema) == [[1, 0, 2]]
    assert counts({"c": pa.array([2**64 - 1, 5, 2**63], pa.uint64())}, schema) == [[0, 1, 1]]


@pytest.mark.parametrize(
    "kind",
    [pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint64(), pa.decimal128(10, 2),
     pa.decimal256(50, 5)],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("times", [1, SMALL])
def test_numbers_may_come_in_every_number_type(kind, times):
    array = pa.array([1.0, 9.0, None] * times).cast(kind)
    assert counts({"size": array}, Schema("t", (SIZE,)))[0][1] == times
    assert counts({"size": array}, Schema("t", (SIZE,)))[0][9] == times


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (SIZE, ["1"]),
        (SIZE, [True]),
        (SIZE, [dt.date(2020, 1, 1)]),
        (SIZE, [[1]]),
        (COLOR, [1.5]),
        (COLOR, [dt.datetime(2020, 1, 1)]),  # noqa: DTZ001 - only its type matters
        (COLOR, [b"red"]),
        (COLOR, [{"red": 1}]),
    ],
)
def test_other_types_are_refused_with_the_column_and_the_way_out(column, values):
    with pytest.raises(SourceError, match=f"'{column.name}'.*Convert it"):
        MemoryEngine({column.name: values}, Schema("t", (column,)))


def test_a_refusal_does_not_quote_a_value():
    for values in (["secret", 1], [10**40]):
        with pytest.raises(SourceError) as caught:
            MemoryEngine({"color": values}, Schema("t", (COLOR,)))
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None


def test_what_has_no_columns_is_refused():
    for source in (42, [1, 2], None):
        with pytest.raises(SourceError, match="mapping from column names"):
            MemoryEngine(source, SCHEMA)
    with pytest.raises(SourceError, match="differ in length"):
        MemoryEngine({"color": ["red"], "size": [1, 2]}, SCHEMA)
    twice = pa.Table.from_arrays([pa.array(["red"])] * 2, names=["color", "color"])
    with pytest.raises(SourceError, match="two columns 'color'"):
        MemoryEngine(twice, SCHEMA)


def test_a_closed_engine_says_so():
    engine = MemoryEngine(ROWS, SCHEMA)
    engine.close()
    with pytest.raises(SourceError, match="closed"):
        engine.answer([Question()])


def test_large_tables_drop_and_cut_like_small_ones():
    values = ["red", "blue", "green"] * SMALL
    schema = Schema("t", (COLOR,), row_cap=2 * SMALL, over_cap="cut")
    expected = ReferenceEngine({"color": values}, schema).answer([Question(columns=("color",))])
    assert counts({"color": values}, schema)[0] == expected[0].columns["color"][0, :, 0].tolist()


@pytest.mark.parametrize(
    ("question", "is_size"),
    [
        (Question(), True),
        (Question(Cells((), 3)), False),  # two of the cells are empty
        (Question(where=Some(())), False),  # no row passes
        (Question(label="y"), False),
        (Question(columns=("a",)), False),
    ],
)
def test_only_the_number_of_all_rows_is_known_without_a_scan(question, is_size):
    columns = {"a": ["0", "1", "1"], "y": ["0", "0", "1"]}
    schema = Schema("t", (Categorical("a", ("0", "1")),), Categorical("y", ("0", "1")))
    (mine,) = MemoryEngine(columns, schema).answer([question])
    (theirs,) = ReferenceEngine(columns, schema).answer([question])
    assert question.is_size is is_size
    np.testing.assert_array_equal(mine.totals, theirs.totals)
    np.testing.assert_array_equal(mine.columns.get("a"), theirs.columns.get("a"))
