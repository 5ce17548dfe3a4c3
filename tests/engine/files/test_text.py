"""The grammar of delimited text: what it takes, Python's strict reader takes, as the same fields."""

from __future__ import annotations

import csv
import gzip
import io
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bocage.engine.codes import kernels
from bocage.engine.files import grammar
from bocage.engine.files.text import open_text
from bocage.engine.sources import open_engine
from bocage.errors import SourceError
from bocage.plan import Question
from bocage.schema import Categorical, Layout, Numeric, Schema

SCHEMA = Schema(
    "t",
    (
        Categorical("y", ("a", "b"), missing="b", outside="b"),
        Numeric("x", Fraction(0), Fraction(9), step=Fraction(1), missing=Fraction(9)),
    ),
)
# Few letters, so that quotes, separators and line breaks meet.
NASTY = st.text(st.sampled_from('a"\n\r,; é\0\ufeff'), max_size=24)


TWO = Layout(header=False, columns=("a", "b"))


def read(content: bytes, path, layout=TWO):
    path.write_bytes(content)
    text = open_text(str(path), path, layout)
    fields = range(len(text.names))
    batches = text.reader(fields)
    return [row for batch in batches for row in zip(*(c.to_pylist() for c in batch), strict=True)]


def as_python_reads(content: str, fields: int):
    lines = csv.reader(io.StringIO(content, newline=""), strict=True)
    return [tuple(line) for line in lines if line or fields == 1]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("text") / "t.csv"


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(content=NASTY, fields=st.integers(1, 3))
@example(content='"\r\n"\n', fields=1)
@example(content="\ufeff\ufeffa,b\n\ufeffa,b\n", fields=2)
@example(content="a,b\na,", fields=2)
def test_what_is_taken_is_what_a_strict_reader_takes(path, content, fields):
    layout = Layout(header=False, columns=tuple("abc"[:fields]))
    try:
        mine = read(content.encode(), path, layout)
    except SourceError:
        return
    content = content.removeprefix("\ufeff")
    theirs = as_python_reads(content, fields)
    theirs = [("",) if row == () else row for row in theirs]
    assert [tuple(value or "" for value in row) for row in mine] == theirs
    assert all(len(row) == fields for row in theirs)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(
    # Python's writer leaves a carriage return without quotes, where it may end a line.
    table=st.lists(st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6)] * 2)),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_a_writer_of_csv_writes_is_taken(path, table, quoting, end):
    file = io.StringIO("\ufeff", newline="")
    file.seek(1)
    csv.writer(file, quoting=quoting, lineterminator=end).writerows(table)
    found = read(file.getvalue().encode(), path)
    assert [tuple(value or "" for value in row) for row in found] == table


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(content=NASTY, fields=st.integers(1, 3))
def test_compiled_and_vectorised_checks_agree(content, fields):
    piece = content.replace("\0", "").encode()
    try:
        grammar.check(piece, ",", fields)
        good = True
    except grammar.BrokenError:
        good = False
    found = np.frombuffer(piece, np.uint8)
    assert bool(kernels.well_formed(found, grammar._transitions(44), fields)) == good


@settings(max_examples=500, deadline=None)
@given(content=NASTY, block=st.integers(1, 9))
def test_pieces_end_where_records_end_and_lose_nothing(content, block):
    text = content.encode()
    cut = list(grammar.pieces(io.BytesIO(text), block=block))
    assert b"".join(cut) == text
    assert all(piece.endswith(b"\n") and piece.count(b'"') % 2 == 0 for piece in cut[:-1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a,b\na,"b\na,b\n', "line 2 opens a quote"),
        ('a,b\na,"b\na,"b\n', "line 2 has a quote"),
        ('a,b\na,"b"c\na,b\na,c"b"\n', "line 2, 4 has a quote that does not stand around"),
        ('a,b\na, "b"\n', "line 2 has a quote that does not stand around"),
        ("a,b\na,b\ra,b\n", "line 2 has a carriage return that ends no line"),
        ("a,b\ra,b\ra,b\n", "line 1 has a carriage"),
        ("a,b\na,b\r", "line 2 has a carriage return that ends no line"),
        ("a,b\na\na,b,c\n\na,b\n", "line 2, 3 does not have 2 fields"),
        ("a\n" * 9, "line 1, 2, 3, 4, 5 and more does not have 2 fields"),
        ('a,"\n\n"\na,\0\n', "line 4 holds a NUL"),
        (b"a,b\n\n\xff,b\n", "line 3 is not UTF-8"),
        ("a,b\n".encode("utf-16"), "line 1"),
    ],
)
def test_what_breaks_the_grammar_is_refused_with_its_lines(path, content, message):
    content = content if isinstance(content, bytes) else content.encode()
    with pytest.raises(SourceError, match=message) as caught:
        read(content, path)
    assert "Write it anew" in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("broken", ['a,"1\n', "a,1,1\n", "a\r,1\n"])
def test_a_line_far_down_is_found_in_every_piece(path, broken):
    good = "a,1\n" * 150_000
    path.write_text("y,x\n" + good + broken + good)
    with pytest.raises(SourceError, match="line 150002 "):
        open_engine(path, SCHEMA)
    path.write_text("y,x\n" + good)
    engine = open_engine(path, SCHEMA)
    assert engine.answer([Question()])[0].totals.tolist() == [[150_000]]


def test_a_record_longer_than_memory_should_hold_is_refused(path, monkeypatch):
    monkeypatch.setattr(grammar, "MOST_RECORD", 2**21)
    path.write_text("y,x\na,1\n" + 'a,"' + "1\n" * 3_000_000)
    with pytest.raises(SourceError, match="line 3 begins a record of more than"):
        open_engine(path, SCHEMA)


@pytest.mark.parametrize("start", ["\n", "\r\n", "\ufeff\n"])
def test_an_empty_first_line_names_no_columns(path, start):
    path.write_text(start + "y,x\na,1\n")
    with pytest.raises(SourceError, match="first line that names its columns"):
        open_engine(path, SCHEMA)


def test_a_separator_that_is_no_ascii_character_is_refused(path):
    path.write_text("a§b\n")
    with pytest.raises(SourceError, match="not ASCII"):
        read("a§b\n".encode(), path, Layout("§", header=False, columns=("a", "b")))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_long_records_and_lines_in_quotes_are_rows_like_others(tmp_path, name):
    # What used to be lost: records of megabytes, and lines in quotes that look like records.
    note = "\n10,a" * 400_000
    records = ["y,x", *["a,1"] * 1000, f'"{note}",2', *["b,3"] * 200_000, '"x""\n"",\n",4']
    content = "\n".join(records).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content, 1) if name.endswith("gz") else content)
    engine = open_engine(path, SCHEMA)
    tally = engine.answer([Question(columns=("x",))])[0]
    assert tally.columns["x"].ravel().tolist() == [0, 1000, 1, 200_000, 1, *[0] * 5]
