"""The nasty cases, each by name, on every engine; small enough to count by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from cases import Case, assert_equals_reference

from bocage.errors import EngineError, PlanError, SourceError
from bocage.plan import Branch, Cells, Cut, Question, bind, col
from bocage.schema import Categorical, Numeric, Schema

NAN, INF = float("nan"), float("inf")


def age(**rules) -> Numeric:
    return Numeric("age", Fraction(0), Fraction(100), step=Fraction(10), **rules)


def tree(**rules) -> Categorical:
    return Categorical("tree", ("oak", "elm", "other"), **rules)


def counts(open_table, column, values):
    """The counts of a table's only column."""
    schema = Schema("t", (column,))
    case = Case({column.name: values}, schema, [Question(columns=(column.name,))])
    with open_table(case.columns, schema) as engine:
        assert_equals_reference(case, engine)
        return engine.answer(case.questions)[0].columns[column.name][0, :, 0].tolist()


@pytest.mark.parametrize(("missing", "expected"), [(None, [1, 1, 0]), ("other", [1, 1, 2]), ("oak", [3, 1, 0])])
def test_null_text_goes_where_the_schema_says(open_table, missing, expected):
    values = ["oak", None, "elm", None]
    assert counts(open_table, tree(missing=missing), values) == expected


@pytest.mark.parametrize(("outside", "expected"), [(None, [1, 1, 0]), ("other", [1, 1, 3]), ("elm", [1, 4, 0])])
def test_text_outside_the_list_goes_where_the_schema_says(open_table, outside, expected):
    values = ["oak", "OAK", "oak ", "", "elm"]
    assert counts(open_table, tree(outside=outside), values) == expected


def test_missing_and_outside_are_told_apart(open_table):
    column = tree(missing="oak", outside="other")
    assert counts(open_table, column, [None, "ash", "elm", None, "", "ash"]) == [2, 1, 3]
    column = tree(missing="other", outside=None)
    assert counts(open_table, column, [None, "ash", "elm"]) == [0, 1, 1]
    column = tree(missing=None, outside="other")
    assert counts(open_table, column, [None, "ash", "elm"]) == [0, 1, 1]


def test_a_marker_is_a_missing_entry(open_table):
    column = tree(missing="other", outside="elm", marker="?")
    assert counts(open_table, column, ["?", "oak", "??", None]) == [1, 1, 2]
    assert counts(open_table, tree(marker="?"), ["?", "oak", "??"]) == [1, 0, 0]


@pytest.mark.parametrize(("missing", "dropped"), [(None, True), (Fraction(50), False), (Fraction(100), False)])
def test_null_and_nan_are_missing_numbers(open_table, missing, dropped):
    result = counts(open_table, age(missing=missing), [None, NAN, 20.0])
    assert sum(result) == (1 if dropped else 3)
    assert result[2] == 1
    if missing is not None:
        assert result[int(missing / 10)] == 2


def test_infinities_and_huge_numbers_are_clamped(open_table):
    values = [INF, -INF, 1e308, -1e308, 101.0, -0.1]
    assert counts(open_table, age(), values) == [3, *[0] * 9, 3]


def test_numbers_outside_drop_the_row_if_the_schema_says_so(open_table):
    values = [INF, -INF, 1e308, -1e308, 100.5, -0.5, 0.0, 100.0]
    assert counts(open_table, age(clamp=False), values) == [1, *[0] * 9, 1]


def test_minus_zero_and_tiny_numbers_are_in_the_first_cell(open_table):
    column = Numeric("x", Fraction(0), Fraction(1), cells=4, clamp=False)
    assert counts(open_table, column, [-0.0, 0.0, 5e-324, 1e-308]) == [4, 0, 0, 0]
    assert counts(open_table, column, [-5e-324, 0.5]) == [0, 0, 1, 0]


def test_numbers_on_the_edge_of_a_cell_belong_to_the_upper_one(open_table):
    column = Numeric("x", Fraction(0), Fraction(1), cells=4)
    values = [0.0, 0.25, 0.5, 0.75, 1.0, np.nextafter(0.25, 0), np.nextafter(1.0, 0)]
    assert counts(open_table, column, [float(v) for v in values]) == [2, 1, 1, 3]
    assert counts(open_table, age(), [5.0, 4.999999, 15.0, 95.0]) == [
        1,
        1,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
    ]


