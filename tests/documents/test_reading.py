"""The reader takes what `json` takes within the limits, and knows what it costs before it does."""

from __future__ import annotations

import json
import tracemalloc
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocage.documents.files import read_bytes
from bocage.documents.reading import Limits, Unreadable, parse, scan

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | TEXTS,
    lambda inside: st.lists(inside, max_size=5) | st.dictionaries(TEXTS, inside, max_size=5),
    max_leaves=40,
)
SMALL = Limits(bytes=2**16, depth=8, digits=64)


def depth(value):
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_json_writes_is_read_if_it_is_not_too_deep(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    if depth(value) <= SMALL.depth:
        assert parse(text, SMALL) == value
    else:
        with pytest.raises(Unreadable, match="nested more than 8 deep"):
            parse(text, SMALL)


PIECES = st.sampled_from(
    [
        *'[]{}",:0e.-\\ \n',
        '"',
        '"',
        "12",
        "true",
        "null",
        "NaN",
        "\\u",
        "\\ud83d",
        "\\ude00",
        '"a":',
    ]
)


@settings(max_examples=500)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_nothing_is_read_that_json_does_not_read(text):
    try:
        read = parse(text.encode(), SMALL)
    except Unreadable:
        return
    assert read == json.loads(text, parse_float=Decimal)
    json.dumps(read, ensure_ascii=False, default=str).encode()  # has no half of a pair


@pytest.mark.parametrize("inside", [0, 1, 7, 8, 9, 100, 10**5])
@pytest.mark.parametrize("kinds", ["[]", "{}"])
def test_depth_is_exact(inside, kinds):
    opening = kinds[0] if kinds == "[]" else '{"a":'
    text = (opening * inside + "1" + kinds[1] * inside).encode()
    limits = Limits(depth=8)
    if inside <= 8:
        parse(text, limits)
    else:
        with pytest.raises(Unreadable, match="nested more than 8 deep"):
            parse(text, limits)


@pytest.mark.parametrize("text", ["[" * 10**6, "]" * 10**6 + "[" * 10**6, "[}" * 9, "[[[]"])
def test_brackets_that_do_not_match_are_refused(text):
    with pytest.raises(Unreadable):
        parse(text.encode())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1" * 65, "too many digits"),
        ("0." + "1" * 65, "too many digits"),
        ("1e9999", "too many digits"),
        ("1E-9999", "too many digits"),
        ("[1,\n1e+00001]", "too many digits"),
        ("NaN", "NaN or Infinity"),
        ("[-Infinity]", "NaN or Infinity"),
        ('{"a":1,"a":2}', "'a' stands twice"),
        ('{"a":1,"\\u0061":2}', "'a' stands twice"),
        ('"\\ud800"', "half a surrogate"),
        ('"\\udc00\\ud800"', "half a surrogate"),
        ('"\\ud83d\\\\\\ude00"', "half a surrogate"),
        ('{"\\uDBFF":1}', "half a surrogate"),
        ('"abc', "does not end"),
        ('"abc\\"', "does not end"),
        ("", "not JSON"),
        ("[1,]", "not JSON"),
        ('"a\nb"', "not JSON"),
    ],
)
def test_what_is_no_strict_json_is_refused(text, problem):
    with pytest.raises(Unreadable, match=problem):
        parse(text.encode())


def test_text_that_is_no_utf8_is_refused():
    for content in (b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\xaf"'):
        with pytest.raises(Unreadable, match="UTF-8"):
            parse(content)


@pytest.mark.parametrize("text", ['"\\\\ud800"', '"\\ud83d\\ude00"', '"NaN 1e9999"', '"[[[[[[[[["'])
def test_what_stands_in_a_text_is_no_number_and_no_bracket(text):
    assert parse(text.encode(), SMALL) == json.loads(text)


def test_a_number_has_as_many_digits_as_allowed():
    digits = "7" * 64
    assert parse(f"[{digits},-{digits}.{digits}e-999]".encode())[0] == int(digits)


def test_one_byte_too_many_is_refused_unread(tmp_path):
    limits = Limits(bytes=10)
    parse(b'"12345678"', limits)
    with pytest.raises(Unreadable, match="more than 10 bytes"):
        parse(b'"123456789"', limits)
    (tmp_path / "long").write_bytes(b'"123456789"')
    with pytest.raises(Unreadable, match="more than 10 bytes"):
        read_bytes(tmp_path / "long", limits)
    assert len(b"\xef\xbb\xbf1") == 4
    assert parse(b"\xef\xbb\xbf1") == 1


WIDE = {
    "small numbers": ("1", ","),
    "large numbers": ("7" * 60, ","),
    "fractions": ("1.5", ","),
    "exponents": ("1e9", ","),
    "empty texts": ('""', ","),
    "texts": ('"abcdefgh"', ","),
    "letters of two bytes": ('"\u0436\u0436"', ","),
    "letters of four bytes": ('"\U0001f600"', ","),
    "escapes": ('"a\\ud83d\\ude00"', ","),
    "empty lists": ("[]", ","),
    "lists of one": ("[1]", ","),
    "lists of two": ('["a",300]', ","),
    "empty objects": ("{}", ","),
    "objects": ('{"a":300}', ","),
    "objects of two": ('{"b":"x","c":[]}', ","),
    "literals": ("false", ","),
}


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("of", ["list", "object", "text"])
def test_what_values_take_is_never_more_than_the_estimate(kind, of):
    """The smallest limit under which the scan passes bounds what reading takes, on each kind."""
    one, between = WIDE[kind]
    if of == "list":
        text = f"[{between.join([one] * 30_000)}]"
    elif of == "object":
        text = "{" + between.join('"%d":%s' % (i, one) for i in range(20_000)) + "}"  # noqa: UP031 - braces
    else:
        text = f"[{json.dumps(one * 30_000)}, {json.dumps(one * 30_000, ensure_ascii=False)}]"
    content = text.encode()
    low, high = 0, 2**30
    while high - low > 1000:
        middle = (low + high) // 2
        try:
            scan(content, Limits(memory=middle))
            high = middle
        except Unreadable:
            low = middle
    tracemalloc.start()
    read = parse(content, Limits(memory=2**30))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(read) > 1
    # The scan itself takes a few times the length, and is over when the values are made.
    assert peak <= max(high, 5 * len(content)) + 2**17
