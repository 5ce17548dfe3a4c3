"""The grammar of delimited text, checked on whole blocks of bytes at once.

It is that of RFC 4180 with the schema's separator: quotes stand around whole fields only, and a quote
inside is doubled; lines end in LF or CRLF; every record has the same number of fields; the text is
UTF-8 without NUL. An empty line is no record, unless there is one column: then it is an empty field.
Outside this grammar one record could change another, so there are no rows to speak of.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BLOCK = 2**20
MOST_RECORD = 2**26
SMALL = 2**18  # bytes below which NumPy is faster than loading compiled loops
NAMED = 5  # lines that a refusal names
MARK = b"\xef\xbb\xbf"  # may stand before a text and is no part of it
_LF, _CR, _QUOTE = 10, 13, 34

Bytes = NDArray[np.uint8]
Places = NDArray[Any]  # integers
_NONE = np.zeros(0, np.intp)


class Readable(Protocol):
    """Bytes in order."""

    def read(self, size: int, /) -> bytes: ...


class BrokenError(Exception):
    """A rule that a piece does not keep, and the first lines of it that do not, counted from 0."""

    def __init__(self, rule: str, lines: list[int]) -> None:
        super().__init__(rule)
        self.rule, self.lines = rule, lines


def pieces(stream: Readable, rest: bytes = b"", *, block: int = BLOCK) -> Iterator[bytes]:
    """The text in pieces that end where a record ends, as far as its quotes say."""
    while more := stream.read(max(block, len(rest))):
        rest += more
        end = _last_end(rest)
        if end == 0 and len(rest) > MOST_RECORD:
            raise BrokenError(
                f"begins a record of more than {MOST_RECORD >> 20} MB, most likely by a quote that "
                "is not closed",
                [0],
            )
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def first_end(text: bytes) -> int:
    """Where the first record ends."""
    end = text.find(b"\n") + 1
    while end and text.count(b'"', 0, end) % 2:
        end = text.find(b"\n", end) + 1
    return end or len(text)


def _last_end(text: bytes) -> int:
    """Where the last whole record ends; 0 if none does."""
    end = text.rfind(b"\n") + 1
    if end == 0 or text.count(b'"', 0, end) % 2 == 0:
        return end
    found = np.frombuffer(text, np.uint8)
    ends = _outside(found, np.flatnonzero(found == _LF))
    return int(ends[-1]) + 1 if len(ends) else 0


def check(piece: bytes, separator: str, fields: int) -> None:
    """Refuse a piece of whole records that breaks a rule."""
    found = np.frombuffer(piece, np.uint8)
    if len(piece) > SMALL and b"\0" not in piece and not len(_no_text(piece)):
        from bocage.engine.codes import kernels  # noqa: PLC0415 - small texts load no compiler

        if kernels.well_formed(found, _goes(ord(separator)), fields):
            return
    for rule, places in _broken(piece, found, separator, fields):
        if len(places):
            raise BrokenError(rule, _lines(piece, places))


def _lines(piece: bytes, places: Places) -> list[int]:
    """The first lines in which these places stand, one more than a refusal names."""
    found: list[int] = []
    line = before = 0
    for place in places.tolist():
        line, before = line + piece.count(b"\n", before, place), place
        if line not in found[-1:]:
            found.append(line)
        if len(found) > NAMED:
            break
    return found


def _broken(
    piece: bytes, found: Bytes, separator: str, fields: int
) -> Iterator[tuple[str, Places]]:
    """Rules and where they are broken, each only asked for if those before it are kept."""
    yield "holds a NUL character", _nul(piece)
    yield "is not UTF-8", _no_text(piece)
    yield "has a quote that does not stand around a whole field", _stray(found, piece, separator)
    yield "opens a quote that is not closed", _unclosed(found, piece)
    yield "has a carriage return that ends no line", _bare(found, piece)
    yield f"does not have {fields} field{'s' * (fields != 1)}", _uneven(found, separator, fields)


@cache
def _goes(separator: int) -> NDArray[np.int64]:
    """The grammar as an automaton: the next state for each state and byte.

    0 before a line, 1 after a separator, 2 in a field without quotes, 3 in quotes, 4 after a quote
    in quotes, 5 after a carriage return, 6 after one on an empty line, 7 broken for good.
    """
    goes = np.full((8, 256), 7)
    goes[:3] = 2
    goes[3] = 3
    goes[:2, _QUOTE], goes[2, _QUOTE], goes[3, _QUOTE], goes[4, _QUOTE] = 3, 7, 4, 3
    goes[[1, 2, 4], _CR], goes[0, _CR] = 5, 6
    goes[[0, 1, 2, 4, 5, 6], _LF] = 0
    goes[[0, 1, 2, 4], separator] = 1
    return goes


def _nul(piece: bytes) -> Places:
    return np.array([piece.index(b"\0")], np.intp) if b"\0" in piece else _NONE


def _no_text(piece: bytes) -> Places:
    if piece.isascii():
        return _NONE
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        return np.array([error.start], np.intp)
    return _NONE


def _unclosed(found: Bytes, piece: bytes) -> Places:
    if piece.count(b'"') % 2 == 0:
        return _NONE
    quotes: Places = np.flatnonzero(found == _QUOTE)
    return quotes[-1:]


def _stray(found: Bytes, piece: bytes, separator: str) -> Places:
    if b'"' not in piece:
        return _NONE
    quotes: Places = np.flatnonzero(found == _QUOTE)
    # Every second quote opens. Outside quotes stand no others, so its neighbor is what it seems.
    opens, closes, last = quotes[::2], quotes[1::2], len(found) - 1
    before, after = found[np.maximum(opens - 1, 0)], found[np.minimum(closes + 1, last)]
    good = (opens == 0) | _is_one_of(before, (ord(separator), _LF, _QUOTE))
    good[: len(closes)] &= (closes == last) | _is_one_of(after, (ord(separator), _LF, _CR, _QUOTE))
    bad: Places = opens[~good]
    return bad


def _is_one_of(found: Bytes, letters: tuple[int, ...]) -> NDArray[np.bool_]:
    good: NDArray[np.bool_] = np.logical_or.reduce([found == letter for letter in letters])
    return good


def _bare(found: Bytes, piece: bytes) -> Places:
    if b"\r" not in piece:
        return _NONE
    returns, last = _outside(found, np.flatnonzero(found == _CR)), len(found) - 1
    bare: Places = returns[(returns == last) | (found[np.minimum(returns + 1, last)] != _LF)]
    return bare


def _uneven(found: Bytes, separator: str, fields: int) -> Places:
    """Where lines begin that have another number of fields."""
    marks = _outside(found, np.flatnonzero((found == ord(separator)) | (found == _LF)))
    at = np.flatnonzero(found[marks] == _LF)
    ends = marks[at]
    if len(found) and found[-1] != _LF:  # the last line of a text may lack its end
        at, ends = np.append(at, len(marks)), np.append(ends, len(found))
    held = np.diff(at, prepend=-1)  # separators and the end: as many as fields
    bad = np.flatnonzero(held != fields)
    begins: Places = np.where(bad > 0, ends[bad - 1] + 1, 0)
    lengths = ends[bad] - begins
    empty = (lengths == 0) | ((lengths == 1) & (found[np.minimum(begins, len(found) - 1)] == _CR))
    return begins if fields == 1 else begins[~empty]


def _outside(found: Bytes, places: Places) -> Places:
    """The places that do not stand inside quotes; `found` begins outside."""
    quoted = found == _QUOTE
    if not quoted.any():
        return places
    outside: Places = places[np.cumsum(quoted, dtype=np.uint8)[places] & 1 == 0]
    return outside