def test_grids_that_are_not_binary_agree_on_every_edge(open_table):
    column = Numeric("x", Fraction(1, 10), Fraction(7, 10), cells=7)
    edges = [float(column.edge(code)) for code in range(8)]
    around = [np.nextafter(edge, way) for edge in edges for way in (-1, 2)]
    counts(open_table, column, [*edges, *map(float, around)])


def test_integers_beyond_a_double_are_rounded_like_python(open_table):
    column = Numeric("n", Fraction(0), Fraction(10**15), cells=1000)
    values = [2**63 - 1, -(2**63), 2**53 + 1, 10**15, 10**15 - 1, None]
    assert sum(counts(open_table, column, values)) == 5


def test_decimals_are_rounded_once(open_table):
    column = Numeric("d", Fraction(0), Fraction(1), cells=1000, clamp=False)
    digits = ["0.001", "0.002999999999999999889", "0.3", "0.299999999999999988898", "1", "-1"]
    counts(open_table, column, [Decimal(text) for text in digits])


def test_an_empty_table_counts_zero(open_table):
    assert counts(open_table, tree(), []) == [0, 0, 0]
    assert counts(open_table, age(), []) == [0] * 11


def test_a_table_of_one_row_and_a_column_of_one_value_are_counted(open_table):
    assert counts(open_table, Categorical("c", ("x",)), ["x"]) == [1]
    assert counts(open_table, Categorical("c", ("x",)), ["x", "y", None]) == [1]


def test_a_column_of_nothing_but_null_is_all_missing(open_table):
    assert counts(open_table, tree(missing="elm"), [None, None]) == [0, 2, 0]


HOSTILE = (
    "'",
    '"',
    ";",
    "--",
    "a\nb",
    "🌳",
    "'; DROP TABLE t; --",
    "' OR '1'='1",
    "\\",
    "%s",
    "$1",
    "{}",
    "",
)


def test_hostile_values_are_values(open_table):
    column = Categorical("c", HOSTILE, outside="'")
    assert counts(open_table, column, list(HOSTILE)) == [1] * len(HOSTILE)


@pytest.mark.parametrize("name", ["it's", '"', ";", "--", "a\nb", "🌳", "x; DROP TABLE t", '"; --', "%s", "a.b", "`"])
def test_hostile_names_are_names(open_table, name):
    schema = Schema("t", (replace(age(), name=name),), Categorical("label", ("yes", "no")))
    columns = {name: [1.0, 99.0, None], "label": ["yes", "no", "no"]}
    question = Question(Cells((Cut(name, 5, ~0, ~1),), 2), bind(col(name) >= 0, schema), "label", (name,), (name,))
    with open_table(columns, schema) as engine:
        assert_equals_reference(Case(columns, schema, [question]), engine)
        assert engine.answer([question])[0].totals.tolist() == [[1, 0], [0, 1]]


def test_booleans_are_the_words_true_and_false(open_table):
    column = Categorical("b", ("false", "true", "True"), missing="True")
    assert counts(open_table, column, [True, False, True, None]) == [1, 2, 1]


def test_integers_are_matched_by_their_digits(open_table):
    column = Categorical("i", ("0", "1", "-1", "01", "1.0", "9223372036854775807"), outside="01")
    values = [0, 1, 1, -1, 7, 2**63 - 1, -(2**63)]
    assert counts(open_table, column, values) == [1, 2, 1, 2, 0, 1]


def test_a_label_never_seen_counts_zero(open_table):
    schema = Schema("t", (tree(),), Categorical("label", ("seen", "never")))
    columns = {"tree": ["oak", "elm"], "label": ["seen", "seen"]}
    question = Question(label="label", columns=("tree",))
    with open_table(columns, schema) as engine:
        [tally] = engine.answer([question])
    assert tally.totals.tolist() == [[2, 0]]
    assert tally.columns["tree"][0].tolist() == [[1, 0], [1, 0], [0, 0]]


