from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocage.errors import PartyError
from bocage.parties.counts import MANY, from_lists, from_text, scan, split

COUNTS = st.lists(st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1, max_size=9), min_size=1, max_size=5)


@given(COUNTS)
def test_text_and_lists_give_the_same_counts(trees):
    text = json.dumps(trees, separators=(",", ":"))[2:-2].encode()
    count = sum(map(len, trees))
    sizes, values = from_text(text, count)
    assert sizes == [len(tree) for tree in trees]
    assert values.tolist() == [count for tree in trees for count in tree]
    assert from_lists(trees)[0] == sizes
    assert from_lists(trees)[1].tolist() == values.tolist()


@given(st.text("0123456789-,[]e. ", max_size=12))
def test_what_is_read_is_json_and_means_the_same(text):
    sizes, values = np.zeros(1024, np.int64), np.empty(text.count(",") + 1, np.int64)
    trees = scan(text.encode(), sizes, values)
    if trees >= 0:
        read = json.loads(f"[[{text}]]")
        assert sizes[:trees].tolist() == [len(tree) for tree in read]
        assert values[: sizes.sum()].tolist() == [count for tree in read for count in tree]


@pytest.mark.parametrize(
    "text",
    [
        *(
            b"",
            b",",
            b"-",
            b"1,",
            b",1",
            b"1,,2",
            b"--1",
            b"1-",
            b"01",
            b"-01",
            b"1.5",
            b"1e5",
            b"true",
        ),
        *(
            b"1]",
            b"1],",
            b"1],[",
            b"1],[]",
            b"1]],[[2",
            b"[1",
            b" 1",
            b"1\n",
            b"+1",
            b'"1"',
            b"0x1",
        ),
        *(b"1000000000000000000", b"9" * 400, b"],[".join([b"1"] * 1025)),
    ],
)
def test_what_is_no_list_of_whole_numbers_is_refused(text):
    with pytest.raises(PartyError, match="whole number"):
        from_text(text, text.count(b",") + 1)


def test_more_counts_than_the_header_names_are_refused_before_they_are_read():
    with pytest.raises(PartyError, match="not as many as its shapes say"):
        from_text(b"1,2],[3", 2)
    with pytest.raises(PartyError, match="not as many as its shapes say"):
        from_text(b"1,2],[3", 2**60)


def test_only_large_canonical_files_are_split():
    body = b'{"counts":[[' + b"1," * MANY + b'1]],"digest":"x","entry":1}'
    header, text = split(body)
    assert json.loads(header) == {"digest": "x", "entry": 1}
    assert text == b"1," * MANY + b"1"
    assert split(b'{"counts":[[1]],"digest":"x"}') is None
    assert split(b" " + body) is None
