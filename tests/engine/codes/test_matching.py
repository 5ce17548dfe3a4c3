import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.engine.codes.encode import SMALL, encoder
from bocage.engine.codes.matching import KnownTexts
from bocage.schema import Categorical

# Short alphabets and repeated parts: many texts that differ in one place only.
TEXT = st.text("ab\x00é", max_size=3) | st.builds(
    "".join, st.lists(st.sampled_from(["abcdefgh", "abcdefgx", "a", "ü"]), max_size=4)
)


def found(known: list[str], texts: pa.Array) -> list[int]:
    codes, dropped = np.zeros(len(texts), np.uint16), np.zeros(len(texts), np.bool_)
    KnownTexts(known, [*range(len(known))], -1).encode(texts, codes, dropped)
    return np.where(dropped, -1, codes.astype(int)).tolist()


@pytest.mark.slow
@given(
    st.lists(TEXT, unique=True, max_size=40),
    st.lists(TEXT, max_size=40),
    st.integers(0, 3),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_a_text_is_found_if_and_only_if_it_is_known(known, others, skipped, kind):
    texts = [*others, *known][skipped:]
    array = pa.array([*others, *known], kind)[skipped:]
    expected = [known.index(text) if text in known else -1 for text in texts]
    assert found(known, array) == expected


def test_texts_of_one_hash_are_told_apart_by_their_bytes(monkeypatch):
    from bocage.engine.codes import matching

    def constant(edges, data, hashes):
        hashes[:] = np.diff(edges) > 8  # a hash of nothing, for texts that are compared anyway

    monkeypatch.setattr(matching, "hash_texts", constant)
    known = [f"number {i:04} of many" for i in range(50)]
    assert found(known, pa.array([*known, "number 0050 of many"])) == [*range(50), -1]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_long_columns_of_texts_are_encoded_as_short_ones_are(kind):
    column = Categorical("color", ("red", "grün", "a color with a long name"), missing="red")
    texts = ["red", "grün", "a color with a long name", "a color with a long nam", "", None, "gr"]
    array = pa.array(texts * SMALL, kind)

    def codes(part: pa.Array) -> tuple[list[int], list[bool]]:
        room, dropped = np.zeros(len(part), np.uint8), np.zeros(len(part), np.bool_)
        encoder(column, kind)(part, room, dropped)
        return room.tolist(), dropped.tolist()

    short, long = codes(array[: len(texts)]), codes(array)
    assert long == (short[0] * SMALL, short[1] * SMALL)