def test_a_row_dropped_by_one_column_is_in_no_count(open_table):
    schema = Schema("t", (tree(), age()))
    columns = {"tree": ["oak", "ash", "elm"], "age": [NAN, 10.0, 20.0]}
    with open_table(columns, schema) as engine:
        whole, ages = engine.answer([Question(), Question(columns=("age",), sums=("age",))])
    assert whole.totals.tolist() == [[1]]
    assert ages.columns["age"][0, :, 0].tolist() == [0, 0, 1, *[0] * 8]
    assert ages.sums["age"].tolist() == [2]


def test_300_columns_are_counted_at_once(open_table):
    schema = Schema("t", tuple(replace(age(), name=f"column {i}") for i in range(299)), tree())
    columns = {f"column {i}": [float(i), 50.0] for i in range(299)} | {"tree": ["oak", "elm"]}
    names = tuple(f"column {i}" for i in range(299))
    question = Question(label="tree", columns=names, sums=names[:5])
    with open_table(columns, schema) as engine:
        assert_equals_reference(Case(columns, schema, [question]), engine)


def test_more_rows_than_the_cap_are_refused(open_table):
    schema = Schema("t", (tree(),), row_cap=2)
    with (
        pytest.raises(SourceError, match="row cap of 2") as caught,
        open_table({"tree": ["oak"] * 57}, schema),
    ):
        pass
    assert "57" not in str(caught.value)
    with open_table({"tree": ["oak", "ash"]}, schema) as engine:
        assert engine.answer([Question()])[0].totals.tolist() == [[1]]


def test_more_rows_than_the_cap_are_cut_before_any_is_dropped(open_table):
    schema = Schema("t", (tree(),), row_cap=3, over_cap="cut")
    columns = {"tree": ["oak", "ash", "oak", "elm", "elm"]}
    with open_table(columns, schema) as engine:
        [tally] = engine.answer([Question(columns=("tree",))])
    assert tally.columns["tree"][0, :, 0].tolist() == [2, 0, 0]


def test_deep_routers_and_wide_branches_find_their_cells(open_table):
    x = Numeric("x", Fraction(0), Fraction(1000), step=Fraction(1))
    schema = Schema("t", (x, tree()))
    values = [float(v) for v in range(0, 1001, 7)]
    columns = {"x": values, "tree": [("oak", "elm", "other")[i % 3] for i in range(len(values))]}
    chain = Cells()
    for threshold in range(990, 0, -90):
        chain = chain.refine({0 if chain.count == 1 else chain.count - 2: Cut("x", threshold, 0, 1)})
    wide = Cells((Branch("x", tuple(~(code % 100) for code in range(1001))),), 100)
    questions = [
        Question(chain, columns=("tree",)),
        Question(wide.refine({7: Branch("tree", (0, 1, 2))}), label="tree", sums=("x",)),
    ]
    with open_table(columns, schema) as engine:
        assert_equals_reference(Case(columns, schema, questions), engine)


def test_a_source_without_a_declared_column_is_refused_by_name(open_table):
    schema = Schema("t", (tree(), age()))
    with pytest.raises(SourceError, match="'age'"), open_table({"tree": ["oak"]}, schema):
        pass


def test_no_question_is_no_answer_and_a_bad_one_is_refused(open_table):
    with open_table({"tree": ["oak"]}, Schema("t", (tree(),))) as engine:
        assert engine.answer([]) == []
        with pytest.raises(PlanError, match="'height'"):
            engine.answer([Question(columns=("height",))])


def test_a_column_of_the_wrong_type_is_refused_by_type(open_table, maker):
    if maker.__name__ in {"numpy", "csv", "zipped_csv"}:
        pytest.skip("a text file and plain Python values have no column types")
    for column, values in ((age(), ["1", "2"]), (tree(), [1.0, 2.0])):
        with (
            pytest.raises(EngineError, match=column.name) as caught,
            open_table({column.name: values}, Schema("t", (column,))),
        ):
            pass
        assert isinstance(caught.value, SourceError)
