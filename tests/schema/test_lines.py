from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bocage.schema.lines import Path, line_of, line_of_twin

DOCUMENTS = st.dictionaries(
    st.text(max_size=4),
    st.recursive(
        st.integers(0, 9) | st.text(max_size=4) | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
    min_size=1,
    max_size=4,
)


def places(value: Any, path: Path, line: int) -> Iterator[tuple[Path, int]]:
    """Where `json.dumps` with an indent puts every entry, by counting the lines of its parts."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        line += 1
        yield (*path, key), line
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key), line)
        line += json.dumps(inner, indent=1).count("\n")


@given(DOCUMENTS)
def test_every_entry_of_a_json_text_is_found_on_its_line(document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=1)
    for path, line in places(document, (), 1):
        assert line_of(text, path) == line
        assert line_of(text, (*path, "absent")) == line
    assert line_of_twin(text) is None


def test_toml_of_every_kind_is_found() -> None:
    text = (
        "# a [comment] = 1\n"
        'name = "a = [ # not a comment"\n'
        'long = """\n[not.a.table]\nkey = 1\n"""\n'
        "plain = '''\n[[nor]]\n'''\n"
        "[[attributes]]\n"
        "'quoted' = [1, [2,\n3]]\n"
        '"twice \\"quoted\\"" = {a = 1, b = {c = 2}}\n'
        "\n"
        "[[attributes]]  # the second\n"
        "dotted.key = 1\n"
        "[target]\n"
        "x = 1\n"
    )
    expected: dict[Path, int] = {
        ("name",): 2,
        ("long",): 3,
        ("plain",): 7,
        ("attributes", 0): 10,
        ("attributes", 0, "quoted"): 11,
        ("attributes", 0, "quoted", 1, 1): 12,
        ("attributes", 0, 'twice "quoted"', "b", "c"): 13,
        ("attributes", 1): 15,
        ("attributes", 1, "dotted", "key"): 16,
        ("target", "x"): 18,
    }
    assert {path: line_of(text, path) for path in expected} == expected
    assert line_of(text, ("nowhere",)) is None
    assert line_of(text, ()) is None


def test_the_second_of_two_equal_keys_is_found() -> None:
    assert line_of_twin('{"a": {"b": 1},\n "b": 1,\n "c": [{"b": 1}, {"b": 1,\n "b": 2}]}') == 4
