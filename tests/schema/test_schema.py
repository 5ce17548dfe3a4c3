from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import PlanError, SchemaError
from bocage.schema import MOST_ROWS, Attribute, Categorical, Layout, Numeric, Schema

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)


@st.composite
def attributes(draw: st.DrawFn, name: str, *, numeric: bool = True) -> Attribute:
    if numeric and draw(st.booleans()):
        lower = draw(st.fractions(-1000, 1000, max_denominator=1000))
        step = draw(st.none() | st.fractions(Fraction(1, 100), 10, max_denominator=100))
        cells = draw(st.integers(1, 500))
        width = step or Fraction(1)
        return Numeric(
            name,
            lower,
            lower + cells * width,
            cells,
            step,
            draw(st.none() | st.just(lower + width / 2)),
            draw(st.booleans()),
            draw(st.none() | TEXT),
        )
    values = draw(st.lists(TEXT | st.just("drop") | st.just(""), min_size=1, max_size=5, unique=True))
    return Categorical(
        name,
        tuple(values),
        draw(st.none() | st.sampled_from(values)),
        draw(st.none() | st.sampled_from(values)),
        draw(st.none() | TEXT.filter(lambda marker: marker not in values)),
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(TEXT, min_size=2, max_size=5, unique=True))
    label = draw(st.none() | attributes(names[0], numeric=False))
    assert not isinstance(label, Numeric)
    return Schema(
        name=draw(TEXT),
        attributes=tuple(draw(attributes(name)) for name in names[1:]),
        label=label,
        row_cap=(cap := draw(st.none() | st.integers(1, MOST_ROWS))),
        over_cap=draw(st.sampled_from(["refuse", "cut"])) if cap else "refuse",
        title=draw(st.text(max_size=5)),
        layout=draw(st.sampled_from([Layout(), Layout(";", True, (), True), Layout("\t", False, tuple(names))])),
    )


@pytest.mark.slow
@given(schemas())
def test_a_schema_written_as_json_reads_back_as_the_same(schema: Schema) -> None:
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again.fingerprint == schema.fingerprint


def small(**changes: object) -> Schema:
    declared: dict[str, object] = {
        "name": "people",
        "attributes": (Numeric("age", Fraction(0), Fraction(120), step=Fraction(1)),),
        "label": Categorical("ill", ("no", "yes")),
    }
    return Schema(**{**declared, **changes})  # type: ignore[arg-type] # sometimes wrong


def test_the_fingerprint_follows_the_meaning_of_codes_and_nothing_else() -> None:
    assert small(title="People").fingerprint == small().fingerprint
    assert small(layout=Layout(";")).fingerprint == small().fingerprint
    assert small(label=Categorical("ill", ("yes", "no"))).fingerprint != small().fingerprint
    assert small(row_cap=5).fingerprint != small().fingerprint
    assert small(row_cap=5).fingerprint != small(row_cap=5, over_cap="cut").fingerprint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attributes": (), "label": None}, "'people' has no attributes and no label"),
        ({"label": Categorical("age", ("a",))}, "declares the column 'age' twice"),
        ({"row_cap": 0}, "row_cap must lie between 1 and 1099511627776, not 0"),
        ({"row_cap": MOST_ROWS + 1}, "row_cap must lie between"),
        ({"attributes": (Categorical("", ("a",)),)}, "a column without a name"),
        ({"name": "a\0"}, "NUL"),
    ],
)
def test_a_contradictory_schema_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        small(**changes)


def test_columns_are_found_by_name_and_kind() -> None:
    schema = small()
    assert [column.name for column in schema] == ["age", "ill"]
    assert schema.numeric("age") is schema["age"]
    assert schema.categorical("ill") is schema.label
    with pytest.raises(PlanError, match=r"no column 'Age'\. Its columns are 'age', 'ill'"):
        schema["Age"]
    with pytest.raises(PlanError, match="'ill' of table 'people' is categorical, not numeric"):
        schema.numeric("ill")
    with pytest.raises(PlanError, match="'age' of table 'people' is numeric, not categorical"):
        schema.categorical("age")


def test_the_row_bound_is_the_cap_or_the_largest_table() -> None:
    assert small(row_cap=7).rows_bound == 7
    assert small().rows_bound == MOST_ROWS
